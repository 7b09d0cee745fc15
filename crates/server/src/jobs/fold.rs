//! Folding overwrites of series into their blocks, as soon as there are many.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_series::Repositories;

use crate::admin::chain;
use crate::metrics::Metrics;

/// After a failure: the store may be busy or closing.
const REST: Duration = Duration::from_secs(1);

/// Folds series one after the other; several of these run beside each other.
#[derive(Clone)]
pub(crate) struct Fold {
    pub(crate) repositories: Repositories,
    pub(crate) metrics: Arc<Metrics>,
}

impl Fold {
    /// Runs until the task is dropped. A fold that is broken off leaves the series as it was.
    pub(crate) async fn run(self) {
        let metrics = &self.metrics.series;
        loop {
            let (strand, encoding) = self.repositories.next_to_fold().await;
            match self.repositories.fold(&strand, encoding).await {
                Ok(true) => _ = metrics.folds.fetch_add(1, Ordering::Relaxed),
                // Writers kept coming first, or there was nothing left to fold.
                Ok(false) => {}
                Err(error) => {
                    metrics.folds_failed.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(error = chain(&error), partition = ?strand.partition, "cannot fold a series");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }
}
