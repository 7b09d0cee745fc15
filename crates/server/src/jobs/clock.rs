//! Says so when the machine's clock is set, or stood still while the machine slept.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::{Clock, Timestamp};
use tokio::time::Instant;

use super::job::{Job, ONE, When};
use crate::metrics::Metrics;

/// How often the clock is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Smaller steps than this are how a time service corrects a clock.
const JUMP_MIN: Duration = Duration::from_secs(5);

/// Always, on every node.
pub(super) const JOB: Job = Job {
    name: "server/clock",
    when: When::Always { count: ONE, run: |work| Box::pin(watch(work.clock, work.metrics)) },
};

/// Watches the machine's clock.
async fn watch(clock: Clock, metrics: Arc<Metrics>) {
    let mut seen = Seen { wall: clock.now(), at: Instant::now() };
    loop {
        tokio::time::sleep(LOOK).await;
        if let Some(jump) = seen.look(clock.now(), Instant::now()) {
            metrics.jobs.clock_jumps.fetch_add(1, Ordering::Relaxed);
            tell(jump);
        }
    }
}

fn tell(Jump { is_forward, by }: Jump) {
    if is_forward {
        tracing::warn!(?by, "the clock was set forward, or the machine slept: times of writes jump with it");
    } else {
        tracing::warn!(
            ?by,
            "the clock was set back: times of writes go on from the last one, a microsecond apart, until the clock has \
             caught up"
        );
    }
}

/// What the clock showed, and when that was by a clock that nobody sets.
struct Seen {
    wall: Timestamp,
    at: Instant,
}

/// A step of the clock beside the time that went by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Jump {
    is_forward: bool,
    by: Duration,
}

impl Seen {
    /// Takes a look; the jump since the last one, if there was one.
    fn look(&mut self, wall: Timestamp, at: Instant) -> Option<Jump> {
        let went_by = i64::try_from(at.saturating_duration_since(self.at).as_micros()).unwrap_or(i64::MAX);
        let step = wall.0.saturating_sub(self.wall.0).saturating_sub(went_by);
        *self = Self { wall, at };
        let by = Duration::from_micros(step.unsigned_abs());
        (by >= JUMP_MIN).then_some(Jump { is_forward: step > 0, by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_clock_beside_the_time_that_went_by_are_jumps() {
        const SECOND: i64 = 1_000_000;
        let start = Instant::now();
        let mut seen = Seen { wall: Timestamp(0), at: start };
        let mut look =
            |wall: i64, millis: u64| seen.look(Timestamp(wall), start + Duration::from_millis(millis));
        let jump = |is_forward, seconds| Some(Jump { is_forward, by: Duration::from_secs(seconds) });
        assert_eq!(look(SECOND, 1_000), None);
        // A busy machine looks late: both clocks went on.
        assert_eq!(look(61 * SECOND, 61_000), None);
        // Small corrections.
        assert_eq!(look(66 * SECOND, 62_000), None);
        // An hour back, once, and forward again.
        assert_eq!(look(67 * SECOND - 3_600 * SECOND, 63_000), jump(false, 3_600));
        assert_eq!(look(68 * SECOND - 3_600 * SECOND, 64_000), None);
        assert_eq!(look(69 * SECOND, 65_000), jump(true, 3_600));
    }

    #[tokio::test(start_paused = true)]
    async fn a_jump_is_counted_once() {
        let clock = Clock::manual(Timestamp(7_200_000_000));
        let metrics = Arc::new(Metrics::new(std::iter::empty(), 1));
        let watching = tokio::spawn(watch(clock.clone(), Arc::clone(&metrics)));
        tokio::time::sleep(LOOK / 2).await;
        clock.set(Timestamp(3_600_000_000));
        tokio::time::sleep(LOOK * 3).await;
        assert_eq!(metrics.jobs.clock_jumps.load(Ordering::Relaxed), 1);
        watching.abort();
    }
}
