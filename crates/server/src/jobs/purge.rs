//! Removing entities and attributes that have expired.

use std::sync::atomic::Ordering;

use super::job::{Job, When, Work};
use crate::admin::chain;

/// Now and then, on one of several nodes.
pub(super) const JOB: Job = Job {
    name: "server/purge-expired",
    when: When::Leased {
        interval: |settings| settings.entities.purge_interval.0,
        once: |work| Box::pin(purge(work)),
    },
};

async fn purge(work: Work) {
    match work.entities.purge_expired(work.clock.now()).await {
        Ok(0) => {}
        Ok(count) => {
            work.metrics.jobs.expired.fetch_add(count as u64, Ordering::Relaxed);
            tracing::info!(count, "expired entities and attributes removed");
        }
        Err(error) => tracing::warn!(error = chain(&error), "cannot remove what expired"),
    }
}
