//! Numbers of vertices that the graph names itself: of the time, and of a count within each millisecond.

use std::sync::atomic::{AtomicI64, Ordering};

use store::Timestamp;

/// Bits of the count within a millisecond.
const COUNT_BITS: u32 = 20;

/// The last number that was given.
#[derive(Debug, Default)]
pub(crate) struct Numbers(AtomicI64);

impl Numbers {
    /// A number greater than all before: the milliseconds since 1970, and a count. Cost: an atomic change.
    pub(crate) fn next(&self, now: Timestamp) -> i64 {
        let first = now.0.div_euclid(1_000).max(0) << COUNT_BITS;
        let next = |last: i64| Some(first.max(last + 1));
        let update = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        first.max(update.expect("it always changes") + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_whatever_the_clock_says() {
        let numbers = Numbers::default();
        let moments = [5_000, 5_000, 3_000, -1, 9_000];
        let given: Vec<i64> = moments.iter().map(|moment| numbers.next(Timestamp(*moment))).collect();
        assert_eq!(given[0], 5 << COUNT_BITS);
        assert_eq!(given[4], 9 << COUNT_BITS);
        assert!(given.is_sorted_by(|one, two| one < two), "{given:?}");
    }
}
