//! The past of entities: every commit of an entity also says what it did to attribute instances.
//!
//! A commit puts one *head row* into the entity's partition: the instances it wrote, as they are stored, and those it
//! removed (`head.rs`, `record.rs`). In the background head rows are folded (`fold.rs`) into strands of `model-series`,
//! one for each attribute and datasetId: a point is an instance (`note.rs`). Readers (`read.rs`) take head rows first,
//! then strands, so that a fold in between shows nothing twice and misses nothing.
//!
//! An instance of the past is known by its time: the `modifiedAt` of the write, which is unlike that of any other write of
//! its entity.
//!
//! Invariants:
//! - an entity's writes have strictly ascending times, over its deletion and its return too;
//! - a head row and the write it tells of are one atom;
//! - what is in a strand up to its mark is no longer read from head rows;
//! - the past outlives the entity: only `delete_history` and its kin, and retention, remove any of it.

mod policy;
mod queue;
mod heads;
mod select;
mod read;
mod aggregate;
mod fold;
mod edit;
mod query;
mod sweep;
mod trim;
mod recompress;

#[cfg(test)]
pub(crate) mod tests;

use store::Store;
use store::retry::RetryLocks;
use strands::{StrandOptions, Strands};

pub(crate) use policy::TenantPolicy;
use queue::FoldQueue;

pub use fold::HistoryJob;
pub use policy::{HistoryPolicy, HistoryRule};
pub use query::HistoryPage;

/// The most points of a block of a past.
const BLOCK_POINTS_MAX: usize = 4096;
/// Overlays, and points in them, from which a strand is folded.
const OVERLAYS_MAX: usize = 8;
const OVERLAY_POINTS_MAX: usize = 4096;

/// Locks of folds and edits, which histories share by hash.
const HISTORY_LOCKS: u32 = 64;

/// What the pasts of all tenants share.
#[derive(Debug)]
pub(crate) struct Pasts {
    pub(crate) strands: Strands,
    queue: FoldQueue,
    /// Folds and edits of one history lock each other out.
    retry_locks: RetryLocks,
}

impl Pasts {
    pub(crate) fn new(store: Store) -> Self {
        let options = StrandOptions {
            block_points_max: BLOCK_POINTS_MAX,
            overlays_max: OVERLAYS_MAX,
            overlay_points_max: OVERLAY_POINTS_MAX,
        };
        Self {
            strands: Strands::new(store, options),
            queue: FoldQueue::new(),
            retry_locks: RetryLocks::new(HISTORY_LOCKS),
        }
    }

    /// Notes that an entity has a head row more.
    pub(crate) fn note(&self, tenant: &store::Tenant, id: &str) {
        self.queue.note(tenant, id);
    }
}
