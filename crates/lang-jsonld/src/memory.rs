//! Counts the bytes of memory that cached values take, and their sum.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What an allocation takes beside the bytes asked for: allocators round up.
const ALLOCATION_BYTES: usize = 16;
/// What a shared text takes beside its bytes: two counts.
const SHARED_BYTES: usize = 16;

/// The sum of many [`MemoryUse`]s; clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryTotal(Arc<AtomicUsize>);

impl MemoryTotal {
    /// The bytes of all uses that were not dropped yet. Cost: one atomic load.
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts so many bytes more, until what is returned is dropped.
    pub fn count(&self, bytes: usize) -> MemoryUse {
        let counted = MemoryUse { total: self.clone(), bytes: AtomicUsize::new(0) };
        counted.add(bytes);
        counted
    }
}

/// Bytes that count in a [`MemoryTotal`] until this is dropped; the value that takes them owns it.
#[derive(Debug, Default)]
pub struct MemoryUse {
    total: MemoryTotal,
    bytes: AtomicUsize,
}

impl MemoryUse {
    /// Counts so many bytes more: the value has grown.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.total.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes of this use alone.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for MemoryUse {
    fn drop(&mut self) {
        self.total.0.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

/// What a `Box<str>` of this length takes on the heap.
pub fn text_bytes(length: usize) -> usize {
    length + ALLOCATION_BYTES
}

/// What an `Arc<str>` of this length takes on the heap.
pub(crate) fn shared_text_bytes(length: usize) -> usize {
    length + SHARED_BYTES + ALLOCATION_BYTES
}

/// What a hash table of entries of type `T` takes on the heap, without what they refer to.
pub(crate) fn table_bytes<T>(capacity: usize) -> usize {
    // The standard library fills seven eighths of a power of two, with one byte beside each entry.
    let slots = if capacity == 0 { 0 } else { (capacity * 8 / 7).next_power_of_two() };
    slots * (size_of::<T>() + 1) + ALLOCATION_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_until_they_are_dropped() {
        let total = MemoryTotal::default();
        let (one, other) = (total.count(10), total.count(5));
        one.add(7);
        assert_eq!((one.bytes(), total.bytes()), (17, 22));
        drop(one);
        assert_eq!(total.bytes(), 5);
        drop(other);
        assert_eq!(total.bytes(), 0);
    }

    #[test]
    fn tables_take_a_power_of_two() {
        assert_eq!(table_bytes::<u64>(0), 16);
        let table = std::collections::HashMap::<u64, ()>::with_capacity(100);
        assert_eq!(table_bytes::<(u64, ())>(table.capacity()), 128 * 9 + 16);
    }
}
