//! How far a read of the engine may go: to what is in memory, or to the disk.

use rocksdb::{ReadOptions, ReadTier};
use store_contract::place::PlaceBytes;

/// A scan that meets so many removed rows in a row goes on on a thread that may block, too: each costs about as much as one
/// that is there.
const SKIPPED_INLINE_MAX: u64 = 1_024;
/// Reads that wait for nothing.
pub(crate) const TIER_MEMORY: bool = false;
/// Reads that may wait for the disk.
pub(crate) const TIER_DISK: bool = true;

/// Options of a scan within bounds.
pub(crate) fn scan_options((start, end): (&PlaceBytes, &PlaceBytes), disk: bool) -> ReadOptions {
    let mut options = read_options(disk);
    options.set_total_order_seek(true);
    options.set_iterate_lower_bound(start.as_slice());
    options.set_iterate_upper_bound(end.as_slice());
    options.set_auto_readahead_size(true);
    if !disk {
        options.set_max_skippable_internal_keys(SKIPPED_INLINE_MAX);
    }
    options
}

/// The same of a scan of many ranges: what lies between them may be skipped on no thread for long.
pub(crate) fn many_options(bounds: (&PlaceBytes, &PlaceBytes), disk: bool) -> ReadOptions {
    let mut options = scan_options(bounds, disk);
    options.set_max_skippable_internal_keys(SKIPPED_INLINE_MAX);
    options
}

pub(crate) fn read_options(disk: bool) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_read_tier(if disk { ReadTier::All } else { ReadTier::BlockCache });
    options
}
