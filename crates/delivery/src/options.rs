//! How much is kept, sent at once, and how long is waited.

use std::time::Duration;

use store::{Timestamp, bucket_of};

/// How long a receiver that failed is left alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BackOff {
    /// After the first failure; doubled with each further.
    pub first: Duration,
    /// At most.
    pub longest: Duration,
}

/// Limits of a delivery, all of them named.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Names the follower: its position and its reader of the feed.
    pub name: &'static str,
    /// The most changes of one page of the feed: their matches are in memory together before they are counted.
    pub page_changes_max: usize,
    /// The most messages of one batch.
    pub batch_messages_max: usize,
    /// The most batches to one receiver at once, each of other keys.
    pub in_flight_max: usize,
    /// The most batches to all receivers at once. Receivers whose last attempt failed, or that never acknowledged anything, get a quarter of
    /// them together: however many hang, those that answer go on.
    pub sends_max: usize,
    /// The most messages of one receiver that wait in memory; more go to its outbox.
    pub window_messages_max: usize,
    /// Bytes of messages in memory from which no more of the feed is read, and all go to outboxes.
    pub memory_bytes_max: usize,
    /// The most messages in the outbox of one receiver; newer ones overflow.
    pub outbox_messages_max: u64,
    /// The most bytes in the outbox of one receiver; newer ones overflow.
    pub outbox_bytes_max: u64,
    /// How long a receiver may take to acknowledge before its messages go to its outbox, so that the position can move.
    pub patience: Duration,
    /// After failures.
    pub back_off: BackOff,
}

impl Options {
    /// The most batches at once to receivers that are not known to answer.
    pub(crate) fn probes_max(&self) -> usize {
        self.sends_max.div_ceil(4)
    }
}

/// Parts of a wait that chance decides about.
const JITTER_STEPS: u32 = 1024;

impl BackOff {
    /// When a receiver is tried again that failed so many times: three quarters of the wait for all, the rest by chance, which
    /// differs by receiver and failure.
    pub(crate) fn retry_at(&self, receiver: u128, failures: u32, now: Timestamp) -> Timestamp {
        let doublings = failures.saturating_sub(1).min(30);
        let wait = self.first.saturating_mul(1 << doublings).min(self.longest);
        let wait = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
        let seed = [&receiver.to_be_bytes()[..], &failures.to_be_bytes(), &now.0.to_be_bytes()].concat();
        let chance = i64::from(bucket_of(&seed, JITTER_STEPS));
        let shorter = wait / 4 / i64::from(JITTER_STEPS) * chance;
        Timestamp(now.0.saturating_add(wait - shorter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_differ_by_receiver() {
        let back_off = BackOff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };
        for (failures, seconds) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (u32::MAX, 60)] {
            let waits: Vec<i64> =
                (0..100).map(|receiver| back_off.retry_at(receiver, failures, Timestamp(7)).0 - 7).collect();
            let most = seconds * 1_000_000;
            assert!(waits.iter().all(|wait| (most * 3 / 4..=most).contains(wait)), "{failures}: {waits:?}");
            assert!(waits.iter().max() > waits.iter().min());
        }
    }
}
