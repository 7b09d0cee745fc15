//! The feed: changes in the order of their commits, and what became of a commit.

use std::sync::atomic::Ordering;

use rocksdb::{Direction, IteratorMode, ReadOptions};

use super::format::{FEED, change_write_id, damaged, parse_change, parse_sequence};
use super::shared::{Shared, engine_failed, family};
use crate::limits::FEED_PAGE_BYTES_MAX;
use crate::{Change, Cursor, Error, ErrorKind, Outcome, Partition, WriteId};

impl Shared {
    /// The cursor behind the newest change.
    pub(crate) fn feed_end(&self) -> Cursor {
        self.incarnation.cursor(self.sequence.load(Ordering::Acquire))
    }

    /// A cursor that a row of this store holds, as one of this incarnation.
    pub(crate) fn adopt_cursor(&self, cursor: Cursor) -> Cursor {
        self.incarnation.adopt(cursor, self.sequence.load(Ordering::Acquire))
    }

    /// Changes after `cursor`, oldest first. May block on the disk.
    pub(crate) fn read_feed(&self, cursor: Cursor, changes_max: usize) -> Result<Vec<Change>, Error> {
        let engine = self.engine()?;
        let end = self.sequence.load(Ordering::Acquire);
        let next = self.incarnation.seen_by(cursor, end)?.saturating_add(1);
        if next < self.feed_first.load(Ordering::Acquire) {
            return Err(too_old());
        }
        // What is shown but not yet acknowledged comes with the next call.
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(end.saturating_add(1).to_be_bytes());
        let start = next.to_be_bytes();
        let rows = engine.iterator_cf_opt(
            family(&engine, FEED),
            options,
            IteratorMode::From(&start, Direction::Forward),
        );
        let mut changes: Vec<Change> = Vec::new();
        let mut bytes = 0;
        for row in rows.take(changes_max) {
            let (key, value) = row.map_err(|error| engine_failed(self.path(), "read the feed of", error))?;
            let change = self.parse_change(&key, &value)?;
            if changes.is_empty() && change.number != next {
                return Err(too_old()); // Trimmed since we looked.
            }
            bytes += value.len();
            changes.push(change);
            if bytes >= FEED_PAGE_BYTES_MAX {
                break;
            }
        }
        Ok(changes)
    }

    /// Looks for a commit in the feed, newest first. May block on the disk.
    pub(crate) fn find_write(&self, partition: &Partition, write_id: WriteId) -> Result<Outcome, Error> {
        let engine = self.engine()?;
        let mut oldest = u64::MAX;
        for row in engine.iterator_cf(family(&engine, FEED), IteratorMode::End) {
            let (key, value) = row.map_err(|error| engine_failed(self.path(), "read the feed of", error))?;
            oldest = parse_sequence(&key).ok_or_else(|| damaged("the feed"))?;
            if change_write_id(&value) != Some(write_id) {
                continue;
            }
            if self.parse_change(&key, &value)?.partition == *partition {
                return Ok(Outcome::Committed(self.incarnation.stamp(oldest)));
            }
        }
        if oldest == 1 || self.sequence.load(Ordering::Acquire) == 0 {
            return Ok(Outcome::NotCommitted);
        }
        Err(Error::new(ErrorKind::Unknown, "resolve a write: the feed does not reach back so far"))
    }

    fn parse_change(&self, key: &[u8], value: &[u8]) -> Result<Change, Error> {
        let context = (self.incarnation, &self.spaces);
        let change = parse_sequence(key).and_then(|number| parse_change(number, value, context));
        change.ok_or_else(|| damaged("the feed"))
    }
}

fn too_old() -> Error {
    Error::new(ErrorKind::TooLarge, "read the feed: the cursor is older than what is kept")
}
