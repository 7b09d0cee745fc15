//! What a job is, and what jobs work with.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use api_hugegraph::AlgorithmJobs;
use futures_util::FutureExt;
use model_config::Configs;
use model_entities::Entities;
use model_graph::Graphs;
use model_series::Repositories;
use store::{Clock, Store};
use tokio::task::JoinSet;

use super::notifier::Notifier;
use super::sinks::Sinks;
use super::ticker::LeasedTicker;
use crate::metrics::Metrics;
use crate::settings::Settings;

/// What jobs work with.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) entities: Entities,
    pub(crate) repositories: Repositories,
    pub(crate) graphs: Graphs,
    pub(crate) configs: Configs,
    pub(crate) algorithms: AlgorithmJobs,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) settings: Arc<Settings>,
    /// `None` if hooks are not called.
    pub(crate) notifier: Option<Notifier>,
    /// `None` if nobody is told of changes of configuration.
    pub(crate) sinks: Option<Arc<Sinks>>,
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

/// After a bug in a job.
const REST: Duration = Duration::from_secs(10);

/// For jobs that run once in each process.
pub(super) const ONE: fn(&Settings) -> usize = |_| 1;

impl Job {
    /// Starts it; it runs until `tasks` are dropped.
    pub(super) fn start(&self, work: &Work, tasks: &mut JoinSet<()>) {
        let name = self.name;
        match self.when {
            When::Leased { interval, once } => {
                let work = work.clone();
                let mut ticker = LeasedTicker::new(work.store.clone(), name, interval(&work.settings));
                tasks.spawn(async move {
                    loop {
                        ticker.next().await;
                        survive(name, once(work.clone())).await;
                    }
                });
            }
            When::Always { count, run } => {
                for _ in 0..count(&work.settings) {
                    let work = work.clone();
                    tasks.spawn(async move {
                        loop {
                            survive(name, run(work.clone())).await;
                        }
                    });
                }
            }
        }
    }
}

/// What a job does, up to its end or to a bug: that ends this run alone, and after a rest the job begins again.
async fn survive(name: &'static str, run: Running) {
    if AssertUnwindSafe(run).catch_unwind().await.is_err() {
        // The panic hook logged what and where.
        tracing::error!(job = name, "a job met a bug, and begins again");
        tokio::time::sleep(REST).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bug_ends_one_run_of_a_job() {
        let start = tokio::time::Instant::now();
        survive("test", Box::pin(async { panic!("a bug") })).await;
        assert_eq!(start.elapsed(), REST);
        survive("test", Box::pin(async {})).await;
        assert_eq!(start.elapsed(), REST);
    }
}
