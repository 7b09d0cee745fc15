//! Rows of a load in memory, sorted: of each key the row that was added last.

use store_contract::{LoadRow, LoadRows};

use crate::rows::prefix_of;

/// Rows in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    chunks: Vec<LoadRows>,
    entries: Vec<Entry>,
}

/// A row, by the first bytes of its key.
#[derive(Clone, Copy, Debug)]
struct Entry {
    prefix: u128,
    chunk: u32,
    row: u32,
}

/// Bytes of memory that rows take until they are sorted, and then.
pub(super) fn memory_bytes(rows: &LoadRows) -> usize {
    rows.memory_bytes().saturating_add(rows.len().saturating_mul(size_of::<Entry>()))
}

impl Sorted {
    /// Sorts rows, given in the order in which they were added. Cost: a sort.
    pub(super) fn new(chunks: Vec<LoadRows>) -> Self {
        let index = |index: usize| u32::try_from(index).expect("rows of a load fit in its memory");
        let mut entries = Vec::with_capacity(chunks.iter().map(LoadRows::len).sum());
        for (chunk, rows) in chunks.iter().enumerate() {
            let entry = |(row, it): (usize, LoadRow<'_>)| Entry {
                prefix: prefix_of(it.key),
                chunk: index(chunk),
                row: index(row),
            };
            entries.extend(rows.rows().enumerate().map(entry));
        }
        let key = |entry: &Entry| row_of(&chunks, entry).key;
        // Of equal keys the last comes first.
        entries.sort_unstable_by(|one, other| {
            let by_key = one.prefix.cmp(&other.prefix).then_with(|| key(one).cmp(key(other)));
            by_key.then_with(|| (other.chunk, other.row).cmp(&(one.chunk, one.row)))
        });
        entries.dedup_by(|next, one| next.prefix == one.prefix && key(next) == key(one));
        Self { chunks, entries }
    }

    /// The row at an index of the order.
    #[inline]
    pub(super) fn row(&self, index: usize) -> Option<LoadRow<'_>> {
        self.entries.get(index).map(|entry| row_of(&self.chunks, entry))
    }

    /// All rows, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = LoadRow<'_>> {
        self.entries.iter().map(|entry| row_of(&self.chunks, entry))
    }

    /// The index of the first row whose key is not before this one.
    pub(super) fn find(&self, key: &[u8]) -> usize {
        self.entries.partition_point(|entry| row_of(&self.chunks, entry).key < key)
    }
}

#[inline]
fn row_of<'a>(chunks: &'a [LoadRows], entry: &Entry) -> LoadRow<'a> {
    let row = chunks.get(entry.chunk as usize).and_then(|rows| rows.row(entry.row as usize));
    row.expect("an entry names a row")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn of_each_key_the_last_row_is_there_in_order(
            chunks in prop::collection::vec(prop::collection::vec("[ab]{0,3}|c{14}[ab]{0,5}", 0..20), 0..6)
        ) {
            let (mut expected, mut packed) = (BTreeMap::new(), Vec::new());
            for (chunk, keys) in chunks.iter().enumerate() {
                let mut rows = LoadRows::default();
                for (row, key) in keys.iter().enumerate() {
                    let value = format!("{chunk} {row}");
                    rows.put(key.as_bytes(), value.as_bytes());
                    expected.insert(key.clone().into_bytes(), value.into_bytes());
                }
                packed.push(rows);
            }
            let sorted = Sorted::new(packed);
            let found: Vec<_> = sorted.rows().map(|row| (row.key.to_vec(), row.value.to_vec())).collect();
            prop_assert_eq!(&found, &expected.into_iter().collect::<Vec<_>>());
            prop_assert!(sorted.row(found.len()).is_none());
            for (index, (key, _)) in found.iter().enumerate() {
                prop_assert_eq!(sorted.find(key), index);
                prop_assert_eq!(sorted.row(index).unwrap().key, key);
            }
        }
    }
}
