//! Removing points beyond retention, and what removed series and repositories left behind; packing old blocks smaller.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model_series::Repositories;
use store::{Clock, Store};

use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/trim-series";

/// Trims now and then; of several nodes, one does it.
pub(crate) struct Trim {
    pub(crate) repositories: Repositories,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) holder: String,
    pub(crate) interval: Duration,
    pub(crate) cold_interval: Duration,
    pub(crate) cold_age: Duration,
}

impl Trim {
    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let mut ticks = tokio::time::interval(self.interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // The first tick comes at once: a server that just started has better things to do.
        ticks.tick().await;
        let mut chilled = Instant::now();
        loop {
            ticks.tick().await;
            match self.store.lease(LEASE, &self.holder, self.interval * 3).await {
                Ok(Some(_)) => {
                    self.trim().await;
                    if chilled.elapsed() >= self.cold_interval {
                        self.chill().await;
                        chilled = Instant::now();
                    }
                }
                Ok(None) => tracing::debug!("another node trims series"),
                Err(error) => tracing::warn!(error = chain(&error), "no lease to trim series"),
            }
        }
    }

    /// May outlast the lease: another node then trims meanwhile, which does no harm, and neither do two that chill.
    async fn chill(&self) {
        match self.repositories.chill(self.clock.now(), self.cold_age).await {
            Ok(0) => {}
            Ok(count) => {
                let chilled = u64::try_from(count).unwrap_or(u64::MAX);
                self.metrics.series.chilled.fetch_add(chilled, Ordering::Relaxed);
                tracing::info!(count, "old blocks of series were packed smaller");
            }
            Err(error) => tracing::warn!(error = chain(&error), "cannot pack old blocks of series smaller"),
        }
    }

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
