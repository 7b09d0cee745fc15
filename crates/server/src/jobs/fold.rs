//! Folding overwrites into the blocks of strands, as soon as there are many: of series, and of histories of attributes
//! (corrections, removals).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model_series::Strands;

use crate::admin::chain;
use crate::metrics::{Metrics, StrandMetrics};

/// While the store serves nobody: it may be closing.
const REST: Duration = Duration::from_secs(1);

/// Folds strands one after the other; several of these run beside each other.
#[derive(Clone)]
pub(crate) struct Fold {
    pub(crate) strands: Strands,
    pub(crate) metrics: Arc<Metrics>,
    /// Where it counts.
    pub(crate) counters: fn(&Metrics) -> &StrandMetrics,
}

impl Fold {
    /// Runs until the task is dropped. A fold that is broken off leaves the strand as it was.
    pub(crate) async fn run(self) {
        let counters = (self.counters)(&self.metrics);
        loop {
            let (strand, encoding) = self.strands.next_to_fold().await;
            match self.strands.fold(&strand, encoding).await {
                Ok(true) => _ = counters.folds.fetch_add(1, Ordering::Relaxed),
                // Writers kept coming first, or there was nothing left to fold.
                Ok(false) => {}
                // There is nothing left to fold.
                Err(_) if strand.partition.tenant.is_ended() => {}
                Err(error) => {
                    counters.folds_failed.fetch_add(1, Ordering::Relaxed);
                    if error.is_outage() {
                        tracing::warn!(error = chain(&error), "cannot fold a strand");
                        tokio::time::sleep(REST).await;
                    } else {
                        // Others are not to wait for it; its next write that wants a fold notes it again.
                        self.strands.skips().note("fold", &strand.partition.tenant, &strand, &error);
                    }
                }
            }
        }
    }
}
