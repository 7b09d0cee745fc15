//! The handle of all strands of a store, and what reads and writes through it share.

use std::sync::Arc;

use store::retry::{RetryLock, RetryLocks};
use store::rows::Rows;
use store::{SkipLog, Snapshot, Store, WorkQueue, WriteIds};

use crate::codec::Encoding;
use crate::error::Error;
use crate::state::State;
use crate::strand::{Rules, Strand, StrandOptions};

/// Locks over which strands are spread.
const LOCKS: u32 = 256;

/// Strands that wait for folding; more are not noted until there is room (their next write notes them again).
const FOLDS_WAITING_MAX: usize = 16_384;

/// The strands of a store; clones share.
#[derive(Clone, Debug)]
pub struct Strands {
    pub(crate) shared: Arc<Shared>,
    /// Reads see the store as it was then; writes take no notice of it.
    moment: Option<Snapshot>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) rules: Rules,
    pub(crate) write_ids: WriteIds,
    /// Where writers queue that lost a race for their strand.
    pub(crate) locks: RetryLocks,
    pub(crate) queue: WorkQueue<Strand, Encoding>,
    pub(crate) skips: Arc<SkipLog>,
}

impl Strands {
    /// Strands kept in `store`.
    pub fn new(store: Store, options: StrandOptions) -> Self {
        let (write_ids, locks, queue) =
            (WriteIds::new(), RetryLocks::new(LOCKS), WorkQueue::new(FOLDS_WAITING_MAX));
        let (rules, skips) = (Rules::new(options, store.limits()), Arc::default());
        Self { shared: Arc::new(Shared { store, rules, write_ids, locks, queue, skips }), moment: None }
    }

    /// The strands as they are: every read of the handle answered, and of its clones, sees all of them as they stand
    /// at one moment, however many pages it takes. Writes through it go to the strands as they are.
    ///
    /// Cost: some 100 ns, and what reads cost else; what is removed meanwhile is kept by the store until the handle is
    /// dropped, for [`store::SNAPSHOT_AGE_MAX`] at most.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub fn at_one_moment(&self) -> Result<Self, Error> {
        Ok(Self { shared: Arc::clone(&self.shared), moment: Some(self.shared.store.snapshot()?) })
    }

    /// What jobs on these strands, and on what they belong to, skip.
    pub fn skips(&self) -> &Arc<SkipLog> {
        &self.shared.skips
    }

    /// The strands as they are, for what writes.
    pub(crate) fn live(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), moment: None }
    }

    /// Where writers of a strand queue.
    pub(crate) fn lock_of(&self, strand: &Strand) -> RetryLock {
        // Many partitions hold one strand, many strands share a partition: both count.
        self.shared.locks.of(&[&strand.name, &strand.partition.bucket.to_le_bytes()])
    }

    /// Where rows are read from.
    pub(crate) fn reads(&self) -> Rows<'_> {
        match &self.moment {
            None => Rows::Live(&self.shared.store),
            Some(snapshot) => Rows::Past(snapshot),
        }
    }

    /// The next strand that wants to be folded (writes and reads note them), with the encoding it was last written in;
    /// waits until there is one.
    pub async fn next_to_fold(&self) -> (Strand, Encoding) {
        self.shared.queue.next().await
    }

    /// Notes the strand if it wants to be folded, and says so.
    pub(crate) fn note_if_due(&self, strand: &Strand, state: &State) -> bool {
        let Some(overlays) = state.overlays else { return false };
        let options = &self.shared.rules.options;
        let due = state.overlay_count() > options.overlays_max
            || overlays.points > u64::try_from(options.overlay_points_max).unwrap_or(u64::MAX);
        if due {
            self.shared.queue.note(strand, || state.encoding);
        }
        due
    }
}
