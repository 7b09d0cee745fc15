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

mod error;
pub mod wire;
mod fence;
mod tenant;
pub mod key;
mod partition;
pub mod retry;
mod incarnation;
mod models;
mod register;
mod operation;
mod place;
mod writes;
mod limits;
mod append;
mod feed;
mod lease;
mod places;
mod lives;
mod statistics;
mod time;
mod tenant_rows;
mod memory;
mod hostile;
mod write_id;
mod work;
mod embedded;
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

pub use append::{Append, Appended, CommitWithAppends, Removal};
pub use embedded::{
    Durability, EmbeddedOptions, QUEUE_BYTES_MAX, QUEUE_REQUESTS_MAX, SNAPSHOT_AGE_MAX, restore,
};
pub use error::{Error, ErrorKind, Ticket};
pub use feed::{FeedOptions, FeedPage};
pub use fence::Epoch;
pub use fingerprint::{Fingerprint, Fingerprints, StateCondition};
pub use hostile::HostileOptions;
pub use incarnation::{Cursor, Stamp};
pub use lease::Lease;
pub use limits::{
    COMMIT_BYTES_MAX, COMMIT_ROWS_MAX, FEED_PAGE_BYTES_MAX, FEED_READER_NAME_BYTES_MAX, FEED_READERS_MAX,
    KEY_BYTES_MAX, LEASE_NAME_BYTES_MAX, Limits, ROW_BYTES_MAX,
};
pub use memory::MemoryOptions;
pub use models::{ChangeRecord, Model, OwnRecord};
pub use operation::{
    Change, Commit, Condition, Direction, Outcome, PAGE_BYTES_MAX, Page, Range, Row, Skipped, Write, WriteId,
};
pub use partition::{Partition, Space, SpaceKind, bucket_of};
pub use places::{Recount, TenantPlace, TenantPlaces};
pub use queue::WorkQueue;
pub use retry::{READ_ATTEMPTS_MAX, ReadAttempts};
pub use skips::SkipLog;
pub use snapshot::Snapshot;
pub use statistics::Statistics;
pub use store::Store;
pub use tenant::{TENANT_BYTES_MAX, Tenant, TenantName, TenantNameError};
pub use tenants::{TENANT_KEPT_BYTES_MAX, TenantCreation, TenantInfo, TenantPage, Tenants};
pub use time::{Clock, Timestamp};
pub use work::{Deadline, Lane, Pace, Slot, TimedOut, rest};
pub use write_id::WriteIds;
pub use writes::later_wins;
