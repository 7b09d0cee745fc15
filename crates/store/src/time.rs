//! Time as it is stored, and where it comes from.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub i64);

/// Tells the time: the machine's, or a given one in tests.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// Microseconds that a test sets.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at `now` until it is set again.
    pub fn manual(now: Timestamp) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(now.0)))
    }

    /// Sets a manual clock; the machine's clock stays as it is.
    pub fn set(&self, now: Timestamp) {
        if let Self::Manual(clock) = self {
            clock.store(now.0, Ordering::Relaxed);
        }
    }

    /// The time now.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Manual(clock) => Timestamp(clock.load(Ordering::Relaxed)),
            Self::System => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                Timestamp(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
            }
        }
    }
}
