//! What background jobs skip because they failed on it: counted, and named in the log now and then, so that one damaged
//! thing stops no job for others and floods no log.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Tenant;
use parking_lot::Mutex;

/// A thing is named in the log again only after so long.
const NAMED_AGAIN_AFTER: Duration = Duration::from_hours(1);
/// So many things are named in that time; further ones are only counted.
const NAMED_MAX: usize = 256;

/// Counts and names what jobs skip. What is skipped is tried again when the job next comes by.
#[derive(Debug, Default)]
pub struct SkipLog {
    count: AtomicU64,
    named: Mutex<HashMap<Box<str>, Instant>>,
}

impl SkipLog {
    /// Notes that `job` failed on a thing of a tenant and goes on with others. Nothing is left to fail on in a tenant that has
    /// ended.
    pub fn note(
        &self,
        job: &'static str,
        tenant: &Tenant,
        what: &dyn Display,
        error: &(dyn std::error::Error + 'static),
    ) {
        if tenant.is_ended() {
            return;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let (tenant, what) = (tenant.to_string(), what.to_string());
        if self.is_due(format!("{job}\n{tenant}\n{what}").into(), Instant::now()) {
            tracing::warn!(job, tenant, what, error, "a job skips what it failed on");
        }
    }

    /// How often something was skipped.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether the thing is to be named now.
    fn is_due(&self, thing: Box<str>, now: Instant) -> bool {
        let mut named = self.named.lock();
        named.retain(|_, at| now.saturating_duration_since(*at) < NAMED_AGAIN_AFTER);
        if named.len() >= NAMED_MAX || named.contains_key(&thing) {
            return false;
        }
        named.insert(thing, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn things_are_named_once_an_hour_and_not_too_many() {
        let (log, start) = (SkipLog::default(), Instant::now());
        let is_due = |thing: usize, minutes: u64| {
            log.is_due(thing.to_string().into(), start + Duration::from_mins(minutes))
        };
        assert!(is_due(0, 0));
        assert!(!is_due(0, 59));
        assert!(is_due(0, 60), "named again");
        assert_eq!((1..1_000).filter(|thing| is_due(*thing, 61)).count(), NAMED_MAX - 1);
        assert!(is_due(1_000, 120), "there is room again");
    }

    #[test]
    fn everything_skipped_is_counted() {
        let log = SkipLog::default();
        let error = crate::Error::new(ErrorKind::Corrupt, "reading");
        (0..3).for_each(|_| log.note("trim", &Tenant::default(), &"series 1", &error));
        assert_eq!(log.count(), 3);
    }
}
