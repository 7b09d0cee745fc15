//! Tables that only grow and are read without a lock: entries stay where they were put, so a
//! reader borrows them for as long as it holds the table.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Entries of the first chunk of a [`Slots`]; each later chunk is twice as long.
const CHUNK_FIRST: usize = 64;
/// 64 * (2^27 - 1) entries are more than any tenant can have terms.
const CHUNKS_MAX: usize = 27;
/// Slots of the first table of a [`Spellings`]; each later table has four times as many.
const TABLE_FIRST: usize = 256;
/// A table's slots tried before the next table is asked.
const PROBES_MAX: usize = 8;
/// 256 * 4^12 slots: beyond it nothing more is remembered.
const TABLES_MAX: usize = 12;

/// Values by small number.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS_MAX],
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { chunks: std::array::from_fn(|_| OnceLock::new()) }
    }
}

impl<T> Slots<T> {
    /// Chunk, its length, and place in it, of entry `index`.
    fn place(index: usize) -> (usize, usize, usize) {
        let shifted = index / CHUNK_FIRST + 1;
        let chunk = shifted.ilog2() as usize;
        let length = CHUNK_FIRST << chunk;
        (chunk, length, index + CHUNK_FIRST - length)
    }

    /// The value at `index`, made and kept if there is none yet. Cost when there is one: two
    /// indexes. `None` if `make` has none, or if `index` is beyond what the table can hold.
    pub(crate) fn get_or_make(&self, index: usize, make: impl FnOnce() -> Option<T>) -> Option<&T> {
        let (chunk, length, at) = Self::place(index);
        let chunk = self.chunks.get(chunk)?;
        let chunk = match chunk.get() {
            Some(chunk) => chunk,
            None => chunk.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(length).collect()),
        };
        let slot = chunk.get(at)?;
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

    /// Remembers a number; the first one told for a name stays.
    pub(crate) fn put(&self, name: &str, number: u32) {
        let hash = self.hash(name);
        for (index, table) in self.tables.iter().enumerate() {
            let length = TABLE_FIRST << (2 * index);
            let table = table.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(length).collect());
            for slot in Self::probes(table, hash) {
                let held = slot.get_or_init(|| Spelling { name: name.into(), number });
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
        let slots = Slots::<String>::default();
        for index in [0, 1, 63, 64, 65, 191, 192, 5000] {
            assert_eq!(slots.get_or_make(index, || None), None);
            let made = slots.get_or_make(index, || Some(index.to_string()));
            assert_eq!(made, Some(&index.to_string()));
            assert_eq!(slots.get_or_make(index, || Some("other".into())), made);
        }
        assert_eq!(slots.get_or_make(usize::MAX / 2, || Some("far".into())), None);
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
        let spellings = Spellings::default();
        for number in 0..5000 {
            assert_eq!(spellings.get(&format!("name{number}")), None);
            spellings.put(&format!("name{number}"), number);
            spellings.put(&format!("name{number}"), number + 1);
        }
        for number in 0..5000 {
            assert_eq!(spellings.get(&format!("name{number}")), Some(number));
        }
        assert_eq!(spellings.get("name"), None);
    }

    #[test]
    fn spellings_are_shared_by_threads() {
        let spellings = Spellings::default();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let spellings = &spellings;
                scope.spawn(move || {
                    for number in 0..2000u32 {
                        spellings.put(
                            &format!("name{}", (number * 7 + thread) % 2000),
                            (number * 7 + thread) % 2000,
                        );
                    }
                });
            }
        });
        for number in 0..2000 {
            assert_eq!(spellings.get(&format!("name{number}")), Some(number));
        }
    }
}
