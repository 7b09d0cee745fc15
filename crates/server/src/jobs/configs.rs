//! Tidying configuration: what removed anchors left goes, versions that are too old are dropped, and so are pages and texts that
//! nothing names.

use std::sync::atomic::Ordering;

use model_config::{Configs, Error};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::job::{Job, ONE, When, Work};
use super::ticker::JobLease;
use crate::admin::chain;

const LEASE: &str = "server/config-tidying";
/// A lease that is not asked for again so long is another node's, in intervals.
const TTL_INTERVALS: u32 = 3;

/// As anchors are removed, and at an interval; of several nodes, one does it.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// What is broken off goes on after the next start.
async fn run(work: Work) {
    let interval = work.settings.config.tidy_interval.0;
    let mut lease = JobLease::new(work.store.clone(), LEASE, interval.saturating_mul(TTL_INTERVALS));
    let mut ticks = interval_at(Instant::now(), interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let wanted = tokio::select! {
            _ = ticks.tick() => None,
            configs = work.configs.next_wanted() => Some(configs),
        };
        match lease.hold().await {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                tracing::warn!(error = chain(&error), lease = LEASE, "no lease for a job");
                continue;
            }
        }
        match wanted {
            Some(configs) => tidy(&work, &configs).await,
            None => tidy_all(&work).await,
        }
    }
}

async fn tidy_all(work: &Work) {
    match work.configs.all().await {
        Ok(tenants) => {
            for configs in tenants {
                tidy(work, &configs).await;
            }
        }
        Err(error) => tracing::warn!(error = chain(&error), "cannot list the tenants of configuration"),
    }
}

/// What fails is tried again at the next tick.
async fn tidy(work: &Work, configs: &Configs) {
    match configs.tidy().await {
        Ok(done) => _ = work.metrics.jobs.config_rows.fetch_add(done.rows, Ordering::Relaxed),
        Err(error) => note(configs, &error),
    }
}

fn note(configs: &Configs, error: &Error) {
    if !configs.tenant().is_ended() {
        tracing::warn!(error = chain(error), tenant = configs.tenant().name(), "cannot tidy configuration");
    }
}
