//! Tables that only grow and are read without a lock: entries stay where they were put, so a
//! reader borrows them for as long as it holds the table.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::memory::{MemoryUse, text_bytes};

/// Entries of a page of a [`Slots`]: those that are not used take no memory.
const PAGE_SLOTS: usize = 32;
/// Pages of the first chunk; each later chunk has twice as many.
const CHUNK_FIRST: usize = 8;
/// 8 * (2^27 - 1) pages are more than any tenant can have terms.
const CHUNKS_MAX: usize = 27;
/// Slots of the first table of a [`Numbers`]; each later table has four times as many.
const TABLE_FIRST: usize = 64;
/// A table's slots tried before the next table is asked.
const PROBES_MAX: usize = 8;
/// 64 * 4^13 slots: beyond it nothing more is remembered.
const TABLES_MAX: usize = 13;

/// Entries that are made one by one, and stay.
type Page<T> = OnceLock<Box<[OnceLock<T>]>>;

/// Values by small number.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    chunks: [OnceLock<Box<[Page<T>]>>; CHUNKS_MAX],
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { chunks: std::array::from_fn(|_| OnceLock::new()) }
    }
}

/// So many empty entries, which count in `memory`.
fn empty<T>(length: usize, memory: &MemoryUse) -> Box<[OnceLock<T>]> {
    memory.add(text_bytes(length * size_of::<OnceLock<T>>()));
    std::iter::repeat_with(OnceLock::new).take(length).collect()
}

impl<T> Slots<T> {
    /// Chunk, its length, and place in it, of a page.
    fn place(page: usize) -> (usize, usize, usize) {
        let shifted = page / CHUNK_FIRST + 1;
        let chunk = shifted.ilog2() as usize;
        let length = CHUNK_FIRST << chunk;
        (chunk, length, page + CHUNK_FIRST - length)
    }

    /// The value at `index`, made if there is none yet; what the table grows by counts in `memory`. Cost when
    /// there is one: three indexes. `None` if `make` has none, or if `index` is beyond what the table can hold.
    pub(crate) fn get_or_make(
        &self,
        index: usize,
        memory: &MemoryUse,
        make: impl FnOnce() -> Option<T>,
    ) -> Option<&T> {
        let (chunk, length, at) = Self::place(index / PAGE_SLOTS);
        let chunk = self.chunks.get(chunk)?.get_or_init(|| empty(length, memory));
        let page = chunk.get(at)?.get_or_init(|| empty(PAGE_SLOTS, memory));
        let slot = page.get(index % PAGE_SLOTS)?;
        if let Some(value) = slot.get() {
            return Some(value);
        }
        let value = make()?;
        Some(slot.get_or_init(|| value))
    }
}

/// What a table of [`Numbers`] holds.
#[derive(Debug)]
struct Numbered {
    name: Box<str>,
    number: u32,
}

/// Numbers by name: an open-addressed hash table of write-once slots, with larger tables chained
/// behind it as it fills.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Random, so that nobody can choose names that collide.
    seed: u64,
    tables: [OnceLock<Box<[OnceLock<Numbered>]>>; TABLES_MAX],
}

impl Default for Numbers {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0), tables: std::array::from_fn(|_| OnceLock::new()) }
    }
}

impl Numbers {
    #[inline]
    fn hash(&self, name: &str) -> u64 {
        xxh3_64_with_seed(name.as_bytes(), self.seed)
    }

    /// The slots of one table that may hold a name with this hash, in the order to look.
    fn probes<'a>(
        table: &'a [OnceLock<Numbered>],
        hash: u64,
    ) -> impl Iterator<Item = &'a OnceLock<Numbered>> + use<'a> {
        let mask = table.len().saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash will do")]
        let start = hash as usize;
        (0..PROBES_MAX).filter_map(move |step| table.get(start.wrapping_add(step) & mask))
    }

    /// The number remembered for `name`. Cost: one hash, and mostly one comparison.
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        let hash = self.hash(name);
        for table in &self.tables {
            for slot in Self::probes(table.get()?, hash) {
                // Slots fill in the order of the probe: an empty one ends the search.
                let entry = slot.get()?;
                if *entry.name == *name {
                    return Some(entry.number);
                }
            }
        }
        None
    }

    /// Remembers a number; the first one given for a name stays. What the table grows by counts in `memory`.
    pub(crate) fn put(&self, name: &str, number: u32, memory: &MemoryUse) {
        let hash = self.hash(name);
        for (index, table) in self.tables.iter().enumerate() {
            let length = TABLE_FIRST << (2 * index);
            let table = table.get_or_init(|| empty(length, memory));
            for slot in Self::probes(table, hash) {
                let known = slot.get_or_init(|| {
                    memory.add(text_bytes(name.len()));
                    Numbered { name: name.into(), number }
                });
                if *known.name == *name {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_what_was_made_first() {
        let (slots, memory) = (Slots::<String>::default(), MemoryUse::default());
        for index in [0, 1, 63, 64, 65, 191, 192, 5000] {
            assert_eq!(slots.get_or_make(index, &memory, || None), None);
            let made = slots.get_or_make(index, &memory, || Some(index.to_string()));
            assert_eq!(made, Some(&index.to_string()));
            assert_eq!(slots.get_or_make(index, &memory, || Some("other".into())), made);
        }
        assert_eq!(slots.get_or_make(usize::MAX / 2, &memory, || Some("far".into())), None);
    }

    #[test]
    fn a_far_slot_takes_a_page_and_not_all_before_it() {
        let (slots, memory) = (Slots::<[u8; 32]>::default(), MemoryUse::default());
        slots.get_or_make(100_000, &memory, || Some([0; 32])).unwrap();
        assert!(memory.bytes() < 60_000, "{}", memory.bytes());
    }

    #[test]
    fn slots_are_placed_without_gaps() {
        let mut expected = (0, 0);
        for index in 0..1000 {
            let (chunk, length, at) = Slots::<u8>::place(index);
            if expected == (chunk, length) || (chunk, at) == (expected.0 + 1, 0) {
                expected = (chunk, 0);
            }
            assert_eq!((chunk, at), expected, "of {index}");
            assert!(at < length);
            expected = (chunk, at + 1);
        }
    }

    #[test]
    fn numbers_find_what_was_put_and_nothing_else() {
        let (numbers, memory) = (Numbers::default(), MemoryUse::default());
        for number in 0..5000 {
            assert_eq!(numbers.get(&format!("name{number}")), None);
            numbers.put(&format!("name{number}"), number, &memory);
            numbers.put(&format!("name{number}"), number + 1, &memory);
        }
        for number in 0..5000 {
            assert_eq!(numbers.get(&format!("name{number}")), Some(number));
        }
        assert_eq!(numbers.get("name"), None);
    }

    #[test]
    fn numbers_are_shared_by_threads() {
        let (numbers, memory) = (Numbers::default(), MemoryUse::default());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (numbers, memory) = (&numbers, &memory);
                scope.spawn(move || {
                    for number in 0..2000u32 {
                        let number = (number * 7 + thread) % 2000;
                        numbers.put(&format!("name{number}"), number, memory);
                    }
                });
            }
        });
        for number in 0..2000 {
            assert_eq!(numbers.get(&format!("name{number}")), Some(number));
        }
    }
}
