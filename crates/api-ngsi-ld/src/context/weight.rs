//! What cached things weigh: bytes of memory, and their sum.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What an allocation takes beside the bytes asked for: allocators round up.
const ALLOCATION_BYTES: usize = 16;
/// What a shared text takes beside its bytes: two counts.
const SHARED_BYTES: usize = 16;

/// The sum of weights; clones share.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// The bytes of all weights that were not dropped yet. Cost: one atomic load.
    pub(super) fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// So many bytes more.
    pub(super) fn weight(&self, bytes: usize) -> Weight {
        let weight = Weight { budget: self.clone(), bytes: AtomicUsize::new(0) };
        weight.add(bytes);
        weight
    }
}

/// Bytes that count until this is dropped; what they measure holds it.
#[derive(Debug, Default)]
pub(super) struct Weight {
    budget: Budget,
    bytes: AtomicUsize,
}

impl Weight {
    /// What is measured grew.
    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.budget.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

/// What a `Box<str>` of this length takes on the heap.
pub(super) fn text_bytes(length: usize) -> usize {
    length + ALLOCATION_BYTES
}

/// What an `Arc<str>` of this length takes on the heap.
pub(super) fn shared_text_bytes(length: usize) -> usize {
    length + SHARED_BYTES + ALLOCATION_BYTES
}

/// What a hash table of entries of type `T` takes on the heap, without what they refer to.
pub(super) fn table_bytes<T>(capacity: usize) -> usize {
    // The standard library fills seven eighths of a power of two, with one byte beside each entry.
    let slots = if capacity == 0 { 0 } else { (capacity * 8 / 7).next_power_of_two() };
    slots * (size_of::<T>() + 1) + ALLOCATION_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_until_they_are_dropped() {
        let budget = Budget::default();
        let (one, other) = (budget.weight(10), budget.weight(5));
        one.add(7);
        assert_eq!((one.bytes(), budget.used()), (17, 22));
        drop(one);
        assert_eq!(budget.used(), 5);
        drop(other);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn tables_take_a_power_of_two() {
        assert_eq!(table_bytes::<u64>(0), 16);
        let table = std::collections::HashMap::<u64, ()>::with_capacity(100);
        assert_eq!(table_bytes::<(u64, ())>(table.capacity()), 128 * 9 + 16);
    }
}
