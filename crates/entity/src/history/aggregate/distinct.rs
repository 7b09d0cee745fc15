//! How many different keys there are.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// A set of keys: an open table with linear probing, never more than half full, whose memory stays when it is emptied.
///
/// Invariant: there is a free slot: at least as many as keys.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// Keys; [`FREE`] where there is none. As many as a power of two.
    slots: Vec<u64>,
    /// What a hash is shifted by to be a place.
    shift: u32,
    mix: Mix,
    len: usize,
    /// Whether [`FREE`] itself is in the set.
    has_free: bool,
    /// How many keys there were before it was emptied: there may be as many again.
    expected: usize,
}

/// A NaN that no value is; the hash of a text may be.
const FREE: u64 = u64::MAX;

const SLOTS_MIN: usize = 64;

/// Makes hashes of keys. By random numbers, for keys are values that somebody chose: were they known, so were values that all
/// fall on one place.
#[derive(Clone, Copy, Debug)]
struct Mix {
    mask: u64,
    factor: u64,
}

impl Default for Mix {
    /// That of this process.
    fn default() -> Self {
        static MIX: LazyLock<Mix> = LazyLock::new(|| {
            let random = RandomState::new();
            Mix { mask: random.hash_one(0), factor: random.hash_one(1) | 1 }
        });
        *MIX
    }
}

impl Mix {
    /// Keys that differ anywhere differ in the high bits. Cost: a multiplication.
    #[inline]
    fn hash(self, key: u64) -> u64 {
        let (low, high) = (key ^ self.mask).carrying_mul(self.factor, 0);
        low ^ high
    }
}

impl Distinct {
    /// Empties it. Cost: the next keys find as many slots as there were keys to be filled anew.
    pub(super) fn clear(&mut self) {
        if self.len > 0 {
            self.slots.clear();
            self.expected = self.len;
        }
        (self.len, self.has_free) = (0, false);
    }

    pub(super) fn len(&self) -> usize {
        self.len + usize::from(self.has_free)
    }

    /// Makes room for so many keys more. Cost: where they do not fit, all are inserted anew.
    pub(super) fn reserve(&mut self, more: usize) {
        let keys = self.len + more;
        if 2 * keys <= self.slots.len() {
            return;
        }
        let slots = (2 * keys.max(self.expected)).next_power_of_two().max(SLOTS_MIN);
        self.shift = u64::BITS - slots.trailing_zeros();
        if self.len == 0 {
            self.slots.clear();
            self.slots.resize(slots, FREE);
            return;
        }
        let keys = std::mem::replace(&mut self.slots, vec![FREE; slots]);
        self.len = 0;
        keys.into_iter().filter(|key| *key != FREE).for_each(|key| self.insert(key));
    }

    /// Puts a key, for which there must be room. Cost: some nanoseconds while the table lies in the processor's cache.
    #[inline]
    pub(super) fn insert(&mut self, key: u64) {
        if key == FREE {
            self.has_free = true;
            return;
        }
        debug_assert!(2 * self.len < self.slots.len(), "room was made");
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = usize::try_from(self.mix.hash(key) >> self.shift).expect("below the number of slots");
        while let Some(slot) = self.slots.get_mut(at & mask) {
            if *slot == FREE {
                *slot = key;
                self.len += 1;
                return;
            }
            if *slot == key {
                return;
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Multiples of what the golden ratio makes one: multiplied with it alone, all would fall on the first places.
    #[test]
    fn keys_cannot_be_chosen_to_fall_on_one_place() {
        let mix = Mix::default();
        let places: HashSet<u64> =
            (0..4096_u64).map(|key| mix.hash(key.wrapping_mul(0xf1de_83e1_9937_733d)) >> 51).collect();
        assert!(places.len() > 1024, "{} places", places.len());
    }

    proptest! {
        #[test]
        fn as_many_as_in_a_set(
            rounds in prop::collection::vec(
                prop::collection::vec(
                    prop::collection::vec(
                        prop_oneof![any::<u64>(), 0_u64..9, Just(FREE), (0..50_u64).prop_map(|high| high << 58)],
                        0..300,
                    ),
                    0..4,
                ),
                1..4,
            ),
        ) {
            let mut distinct = Distinct::default();
            for runs in rounds {
                distinct.clear();
                let mut expected = HashSet::new();
                for run in runs {
                    distinct.reserve(run.len());
                    run.iter().for_each(|key| distinct.insert(*key));
                    expected.extend(run);
                    prop_assert_eq!(distinct.len(), expected.len());
                }
            }
        }
    }
}
