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

        /// Free bytes of the disk below which writes are refused (507), while removals still work; `auto`: the smaller of
        /// 1 GiB and a twentieth of the disk
        disk_free_min: FreeSpace = "auto", "SIZE";

        /// The newest changes, in bytes, that the feed always stores
        feed_bytes_min: ByteCount = "64MiB", "SIZE";

        /// The age up to which the feed stores changes
        feed_age_min: Span = "1h", "SPAN";

        /// The most bytes that the feed stores, even if changes are younger or hooks have not read them
        feed_bytes_max: ByteCount = "1GiB", "SIZE";
    }
}
