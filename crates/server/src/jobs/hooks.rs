//! Notifying hooks of what happens to series. The model says which hooks a change concerns, `api-tsm` words it, `delivery` keeps order,
//! retries and outboxes, `egress` sends; this loop drives them. One follower reads the feed for all hooks, on one node at a time.

mod sender;
mod serving;

use std::sync::Arc;
use std::time::Duration;

use delivery::BackOff;
use model_series::Repositories;
use store::{Clock, ErrorKind, Store};
use tokio::time::{Instant, MissedTickBehavior};

use super::ticker::JobLease;
use crate::admin::chain;
use crate::metrics::Metrics;
use sender::Sender;
use serving::Serving;

const LEASE: &str = "server/hooks";
/// How often the feed is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often the lease is renewed, and what was notified is stored.
const FLUSH: Duration = Duration::from_millis(500);
/// The lease runs out after so long without a renewal.
const LEASE_TTL: Duration = Duration::from_secs(10);
/// After an error of the store.
const REST: Duration = Duration::from_secs(1);

/// Whom hooks may call, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HooksPolicy {
    /// Whether loopback, private and link-local addresses may be called.
    pub(crate) private_addresses: bool,
    /// How long a hook may take to answer.
    pub(crate) duration_max: Duration,
    /// How long a hook that failed rests.
    pub(crate) back_off: BackOff,
    /// The most changes of one notification.
    pub(crate) changes_max: usize,
}

/// Notifies hooks; of several nodes, one does it.
#[derive(Clone)]
pub(crate) struct Hooks {
    shared: Arc<Shared>,
}

struct Shared {
    repositories: Repositories,
    store: Store,
    clock: Clock,
    metrics: Arc<Metrics>,
    policy: HooksPolicy,
    sender: Sender,
}

impl Hooks {
    /// A sender to hooks.
    ///
    /// # Errors
    ///
    /// If there can be no client for HTTP.
    pub(crate) fn new(
        repositories: Repositories,
        (store, clock): (Store, Clock),
        metrics: Arc<Metrics>,
        policy: HooksPolicy,
    ) -> anyhow::Result<Self> {
        let sender = Sender::new(policy.private_addresses, policy.duration_max)?;
        Ok(Self { shared: Arc::new(Shared { repositories, store, clock, metrics, policy, sender }) })
    }

    /// Lets the feed go that an earlier run had kept for hooks, where nobody sends any. Ends only when the task is dropped.
    pub(crate) async fn forget(store: Store) {
        for shard in 0..store.feed_shards() {
            if let Err(error) = store.keep_feed(LEASE, shard, &[]).await {
                tracing::warn!(error = chain(&error), "the feed is still kept for hooks");
            }
        }
        std::future::pending().await
    }

    /// Runs until the task is dropped.
    pub(crate) async fn run(self) {
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
                    Ok(false) => serving = None,
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
                    serving = None;
                }
                tokio::time::sleep(REST).await;
            }
        }
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
