//! Which life of a store something is of: after a restore, or the end of a process that may have taken acknowledged
//! commits with it, numbers are given again that were given before. So a version and a place in the feed name it.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::{Error, ErrorKind};

/// The version of a row written with [`crate::Write::PutStamped`]: no other write has the same, nor has the same write in another
/// incarnation of the store. They can be compared for equality alone. The default one is that of plain rows.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Stamp {
    pub(crate) incarnation: Incarnation,
    /// The number of the commit; zero for plain rows.
    pub(crate) sequence: u64,
}

/// For people: incarnation and number.
impl fmt::Display for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}-{}", self.incarnation.0, self.sequence)
    }
}

/// How far a reader of the feed has come: it has seen everything up to here. The default one is the beginning. It is of one incarnation
/// of the store.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Cursor {
    pub(crate) incarnation: Incarnation,
    /// The number of the last commit seen.
    pub(crate) sequence: u64,
}

impl Cursor {
    /// Bytes to store it in.
    pub fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.incarnation.0) << 64 | u128::from(self.sequence)).to_be_bytes()
    }

    /// The cursor stored in these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let [i0, i1, i2, i3, i4, i5, i6, i7, sequence @ ..] = bytes;
        let incarnation = Incarnation(u64::from_be_bytes([i0, i1, i2, i3, i4, i5, i6, i7]));
        Self { incarnation, sequence: u64::from_be_bytes(sequence) }
    }

    /// Whether a reader at this cursor has seen less of its shard than one at `other`; false for cursors of two incarnations.
    #[inline]
    pub fn is_before(self, other: Self) -> bool {
        self.incarnation == other.incarnation && self.sequence < other.sequence
    }

    /// How many commits a reader at `other` has not seen that one at this cursor has; 0 for cursors of two incarnations.
    pub fn commits_since(self, other: Self) -> u64 {
        if other.is_before(self) { self.sequence - other.sequence } else { 0 }
    }
}

/// A random name, never zero.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Incarnation(pub u64);

impl Incarnation {
    /// One that no other store has, nor this one had. The randomness is that of the standard library's hash seeds.
    pub fn new() -> Self {
        Self(random_u64().max(1))
    }

    /// The stamp of a commit of this number; of none, that of plain rows.
    #[inline]
    pub fn stamp(self, sequence: u64) -> Stamp {
        if sequence == 0 { Stamp::default() } else { Stamp { incarnation: self, sequence } }
    }

    /// The place in the feed behind this commit.
    #[inline]
    pub fn cursor(self, sequence: u64) -> Cursor {
        Cursor { incarnation: self, sequence }
    }

    /// Takes a cursor that was stored beside what it points into; `end`: the newest commit.
    pub fn adopt(self, cursor: Cursor, end: u64) -> Cursor {
        if cursor.sequence > end { cursor } else { self.cursor(cursor.sequence) }
    }

    /// The number of the commit whose stamp this is; `None` for the stamp of plain rows, which no condition can name.
    ///
    /// # Errors
    ///
    /// `OtherIncarnation`.
    #[inline]
    pub fn sequence_of(self, stamp: Stamp) -> Result<Option<u64>, Error> {
        match stamp {
            Stamp { sequence: 0, .. } => Ok(None),
            Stamp { incarnation, sequence } if incarnation == self => Ok(Some(sequence)),
            _ => Err(Error::new(ErrorKind::OtherIncarnation, "commit: a condition names a version")),
        }
    }

    /// The number of the last commit that all of these cursors have seen; `None` if none of them is of this incarnation.
    pub fn slowest(self, cursors: &[Cursor], end: u64) -> Option<u64> {
        cursors.iter().filter_map(|cursor| self.seen_by(*cursor, end).ok()).min()
    }

    /// The number of the last commit that a cursor has seen; `end`: that of the newest.
    ///
    /// # Errors
    ///
    /// `OtherIncarnation`.
    pub fn seen_by(self, cursor: Cursor, end: u64) -> Result<u64, Error> {
        // The beginning is the same in every life.
        if cursor == Cursor::default() || (cursor.incarnation == self && cursor.sequence <= end) {
            return Ok(cursor.sequence);
        }
        Err(Error::new(ErrorKind::OtherIncarnation, "read the feed: the cursor"))
    }
}

/// The number of the commit that a stamp is of; zero for that of plain rows. For engines.
#[inline]
pub fn number_of_stamp(stamp: Stamp) -> u64 {
    stamp.sequence
}

/// The life of the store that a stamp is of. For engines.
#[inline]
pub fn incarnation_of_stamp(stamp: Stamp) -> Incarnation {
    stamp.incarnation
}

/// The number of the last commit that a reader at this cursor has seen. For engines.
#[inline]
pub fn number_of_cursor(cursor: Cursor) -> u64 {
    cursor.sequence
}

/// The life of the store that a cursor is of. For engines.
#[inline]
pub fn incarnation_of_cursor(cursor: Cursor) -> Incarnation {
    cursor.incarnation
}

/// A random number.
pub(crate) fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}
