//! Rows sorted inside partitions; commits that are atomic, conditional and durable inside one partition; a feed of changes;
//! leases; the directory of tenants. Engines: [`Store::memory`] and [`Store::open`] (embedded, RocksDB: the crate
//! `store-embedded`). Nothing here knows what a row means. What all models share is here, too: [`wire`] and [`key`] spell values
//! and keys, [`retry`] repeats what lost a race, [`rows`] reads page by page, [`terms`] numbers names, [`WorkQueue`] and
//! [`SkipLog`] serve jobs.
//!
//! Invariants, on every engine:
//! - a commit is seen whole or not at all, and is durable when it is acknowledged;
//! - its conditions are checked against everything acknowledged or queued before it;
//! - its change record is in the feed exactly when its rows are in the partition;
//! - a commit that names an epoch of its partition happens only in that epoch;
//! - rows that are appended for a commit are there before it, and a sweep removes only rows of older epochs;
//! - the change record of a commit is read by its own model alone;
//! - a tenant that was removed is not written or read any more, and one of the same name shares no row with it;
//! - commit spaces and append spaces never mix.
//!
//! ```
//! use store::{
//!     Clock, Commit, Condition, Error, ErrorKind, FeedOptions, MemoryOptions, Partition, Space, SpaceKind, Store,
//!     Tenant, Write, WriteIds,
//! };
//!
//! /// Declared once, on the key page of a model.
//! const NOTES: Space = Space { id: 200, kind: SpaceKind::Commit, name: "notes" };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let store = Store::memory(MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() });
//! let partition = Partition { tenant: Tenant::default(), space: NOTES, bucket: 0 };
//! let ids = WriteIds::new();
//! let write = |condition, value: &'static str| Commit {
//!     partition: partition.clone(),
//!     write_id: ids.next(),
//!     conditions: vec![condition],
//!     writes: vec![Write::PutStamped("note".into(), value.into())],
//!     change: None,
//!     reclaims: false,
//! };
//! let first = store.commit_known(write(Condition::Absent("note".into()), "one")).await?;
//! // Conditional on the version that was read.
//! let version = || Condition::Version("note".into(), first);
//! store.commit_known(write(version(), "two")).await?;
//! let refused = store.commit_known(write(version(), "three")).await.unwrap_err();
//! assert_eq!(refused.kind(), ErrorKind::Conflict);
//! assert_eq!(store.get(&partition, b"note").await?.unwrap().value, "two");
//! # Ok(())
//! # }
//! ```

pub mod wire;
pub mod key;
pub mod retry;
mod memory;
mod hostile;
mod snapshot;
mod load;
mod store;
pub mod rows;
pub mod terms;
mod skips;
mod queue;
mod tenants;
mod fingerprint;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use fingerprint::{Fingerprint, Fingerprints, StateCondition};
pub use hostile::HostileOptions;
pub use load::Load;
pub use memory::MemoryOptions;
pub use queue::WorkQueue;
pub use retry::ReadAttempts;
pub use skips::SkipLog;
pub use snapshot::Snapshot;
pub use store::Store;
pub use store_contract::limits::SCAN_RANGES_MAX;
pub use store_contract::{
    Append, Appended, COMMIT_BYTES_MAX, Change, ChangeRecord, Clock, Commit, CommitWithAppends, Condition,
    Cursor, Deadline, Direction, Epoch, Error, ErrorKind, FeedOptions, FeedPage, Lane, Lease, LimitExceeded,
    Limits, LoadRow, LoadRows, Model, Outcome, OwnRecord, Pace, Page, Partition, ROW_BYTES_MAX, Range,
    RangeList, RangePages, RangeRef, Removal, Row, ScanLimits, Skipped, Slot, Space, SpaceKind, Stamp,
    Statistics, Tenant, TenantName, TenantNameError, TimedOut, Timestamp, Write, WriteId, WriteIds,
    bucket_of, later_wins, rest,
};
pub use store_embedded::{Durability, EmbeddedOptions, SNAPSHOT_AGE_MAX, restore};
pub use tenants::{TenantCreation, TenantInfo, TenantPage, Tenants};
