//! Removing entities and attributes that have expired.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_entities::Entities;
use store::{Clock, Store};

use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/purge-expired";

/// Removes expired entities and attributes now and then; of several nodes, one does it.
pub(crate) struct Purge {
    pub(crate) entities: Entities,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) holder: String,
    pub(crate) interval: Duration,
}

impl Purge {
    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let mut ticks = tokio::time::interval(self.interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // The first tick comes at once: a server that just started has better things to do.
        ticks.tick().await;
        loop {
            ticks.tick().await;
            match self.store.lease(LEASE, &self.holder, self.interval * 3).await {
                Ok(Some(_)) => self.purge().await,
                Ok(None) => tracing::debug!("another node removes what expired"),
                Err(error) => tracing::warn!(error = chain(&error), "no lease to remove what expired"),
            }
        }
    }

    async fn purge(&self) {
        match self.entities.purge_expired(self.clock.now()).await {
            Ok(0) => {}
            Ok(count) => {
                self.metrics.expired.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
                tracing::info!(count, "expired entities and attributes removed");
            }
            Err(error) => tracing::warn!(error = chain(&error), "cannot remove what expired"),
        }
    }
}
