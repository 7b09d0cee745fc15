//! The feed: changes in the order of their commits, and what became of a commit.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use rocksdb::{Direction, IteratorMode, ReadOptions};

use super::failure::{engine_failed, family};
use super::format::{
    FEED, change_tenant, change_write_id, damaged, find_hidden, is_hidden, parse_change, parse_sequence,
    sequence_of_key,
};
use super::shared::Shared;
use store_contract::limits::FEED_PAGE_BYTES_MAX;
use store_contract::{Change, Cursor, Error, ErrorKind, FeedPage, Outcome, Partition, WriteId};

/// Rows of the feed that are looked at for one page, whether they are part of it or not.
const ROWS_LOOKED_AT_MAX: usize = 65_536;

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
    pub(crate) fn read_feed(&self, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        let engine = self.engine()?;
        // What is shown but not yet acknowledged comes with the next call.
        let end = self.sequence.load(Ordering::Acquire);
        let seen = self.incarnation.seen_by(cursor, end)?;
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(end.saturating_add(1).to_be_bytes());
        let start = seen.saturating_add(1).to_be_bytes();
        let mode = IteratorMode::From(&start, Direction::Forward);
        let rows = engine.iterator_cf_opt(family(&engine, FEED), options, mode);
        // Behind the iterator, which goes on seeing what is trimmed from now on.
        if seen.saturating_add(1) < self.feed_first.load(Ordering::Acquire) {
            return Err(too_old());
        }
        let (mut changes, mut looked_upto, mut bytes) = (Vec::new(), seen, 0);
        let mut upto = end;
        for (looked_at, row) in rows.enumerate() {
            if changes.len() >= changes_max || bytes >= FEED_PAGE_BYTES_MAX || looked_at >= ROWS_LOOKED_AT_MAX
            {
                upto = looked_upto;
                break;
            }
            let (key, value) = row.map_err(|error| engine_failed(self.path(), "read the feed of", error))?;
            looked_upto = sequence_of_key(&key).ok_or_else(|| damaged("the feed"))?;
            if is_hidden(&key) {
                continue;
            }
            bytes += value.len();
            changes.extend(self.parse_change(&key, value)?);
        }
        Ok(FeedPage { changes, cursor: self.incarnation.cursor(upto) })
    }

    /// Looks for a commit in the feed, newest first. May block on the disk.
    pub(crate) fn find_write(&self, partition: &Partition, write_id: WriteId) -> Result<Outcome, Error> {
        let engine = self.engine()?;
        let committed = |sequence| Ok(Outcome::Committed(self.incarnation.stamp(sequence)));
        for row in engine.iterator_cf(family(&engine, FEED), IteratorMode::End) {
            let (key, value) = row.map_err(|error| engine_failed(self.path(), "read the feed of", error))?;
            if is_hidden(&key) {
                let found = find_hidden(&value, partition, write_id).ok_or_else(|| damaged("the feed"))?;
                if let Some(sequence) = found {
                    return committed(sequence);
                }
            } else if change_write_id(&value) == Some(write_id) {
                let change = self.parse_change(&key, value)?;
                if let Some(change) = change.filter(|change| change.partition == *partition) {
                    return committed(change.number);
                }
            }
        }
        if self.feed_first.load(Ordering::Acquire) <= 1 {
            return Ok(Outcome::NotCommitted);
        }
        Err(Error::new(ErrorKind::Unknown, "resolve a write: the feed does not reach back so far"))
    }

    /// The change, unless it is of a tenant that was removed.
    fn parse_change(&self, key: &[u8], value: Box<[u8]>) -> Result<Option<Change>, Error> {
        let context = (self.incarnation, &self.spaces, &self.models);
        let value = Bytes::from(value);
        let tenant = change_tenant(&value).ok_or_else(|| damaged("the feed"))?;
        let Some(tenant) = self.lives.of_number(tenant) else { return Ok(None) };
        let change = parse_sequence(key).and_then(|number| parse_change(number, &value, tenant, context));
        change.map(Some).ok_or_else(|| damaged("the feed"))
    }
}

fn too_old() -> Error {
    Error::new(
        ErrorKind::TooLarge,
        "read the feed: the cursor is older than the oldest change that is stored",
    )
}
