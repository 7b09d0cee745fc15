//! Folding fresh history of entities into blocks, removing what is beyond retention.

use std::sync::atomic::Ordering;
use std::time::Duration;

use model_entities::Error;

use super::job::{Job, ONE, When, Work};
use crate::admin::chain;

/// After a failure of the whole: the store may be busy or closing.
const REST: Duration = Duration::from_secs(1);

/// Folds entities that gathered much.
pub(super) const FOLD: Job =
    Job { name: "server/fold-entities", when: When::Always { count: ONE, run: |work| Box::pin(fold(work)) } };

/// Folds what is old enough, and removes what is beyond retention; now and then, on one of several nodes.
pub(super) const SWEEP: Job = Job {
    name: "server/sweep-history",
    when: When::Leased {
        interval: |settings| settings.history.sweep_interval.0,
        once: |work| Box::pin(sweep(work)),
    },
};

/// A fold that is broken off loses nothing.
async fn fold(work: Work) {
    loop {
        let job = work.entities.next_to_fold().await;
        let folded = async { work.entities.life(&job.tenant).await?.fold_history(&job.id).await };
        match folded.await {
            Ok(_) => _ = work.metrics.history.folds.fetch_add(1, Ordering::Relaxed),
            // There is nothing left to fold.
            Err(Error::NoSuchTenant(_)) => {}
            Err(error) if error.is_outage() => {
                note_failure(&work, &error, "cannot fold the history of an entity").await;
            }
            Err(error) => {
                // Others are not to wait for it; the sweep tries it again.
                work.metrics.history.folds_failed.fetch_add(1, Ordering::Relaxed);
                work.entities.skips().note("fold", &job.tenant, &job.id, &error);
            }
        }
    }
}

async fn sweep(work: Work) {
    let now = work.clock.now();
    match work.entities.sweep_history(now, work.settings.history.fresh_duration.0).await {
        Ok(0) => {}
        Ok(count) => {
            work.metrics.history.folds.fetch_add(count as u64, Ordering::Relaxed);
            tracing::info!(count, "fresh history of entities folded for its age");
        }
        Err(error) => note_failure(&work, &error, "cannot sweep history").await,
    }
    match work.entities.trim_history(now).await {
        Ok(0) => {}
        Ok(count) => {
            work.metrics.history.trimmed.fetch_add(count as u64, Ordering::Relaxed);
            tracing::info!(count, "history beyond retention removed");
        }
        Err(error) => note_failure(&work, &error, "cannot remove history beyond retention").await,
    }
}

async fn note_failure(work: &Work, error: &(dyn std::error::Error + Sync), what: &'static str) {
    work.metrics.history.folds_failed.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(error = chain(error), what);
    tokio::time::sleep(REST).await;
}
