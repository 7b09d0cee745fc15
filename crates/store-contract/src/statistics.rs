//! What an engine counts of itself, for metrics.

/// A snapshot of the store's counters; all grow from the opening of the store unless said otherwise.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Commits acknowledged (appends and leases not counted).
    pub commits: u64,
    /// Commits refused because a condition did not hold.
    pub conflicts: u64,
    /// Rows of conditions that the committer read itself: they were not read ahead, or went out of the cache meanwhile.
    pub cold_conditions: u64,
    /// Engine writes: groups of commits that shared one.
    pub batches: u64,
    /// Syncs to disk.
    pub syncs: u64,
    /// Bytes handed to the engine's log.
    pub bytes_written: u64,
    /// Point reads answered by the cache of hot rows.
    pub cache_hits: u64,
    /// Point reads that went to the engine.
    pub cache_misses: u64,
    /// Bytes in the cache of hot rows, now.
    pub cache_bytes: u64,
    /// Requests waiting for the committer, now.
    pub queue_requests: u64,
    /// Bytes in memtables, now.
    pub memtable_bytes: u64,
    /// Estimated bytes of live data on disk, now.
    pub data_bytes: u64,
    /// Sequence of the newest commit: stamp and feed cursor.
    pub sequence: u64,
    /// How often the disk became full.
    pub times_full: u64,
    /// Whether writes are taken, now.
    pub is_writable: bool,
}
