//! Packing old blocks of series, and of the pasts of attributes, smaller.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::job::{Job, ONE, When, Work};
use super::ticker::LeasedTicker;
use crate::admin::chain;

const LEASE: &str = "server/recompress";
/// How often it is looked whether a sweep is due: restarts do not put it off, and it knows what the last did.
const LOOK: Duration = Duration::from_secs(60);

/// Soon after the start and then now and then; of several nodes, one does it.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// Not by ticks of the whole interval: it may be days, for which no other node would take over.
async fn run(work: Work) {
    let interval = work.settings.series.recompress_interval.0;
    let mut ticker = LeasedTicker::new(work.store.clone(), LEASE, interval.min(LOOK));
    let mut last: Option<Instant> = None;
    loop {
        ticker.next().await;
        if last.is_none_or(|last| last.elapsed() >= interval) {
            sweep(&work).await;
            last = Some(Instant::now());
        }
    }
}

/// May outlast the lease: another node then sweeps meanwhile, which does no harm.
async fn sweep(work: &Work) {
    let (now, age) = (work.clock.now(), work.settings.series.recompress_age.0);
    match work.repositories.recompress(now, age).await {
        Ok(count) => {
            note(&work.metrics.series.recompressed, count, "old blocks of series were packed smaller")
        }
        Err(error) => tracing::warn!(error = chain(&error), "cannot pack old blocks of series smaller"),
    }
    match work.entities.recompress_history(now, age).await {
        Ok(count) => {
            note(&work.metrics.history.recompressed, count, "old blocks of histories were packed smaller");
        }
        Err(error) => {
            tracing::warn!(error = chain(&error), "cannot pack old blocks of histories smaller");
        }
    }
}

fn note(recompressed: &AtomicU64, count: usize, what: &'static str) {
    if count > 0 {
        recompressed.fetch_add(count as u64, Ordering::Relaxed);
        tracing::info!(count, what);
    }
}
