//! Tables that only grow and are read without a lock: entries stay where they were put, so a
//! reader borrows them for as long as it holds the table.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::weight::{Weight, text_bytes};

/// Entries of a page of a [`Slots`]: those that are not used take no memory.
const PAGE_SLOTS: usize = 32;
/// Pages of the first chunk; each later chunk has twice as many.
const CHUNK_FIRST: usize = 8;
/// 8 * (2^27 - 1) pages are more than any tenant can have terms.
const CHUNKS_MAX: usize = 27;
/// Slots of the first table of a [`Spellings`]; each later table has four times as many.
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

/// So many empty entries, which count in `weight`.
fn empty<T>(length: usize, weight: &Weight) -> Box<[OnceLock<T>]> {
    weight.add(text_bytes(length * size_of::<OnceLock<T>>()));
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

    /// The value at `index`, made and kept if there is none yet; what the table grows by counts in `weight`. Cost when
    /// there is one: three indexes. `None` if `make` has none, or if `index` is beyond what the table can hold.
    pub(crate) fn get_or_make(
        &self,
        index: usize,
        weight: &Weight,
        make: impl FnOnce() -> Option<T>,
    ) -> Option<&T> {
        let (chunk, length, at) = Self::place(index / PAGE_SLOTS);
        let chunk = self.chunks.get(chunk)?.get_or_init(|| empty(length, weight));
        let page = chunk.get(at)?.get_or_init(|| empty(PAGE_SLOTS, weight));
        let slot = page.get(index % PAGE_SLOTS)?;
        if let Some(value) = slot.get() {
            return Some(value);
        }
        let value = make()?;
        Some(slot.get_or_init(|| value))
    }
}

/// What a table of [`Spellings`] holds.
#[derive(Debug)]
struct Spelling {
    name: Box<str>,
    number: u32,
}

/// Numbers by name: an open-addressed hash table of write-once slots, with larger tables chained
/// behind it as it fills.
#[derive(Debug)]
pub(crate) struct Spellings {
    /// Random, so that nobody can choose names that collide.
    seed: u64,
    tables: [OnceLock<Box<[OnceLock<Spelling>]>>; TABLES_MAX],
}

impl Default for Spellings {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0), tables: std::array::from_fn(|_| OnceLock::new()) }
    }
}

impl Spellings {
    fn hash(&self, name: &str) -> u64 {
        xxh3_64_with_seed(name.as_bytes(), self.seed)
    }

    /// The slots of one table that may hold a name with this hash, in the order to look.
    fn probes<'a>(
        table: &'a [OnceLock<Spelling>],
        hash: u64,
    ) -> impl Iterator<Item = &'a OnceLock<Spelling>> + use<'a> {
        let mask = table.len().saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash will do")]
        let start = hash as usize;
        (0..PROBES_MAX).filter_map(move |step| table.get(start.wrapping_add(step) & mask))
    }

    /// The number remembered for `name`. Cost: one hash, and mostly one comparison.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        let hash = self.hash(name);
        for table in &self.tables {
            for slot in Self::probes(table.get()?, hash) {
                // Slots fill in the order of the probe: an empty one ends the search.
                let spelling = slot.get()?;
                if *spelling.name == *name {
                    return Some(spelling.number);
                }
            }
        }
        None
    }

    /// Remembers a number; the first one given for a name stays. What the table grows by counts in `weight`.
    pub(crate) fn put(&self, name: &str, number: u32, weight: &Weight) {
        let hash = self.hash(name);
        for (index, table) in self.tables.iter().enumerate() {
            let length = TABLE_FIRST << (2 * index);
            let table = table.get_or_init(|| empty(length, weight));
            for slot in Self::probes(table, hash) {
                let held = slot.get_or_init(|| {
                    weight.add(text_bytes(name.len()));
                    Spelling { name: name.into(), number }
                });
                if *held.name == *name {
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
        let (slots, weight) = (Slots::<String>::default(), Weight::default());
        for index in [0, 1, 63, 64, 65, 191, 192, 5000] {
            assert_eq!(slots.get_or_make(index, &weight, || None), None);
            let made = slots.get_or_make(index, &weight, || Some(index.to_string()));
            assert_eq!(made, Some(&index.to_string()));
            assert_eq!(slots.get_or_make(index, &weight, || Some("other".into())), made);
        }
        assert_eq!(slots.get_or_make(usize::MAX / 2, &weight, || Some("far".into())), None);
    }

    #[test]
    fn a_far_slot_takes_a_page_and_not_all_before_it() {
        let (slots, weight) = (Slots::<[u8; 32]>::default(), Weight::default());
        slots.get_or_make(100_000, &weight, || Some([0; 32])).unwrap();
        assert!(weight.bytes() < 60_000, "{}", weight.bytes());
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
    fn spellings_find_what_was_put_and_nothing_else() {
        let (spellings, weight) = (Spellings::default(), Weight::default());
        for number in 0..5000 {
            assert_eq!(spellings.get(&format!("name{number}")), None);
            spellings.put(&format!("name{number}"), number, &weight);
            spellings.put(&format!("name{number}"), number + 1, &weight);
        }
        for number in 0..5000 {
            assert_eq!(spellings.get(&format!("name{number}")), Some(number));
        }
        assert_eq!(spellings.get("name"), None);
    }

    #[test]
    fn spellings_are_shared_by_threads() {
        let (spellings, weight) = (Spellings::default(), Weight::default());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (spellings, weight) = (&spellings, &weight);
                scope.spawn(move || {
                    for number in 0..2000u32 {
                        let number = (number * 7 + thread) % 2000;
                        spellings.put(&format!("name{number}"), number, weight);
                    }
                });
            }
        });
        for number in 0..2000 {
            assert_eq!(spellings.get(&format!("name{number}")), Some(number));
        }
    }
}
