//! The narrow waist: rows sorted inside partitions, commits that are atomic, conditional and
//! durable inside one partition, a feed of changes, and leases. Engines: [`Store::memory`] and
//! [`Store::open`] (embedded, RocksDB). Nothing here knows what a row means.
//!
//! Invariants, on every engine:
//! - a commit is seen whole or not at all, and is durable when it is acknowledged;
//! - its conditions are checked against everything acknowledged or queued before it;
//! - its change record is in the feed exactly when its rows are in the partition;
//! - a commit that names an epoch of its partition happens only in that epoch;
//! - rows that go ahead of a commit are there when it is, and rows removed as older than an epoch are of older ones;
//! - what a commit says of itself is read by its own model alone;
//! - a tenant that was removed is not written or read any more, and one of the same name shares no row with it;
//! - commit spaces and append spaces never mix.

pub mod wire;
pub mod key;
pub mod retry;
mod memory;
mod hostile;
mod snapshot;
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
pub use memory::MemoryOptions;
pub use queue::WorkQueue;
pub use retry::{READ_ATTEMPTS_MAX, ReadAttempts};
pub use skips::SkipLog;
pub use snapshot::Snapshot;
pub use store::Store;
pub use store_contract::{
    Append, Appended, COMMIT_BYTES_MAX, COMMIT_ROWS_MAX, Change, ChangeRecord, Clock, Commit,
    CommitWithAppends, Condition, Cursor, Deadline, Direction, Epoch, Error, ErrorKind, FEED_PAGE_BYTES_MAX,
    FEED_READER_NAME_BYTES_MAX, FEED_READERS_MAX, FeedOptions, FeedPage, KEY_BYTES_MAX, LEASE_NAME_BYTES_MAX,
    Lane, Lease, LimitExceeded, Limits, Model, Outcome, OwnRecord, PAGE_BYTES_MAX, Pace, Page, Partition,
    ROW_BYTES_MAX, Range, Recount, Removal, Row, Skipped, Slot, Space, SpaceKind, Stamp, Statistics,
    TENANT_BYTES_MAX, Tenant, TenantName, TenantNameError, TenantPlace, TenantPlaces, Ticket, TimedOut,
    Timestamp, Write, WriteId, WriteIds, bucket_of, later_wins, rest,
};
pub use store_embedded::{
    Durability, EmbeddedOptions, QUEUE_BYTES_MAX, QUEUE_REQUESTS_MAX, SNAPSHOT_AGE_MAX, restore,
};
pub use tenants::{TENANT_KEPT_BYTES_MAX, TenantCreation, TenantInfo, TenantPage, Tenants};
