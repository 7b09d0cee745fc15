//! Where a row lies in one sorted map of all partitions: the key layout shared by the engines.
//!
//! `tenant` 0x00 `space: u8` `bucket: u32 big-endian` `row key`
//!
//! A tenant name holds no zero byte, so no partition's rows lie among another's.

use smallvec::SmallVec;

use crate::operation::prefix_end;
use crate::{Partition, Range};

/// A row's place; on the stack for all usual keys.
pub(crate) type PlaceBytes = SmallVec<[u8; 128]>;

/// Bytes between the end of the tenant name and the row key.
const FIXED_BYTES: usize = 6;

/// The place of one row. Cost: one copy of its key.
pub(crate) fn place(partition: &Partition, key: &[u8]) -> PlaceBytes {
    let mut bytes = PlaceBytes::new();
    bytes.extend_from_slice(partition.tenant.name().as_bytes());
    bytes.push(0);
    bytes.push(partition.space.id);
    bytes.extend_from_slice(&partition.bucket.to_be_bytes());
    bytes.extend_from_slice(key);
    bytes
}

/// First place and first place behind a range of a partition; `None` if the range is empty.
pub(crate) fn bounds(partition: &Partition, range: &Range) -> Option<(PlaceBytes, PlaceBytes)> {
    let start = place(partition, &range.start);
    let end = match &range.end {
        Some(end) => place(partition, end),
        None => prefix_end(&place(partition, &[]))?.as_ref().into(),
    };
    (start < end).then_some((start, end))
}

/// How many bytes of a place stand before the row key.
pub(crate) fn head_bytes(partition: &Partition) -> usize {
    partition.tenant.name().len() + FIXED_BYTES
}

/// The kind of a row: its space and the first byte of its key. Engines remember by kind which rows
/// conditions and point reads ask for, so that index rows need no book-keeping.
pub(crate) fn kind(partition: &Partition, key: &[u8]) -> u16 {
    u16::from_be_bytes([partition.space.id, key.first().copied().unwrap_or_default()])
}
