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

/// Whether a row is found by scans only ([`crate::Write`]). Engines keep no book of such rows, and no filters.
pub(crate) fn is_scanned(key: &[u8]) -> bool {
    key.first().is_some_and(u8::is_ascii_uppercase)
}

/// Whether the row at a place is read by its key.
pub(crate) fn is_point(place: &[u8]) -> bool {
    let tenant_bytes = place.iter().position(|byte| *byte == 0).unwrap_or(place.len());
    place.get(tenant_bytes + FIXED_BYTES..).is_some_and(|key| !is_scanned(key))
}
