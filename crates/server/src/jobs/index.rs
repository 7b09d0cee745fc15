//! Indexing attributes that queries are slow without.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_entities::Entities;
use store::Store;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::turns::JobLease;
use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/index-attributes";
/// A lease that is not asked for again so long is another node's.
const TTL: Duration = Duration::from_mins(3);
/// When it is looked for what another process, or a run before this, began.
const INTERVAL: Duration = Duration::from_mins(1);
const SOON: Duration = Duration::from_secs(5);

/// Builds indexes as queries come to want them; of several nodes, one builds.
pub(crate) struct Index {
    pub(crate) entities: Entities,
    pub(crate) store: Store,
    pub(crate) metrics: Arc<Metrics>,
}

impl Index {
    /// Runs until the task is dropped; what is broken off goes on after the next start.
    pub(crate) async fn run(self) {
        let mut lease = JobLease::new(self.store.clone(), LEASE, TTL);
        let mut ticks = interval_at(Instant::now() + SOON, INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_tick = tokio::select! {
                _ = ticks.tick() => true,
                () = self.entities.index_wanted() => false,
            };
            if is_tick && let Err(error) = self.entities.sweep_in_use().await {
                tracing::warn!(error = chain(&error), "cannot look after what is in use");
            }
            let entities = match lease.hold().await {
                Ok(true) => self.entities.build_indexes().await,
                Ok(false) => self.entities.enter_indexes().await.map(|()| 0),
                Err(error) => Err(error.into()),
            };
            match entities {
                Ok(count) => {
                    let count = u64::try_from(count).unwrap_or(u64::MAX);
                    self.metrics.indexed.fetch_add(count, Ordering::Relaxed);
                }
                Err(error) => tracing::warn!(error = chain(&error), "cannot index attributes"),
            }
        }
    }
}
