//! Numbers of vertices that the graph names itself: of the time, of the process, and of a count within each millisecond.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use store::Timestamp;

/// Bits behind the milliseconds: those of the process, and a count.
const LOW_BITS: u32 = 20;
/// Bits of the count; one that overflows goes on in those of the process.
const COUNT_BITS: u32 = 10;

/// What tells this process from others: two of a cluster rarely have the same, and a number that is in use is refused.
static PROCESS: LazyLock<i64> = LazyLock::new(|| {
    let random = RandomState::new().build_hasher().finish() % (1 << (LOW_BITS - COUNT_BITS));
    i64::try_from(random).expect("some bits") << COUNT_BITS
});

/// The last number that was given.
#[derive(Debug, Default)]
pub(crate) struct Numbers(AtomicI64);

impl Numbers {
    /// A number greater than all before: the milliseconds since 1970, and a count. Cost: an atomic change.
    pub(crate) fn next(&self, now: Timestamp) -> i64 {
        let first = (now.0.div_euclid(1_000).max(0) << LOW_BITS) | *PROCESS;
        let next = |last: i64| Some(first.max(last + 1));
        let update = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        first.max(update.expect("it always changes") + 1)
    }

    /// The next number, where the time does not matter: one is in use.
    pub(crate) fn after_last(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
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
        assert_eq!(given[0], 5 << LOW_BITS | *PROCESS);
        assert_eq!(given[4], 9 << LOW_BITS | *PROCESS);
        assert!(given.is_sorted_by(|one, two| one < two), "{given:?}");
    }
}
