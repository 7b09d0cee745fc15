//! Turns at a job that is done now and then, and of several nodes by one.

use std::time::Duration;

use store::Store;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::admin::chain;

/// A node that is to lose its turn to another has missed so many of them.
const TURNS_MISSED_MAX: u32 = 3;

/// The turns of one job. A turn that outlasts its lease is another node's, too: a job must bear that.
pub(crate) struct Turns {
    store: Store,
    /// The lease that stands for the job.
    lease: &'static str,
    holder: String,
    ticks: Interval,
}

impl Turns {
    /// A turn in each span of `every`, the first behind one: a server that just started has better things to do.
    pub(crate) async fn new(store: Store, lease: &'static str, holder: String, every: Duration) -> Self {
        let mut ticks = interval(every);
        // Turns that were missed are not made up for.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        Self { store, lease, holder, ticks }
    }

    /// Waits until it is this node's turn.
    pub(crate) async fn next(&mut self) {
        loop {
            self.ticks.tick().await;
            let ttl = self.ticks.period().saturating_mul(TURNS_MISSED_MAX);
            match self.store.lease(self.lease, &self.holder, ttl).await {
                Ok(Some(_)) => return,
                Ok(None) => tracing::debug!(lease = self.lease, "another node's turn"),
                Err(error) => tracing::warn!(error = chain(&error), lease = self.lease, "no lease for a job"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use store::{Clock, MemoryOptions, Timestamp};

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(10);

    async fn is_due(turns: &mut Turns, within: Duration) -> bool {
        tokio::time::timeout(within, turns.next()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn one_node_has_its_turns_until_it_misses_too_many() {
        let clock = Clock::manual(Timestamp(0));
        let store = Store::memory(MemoryOptions { clock: clock.clone(), feed_records_max: 1 });
        let turns = async |holder: &str| Turns::new(store.clone(), "job", holder.to_owned(), INTERVAL).await;
        let (mut first, mut second) = (turns("first").await, turns("second").await);
        assert!(!is_due(&mut first, INTERVAL / 2).await, "not at once");
        assert!(is_due(&mut first, INTERVAL).await);
        assert!(!is_due(&mut second, INTERVAL * 2).await, "another node has the turns");
        assert!(is_due(&mut first, INTERVAL).await, "and goes on having them");
        clock.set(Timestamp(40_000_000));
        assert!(is_due(&mut second, INTERVAL).await, "until it has missed some");
        assert!(!is_due(&mut first, INTERVAL * 2).await);
    }
}
