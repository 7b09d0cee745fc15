//! The contract of the store: what every engine takes and gives, the limits that it checks, and what engines share of how
//! they keep it. No engine is here, and nothing that only models use: those see the crate `store`, which shows them these
//! types again.
//!
//! What is at the root is for everybody. What is in a module is for engines alone: how stamps and cursors are numbered, where a
//! row lies, who holds which lease.
//!
//! ```
//! use store_contract::limits::check_commit;
//! use store_contract::{Commit, Limits, Partition, Space, SpaceKind, Tenant, Write, WriteIds};
//!
//! const NOTES: Space = Space { id: 200, kind: SpaceKind::Commit, name: "notes" };
//! let mut commit = Commit {
//!     partition: Partition { tenant: Tenant::default(), space: NOTES, bucket: 0 },
//!     write_id: WriteIds::new().next(),
//!     conditions: vec![],
//!     writes: vec![Write::Put("key".into(), "value".into())],
//!     change: None,
//!     reclaims: false,
//! };
//! // What an engine does first with a commit.
//! assert_eq!(check_commit(&mut commit, &Limits::PORTABLE).unwrap(), 8);
//! ```

mod error;
pub mod fence;
mod tenant;
mod partition;
pub mod incarnation;
pub mod models;
pub mod register;
mod operation;
pub mod place;
mod range_list;
mod writes;
pub mod limits;
mod append;
pub mod load;
pub mod feed;
pub mod lease;
mod slots;
pub mod lives;
mod statistics;
mod time;
pub mod tenant_rows;
mod write_id;
mod work;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use append::{Append, Appended, CommitWithAppends, Removal};
pub use error::{Error, ErrorKind, LimitExceeded, Ticket};
pub use feed::{FeedOptions, FeedPage};
pub use fence::Epoch;
pub use incarnation::{Cursor, Stamp};
pub use lease::Lease;
pub use limits::{COMMIT_BYTES_MAX, Limits, ROW_BYTES_MAX};
pub use load::{LoadRow, LoadRows};
pub use models::{ChangeRecord, Model, OwnRecord};
pub use operation::{
    Change, Commit, Condition, Direction, Outcome, PAGE_BYTES_MAX, Page, Range, RangeRef, Row, Skipped,
    Write, WriteId,
};
pub use partition::{Partition, Space, SpaceKind, bucket_of};
pub use range_list::{RangeList, RangePages, ScanLimits};
pub use slots::{TenantSlot, TenantSlots};
pub use statistics::Statistics;
pub use tenant::{Tenant, TenantName, TenantNameError};
pub use time::{Clock, Timestamp};
pub use work::{Deadline, Lane, Pace, Slot, TimedOut, rest};
pub use write_id::WriteIds;
pub use writes::later_wins;
