//! Ranges of places that were removed: tells when a place was last removed with a range around it.

use std::collections::BTreeMap;
use std::ops::Bound;

use store_contract::place::PlaceBytes;

/// Removed ranges, each with the moment of its removal; moments only grow.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    /// The first place of a part, the first place behind it, and when it was last removed. Parts do not overlap.
    parts: BTreeMap<PlaceBytes, (PlaceBytes, u64)>,
    /// Everything was removed at this moment.
    floor: u64,
}

impl Ranges {
    /// Notes the removal of a range; the moment is not before that of any earlier one. Cost: a look into the tree, and the
    /// parts that the range hides.
    pub(crate) fn insert(&mut self, start: &[u8], end: &[u8], moment: u64) {
        if start >= end {
            return;
        }
        self.cut(start);
        self.cut(end);
        let within = (Bound::Included(start), Bound::Excluded(end));
        while let Some((first, _)) = self.parts.range::<[u8], _>(within).next() {
            let first = first.clone();
            self.parts.remove(&first);
        }
        self.parts.insert(start.into(), (end.into(), moment));
    }

    /// When a place was last removed; zero if it never was. Cost: a look into the tree.
    pub(crate) fn newest(&self, place: &[u8]) -> u64 {
        let up_to = (Bound::Unbounded, Bound::Included(place));
        let part = self.parts.range::<[u8], _>(up_to).next_back();
        let moment =
            part.filter(|(_, (end, _))| place < end.as_slice()).map_or(0, |(_, (_, moment))| *moment);
        moment.max(self.floor)
    }

    /// Forgets removals up to a moment; everything then counts as removed at that moment. Cost: all parts.
    pub(crate) fn forget_until(&mut self, moment: u64) {
        self.parts.retain(|_, (_, removed)| *removed > moment);
        self.floor = self.floor.max(moment);
    }

    /// How many parts there are.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Forgets everything, as if nothing was ever removed.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
        self.floor = 0;
    }

    /// Cuts the part around a place in two.
    fn cut(&mut self, at: &[u8]) {
        let below = (Bound::Unbounded, Bound::Excluded(at));
        let Some((_, part)) = self.parts.range_mut::<[u8], _>(below).next_back() else { return };
        if at < part.0.as_slice() {
            let (end, moment) = (std::mem::replace(&mut part.0, at.into()), part.1);
            self.parts.insert(at.into(), (end, moment));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against an array with the moment of every place.
        #[test]
        fn the_newest_removal_of_each_place_is_told(
            ranges in prop::collection::vec((0..40_u8, 0..40_u8), 0..60),
            forgotten in 0..60_u64,
        ) {
            let (mut kept, mut expected) = (Ranges::default(), [0; 40]);
            for ((start, end), moment) in ranges.iter().zip(1..) {
                kept.insert(&[*start], &[*end], moment);
                for place in expected.iter_mut().take(usize::from(*end)).skip(usize::from(*start)) {
                    *place = moment;
                }
                for (place, moment) in (0..).zip(expected) {
                    prop_assert_eq!(kept.newest(&[place]), moment);
                    prop_assert_eq!(kept.newest(&[place, 7]), moment, "between two places");
                }
            }
            kept.forget_until(forgotten);
            for (place, moment) in (0..).zip(expected) {
                prop_assert_eq!(kept.newest(&[place]), moment.max(forgotten));
            }
            prop_assert!(kept.len() <= expected.len(), "what is hidden is not kept");
            kept.clear();
            prop_assert_eq!((kept.len(), kept.newest(&[0])), (0, 0));
        }
    }
}
