//! Time as it is stored, and where it comes from.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub i64);

/// Tells the time: the machine's, or a given one in tests.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// What a test says.
    Manual(Arc<ManualTime>),
}

/// Times that a test sets, both in microseconds.
#[derive(Debug, Default)]
pub struct ManualTime {
    wall: AtomicI64,
    steady: AtomicU64,
}

impl Clock {
    /// A clock that says `now` until it is set again.
    pub fn manual(now: Timestamp) -> Self {
        Self::Manual(Arc::new(ManualTime { wall: AtomicI64::new(now.0), ..ManualTime::default() }))
    }

    /// Sets a manual clock, as somebody sets a machine's: no time goes by. The machine's clock stays as it is.
    pub fn set(&self, now: Timestamp) {
        if let Self::Manual(time) = self {
            time.wall.store(now.0, Ordering::Relaxed);
        }
    }

    /// Lets time go by on a manual clock.
    pub fn pass(&self, span: Duration) {
        if let Self::Manual(time) = self {
            let span = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
            time.steady.fetch_add(span, Ordering::Relaxed);
            time.wall.fetch_add(i64::try_from(span).unwrap_or(i64::MAX), Ordering::Relaxed);
        }
    }

    /// The time since a fixed moment, the same one for all: it goes on whatever the clock is set to.
    pub fn steady(&self) -> Duration {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        match self {
            Self::Manual(time) => Duration::from_micros(time.steady.load(Ordering::Relaxed)),
            Self::System => BEGUN.get_or_init(Instant::now).elapsed(),
        }
    }

    /// The time now.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Manual(time) => Timestamp(time.wall.load(Ordering::Relaxed)),
            Self::System => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                Timestamp(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
            }
        }
    }
}
