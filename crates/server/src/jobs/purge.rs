//! Removing entities and attributes that have expired.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_entities::Entities;
use store::{Clock, Store};

use super::turns::Turns;
use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/purge-expired";

/// Removes expired entities and attributes now and then; of several nodes, one does it.
pub(crate) struct Purge {
    pub(crate) entities: Entities,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) interval: Duration,
}

impl Purge {
    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let mut turns = Turns::new(self.store.clone(), LEASE, self.interval);
        loop {
            turns.next().await;
            self.purge().await;
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
