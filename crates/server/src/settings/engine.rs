//! What the store may take of memory and disk.

use crate::units::{ByteCount, FreeSpace, Span};

use super::table::{Field, Table, settings_table};

settings_table! {
    /// What the store may take of memory and disk.
    pub(crate) struct EngineLimits, table "engine", flags "", heading "Engine" {
        /// Memory for the cache of hot rows
        cache_bytes: ByteCount = "256MiB", "SIZE";

        /// Memory for the engine's cache of blocks
        block_cache_bytes: ByteCount = "128MiB", "SIZE";

        /// Bytes of the disk that are kept free: with less, writes are refused (507) and removals taken; `auto`: the smaller of
        /// 1 GiB and a twentieth of the disk
        disk_free_min: FreeSpace = "auto", "SIZE";

        /// The newest changes, in bytes, that the store's feed keeps whatever else
        feed_bytes_min: ByteCount = "64MiB", "SIZE";

        /// The age up to which the feed keeps changes
        feed_age_min: Span = "1h", "SPAN";

        /// What the feed keeps at most, be they young or not yet told to hooks
        feed_bytes_max: ByteCount = "1GiB", "SIZE";
    }
}
