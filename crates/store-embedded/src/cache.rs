//! The cache of hot rows in front of the engine: sharded, bounded by bytes, coherent with the
//! committer. It holds stamped rows, and keys that were found absent: those that were read, or that a condition has named.
//!
//! Invariant: no reader who saw a commit in the engine finds an older row here. The committer puts the rows of a batch *in
//! flight* before the engine shows any of them, and publishes them afterwards. Between the two an entry counts only while
//! the engine still is as it was before the batch ([`Found::InFlight`]), and nothing that was read meanwhile settles: a
//! reader that missed may only insert what it read if nothing in that shard was put in flight or published since
//! ([`Ticket`]).
//!
//! A range that is removed is noted once ([`Ranges`]), not looked for in the shards: an entry carries the moment at which
//! it was last known to be right, and is checked against later removals when it is looked up. A sweep of some entries with
//! each range keeps the notes few.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use hashbrown::HashTable;
use parking_lot::{Mutex, MutexGuard, RwLock};

use super::ranges::Ranges;
use store_contract::incarnation::{Incarnation, incarnation_of_stamp, number_of_stamp};
use store_contract::place::PlaceBytes;
use store_contract::{Row, Stamp, WriteId};

/// A power of two.
const SHARDS: usize = 64;
/// What an entry costs beside its key and value, roughly.
const ENTRY_BYTES: usize = 160;
/// A row larger than this part of a shard is not worth its place.
const SHARE_OF_SHARD_MAX: usize = 8;
/// How many removed ranges are noted; when there are more, everything older is forgotten.
const RANGES_MAX: usize = 4_096;
/// How many entries are checked with each removed range, so that notes of ranges can go: caches of up to half a million
/// entries are through before there are [`RANGES_MAX`].
const SWEPT_AT_ONCE: usize = 128;
/// How often entries are checked for one batch.
const SWEEPS_MAX: usize = 64;
/// The moment of a removal that is in flight: later than any other.
const IN_FLIGHT: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Cache {
    shards: Box<[Mutex<Shard>]>,
    /// Ranges that were removed, or are in flight.
    removed: RwLock<Ranges>,
    /// Grows with each change of `removed`.
    moment: AtomicU64,
    /// What the engine said of its newest write before the batch that is in flight.
    before: AtomicU64,
    sweep: Mutex<Sweep>,
}

#[derive(Debug, Default)]
struct Shard {
    table: HashTable<usize>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    hand: usize,
    bytes: usize,
    bytes_max: usize,
    /// Grows with everything the committer puts in flight or publishes.
    published: u64,
    /// Hashes of the places in flight, one for each.
    in_flight: HashTable<u64>,
    hits: u64,
    misses: u64,
}

#[derive(Debug, Default)]
struct Slot {
    hash: u64,
    /// Place, stamp, write id and value in one piece: a look-up that compares the place has the
    /// value at hand.
    held: Bytes,
    /// No range removed it up to this moment.
    checked: u64,
    place_bytes: u32,
    /// Whether there is a row at the place.
    present: bool,
    used: bool,
    hot: bool,
}

/// How far the sweep is, and the moment at which it began.
#[derive(Debug, Default)]
struct Sweep {
    shard: usize,
    slot: usize,
    began: u64,
}

/// What a reader that missed must show to insert what it then read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    published: u64,
    moment: u64,
}

/// What a look-up found.
#[derive(Debug)]
pub(crate) enum Found {
    /// The row, or that there is none.
    Known(Option<Row>),
    /// What there was before the batch in flight, and what the engine said then of its newest write: while it says so still,
    /// the row is as it was.
    InFlight(Option<Row>, u64),
    /// Nothing: ask the engine. Without a ticket what it says may not be inserted.
    Unknown(Option<Ticket>),
}

/// The index of a place in its shard.
enum Standing {
    Valid(usize),
    /// With what the engine said before.
    InFlight(Option<usize>, u64),
    Absent,
}

/// A row that is about to be copied into the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowRef<'a> {
    pub(crate) stamp: Stamp,
    pub(crate) write_id: WriteId,
    pub(crate) value: &'a [u8],
}

impl<'a> From<&'a Row> for RowRef<'a> {
    fn from(row: &'a Row) -> Self {
        Self { stamp: row.stamp, write_id: row.write_id, value: &row.value }
    }
}

/// The hash by which the cache knows a place.
pub(crate) fn hash_of(place: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(place)
}

impl Cache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let shard = || Mutex::new(Shard { bytes_max: bytes_max / SHARDS, ..Shard::default() });
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            removed: RwLock::default(),
            moment: AtomicU64::new(0),
            before: AtomicU64::new(0),
            sweep: Mutex::default(),
        }
    }

    /// Looks a place up. Cost: one hash, one lock nobody holds for long, no allocation.
    pub(crate) fn look_up(&self, place: &[u8]) -> Found {
        let hash = hash_of(place);
        let Some(mut shard) = self.lock(hash) else { return Found::Unknown(None) };
        match self.standing(&mut shard, hash, place) {
            Standing::Valid(index) => Found::Known(shard.hit(index)),
            Standing::InFlight(Some(index), before) => Found::InFlight(shard.hit(index), before),
            Standing::InFlight(None, _) => {
                shard.misses += 1;
                Found::Unknown(None)
            }
            Standing::Absent => {
                shard.misses += 1;
                let moment = self.moment.load(Ordering::Acquire);
                Found::Unknown(Some(Ticket { published: shard.published, moment }))
            }
        }
    }

    /// The committer's look-up while nothing is in flight: the same, but neither counted nor warming.
    pub(crate) fn peek<T>(&self, hash: u64, place: &[u8], read: impl FnOnce(Option<&Row>) -> T) -> Option<T> {
        let mut shard = self.lock(hash)?;
        let Standing::Valid(index) = self.standing(&mut shard, hash, place) else { return None };
        shard.slots.get(index).map(|slot| read(slot.row().as_ref()))
    }

    /// Whether the committer will know of a place, be it in flight.
    pub(crate) fn holds(&self, place: &[u8]) -> bool {
        let hash = hash_of(place);
        let shard = self.lock(hash);
        shard.is_some_and(|mut shard| !matches!(self.standing(&mut shard, hash, place), Standing::Absent))
    }

    /// Inserts what a reader read after it missed, unless something of it was written meanwhile.
    pub(crate) fn insert(&self, ticket: Ticket, place: &[u8], row: Option<&Row>) {
        let hash = hash_of(place);
        let Some(mut shard) = self.lock(hash) else { return };
        if shard.published != ticket.published {
            return;
        }
        let moment = self.moment.load(Ordering::Acquire);
        // Even if there was nothing since: a range may have been in flight by then.
        let is_removed = self.removed.read().newest(place) > ticket.moment;
        if !is_removed && shard.find(hash, place).is_none() {
            shard.put(hash, place, row.map(RowRef::from), moment);
        }
    }

    /// Puts a batch in flight, before the engine shows any of it; `before` is what the engine says of its newest write. Cost:
    /// a lock for each row, a look into the tree of ranges for each range.
    pub(crate) fn announce(
        &self,
        before: u64,
        ranges: &[(PlaceBytes, PlaceBytes)],
        hashes: impl Iterator<Item = u64>,
    ) {
        self.before.store(before, Ordering::Release);
        self.remove(ranges, true);
        for hash in hashes {
            let Some(mut shard) = self.lock(hash) else { continue };
            shard.published += 1;
            shard.in_flight.insert_unique(hash, hash, |hash| *hash);
        }
    }

    /// Publishes the removal of ranges that were in flight, or may have been removed. To be called before rows of the same
    /// batch are published. Cost: a look into the tree for each, and [`SWEPT_AT_ONCE`] entries.
    pub(crate) fn publish_ranges(&self, ranges: &[(PlaceBytes, PlaceBytes)]) {
        self.remove(ranges, false);
        for _ in ranges.iter().take(SWEEPS_MAX) {
            self.sweep();
        }
    }

    /// Publishes what a durable batch made of a row. Values are copied: a commit's value may be a
    /// slice of a whole request, which the cache must not keep alive.
    pub(crate) fn publish(&self, hash: u64, place: &[u8], row: Option<RowRef<'_>>) {
        let Some(mut shard) = self.lock(hash) else { return };
        shard.land(hash);
        let moment = self.moment.load(Ordering::Acquire);
        match (shard.find(hash, place), row) {
            (Some(index), row) => shard.replace(index, place, row, moment),
            (None, Some(row)) => shard.put(hash, place, Some(row), moment),
            (None, None) => {}
        }
    }

    /// Publishes a row that nobody may have read: it is cached only if what was there before is.
    pub(crate) fn renew(&self, hash: u64, place: &[u8], row: RowRef<'_>) {
        let Some(mut shard) = self.lock(hash) else { return };
        shard.land(hash);
        if let Some(index) = shard.find(hash, place) {
            let moment = self.moment.load(Ordering::Acquire);
            shard.replace(index, place, Some(row), moment);
        }
    }

    /// Publishes that a batch made something unknown of a row.
    pub(crate) fn forget(&self, hash: u64, place: &[u8]) {
        let Some(mut shard) = self.lock(hash) else { return };
        shard.land(hash);
        if let Some(index) = shard.find(hash, place) {
            shard.remove(index);
        }
    }

    /// Forgets everything, while nothing is in flight. Cost: the whole cache.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.published += 1;
            for index in 0..shard.slots.len() {
                shard.remove(index);
            }
        }
    }

    /// Hits, misses and bytes in use.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        self.shards.iter().fold((0, 0, 0), |(hits, misses, bytes), shard| {
            let shard = shard.lock();
            (hits + shard.hits, misses + shard.misses, bytes + shard.bytes as u64)
        })
    }

    fn lock(&self, hash: u64) -> Option<MutexGuard<'_, Shard>> {
        // The table takes its bits from the other end of the hash.
        self.shards.get((hash >> 32) as usize & (SHARDS - 1)).map(Mutex::lock)
    }

    /// The index of a place; what a range removed goes on the way.
    fn standing(&self, shard: &mut Shard, hash: u64, place: &[u8]) -> Standing {
        let mut in_flight = shard.in_flight.find(hash, |other| *other == hash).is_some();
        // Of this batch and no later one: the shard is locked, and `removed` below.
        let mut before = self.before.load(Ordering::Acquire);
        let mut found = shard.find(hash, place);
        if let Some(index) = found
            && let Some(slot) = shard.slots.get_mut(index)
            && slot.checked < self.moment.load(Ordering::Acquire)
        {
            let removed = self.removed.read();
            let now = self.moment.load(Ordering::Acquire);
            match removed.newest(place) {
                IN_FLIGHT => {
                    (in_flight, before) = (true, self.before.load(Ordering::Acquire));
                    // The range in flight hides earlier ones, against which the entry was not checked.
                    found = found.filter(|_| slot.checked + 1 == now);
                }
                newest if newest > slot.checked => {
                    shard.remove(index);
                    found = None;
                }
                _ => slot.checked = now,
            }
        }
        match found {
            _ if in_flight => Standing::InFlight(found, before),
            Some(index) => Standing::Valid(index),
            None => Standing::Absent,
        }
    }

    fn remove(&self, ranges: &[(PlaceBytes, PlaceBytes)], in_flight: bool) {
        if ranges.is_empty() {
            return;
        }
        let mut removed = self.removed.write();
        let now = self.moment.load(Ordering::Acquire) + 1;
        for (start, end) in ranges {
            removed.insert(start, end, if in_flight { IN_FLIGHT } else { now });
        }
        if removed.len() > RANGES_MAX && !in_flight {
            removed.forget_until(now);
        }
        self.moment.store(now, Ordering::Release);
    }

    /// Checks the next entries against the ranges; once it was through all, forgets the ranges that none of them waits for.
    fn sweep(&self) {
        let mut sweep = self.sweep.lock();
        if let Some(shard) = self.shards.get(sweep.shard) {
            let mut shard = shard.lock();
            let first = sweep.slot;
            sweep.slot = shard.slots.len().min(first + SWEPT_AT_ONCE);
            let (removed, now) = (self.removed.read(), self.moment.load(Ordering::Acquire));
            for index in first..sweep.slot {
                let Some(slot) = shard.slots.get_mut(index).filter(|slot| slot.used) else { continue };
                if slot.checked < now && removed.newest(slot.place()) > slot.checked {
                    shard.remove(index);
                } else {
                    slot.checked = now;
                }
            }
            if sweep.slot >= shard.slots.len() {
                (sweep.shard, sweep.slot) = (sweep.shard + 1, 0);
            }
            return;
        }
        self.removed.write().forget_until(sweep.began);
        *sweep = Sweep { began: self.moment.load(Ordering::Acquire), ..Sweep::default() };
    }
}

#[cfg(test)]
impl Cache {
    /// Keeps the committer from putting rows in flight, as a slow machine may, until it is dropped.
    pub(crate) fn hold(&self) -> Vec<MutexGuard<'_, impl Sized>> {
        self.shards.iter().map(Mutex::lock).collect()
    }
}

impl Shard {
    fn hit(&mut self, index: usize) -> Option<Row> {
        self.hits += 1;
        let slot = self.slots.get_mut(index)?;
        slot.hot = true;
        slot.row()
    }

    fn find(&self, hash: u64, place: &[u8]) -> Option<usize> {
        let same = |index: &usize| self.slots.get(*index).is_some_and(|slot| slot.place() == place);
        self.table.find(hash, same).copied()
    }

    /// Notes that a place in flight has landed.
    fn land(&mut self, hash: u64) {
        self.published += 1;
        if let Ok(entry) = self.in_flight.find_entry(hash, |other| *other == hash) {
            entry.remove();
        }
    }

    fn put(&mut self, hash: u64, place: &[u8], row: Option<RowRef<'_>>, checked: u64) {
        let bytes = entry_bytes(place, row);
        if bytes > self.bytes_max / SHARE_OF_SHARD_MAX {
            return;
        }
        self.make_room(bytes);
        let slot = Slot { used: true, checked, ..Slot::new(hash, place, row) };
        let index = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(index) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        self.bytes += bytes;
        let slots = &self.slots;
        let hash_at = |index: &usize| slots.get(*index).map_or(0, |slot| slot.hash);
        self.table.insert_unique(hash, index, hash_at);
    }

    fn replace(&mut self, index: usize, place: &[u8], row: Option<RowRef<'_>>, checked: u64) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        let before = slot.entry_bytes();
        let after = entry_bytes(place, row);
        if after > self.bytes_max / SHARE_OF_SHARD_MAX {
            return self.remove(index);
        }
        *slot = Slot { used: true, hot: slot.hot, checked, ..Slot::new(slot.hash, place, row) };
        self.bytes = self.bytes + after - before;
        self.make_room(0);
    }

    fn remove(&mut self, index: usize) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        let slot = std::mem::take(slot);
        if !slot.used {
            return;
        }
        if let Ok(entry) = self.table.find_entry(slot.hash, |at| *at == index) {
            entry.remove();
        }
        self.bytes -= slot.entry_bytes();
        self.free.push(index);
    }

    /// The clock: what was not looked up since the hand last passed goes.
    fn make_room(&mut self, bytes: usize) {
        while self.bytes + bytes > self.bytes_max && !self.table.is_empty() {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            match self.slots.get_mut(self.hand) {
                Some(slot) if slot.used && slot.hot => slot.hot = false,
                Some(slot) if slot.used => self.remove(self.hand),
                _ => {}
            }
            self.hand += 1;
        }
    }
}

/// Bytes of stamp and write id.
const HEAD_BYTES: usize = 32;

impl Slot {
    fn new(hash: u64, place: &[u8], row: Option<RowRef<'_>>) -> Self {
        let mut held = Vec::with_capacity(place.len() + row.map_or(0, |row| HEAD_BYTES + row.value.len()));
        held.extend_from_slice(place);
        if let Some(row) = row {
            held.extend_from_slice(&incarnation_of_stamp(row.stamp).0.to_le_bytes());
            held.extend_from_slice(&number_of_stamp(row.stamp).to_le_bytes());
            held.extend_from_slice(&row.write_id.0.to_le_bytes());
            held.extend_from_slice(row.value);
        }
        let place_bytes = u32::try_from(place.len()).unwrap_or(u32::MAX);
        let present = row.is_some();
        Self { hash, held: held.into(), checked: 0, place_bytes, present, used: false, hot: false }
    }

    fn place(&self) -> &[u8] {
        self.held.get(..self.place_bytes as usize).expect("a place stands before its value")
    }

    fn row(&self) -> Option<Row> {
        let place_bytes = self.place_bytes as usize;
        let rest = self.held.get(place_bytes..).filter(|_| self.present)?;
        let (incarnation, rest) = rest.split_first_chunk()?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let (write_id, _) = rest.split_first_chunk()?;
        let incarnation = Incarnation(u64::from_le_bytes(*incarnation));
        Some(Row {
            stamp: incarnation.stamp(u64::from_le_bytes(*sequence)),
            write_id: WriteId(u128::from_le_bytes(*write_id)),
            value: self.held.slice(place_bytes + HEAD_BYTES..),
        })
    }

    fn entry_bytes(&self) -> usize {
        let head = if self.present { HEAD_BYTES } else { 0 };
        ENTRY_BYTES + self.held.len() - head
    }
}

fn entry_bytes(place: &[u8], row: Option<RowRef<'_>>) -> usize {
    ENTRY_BYTES + place.len() + row.map_or(0, |row| row.value.len())
}

#[cfg(test)]
mod tests;
