//! The rows of a batch, gathered so that they can go to the engine in the order of their places:
//! neighbours in the memtable are then written one after another, which spares most of the misses of
//! the processor's cache that make up half the cost of a write.

//!
//! Removed ranges go first; rows that came before a range around them are left out.

use rocksdb::WriteBatch;

use super::ranges::Ranges;
use store_contract::place::PlaceBytes;

/// The last bytes of a row: its value, apart from what it is stored behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    end: usize,
    bytes: usize,
}

#[derive(Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// How often a row came that lies before the one before it, and once for the first: commits come sorted.
    runs: usize,
    ranges: Vec<(PlaceBytes, PlaceBytes)>,
    /// The same ranges; the moment is how many there were.
    removed: Ranges,
}

/// So many bytes of a key or place are compared without a look at the row.
const PREFIX_BYTES: usize = 16;

/// Rows that come in runs of so many on average are merged, others are sorted anew.
const LONG_RUN: usize = 32;

struct Entry {
    prefix: u128,
    start: usize,
    place_end: usize,
    end: usize,
    /// How many ranges were removed before.
    moment: u64,
    is_put: bool,
}

/// The first bytes of a key or place, which are in the order of all: those with the same may differ behind.
#[inline]
pub(crate) fn prefix_of(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(prefix) => u128::from_be_bytes(*prefix),
        None => {
            let mut prefix = [0; PREFIX_BYTES];
            prefix.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
            u128::from_be_bytes(prefix)
        }
    }
}

impl Rows {
    /// Puts the stored value that `put_value` appends at a place.
    pub(crate) fn put_with(&mut self, place: &[u8], put_value: impl FnOnce(&mut Vec<u8>)) {
        self.push(place, put_value, true);
    }

    /// Removes the row at a place.
    pub(crate) fn delete(&mut self, place: &[u8]) {
        self.push(place, |_| {}, false);
    }

    /// Removes the rows from a place up to another.
    pub(crate) fn delete_range(&mut self, start: PlaceBytes, end: PlaceBytes) {
        self.removed.insert(&start, &end, self.moment() + 1);
        self.ranges.push((start, end));
    }

    /// How many ranges were removed.
    pub(crate) fn moment(&self) -> u64 {
        self.ranges.len() as u64
    }

    /// Whether a place lies in a range that was removed after a moment.
    pub(crate) fn is_removed_since(&self, place: &[u8], moment: u64) -> bool {
        !self.ranges.is_empty() && self.removed.newest(place) > moment
    }

    /// The removed ranges.
    pub(crate) fn ranges(&self) -> &[(PlaceBytes, PlaceBytes)] {
        &self.ranges
    }

    /// The places from one up to another whose rows were written, in order, once [`Rows::write_to`] has sorted them. Cost: two
    /// look-ups.
    pub(crate) fn places_within(&self, start: &[u8], end: &[u8]) -> impl Iterator<Item = &[u8]> + use<'_> {
        let place =
            |entry: &Entry| self.bytes.get(entry.start..entry.place_end).expect("the bytes of an entry");
        let first = self.entries.partition_point(|entry| place(entry) < start);
        let last = self.entries.partition_point(|entry| place(entry) < end);
        // A range that ends before it begins holds nothing.
        let within =
            self.entries.get(first..last.max(first)).expect("points of partition within the entries");
        within.iter().map(place)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Where the last so many bytes of the row lie that was put last.
    pub(crate) fn tail(&self, bytes: usize) -> Tail {
        Tail { end: self.bytes.len(), bytes }
    }

    /// These bytes.
    pub(crate) fn bytes_of(&self, tail: Tail) -> &[u8] {
        self.bytes.get(tail.end - tail.bytes..tail.end).expect("the bytes of a row that was put")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.ranges.is_empty()
    }

    /// Copies everything into an engine write. Of changes of one place the last stays the last.
    pub(crate) fn write_to(&mut self, batch: &mut WriteBatch) {
        let bytes = &self.bytes;
        let place = |entry: &Entry| bytes.get(entry.start..entry.place_end).expect("the bytes of an entry");
        let by_place = |a: &Entry, b: &Entry| a.prefix.cmp(&b.prefix).then_with(|| place(a).cmp(place(b)));
        if self.entries.len() / self.runs.max(1) >= LONG_RUN {
            // Merges what is in order.
            self.entries.sort_by(by_place);
        } else {
            // By their bytes' places among equals: it comes to a stable sort, without the memory that one takes.
            self.entries.sort_unstable_by(|a, b| by_place(a, b).then(a.start.cmp(&b.start)));
        }
        for (start, end) in &self.ranges {
            batch.delete_range(start, end);
        }
        for entry in &self.entries {
            let place = place(entry);
            if self.is_removed_since(place, entry.moment) {
                continue;
            }
            match entry.is_put {
                true => {
                    batch.put(place, bytes.get(entry.place_end..entry.end).expect("the bytes of an entry"))
                }
                false => batch.delete(place),
            }
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.runs = 0;
        self.ranges.clear();
        self.removed.clear();
    }

    #[inline]
    fn push(&mut self, place: &[u8], put_value: impl FnOnce(&mut Vec<u8>), is_put: bool) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(place);
        let place_end = self.bytes.len();
        put_value(&mut self.bytes);
        let prefix = prefix_of(place);
        self.runs += usize::from(self.entries.last().is_none_or(|last| last.prefix > prefix));
        self.entries.push(Entry {
            prefix,
            start,
            place_end,
            end: self.bytes.len(),
            moment: self.moment(),
            is_put,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rocksdb::WriteBatchIterator;

    use super::*;

    /// What a batch leaves under its keys.
    #[derive(Default)]
    struct Left(BTreeMap<Box<[u8]>, Option<Box<[u8]>>>);

    impl WriteBatchIterator for Left {
        fn put(&mut self, key: &[u8], value: &[u8]) {
            self.0.insert(key.into(), Some(value.into()));
        }

        fn delete(&mut self, key: &[u8]) {
            self.0.insert(key.into(), None);
        }
    }

    fn check(place_of: impl Fn(u32) -> u32) {
        let (mut rows, mut batch, mut left) = (Rows::default(), WriteBatch::default(), Left::default());
        let mut expected = Left::default();
        for change in 0..5_000_u32 {
            let (place, value) = ([b'p', u8::try_from(place_of(change)).unwrap()], change.to_be_bytes());
            match change % 3 {
                0 => {
                    rows.delete(&place);
                    expected.delete(&place);
                }
                _ => {
                    rows.put_with(&place, |out| out.extend_from_slice(&value));
                    expected.put(&place, &value);
                }
            }
        }
        rows.write_to(&mut batch);
        batch.iterate(&mut left);
        assert_eq!(left.0, expected.0);
        assert!(left.0.values().any(Option::is_none) && left.0.values().any(Option::is_some));
    }

    #[test]
    fn of_many_changes_of_one_place_the_last_is_left() {
        check(|change| change * 7 % 31);
        // In runs that are in order.
        check(|change| change % 1_000 / 40);
    }
}
