//! The names of flags. Their stored number is their place; the worst is the highest.

use model_series::ABSENT;

/// The flag of a value that comes without one.
pub(crate) const VALID: u8 = 3;
/// The flag of a missing value that comes without one, already with its bit.
pub(crate) const MISSING: u8 = 8 | ABSENT;

/// All names, best first.
pub(crate) const NAMES: [&str; 9] = [
    "NoValue",
    "Accounted",
    "ManuallyReplaced",
    "Valid",
    "Schedule",
    "Estimated",
    "Faulty",
    "Interpolated",
    "Missing",
];

/// The numbers that HAKOM TSM documents for them, in the same order.
const HAKOM_NUMBERS: [u64; 9] = [0, 20, 5, 9, 12, 21, 7, 22, 19];

/// The flag for which clients of HAKOM TSM write this number.
pub(crate) fn of_hakom(number: &str) -> Option<u8> {
    let number: u64 = number.parse().ok()?;
    let place = HAKOM_NUMBERS.iter().position(|known| *known == number);
    place.and_then(|place| u8::try_from(place).ok())
}

/// The name of a flag byte (whether or not its value is absent); `None` for what no reader ever took.
pub(crate) fn name(flag: u8) -> Option<&'static str> {
    NAMES.get(usize::from(flag & !ABSENT)).copied()
}

/// The number of a name.
pub(crate) fn number(name: &str) -> Option<u8> {
    NAMES.iter().position(|known| *known == name).and_then(|place| u8::try_from(place).ok())
}

/// The flag byte of a point: what was given, or what is meant where nothing was.
pub(crate) fn flag_byte(given: Option<u8>, absent: bool) -> u8 {
    match (given, absent) {
        (Some(flag), true) => flag | ABSENT,
        (Some(flag), false) => flag,
        (None, true) => MISSING,
        (None, false) => VALID,
    }
}
