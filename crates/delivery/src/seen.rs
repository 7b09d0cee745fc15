//! Which changes were matched lately: the feed may give some again. What is forgotten is matched twice, which is allowed.

use std::collections::HashMap;

use store::{Change, Partition};

/// Partitions in each of two generations; the older goes when the younger is full.
const PARTITIONS_MAX: usize = 4_096;

/// By partition, the newest change that was matched. Its memory is bounded.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    young: HashMap<Partition, u64>,
    old: HashMap<Partition, u64>,
}

impl Seen {
    /// Whether this change was matched. Cost: two look-ups.
    pub(crate) fn has(&self, change: &Change) -> bool {
        let newest = self.young.get(&change.partition).or_else(|| self.old.get(&change.partition));
        newest.is_some_and(|newest| change.number <= *newest)
    }

    /// Notes a change that was matched.
    pub(crate) fn note(&mut self, change: &Change) {
        if self.young.len() >= PARTITIONS_MAX {
            self.old = std::mem::take(&mut self.young);
        }
        let newest = self.young.entry(change.partition.clone()).or_default();
        *newest = change.number.max(*newest);
    }
}
