//! What a writer gives, found by its key: each of them once.

use std::collections::HashMap;
use std::hash::Hash;

use smallvec::{SmallVec, smallvec};

/// From so many on, keys are compared by hash.
pub(super) const FEW: usize = 16;

/// Attributes or instances that are given; keys differ.
pub(super) struct Given<'g, T, K, F> {
    all: &'g [T],
    key: F,
    /// The index of each key; none is made for few.
    indexes: Option<HashMap<K, usize>>,
    taken: SmallVec<[bool; 16]>,
}

impl<'g, T, K: Eq + Hash, F: Fn(&'g T) -> K> Given<'g, T, K, F> {
    /// None of them taken. Cost: linear.
    pub(super) fn new(all: &'g [T], key: F) -> Self {
        let indexes =
            (all.len() > FEW).then(|| all.iter().enumerate().map(|(index, one)| (key(one), index)).collect());
        Self { all, key, indexes, taken: smallvec![false; all.len()] }
    }

    /// The one with this key.
    pub(super) fn take(&mut self, wanted: &K) -> Option<&'g T> {
        let index = match &self.indexes {
            None => self.all.iter().position(|one| (self.key)(one) == *wanted),
            Some(indexes) => indexes.get(wanted).copied(),
        }?;
        *self.taken.get_mut(index).expect("there is a flag for each that is given") = true;
        self.all.get(index)
    }

    /// Those that were not taken.
    pub(super) fn left(self) -> impl Iterator<Item = &'g T> {
        self.all.iter().zip(self.taken).filter(|(_, taken)| !taken).map(|(one, _)| one)
    }
}
