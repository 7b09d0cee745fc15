//! What a date-time may look like: standards differ.

/// What a reader accepts besides `2026-01-01T00:00:00Z`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// The characters one of which separates date and time.
    pub separators: &'static [u8],
    /// Whether a comma may begin the fraction of the second, as a point may.
    pub comma: bool,
    /// The most digits that the fraction of the second may have. Digits below the nanosecond are cut off.
    pub fraction_digits_max: usize,
    /// How the offset from UTC is written.
    pub offsets: Offsets,
    /// What the second 60 is.
    pub leap_second: LeapSecond,
}

/// How the offset from UTC is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Offsets {
    /// `Z` alone.
    Z,
    /// `Z`, `z` or `+01:00`, up to 23:59.
    Rfc3339,
    /// Also without the colon, or without minutes: `+0100`, `+01`.
    Iso8601,
}

/// What the second 60 is, in whichever minute it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LeapSecond {
    /// No time.
    Refused,
    /// The second 59, with the fraction that was written.
    Before,
    /// The first second of the next minute.
    After,
}
