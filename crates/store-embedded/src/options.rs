//! How the engine runs.

use std::time::Duration;

use store_contract::{Clock, FeedOptions};

/// When a commit is acknowledged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durability {
    /// After its bytes were synced to disk: it survives a loss of power.
    Sync,
    /// After its bytes were handed to the system, which are synced this often: it survives the end
    /// of the process; a loss of power takes at most what came in one interval.
    Interval(Duration),
}

/// How the embedded engine runs.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// What tells leases the time.
    pub clock: Clock,
    /// What the feed keeps.
    pub feed: FeedOptions,
    /// Bytes of the cache of hot rows.
    pub cache_bytes: usize,
    /// Bytes of RocksDB's cache of blocks.
    pub block_cache_bytes: usize,
    /// Bytes of one memtable of rows; up to three exist while they are flushed.
    pub memtable_bytes: usize,
    /// Bytes of memory that each load takes for rows that are being sorted; what is more lies in files.
    pub load_bytes: usize,
    /// Bytes of log after which memtables are flushed: bounds the time to open after a kill.
    pub log_bytes_max: u64,
    /// How many old log files are left to be written over (0: none).
    pub log_files_kept: usize,
    /// A store without a commit for so long is looked over, and merged if much of it is garbage.
    pub rest: Duration,
    /// How often the store looks whether its folder is still there, and whether a full disk has room again.
    pub look: Duration,
    /// Bytes of the disk that must stay free: with less, only removals are written. `None`: the smaller of 1 GiB and a twentieth
    /// of the disk.
    pub disk_free_min: Option<u64>,
    /// The largest file that is set aside and given back if the disk is full all the same; at most a hundredth of the disk.
    pub ballast_bytes_max: u64,
    /// Threads that flush and compact.
    pub background_jobs: i32,
}

impl EmbeddedOptions {
    /// The recommended options: durable, for a machine of a few cores and a few GiB.
    pub fn recommended() -> Self {
        Self {
            durability: Durability::Sync,
            clock: Clock::System,
            feed: FeedOptions::recommended(),
            cache_bytes: 256 * 1024 * 1024,
            block_cache_bytes: 128 * 1024 * 1024,
            memtable_bytes: 64 * 1024 * 1024,
            load_bytes: 128 * 1024 * 1024,
            log_bytes_max: 128 * 1024 * 1024,
            log_files_kept: 2,
            rest: Duration::from_secs(10),
            look: Duration::from_secs(1),
            disk_free_min: None,
            ballast_bytes_max: 128 * 1024 * 1024,
            background_jobs: 2,
        }
    }
}
