//! Packing old blocks of series, and of the pasts of attributes, smaller.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use model_entities::Entities;
use model_series::Repositories;
use store::{Clock, Store};

use super::turns::Turns;
use crate::admin::chain;
use crate::metrics::Metrics;

const LEASE: &str = "server/chill";
/// How often it is looked whether a sweep is due: restarts do not put it off, and it knows what the last did.
const TURN: Duration = Duration::from_secs(60);

/// Sweeps soon after the start and then now and then; of several nodes, one does it.
pub(crate) struct Chill {
    pub(crate) repositories: Repositories,
    pub(crate) entities: Entities,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) interval: Duration,
    pub(crate) age: Duration,
}

impl Chill {
    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
        let turn = self.interval.min(TURN);
        let mut turns = Turns::new(self.store.clone(), LEASE, turn);
        let mut last: Option<Instant> = None;
        loop {
            turns.next().await;
            if last.is_none_or(|last| last.elapsed() >= self.interval) {
                self.sweep().await;
                last = Some(Instant::now());
            }
        }
    }

    /// May outlast the lease: another node then sweeps meanwhile, which does no harm.
    async fn sweep(&self) {
        let (now, age) = (self.clock.now(), self.age);
        match self.repositories.chill(now, age).await {
            Ok(count) => {
                note(&self.metrics.series.chilled, count, "old blocks of series were packed smaller")
            }
            Err(error) => tracing::warn!(error = chain(&error), "cannot pack old blocks of series smaller"),
        }
        match self.entities.recompress_history(now, age).await {
            Ok(count) => {
                note(&self.metrics.history.chilled, count, "old blocks of histories were packed smaller")
            }
            Err(error) => {
                tracing::warn!(error = chain(&error), "cannot pack old blocks of histories smaller")
            }
        }
    }
}

fn note(chilled: &AtomicU64, count: usize, what: &'static str) {
    if count > 0 {
        chilled.fetch_add(count as u64, Ordering::Relaxed);
        tracing::info!(count, what);
    }
}
