//! A change of the catalogue in the making: its conditions and its writes, before it is committed (`commit.rs`).

use bytes::Bytes;
use store::retry::unless_lost;
use store::{Condition, Row, Stamp, Write};

use crate::Error;

/// Rows and conditions of one change in the making.
#[derive(Debug, Default)]
pub(crate) struct PendingCommit {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) writes: Vec<Write>,
    pub(crate) change: Vec<u8>,
    /// Whether it makes room.
    pub(crate) reclaims: bool,
}

/// Whether a condition holds of the row that it names.
pub(super) fn holds(condition: &Condition, row: Option<&Row>) -> bool {
    match condition {
        Condition::Absent(_) => row.is_none(),
        Condition::Present(_) => row.is_some(),
        Condition::Version(_, stamp) => row.is_some_and(|row| row.stamp == *stamp),
        Condition::Fence(_) => true,
    }
}

/// The bytes of keys and values that a write has.
pub(super) fn bytes_of(write: &Write) -> usize {
    match write {
        Write::Put(key, value) | Write::PutStamped(key, value) => key.len() + value.len(),
        Write::Delete(key) => key.len(),
        Write::DeleteRange(range) => range.start.len() + range.end.as_ref().map_or(0, Bytes::len),
    }
}

/// What became of a commit; `false` if another writer came first.
pub(super) fn outcome_of(outcome: Result<Stamp, store::Error>) -> Result<bool, Error> {
    match unless_lost(outcome) {
        Ok(committed) => Ok(committed.is_some()),
        Err(error) => match error.limit() {
            Some(limit) => Err(Error::Limit { what: "a change of the catalogue".into(), limit }),
            None => Err(error.into()),
        },
    }
}
