//! When requests are due, and who sends them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// Requests due at a constant rate.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals {
    /// Requests a second.
    pub rate: f64,
    /// For how long requests become due; those under way are finished.
    pub duration: Duration,
}

/// Releases requests when they are due. A thread of its own: timers of the runtime are a millisecond coarse.
#[derive(Debug)]
pub(super) struct Pacer {
    gap: Duration,
    total: u64,
    users: usize,
    released: Semaphore,
    taken: AtomicU64,
}

impl Pacer {
    pub(super) fn new(arrivals: Arrivals, users: usize) -> Self {
        let gap = Duration::from_secs_f64(1.0 / arrivals.rate);
        let total = arrivals.duration.as_nanos() / gap.as_nanos().max(1);
        Self {
            gap,
            total: u64::try_from(total).unwrap_or(u64::MAX),
            users,
            released: Semaphore::new(0),
            taken: AtomicU64::new(0),
        }
    }

    fn due(&self, start: Instant, ticket: u64) -> Instant {
        let nanos = u64::try_from(self.gap.as_nanos()).unwrap_or(u64::MAX).saturating_mul(ticket);
        start + Duration::from_nanos(nanos)
    }

    /// Releases one permit a request, when it is due, and at the end one a user so that all see the end.
    pub(super) fn run(&self, start: Instant) {
        let mut ticket = 0;
        while ticket < self.total {
            let now = Instant::now();
            let wait = self.due(start, ticket).saturating_duration_since(now);
            if !wait.is_zero() {
                thread::sleep(wait);
                continue;
            }
            // All that are due by now, at one stroke.
            let mut permits = 0;
            while ticket < self.total && permits < 1_000 && self.due(start, ticket) <= now {
                ticket += 1;
                permits += 1;
            }
            self.released.add_permits(permits);
        }
        self.released.add_permits(self.users);
    }

    /// Waits for the next request to be due and takes it; `None`: no more will come.
    pub(super) async fn next(&self, start: Instant) -> Option<Instant> {
        let permit = self.released.acquire().await.ok()?;
        permit.forget();
        let ticket = self.taken.fetch_add(1, Ordering::Relaxed);
        (ticket < self.total).then(|| self.due(start, ticket))
    }
}
