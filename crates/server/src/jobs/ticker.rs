//! A ticker for jobs that run now and then, on one of several nodes.

use std::time::Duration;

use store::{Lease, Store};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::admin::chain;

/// A node loses the lease to another after it has missed so many ticks.
const TICKS_MISSED_MAX: u32 = 3;

/// The first tick comes so long after the start, if not one span: a server that just started has better things to do.
const SOON: Duration = Duration::from_secs(5);
/// And up to so much later, each job at a time of its own, so that not all begin at once.
const SPREAD: Duration = Duration::from_secs(5);
/// Times at which jobs may begin.
const BEGINS: u32 = 1 << 6;

/// A lease that lasts for as long as it is renewed in time.
pub(crate) struct JobLease {
    store: Store,
    name: &'static str,
    ttl: Duration,
    lease: Option<Lease>,
}

impl JobLease {
    pub(crate) fn new(store: Store, name: &'static str, ttl: Duration) -> Self {
        Self { store, name, ttl, lease: None }
    }

    /// Whether it was ours when it was asked for last.
    pub(crate) fn is_held(&self) -> bool {
        self.lease.is_some()
    }

    /// Renews the lease, or takes it; whether it is ours.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) async fn hold(&mut self) -> Result<bool, store::Error> {
        if let Some(lease) = &self.lease {
            if self.store.renew(lease, self.ttl).await? {
                return Ok(true);
            }
            self.lease = None;
        }
        self.lease = self.store.lease(self.name, self.ttl).await?;
        Ok(self.lease.is_some())
    }
}

/// Ticks of one job, on the node that has its lease. Work that outlasts the lease may be done by another node, too: a job
/// must bear that.
pub(crate) struct LeasedTicker {
    /// The lease of the job.
    lease: JobLease,
    ticks: Interval,
}

impl LeasedTicker {
    /// A tick in each span of `every`, the first soon.
    pub(crate) fn new(store: Store, lease: &'static str, every: Duration) -> Self {
        let mut ticks = interval_at(Instant::now() + every.min(soon(lease)), every);
        // Missed ticks are not made up for.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { lease: JobLease::new(store, lease, every.saturating_mul(TICKS_MISSED_MAX)), ticks }
    }

    /// Waits for the next tick at which this node has the lease.
    pub(crate) async fn next(&mut self) {
        loop {
            self.ticks.tick().await;
            let name = self.lease.name;
            match self.lease.hold().await {
                Ok(true) => return,
                Ok(false) => tracing::debug!(lease = name, "another node has the lease"),
                Err(error) => tracing::warn!(error = chain(&error), lease = name, "no lease for a job"),
            }
        }
    }
}

/// How long after the start the first tick of a job comes: always the same.
fn soon(lease: &str) -> Duration {
    SOON + SPREAD * store::bucket_of(lease.as_bytes(), BEGINS) / BEGINS
}

#[cfg(test)]
mod tests {
    use store::{Clock, MemoryOptions, Timestamp};

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(10);

    async fn is_due(ticker: &mut LeasedTicker, within: Duration) -> bool {
        tokio::time::timeout(within, ticker.next()).await.is_ok()
    }

    #[test]
    fn jobs_begin_at_different_times() {
        let leases =
            ["server/recompress", "server/sweep-history", "server/purge-expired", "server/trim-series"];
        let mut begins = leases.map(soon);
        begins.sort_unstable();
        assert!(begins.iter().all(|begin| (SOON..SOON + SPREAD).contains(begin)), "{begins:?}");
        assert!(begins.windows(2).all(|pair| pair[1] - pair[0] > Duration::from_millis(50)), "{begins:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_node_has_the_lease_until_it_misses_too_many_ticks() {
        let clock = Clock::manual(Timestamp(0));
        let store =
            Store::memory(MemoryOptions { clock: clock.clone(), feed: store::FeedOptions::recommended() });
        let ticker = || LeasedTicker::new(store.clone(), "job", INTERVAL);
        let (mut first, mut second) = (ticker(), ticker());
        assert!(!is_due(&mut first, SOON / 2).await, "not at once");
        assert!(is_due(&mut first, SOON + SPREAD).await, "but soon");
        assert!(!is_due(&mut second, INTERVAL * 2).await, "another node has the lease");
        assert!(is_due(&mut first, INTERVAL).await, "and renews it");
        clock.set(Timestamp(i64::MAX / 2));
        assert!(!is_due(&mut second, INTERVAL * 2).await, "whatever the clock is set to");
        assert!(is_due(&mut first, INTERVAL).await);
        clock.pass(INTERVAL * 4);
        assert!(is_due(&mut second, INTERVAL).await, "until it has missed some");
        assert!(!is_due(&mut first, INTERVAL * 2).await);
    }
}
