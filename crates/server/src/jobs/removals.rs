//! Removing the rows of tenants that were removed, and of repositories.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::job::{Job, ONE, When, Work};
use crate::admin::chain;

/// So often it looks for what another node has removed, or what failed.
const INTERVAL: Duration = Duration::from_mins(1);

/// As soon as they are removed, and what a break left after the start. Several nodes may do so at once.
pub(super) const JOB: Job =
    Job { name: "server/removals", when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// What is broken off goes on after the next start.
async fn run(work: Work) {
    loop {
        match work.entities.finish_removals().await {
            Ok(count) => _ = work.metrics.jobs.removals.fetch_add(count as u64, Ordering::Relaxed),
            Err(error) => {
                tracing::warn!(error = chain(&error), "cannot remove the rows of a removed tenant");
            }
        }
        tokio::select! {
            () = work.entities.removal() => {}
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}
