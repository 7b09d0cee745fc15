//! Removing points beyond retention, and what removed series and repositories left behind.

use std::sync::atomic::Ordering;

use super::job::{Job, When, Work};
use crate::admin::chain;

/// Now and then, on one of several nodes.
pub(super) const JOB: Job = Job {
    name: "server/trim-series",
    when: When::Leased {
        interval: |settings| settings.series.retention_interval.0,
        once: |work| Box::pin(trim(work)),
    },
};

async fn trim(work: Work) {
    let now = work.clock.now();
    match work.repositories.trim_expired(now).await {
        Ok(0) => {}
        Ok(count) => {
            work.metrics.series.trimmed.fetch_add(count as u64, Ordering::Relaxed);
            tracing::info!(count, "series lost points beyond their retention");
        }
        Err(error) => tracing::warn!(error = chain(&error), "cannot trim series"),
    }
    if let Err(error) = work.repositories.sweep(now).await {
        tracing::warn!(error = chain(&error), "cannot sweep up what removed series left");
    }
}
