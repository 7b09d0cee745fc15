//! What the engine in memory does to its rows and its feed under its lock.

use std::ops::Bound;
use std::time::Duration;

use bytes::Bytes;
use store_contract::fence::{epoch_of, number_of_epoch};
use store_contract::place::{PlaceBytes, bounds, place};

use super::{Recorded, State};
use crate::{Append, Epoch, Error, ErrorKind, FeedOptions, Partition, Row, Stamp, Tenant, Write, WriteId};

impl State {
    pub(super) fn open(&self) -> Result<(), Error> {
        if self.closed {
            return Err(Error::new(ErrorKind::Unavailable, "use a store that was closed"));
        }
        Ok(())
    }

    /// Refuses what would be done in a partition of a tenant that was removed.
    pub(super) fn check(&self, partition: &Partition) -> Result<(), Error> {
        self.open()?;
        match self.ended_of(partition) {
            Some(ended) => Err(ended.removed()),
            None => Ok(()),
        }
    }

    /// The tenant of a partition, or that of which it is a part, if it has ended.
    pub(super) fn ended_of<'a>(&self, partition: &'a Partition) -> Option<&'a Tenant> {
        let tenant = &partition.tenant;
        tenant.within().into_iter().chain([tenant]).find(|tenant| self.ended.contains(&tenant.number()))
    }

    pub(super) fn write(&mut self, partition: &Partition, stamp: Stamp, write_id: WriteId, write: Write) {
        match write {
            Write::Put(key, value) => self.put(place(partition, &key), plain(value)),
            Write::PutStamped(key, value) => {
                self.put(place(partition, &key), Row { stamp, write_id, value });
            }
            Write::Delete(key) => {
                let place = place(partition, &key);
                self.snapshots.note(&place, &self.rows);
                self.rows.remove(&place);
            }
            Write::DeleteRange(range) => {
                let Some((start, end)) = bounds(partition, &range) else { return };
                if !self.snapshots.is_empty() {
                    let gone =
                        self.rows.range::<[u8], _>((Bound::Included(&start[..]), Bound::Excluded(&end[..])));
                    for (place, _) in gone {
                        self.snapshots.note(place, &self.rows);
                    }
                }
                let mut tail = self.rows.split_off(&start);
                let mut behind = tail.split_off(&end);
                self.rows.append(&mut behind);
            }
        }
    }

    /// The epoch of a partition.
    pub(super) fn epoch(&self, partition: &Partition) -> Epoch {
        self.epochs.get(partition).copied().unwrap_or(epoch_of(0))
    }

    /// Puts rows of an append space; what was put in a newer epoch stays.
    pub(super) fn append(&mut self, append: &Append, epoch: Epoch) {
        for (key, value) in &append.rows {
            let place = place(&append.partition, key);
            let is_gone = self.removed.get(&place).is_some_and(|bound| number_of_epoch(epoch) < *bound);
            if !is_gone
                && self.appended.get(&place).is_none_or(|put| number_of_epoch(*put) <= number_of_epoch(epoch))
            {
                self.appended.insert(place.clone(), epoch);
                self.put(place, plain(value.clone()));
            }
        }
    }

    /// Removes a row of an append space if it was put before this epoch.
    pub(super) fn remove(&mut self, place: &PlaceBytes, before: u64) {
        if self.appended.get(place).is_some_and(|put| number_of_epoch(*put) < before) {
            self.appended.remove(place);
            self.snapshots.note(place, &self.rows);
            self.rows.remove(place);
        }
    }

    fn put(&mut self, place: PlaceBytes, row: Row) {
        self.snapshots.note(&place, &self.rows);
        self.rows.insert(place, row);
    }

    /// Takes a commit into the feed, and takes out what is no longer needed.
    pub(super) fn record(&mut self, recorded: Recorded, options: FeedOptions) {
        let FeedOptions { bytes_min, age_min, bytes_max } = options;
        let (now, slowest) = (recorded.at, self.readers.values().copied().min().unwrap_or(u64::MAX));
        self.feed_bytes += recorded.bytes;
        self.feed.push_back(recorded);
        while let Some(Recorded { number, bytes, at, .. }) = self.feed.front() {
            let age = u64::try_from(now.0.saturating_sub(at.0)).unwrap_or(0);
            let is_needed = *number > slowest
                || Duration::from_micros(age) < age_min
                || self.feed_bytes < bytes_min.saturating_add(*bytes);
            if is_needed && self.feed_bytes <= bytes_max {
                break;
            }
            self.feed_bytes -= bytes;
            self.feed.pop_front();
        }
    }

    /// The sequence of the oldest change that is stored (or would be the first).
    pub(super) fn feed_first(&self) -> u64 {
        self.feed.front().map_or(self.sequence + 1, |recorded| recorded.number)
    }
}

fn plain(value: Bytes) -> Row {
    Row { stamp: Stamp::default(), write_id: WriteId::default(), value }
}
