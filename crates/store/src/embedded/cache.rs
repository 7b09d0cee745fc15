//! The cache of hot rows in front of the engine: sharded, bounded by bytes, coherent with the
//! committer. It holds stamped rows, and keys that were found absent.
//!
//! Invariant: an entry is what the engine holds durably, or what it held until the batch that is
//! being written; the committer publishes a batch here before it acknowledges it. A reader that
//! missed may only insert what it read if nothing was published in that shard meanwhile
//! ([`Ticket`]), so no stale row can settle.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use hashbrown::HashTable;
use parking_lot::Mutex;

use crate::{Row, Stamp, WriteId};

/// A power of two.
const SHARDS: usize = 64;
/// What an entry costs beside its key and value, roughly.
const ENTRY_BYTES: usize = 160;
/// A row larger than this part of a shard is not worth its place.
const SHARE_OF_SHARD_MAX: usize = 8;

#[derive(Debug)]
pub(crate) struct Cache {
    shards: Box<[Mutex<Shard>]>,
    /// One bit for each kind of row that point reads or conditions ever asked for.
    kinds: Box<[AtomicU64]>,
}

#[derive(Debug, Default)]
struct Shard {
    table: HashTable<usize>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    hand: usize,
    bytes: usize,
    bytes_max: usize,
    /// Grows with everything the committer publishes.
    published: u64,
    hits: u64,
    misses: u64,
}

#[derive(Debug, Default)]
struct Slot {
    hash: u64,
    /// Place, stamp, write id and value in one piece: a look-up that compares the place has the
    /// value at hand.
    held: Bytes,
    place_bytes: u32,
    /// Whether there is a row at the place.
    present: bool,
    used: bool,
    hot: bool,
}

/// What a reader that missed must show to insert what it then read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

/// What a look-up found.
#[derive(Debug)]
pub(crate) enum Found {
    /// The row, or that there is none.
    Known(Option<Row>),
    /// Nothing: ask the engine.
    Unknown(Ticket),
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
            kinds: (0..=u16::MAX / 64).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Looks a place up. Cost: one hash, one lock nobody holds for long, no allocation.
    pub(crate) fn look_up(&self, place: &[u8]) -> Found {
        let hash = hash_of(place);
        let Some(shard) = self.shard(hash) else { return Found::Unknown(Ticket(0)) };
        let mut shard = shard.lock();
        match shard.find(hash, place) {
            Some(index) => {
                shard.hits += 1;
                let slot = shard.slots.get_mut(index);
                Found::Known(slot.and_then(|slot| {
                    slot.hot = true;
                    slot.row()
                }))
            }
            None => {
                shard.misses += 1;
                Found::Unknown(Ticket(shard.published))
            }
        }
    }

    /// The committer's look-up: the same, but neither counted nor warming.
    pub(crate) fn peek<T>(&self, hash: u64, place: &[u8], read: impl FnOnce(Option<&Row>) -> T) -> Option<T> {
        let shard = self.shard(hash)?.lock();
        let index = shard.find(hash, place)?;
        shard.slots.get(index).map(|slot| read(slot.row().as_ref()))
    }

    /// Inserts what a reader read after it missed, unless something was published meanwhile.
    pub(crate) fn insert(&self, ticket: Ticket, place: &[u8], row: Option<&Row>) {
        let hash = hash_of(place);
        let Some(shard) = self.shard(hash) else { return };
        let mut shard = shard.lock();
        if shard.published == ticket.0 && shard.find(hash, place).is_none() {
            shard.put(hash, place, row);
        }
    }

    /// Publishes what a durable batch made of a row. Values are copied: a commit's value may be a
    /// slice of a whole request, which the cache must not keep alive.
    pub(crate) fn publish(&self, hash: u64, place: &[u8], row: Option<&Row>) {
        let Some(shard) = self.shard(hash) else { return };
        let mut shard = shard.lock();
        shard.published += 1;
        match (shard.find(hash, place), row) {
            (Some(index), row) => shard.replace(index, place, row),
            (None, Some(row)) => shard.put(hash, place, Some(row)),
            (None, None) => {}
        }
    }

    /// Publishes that a durable batch made something unknown of a row.
    pub(crate) fn forget(&self, hash: u64, place: &[u8]) {
        let Some(shard) = self.shard(hash) else { return };
        let mut shard = shard.lock();
        shard.published += 1;
        if let Some(index) = shard.find(hash, place) {
            shard.remove(index);
        }
    }

    /// Publishes that a durable batch changed unknown rows between two places. Cost: the whole cache.
    pub(crate) fn forget_range(&self, start: &[u8], end: &[u8]) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.published += 1;
            for index in 0..shard.slots.len() {
                let Some(slot) = shard.slots.get(index) else { continue };
                if slot.used && start <= slot.place() && slot.place() < end {
                    shard.remove(index);
                }
            }
        }
    }

    /// Notes that point reads or conditions ask for rows of this kind: from now on the committer
    /// publishes them. Before a reader reads, so that a batch written later knows of it.
    pub(crate) fn mark(&self, kind: u16) {
        if let Some(word) = self.kinds.get(usize::from(kind / 64)) {
            let bit = 1 << (kind % 64);
            if word.load(Ordering::SeqCst) & bit == 0 {
                word.fetch_or(bit, Ordering::SeqCst);
            }
        }
    }

    /// Whether rows of this kind are asked for one by one.
    pub(crate) fn is_marked(&self, kind: u16) -> bool {
        let word = self.kinds.get(usize::from(kind / 64));
        word.is_some_and(|word| word.load(Ordering::SeqCst) & (1 << (kind % 64)) != 0)
    }

    /// Hits, misses and bytes held.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        self.shards.iter().fold((0, 0, 0), |(hits, misses, bytes), shard| {
            let shard = shard.lock();
            (hits + shard.hits, misses + shard.misses, bytes + shard.bytes as u64)
        })
    }

    fn shard(&self, hash: u64) -> Option<&Mutex<Shard>> {
        // The table takes its bits from the other end of the hash.
        self.shards.get((hash >> 32) as usize & (SHARDS - 1))
    }
}

impl Shard {
    fn find(&self, hash: u64, place: &[u8]) -> Option<usize> {
        let same = |index: &usize| self.slots.get(*index).is_some_and(|slot| slot.place() == place);
        self.table.find(hash, same).copied()
    }

    fn put(&mut self, hash: u64, place: &[u8], row: Option<&Row>) {
        let bytes = entry_bytes(place, row);
        if bytes > self.bytes_max / SHARE_OF_SHARD_MAX {
            return;
        }
        self.make_room(bytes);
        let slot = Slot { used: true, ..Slot::new(hash, place, row) };
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

    fn replace(&mut self, index: usize, place: &[u8], row: Option<&Row>) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        let before = slot.entry_bytes();
        let after = entry_bytes(place, row);
        if after > self.bytes_max / SHARE_OF_SHARD_MAX {
            return self.remove(index);
        }
        *slot = Slot { used: true, hot: slot.hot, ..Slot::new(slot.hash, place, row) };
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
const HEAD_BYTES: usize = 24;

impl Slot {
    fn new(hash: u64, place: &[u8], row: Option<&Row>) -> Self {
        let mut held = Vec::with_capacity(place.len() + row.map_or(0, |row| HEAD_BYTES + row.value.len()));
        held.extend_from_slice(place);
        if let Some(row) = row {
            held.extend_from_slice(&row.stamp.0.to_le_bytes());
            held.extend_from_slice(&row.write_id.0.to_le_bytes());
            held.extend_from_slice(&row.value);
        }
        let place_bytes = u32::try_from(place.len()).unwrap_or(u32::MAX);
        Self { hash, held: held.into(), place_bytes, present: row.is_some(), used: false, hot: false }
    }

    fn place(&self) -> &[u8] {
        self.held.get(..self.place_bytes as usize).unwrap_or_default()
    }

    fn row(&self) -> Option<Row> {
        let place_bytes = self.place_bytes as usize;
        let rest = self.held.get(place_bytes..).filter(|_| self.present)?;
        let (stamp, rest) = rest.split_first_chunk()?;
        let (write_id, _) = rest.split_first_chunk()?;
        Some(Row {
            stamp: Stamp(u64::from_le_bytes(*stamp)),
            write_id: WriteId(u128::from_le_bytes(*write_id)),
            value: self.held.slice(place_bytes + HEAD_BYTES..),
        })
    }

    fn entry_bytes(&self) -> usize {
        let head = if self.present { HEAD_BYTES } else { 0 };
        ENTRY_BYTES + self.held.len() - head
    }
}

fn entry_bytes(place: &[u8], row: Option<&Row>) -> usize {
    ENTRY_BYTES + place.len() + row.map_or(0, |row| row.value.len())
}

#[cfg(test)]
mod tests;
