//! Which life of a store something is of: after a restore, or the end of a process that may have taken acknowledged
//! commits with it, numbers are given again that were given before.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::{Cursor, Error, ErrorKind, Stamp};

/// A random name, never zero.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Incarnation(pub(crate) u64);

impl Incarnation {
    /// One that no other store has, nor this one had. The randomness is that of the standard library's hash seeds.
    pub(crate) fn new() -> Self {
        Self(random_u64().max(1))
    }

    /// The stamp of a commit of this number; of none, that of plain rows.
    pub(crate) fn stamp(self, sequence: u64) -> Stamp {
        if sequence == 0 { Stamp::default() } else { Stamp { incarnation: self, sequence } }
    }

    /// The place in the feed behind this commit.
    pub(crate) fn cursor(self, sequence: u64) -> Cursor {
        Cursor { incarnation: self, sequence }
    }

    /// Takes a cursor that was stored beside what it points into; `end`: the newest commit.
    pub(crate) fn adopt(self, cursor: Cursor, end: u64) -> Cursor {
        if cursor.sequence > end { cursor } else { self.cursor(cursor.sequence) }
    }

    /// The number of the commit whose stamp this is; `None` for the stamp of plain rows, which no condition can name.
    ///
    /// # Errors
    ///
    /// `OtherIncarnation`.
    pub(crate) fn sequence_of(self, stamp: Stamp) -> Result<Option<u64>, Error> {
        match stamp {
            Stamp { sequence: 0, .. } => Ok(None),
            Stamp { incarnation, sequence } if incarnation == self => Ok(Some(sequence)),
            _ => Err(Error::new(ErrorKind::OtherIncarnation, "commit: a condition names a version")),
        }
    }

    /// The number of the last commit that all of these cursors have seen; `None` if none of them is of this incarnation.
    pub(crate) fn slowest(self, cursors: &[Cursor], end: u64) -> Option<u64> {
        cursors.iter().filter_map(|cursor| self.seen_by(*cursor, end).ok()).min()
    }

    /// The number of the last commit that a cursor has seen; `end`: that of the newest.
    ///
    /// # Errors
    ///
    /// `OtherIncarnation`.
    pub(crate) fn seen_by(self, cursor: Cursor, end: u64) -> Result<u64, Error> {
        // The beginning is the same in every life.
        if cursor == Cursor::default() || (cursor.incarnation == self && cursor.sequence <= end) {
            return Ok(cursor.sequence);
        }
        Err(Error::new(ErrorKind::OtherIncarnation, "read the feed: the cursor"))
    }
}

/// A random number.
pub(crate) fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}
