//! Folding overwrites into the blocks of strands, as soon as there are many: of series, and of histories of attributes
//! (corrections, removals).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model_series::Strands;

use super::job::{Job, ONE, When};
use crate::admin::chain;

/// While the store serves nobody: it may be closing.
const REST: Duration = Duration::from_secs(1);

/// Strands of series.
pub(super) const SERIES: Job = Job {
    name: "server/fold-series",
    when: When::Always {
        count: |settings| settings.series.folds_max,
        run: |work| {
            Box::pin(async move {
                let counters = &work.metrics.series;
                fold(work.repositories.strands(), &counters.folds, &counters.folds_failed).await;
            })
        },
    },
};

/// Strands of histories.
pub(super) const HISTORY: Job = Job {
    name: "server/fold-history",
    when: When::Always {
        count: ONE,
        run: |work| {
            Box::pin(async move {
                let counters = &work.metrics.history;
                fold(work.entities.strands(), &counters.folds, &counters.folds_failed).await;
            })
        },
    },
};

/// Folds strands one after the other. A fold that is broken off leaves the strand as it was.
async fn fold(strands: &Strands, folds: &AtomicU64, folds_failed: &AtomicU64) {
    loop {
        let (strand, encoding) = strands.next_to_fold().await;
        match strands.fold(&strand, encoding).await {
            Ok(true) => _ = folds.fetch_add(1, Ordering::Relaxed),
            // Other writers were always first, or there was nothing left to fold.
            Ok(false) => {}
            // There is nothing left to fold.
            Err(_) if strand.partition.tenant.is_ended() => {}
            Err(error) => {
                folds_failed.fetch_add(1, Ordering::Relaxed);
                if error.is_outage() {
                    tracing::warn!(error = chain(&error), "cannot fold a strand");
                    tokio::time::sleep(REST).await;
                } else {
                    // Others are not to wait for it; its next write that wants a fold notes it again.
                    strands.skips().note("fold", &strand.partition.tenant, &strand, &error);
                }
            }
        }
    }
}
