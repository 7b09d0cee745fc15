//! Moving entities to other buckets, where the setting asks for another number of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model_entities::Entities;
use store::Store;

use super::turns::Turns;
use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/rebucket";
/// How often it is looked whether something is to be moved: what another process left, and what failed.
const TURN: Duration = Duration::from_secs(60);
/// Between two pages others have the store for as long as a page took, at most so long.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Moves soon after the start, and goes on until all is moved; of several nodes, one does it.
pub(crate) struct Rebucket {
    pub(crate) entities: Entities,
    pub(crate) store: Store,
    pub(crate) metrics: Arc<Metrics>,
}

impl Rebucket {
    /// Runs until the task is dropped; a move that is broken off is taken up again.
    pub(crate) async fn run(self) {
        let mut turns = Turns::new(self.store.clone(), LEASE, TURN);
        loop {
            turns.next().await;
            if let Err(error) = self.walk().await {
                tracing::warn!(error = chain(&error), "cannot move entities to other buckets");
            }
        }
    }

    /// May outlast the lease: another node then moves entities, too, which does no harm.
    async fn walk(&self) -> Result<(), model_entities::Error> {
        let mut walk = self.entities.rebucketing().await?;
        loop {
            let begun = Instant::now();
            let Some(moved) = walk.next().await? else { return Ok(()) };
            self.metrics.moved.fetch_add(moved as u64, Ordering::Relaxed);
            tokio::time::sleep(begun.elapsed().min(PAUSE_MAX)).await;
        }
    }
}
