//! Definitions kept decoded, so that finding thousands of series decodes nothing.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use store::Stamp;

use crate::Definition;

/// A bounded map in two generations: what was found lately is in the younger; when that is full, it becomes the older,
/// and what the older still held is forgotten.
///
/// Invariant: an entry is what the stored row of its stamp says; whether that row is still the newest is for the
/// reader to check.
#[derive(Debug)]
pub(crate) struct Definitions {
    entries_max: usize,
    generations: RwLock<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<u32, Entry>,
    old: HashMap<u32, Entry>,
}

/// A decoded definition and the version of its row.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    pub(crate) definition: Arc<Definition>,
}

impl Definitions {
    /// A cache of at most `entries_max` definitions.
    pub(crate) fn new(entries_max: usize) -> Self {
        Self { entries_max, generations: RwLock::default() }
    }

    /// What is kept for each of these numbers. Cost: one lock, and a look-up each.
    pub(crate) fn get_all(&self, numbers: impl Iterator<Item = u32>) -> Vec<Option<Entry>> {
        let generations = self.generations.read();
        let find = |number| generations.young.get(&number).or_else(|| generations.old.get(&number)).cloned();
        numbers.map(find).collect()
    }

    /// Keeps what was just read or found in the older generation.
    pub(crate) fn put_all(&self, entries: impl IntoIterator<Item = Entry>) {
        let mut generations = self.generations.write();
        for entry in entries {
            if generations.young.len() >= self.entries_max.div_ceil(2) {
                generations.old = std::mem::take(&mut generations.young);
            }
            generations.young.insert(entry.definition.number, entry);
        }
    }
}
