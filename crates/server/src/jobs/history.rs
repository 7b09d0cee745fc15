//! Folding fresh history of entities into blocks, removing what is beyond retention.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_entities::{Entities, Error};
use store::{Clock, Store};

use super::turns::Turns;
use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/sweep-history";
/// After a failure of the whole: the store may be busy or closing.
const REST: Duration = Duration::from_secs(1);

/// Folds history as entities gather it, and sweeps now and then; of several nodes, one sweeps.
#[derive(Clone)]
pub(crate) struct History {
    pub(crate) entities: Entities,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) interval: Duration,
    /// The age from which fresh history is folded, however little there is.
    pub(crate) age: Duration,
}

impl History {
    /// Folds entities that gathered much. Runs until the task is dropped; a fold that is broken off loses nothing.
    pub(crate) async fn fold(self) {
        loop {
            let job = self.entities.next_to_fold().await;
            let folded = async { self.entities.life(&job.tenant).await?.fold_history(&job.id).await };
            match folded.await {
                Ok(_) => _ = self.metrics.history.folds.fetch_add(1, Ordering::Relaxed),
                // There is nothing left to fold.
                Err(Error::NoSuchTenant(_)) => {}
                Err(error) if error.is_outage() => {
                    self.note_failure(&error, "cannot fold the history of an entity").await;
                }
                Err(error) => {
                    // Others are not to wait for it; the sweep tries it again.
                    self.metrics.history.folds_failed.fetch_add(1, Ordering::Relaxed);
                    self.entities.skips().note("fold", &job.tenant, &job.id, &error);
                }
            }
        }
    }

    /// Sweeps now and then. Runs until the task is dropped.
    pub(crate) async fn sweep(self) {
        let mut turns = Turns::new(self.store.clone(), LEASE, self.interval);
        loop {
            turns.next().await;
            self.sweep_once().await;
        }
    }

    async fn sweep_once(&self) {
        let now = self.clock.now();
        match self.entities.sweep_history(now, self.age).await {
            Ok(0) => {}
            Ok(count) => {
                self.metrics.history.folds.fetch_add(count as u64, Ordering::Relaxed);
                tracing::info!(count, "fresh history of entities folded for its age");
            }
            Err(error) => self.note_failure(&error, "cannot sweep history").await,
        }
        match self.entities.trim_history(now).await {
            Ok(0) => {}
            Ok(count) => {
                self.metrics.history.trimmed.fetch_add(count as u64, Ordering::Relaxed);
                tracing::info!(count, "history beyond retention removed");
            }
            Err(error) => self.note_failure(&error, "cannot remove history beyond retention").await,
        }
    }

    async fn note_failure(&self, error: &(dyn std::error::Error + Sync), what: &'static str) {
        self.metrics.history.folds_failed.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(error = chain(error), what);
        tokio::time::sleep(REST).await;
    }
}
