//! Notifying hooks of what happens to series. The model says which hooks a change concerns, `api-tsm` words it, `delivery` keeps order,
//! retries and outboxes, `egress` sends; this loop drives them. One follower reads the feed for all hooks, on one node at a time.

mod serving;

use std::sync::Arc;
use std::time::Duration;

use model_series::{Repositories, ServedHooks};
use store::{Clock, ErrorKind, Store};
use tokio::time::{Instant, MissedTickBehavior};

use super::job::{Job, ONE, When, Work};
use super::notifier::Notifier;
use super::ticker::JobLease;
use crate::admin::chain;
use crate::metrics::Metrics;
use serving::Serving;

/// Names the lease, and the reader of the feed.
const LEASE: &str = "server/hooks";

/// Always: it takes its lease itself, for it acts far more often than it renews it.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// How often the feed is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often the lease is renewed, and what was notified is stored.
const FLUSH: Duration = Duration::from_millis(500);
/// The lease runs out after so long without a renewal.
const LEASE_TTL: Duration = Duration::from_secs(10);
/// After an error of the store.
const REST: Duration = Duration::from_secs(1);

/// Notifies hooks; of several nodes, one does it.
#[derive(Clone)]
struct Hooks {
    shared: Arc<Shared>,
}

struct Shared {
    repositories: Repositories,
    store: Store,
    clock: Clock,
    metrics: Arc<Metrics>,
    notifier: Notifier,
}

async fn run(work: Work) {
    let Work { repositories, store, clock, metrics, notifier, .. } = work;
    match notifier {
        Some(notifier) => Hooks::new(Shared { repositories, store, clock, metrics, notifier }).run().await,
        None => forget(&repositories, &store).await,
    }
}

/// Where hooks are not called, the feed need not store what they have not read: an earlier run may have asked for that. The position
/// stays, and a later run that calls hooks goes on from there. Ends only when the task is dropped.
async fn forget(repositories: &Repositories, store: &Store) {
    for shard in 0..store.feed_shards() {
        if let Err(error) = store.keep_feed(LEASE, shard, &[]).await {
            tracing::warn!(
                error = chain(&error),
                "the feed still stores changes for hooks that are not called"
            );
        }
    }
    serving::sweep(repositories, &ServedHooks::default()).await;
    std::future::pending().await
}

impl Hooks {
    fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Runs until the task is dropped.
    async fn run(self) {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut lease = JobLease::new(self.shared.store.clone(), LEASE, LEASE_TTL);
        let mut serving: Option<Serving> = None;
        let mut flushed_at = None;
        loop {
            match &mut serving {
                Some(serving) => serving.wait(&mut ticks).await,
                None => {
                    ticks.tick().await;
                }
            }
            let is_due = flushed_at.is_none_or(|at: Instant| at.elapsed() >= FLUSH);
            if is_due {
                flushed_at = Some(Instant::now());
                match lease.hold().await {
                    Ok(true) => {}
                    Ok(false) => self.end(&mut serving),
                    Err(error) => tracing::warn!(error = chain(&error), "no lease to notify hooks"),
                }
                if serving.is_none() && lease.is_held() {
                    serving = self.open().await;
                }
            }
            let Some(current) = &mut serving else { continue };
            if let Err(error) = current.turn(is_due).await {
                tracing::warn!(error = chain(&error), "hooks are notified later");
                // Another node has taken over, or this one is out of step: what is stored counts.
                if kind_of(&error).is_none_or(|kind| matches!(kind, ErrorKind::Conflict | ErrorKind::Unknown))
                {
                    self.end(&mut serving);
                }
                tokio::time::sleep(REST).await;
            }
        }
    }

    /// This node notifies no more.
    fn end(&self, serving: &mut Option<Serving>) {
        *serving = None;
        self.shared.metrics.hooks.set_gauges(None);
    }

    async fn open(&self) -> Option<Serving> {
        match Serving::open(Arc::clone(&self.shared)).await {
            Ok(serving) => Some(serving),
            Err(error) => {
                tracing::warn!(error = chain(&error), "cannot begin to notify hooks");
                None
            }
        }
    }
}

/// What the store says, if it was the store.
fn kind_of(error: &model_series::Error) -> Option<ErrorKind> {
    match error {
        model_series::Error::Store(error) => Some(error.kind()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
