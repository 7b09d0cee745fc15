//! Removing points beyond retention, and what removed series and repositories left behind.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_series::Repositories;
use store::{Clock, Store};

use super::turns::Turns;
use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/trim-series";

/// Trims now and then; of several nodes, one does it.
pub(crate) struct Trim {
    pub(crate) repositories: Repositories,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) interval: Duration,
}

impl Trim {
    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let mut turns = Turns::new(self.store.clone(), LEASE, self.interval);
        loop {
            turns.next().await;
            self.trim().await;
        }
    }

    /// May outlast the lease: another node then trims meanwhile, which does no harm.
    async fn trim(&self) {
        let now = self.clock.now();
        match self.repositories.trim_expired(now).await {
            Ok(0) => {}
            Ok(count) => {
                let trimmed = u64::try_from(count).unwrap_or(u64::MAX);
                self.metrics.series.trimmed.fetch_add(trimmed, Ordering::Relaxed);
                tracing::info!(count, "series lost points beyond their retention");
            }
            Err(error) => tracing::warn!(error = chain(&error), "cannot trim series"),
        }
        if let Err(error) = self.repositories.sweep(now).await {
            tracing::warn!(error = chain(&error), "cannot sweep up what removed series left");
        }
    }
}
