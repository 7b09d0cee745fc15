//! Flags: what is known of a value's worth. The worst wins wherever values are put together.

/// Set in a flag byte: the point has no value (only a flag). What stands in `values` then means nothing; it
/// is not kept in blocks and reads as 0.0.
pub const ABSENT: u8 = 0x80;

/// How far a value can be trusted, best first. The stored number is the place in this list.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Flag {
    /// Nothing was said.
    NoValue = 0,
    /// Has been accounted for; final.
    Accounted = 1,
    /// Replaced by hand.
    ManuallyReplaced = 2,
    /// Measured and checked.
    Valid = 3,
    /// A plan.
    Schedule = 4,
    /// Estimated.
    Estimated = 5,
    /// Known to be wrong.
    Faulty = 6,
    /// Made from its neighbours.
    Interpolated = 7,
    /// Not there.
    Missing = 8,
}

impl Flag {
    /// All flags, best first.
    pub const ALL: [Self; 9] = [
        Self::NoValue,
        Self::Accounted,
        Self::ManuallyReplaced,
        Self::Valid,
        Self::Schedule,
        Self::Estimated,
        Self::Faulty,
        Self::Interpolated,
        Self::Missing,
    ];

    /// The stored number.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The flag of a stored byte, with or without [`ABSENT`]; `None` if the number is no flag.
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte & !ABSENT)).copied()
    }

    /// The byte of a point without a value.
    pub const fn absent(self) -> u8 {
        self as u8 | ABSENT
    }
}

/// Whether a flag byte says that there is no value.
pub const fn is_absent(byte: u8) -> bool {
    byte & ABSENT != 0
}

/// The worse of two flag bytes, as a byte without [`ABSENT`].
pub const fn worse(one: u8, other: u8) -> u8 {
    let (one, other) = (one & !ABSENT, other & !ABSENT);
    if one > other { one } else { other }
}

/// The byte of a point whose value came to more than a number holds, or to none: without a value, and faulty unless it was
/// worse.
pub const fn overflown(byte: u8) -> u8 {
    if is_absent(byte) { byte } else { worse(byte, Flag::Faulty.number()) | ABSENT }
}
