//! What the histories of all tenants share.

use entity::Error;
use store::Store;
use store::retry::RetryLocks;
use strands::{StrandOptions, Strands};

use crate::fold_queue::FoldQueue;

/// The most points of a block of a history.
pub(crate) const BLOCK_POINTS_MAX: usize = 4096;
/// Overlays, and points in them, from which a strand is folded.
const OVERLAYS_MAX: usize = 8;
const OVERLAY_POINTS_MAX: usize = 4096;

/// Locks of folds and edits, which histories share by hash.
const HISTORY_LOCKS: u32 = 64;

/// The header of a history, or what says up to when it is folded, cannot be read.
pub(crate) fn damaged_header() -> Error {
    store::Error::new(store::ErrorKind::Corrupt, "reading the header of an entity's history").into()
}

/// What the histories of all tenants share.
#[derive(Debug)]
pub(crate) struct Histories {
    pub(crate) strands: Strands,
    pub(crate) queue: FoldQueue,
    /// Folds and edits of one history lock each other out.
    pub(crate) retry_locks: RetryLocks,
}

impl Histories {
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
