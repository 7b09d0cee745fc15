//! Removing the rows of tenants that were removed, and of repositories.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_entities::Entities;

use crate::admin::chain;
use crate::metrics::Metrics;

/// So often it looks for what another node has removed, or what failed.
const INTERVAL: Duration = Duration::from_mins(1);

/// Removes what is left of them as soon as they are removed, and what a break left after the start. Several nodes may do so
/// at once.
pub(crate) struct Removals {
    pub(crate) entities: Entities,
    pub(crate) metrics: Arc<Metrics>,
}

impl Removals {
    /// Runs until the task is dropped; what is broken off goes on after the next start.
    pub(crate) async fn run(self) {
        loop {
            match self.entities.finish_removals().await {
                Ok(count) => {
                    let count = u64::try_from(count).unwrap_or(u64::MAX);
                    self.metrics.removals.fetch_add(count, Ordering::Relaxed);
                }
                Err(error) => {
                    tracing::warn!(error = chain(&error), "cannot remove the rows of a removed tenant");
                }
            }
            tokio::select! {
                () = self.entities.removal() => {}
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
    }
}
