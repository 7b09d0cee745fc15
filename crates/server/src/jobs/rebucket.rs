//! Moving entities to other buckets, where the setting asks for another number of them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::job::{Job, When, Work};
use crate::admin::chain;

/// How often it is looked whether something is to be moved: what another process left, and what failed.
const INTERVAL: Duration = Duration::from_secs(60);
/// Between two pages others have the store for as long as a page took, at most so long.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Soon after the start, until all is moved, on one of several nodes.
pub(super) const JOB: Job = Job {
    name: "server/rebucket",
    when: When::Leased { interval: |_| INTERVAL, once: |work| Box::pin(move_entities(work)) },
};

async fn move_entities(work: Work) {
    if let Err(error) = walk(&work).await {
        tracing::warn!(error = chain(&error), "cannot move entities to other buckets");
    }
}

/// A walk that is broken off is taken up again.
async fn walk(work: &Work) -> Result<(), model_entities::Error> {
    let mut walk = work.entities.rebucketing().await?;
    loop {
        let begun = Instant::now();
        let Some(moved) = walk.next().await? else { return Ok(()) };
        work.metrics.jobs.moved.fetch_add(moved as u64, Ordering::Relaxed);
        tokio::time::sleep(begun.elapsed().min(PAUSE_MAX)).await;
    }
}
