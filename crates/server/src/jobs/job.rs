//! What a job is, and what jobs work with.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use model_entities::Entities;
use model_series::Repositories;
use store::{Clock, Store};
use tokio::task::JoinSet;

use super::ticker::LeasedTicker;
use crate::metrics::Metrics;
use crate::settings::Settings;

/// What jobs work with.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) entities: Entities,
    pub(crate) repositories: Repositories,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) settings: Arc<Settings>,
}

/// A job that was started, or one run of it.
pub(super) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One job.
pub(super) struct Job {
    /// Its name, which is that of its lease, if it has one.
    pub(super) name: &'static str,
    pub(super) when: When,
}

/// When a job runs.
pub(super) enum When {
    /// In each `interval`, on one of several nodes; `once` may outlast the lease: it must bear that another node does the
    /// same meanwhile.
    Leased { interval: fn(&Settings) -> Duration, once: fn(Work) -> Running },
    /// Always, so many beside each other; `run` ends only when it is dropped, at any await.
    Always { count: fn(&Settings) -> usize, run: fn(Work) -> Running },
}

/// For jobs that run once in each process.
pub(super) const ONE: fn(&Settings) -> usize = |_| 1;

impl Job {
    /// Starts it; it runs until `tasks` are dropped.
    pub(super) fn start(&self, work: &Work, tasks: &mut JoinSet<()>) {
        match self.when {
            When::Leased { interval, once } => {
                let work = work.clone();
                let mut ticker = LeasedTicker::new(work.store.clone(), self.name, interval(&work.settings));
                tasks.spawn(async move {
                    loop {
                        ticker.next().await;
                        once(work.clone()).await;
                    }
                });
            }
            When::Always { count, run } => {
                for _ in 0..count(&work.settings) {
                    tasks.spawn(run(work.clone()));
                }
            }
        }
    }
}
