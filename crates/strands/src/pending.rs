//! A write that was checked, and the commit that it becomes. Pure.

use bytes::Bytes;
use store::{ChangeRecord, LimitExceeded, Limits, ROW_BYTES_MAX, Timestamp, Write};

use crate::blocks::encode_runs;
use crate::codec::{Encoding, Malformed};
use crate::error::Error;
use crate::fields::{Attempt, next_generation};
use crate::fresh::{Fresh, FreshKey};
use crate::index::Entry;
use crate::layer::Layer;
use crate::points::Points;
use crate::state::State;
use crate::strand::{Rules, Strand, StrandVersion};

/// What a point takes at most, packed, beside its note.
const POINT_BYTES_MAX: usize = 48;

/// A write, checked: what does not change while it is thought again.
#[derive(Debug)]
pub(crate) struct CheckedWrite {
    pub(crate) strand: Strand,
    pub(crate) layer: Layer,
    pub(crate) encoding: Encoding,
    pub(crate) written: Timestamp,
    pub(crate) audited: bool,
    /// The bound, if this is not a write of points but what retention removes.
    pub(crate) expires: Option<i64>,
    pub(crate) mark: Option<i64>,
    pub(crate) beside: Vec<Write>,
    pub(crate) change: Option<ChangeRecord>,
    pub(crate) expects: Option<StrandVersion>,
}

/// What a write or a fold is to do in one commit.
#[derive(Debug)]
pub(crate) struct PendingCommit {
    pub(crate) state: State,
    pub(crate) writes: Vec<Write>,
    pub(crate) fresh: Fresh,
    /// The generation before, and how this one is told apart.
    pub(crate) before: (u64, Attempt),
}

impl PendingCommit {
    /// The generation of all fresh rows that it puts.
    pub(crate) fn next_generation(&self) -> Result<u64, Error> {
        let (before, attempt) = self.before;
        next_generation(before, attempt)
    }
}

impl Rules {
    /// The points of a layer as blocks, if they are too large for a commit. Cost: they are encoded if there are many.
    pub(crate) fn too_large(
        &self,
        points: &Points,
        encoding: Encoding,
    ) -> Result<Option<Vec<(Entry, Bytes)>>, Malformed> {
        let notes: usize = points.notes.dictionary.iter().map(Bytes::len).sum();
        if points.len() * POINT_BYTES_MAX + notes <= self.inline_bytes_max {
            return Ok(None);
        }
        let parts = encode_runs(&[(points, 0..points.len())], 0, encoding, self)?;
        Ok(Some(parts).filter(|parts| self.are_too_large(parts)))
    }

    /// Whether these are too large for a commit.
    pub(crate) fn are_too_large(&self, parts: &[(Entry, Bytes)]) -> bool {
        parts.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > self.inline_bytes_max
    }
}

impl PendingCommit {
    /// Puts blocks ahead of the commit, under the keys of a kind; answers how they are named.
    pub(crate) fn spill(
        &mut self,
        strand: &Strand,
        parts: Vec<(Entry, Bytes)>,
        key: impl Fn(&Strand, i64, u64) -> FreshKey,
        rules: &Rules,
    ) -> Result<Vec<Entry>, Error> {
        let generation = self.next_generation()?;
        self.state.generation = generation;
        let mut named = Vec::with_capacity(parts.len());
        for (entry, bytes) in parts {
            self.fresh.put(strand, key(strand, entry.summary.last, generation), bytes, &rules.limits);
            named.push(Entry { generation, ..entry });
        }
        Ok(named)
    }
}

/// Refuses what the store would refuse, by the names of its limits.
pub(crate) fn check_size(writes: &[Write], limits: &Limits) -> Result<(), Error> {
    // A condition, and a state, may come beside.
    LimitExceeded::check("COMMIT_ROWS_MAX", limits.commit_rows, writes.len() + 2)?;
    let mut bytes = 0;
    for write in writes {
        let (key, value) = match write {
            Write::Put(key, value) | Write::PutStamped(key, value) => (key.len(), value.len()),
            Write::Delete(key) => (key.len(), 0),
            Write::DeleteRange(range) => (range.start.len(), range.end.as_ref().map_or(0, Bytes::len)),
        };
        LimitExceeded::check("ROW_BYTES_MAX", ROW_BYTES_MAX, value)?;
        bytes += key + value;
    }
    Ok(LimitExceeded::check("COMMIT_BYTES_MAX", limits.commit_bytes, bytes)?)
}
