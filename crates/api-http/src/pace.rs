//! Log lines that come no more often than once a second.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The shortest time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

/// Lets one line a second through to the log, and counts the others: for causes that many requests meet at once.
#[derive(Debug)]
struct LogPace(Mutex<Passed>);

#[derive(Debug)]
struct Passed {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogPace {
    /// A pace of its own.
    const fn new() -> Self {
        Self(Mutex::new(Passed { last: None, suppressed: 0 }))
    }

    /// Whether a line may be written now; if so, how many were suppressed since the last one. Cost: one lock that nobody
    /// holds for long.
    fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut passed = self.0.lock();
        if passed.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
            passed.suppressed += 1;
            return None;
        }
        passed.last = Some(now);
        Some(std::mem::take(&mut passed.suppressed))
    }
}

/// Logs why a store refused a request. Refusals that every request meets as long as their cause `lasts` are logged once a second.
pub fn log_refusal(error: &dyn std::error::Error, lasts: bool) {
    static LASTING: LogPace = LogPace::new();
    let source = error.source().map(tracing::field::display);
    if !lasts {
        tracing::error!(%error, source, "store refused");
    } else if let Some(suppressed) = LASTING.admit() {
        tracing::error!(%error, source, suppressed, "store refused");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_tells_how_many_it_stands_for() {
        let pace = LogPace::new();
        let start = Instant::now();
        let at = |millis| pace.admit_at(start + Duration::from_millis(millis));
        assert_eq!([at(0), at(1), at(999)], [Some(0), None, None]);
        assert_eq!([at(1_000), at(1_500), at(60_000), at(61_000)], [Some(2), None, Some(1), Some(0)]);
    }
}
