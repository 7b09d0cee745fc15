//! Indexing attributes that queries are slow without.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::job::{Job, ONE, When, Work};
use super::ticker::JobLease;
use crate::admin::chain;

const LEASE: &str = "server/index-attributes";
/// A lease that is not asked for again so long is another node's.
const TTL: Duration = Duration::from_mins(3);
/// When it is looked for what another process, or a run before this, began.
const INTERVAL: Duration = Duration::from_mins(1);
const SOON: Duration = Duration::from_secs(5);

/// As queries come to want indexes; of several nodes, one builds.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// What is broken off goes on after the next start.
async fn run(work: Work) {
    let mut lease = JobLease::new(work.store.clone(), LEASE, TTL);
    let mut ticks = interval_at(Instant::now() + SOON, INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_tick = tokio::select! {
            _ = ticks.tick() => true,
            () = work.entities.index_wanted() => false,
        };
        if is_tick && let Err(error) = work.entities.sweep_in_use().await {
            tracing::warn!(error = chain(&error), "cannot find out which attributes queries use");
        }
        let entities = match lease.hold().await {
            Ok(true) => work.entities.build_indexes().await,
            Ok(false) => work.entities.enter_indexes().await.map(|()| 0),
            Err(error) => Err(error.into()),
        };
        match entities {
            Ok(count) => _ = work.metrics.jobs.indexed.fetch_add(count as u64, Ordering::Relaxed),
            Err(error) => tracing::warn!(error = chain(&error), "cannot index attributes"),
        }
    }
}
