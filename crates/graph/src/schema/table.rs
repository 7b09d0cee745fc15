//! The parts of one kind, found by number and by name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::parts::{EdgeLabel, IndexLabel, PropertyKey, VertexLabel};

/// Numbers below this are positions; those beyond, which only a backup brings, are searched for.
const NEAR_MAX: u32 = 1 << 16;

/// What a table finds its entries by.
pub(super) trait Numbered {
    fn number(&self) -> u32;
    fn name(&self) -> &Arc<str>;
}

macro_rules! numbered {
    ($($part:ty)+) => { $(
        impl Numbered for $part {
            fn number(&self) -> u32 {
                self.id.0
            }

            fn name(&self) -> &Arc<str> {
                &self.name
            }
        }
    )+ };
}
numbered!(PropertyKey VertexLabel EdgeLabel IndexLabel);

/// Parts by number and by name.
///
/// Invariant: `by_name` has the name and number of each part in `near` and `far`, and nothing else.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    near: Vec<Option<Arc<T>>>,
    far: BTreeMap<u32, Arc<T>>,
    by_name: HashMap<Arc<str>, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { near: Vec::new(), far: BTreeMap::new(), by_name: HashMap::new() }
    }
}

impl<T: Numbered> Table<T> {
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&Arc<T>> {
        if number < NEAR_MAX { self.near.get(number as usize)?.as_ref() } else { self.far.get(&number) }
    }

    pub(super) fn named(&self, name: &str) -> Option<&Arc<T>> {
        self.get(*self.by_name.get(name)?)
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// All, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.near.iter().flatten().chain(self.far.values())
    }

    /// Puts a part in, for the one of its number, if there is one; `false` if another has its name.
    #[must_use]
    pub(super) fn put(&mut self, part: Arc<T>) -> bool {
        let number = part.number();
        if self.by_name.get(part.name()).is_some_and(|other| *other != number) {
            return false;
        }
        self.remove(number);
        self.by_name.insert(Arc::clone(part.name()), number);
        if number >= NEAR_MAX {
            self.far.insert(number, part);
            return true;
        }
        let position = number as usize;
        if self.near.len() <= position {
            self.near.resize_with(position + 1, || None);
        }
        *self.near.get_mut(position).expect("it was made as long") = Some(part);
        true
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Arc<T>> {
        let removed = if number < NEAR_MAX {
            self.near.get_mut(number as usize)?.take()?
        } else {
            self.far.remove(&number)?
        };
        self.by_name.remove(removed.name());
        Some(removed)
    }
}
