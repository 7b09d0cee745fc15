//! Strands that want to be folded: a bounded queue, each strand in it once.

use std::collections::{HashSet, VecDeque};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::codec::Encoding;
use crate::strand::Strand;

/// Strands that wait for folding; more are not noted until there is room (their next write notes them again).
const FOLDS_WAITING_MAX: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct FoldQueue {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

/// Invariant: `known` holds exactly the strands of `order`.
#[derive(Debug, Default)]
struct Waiting {
    order: VecDeque<(Strand, Encoding)>,
    known: HashSet<Strand>,
}

impl FoldQueue {
    /// Notes a strand, unless it waits already or the queue is full.
    pub(crate) fn note(&self, strand: &Strand, encoding: Encoding) {
        let mut waiting = self.waiting.lock();
        if waiting.order.len() >= FOLDS_WAITING_MAX || waiting.known.contains(strand) {
            return;
        }
        waiting.known.insert(strand.clone());
        waiting.order.push_back((strand.clone(), encoding));
        drop(waiting);
        self.arrived.notify_one();
    }

    /// The strand that waits longest; waits for one.
    pub(crate) async fn next(&self) -> (Strand, Encoding) {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.arrived.notified().await;
        }
    }

    fn take(&self) -> Option<(Strand, Encoding)> {
        let mut waiting = self.waiting.lock();
        let next = waiting.order.pop_front()?;
        waiting.known.remove(&next.0);
        let more = !waiting.order.is_empty();
        drop(waiting);
        if more {
            // A note wakes one waiter, and one permit is all that is kept: pass it on.
            self.arrived.notify_one();
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use store::{Partition, Space, SpaceKind, Tenant};

    use super::*;

    fn strand(bucket: u32) -> Strand {
        let space = Space { id: 240, kind: SpaceKind::Commit, name: "strands" };
        Strand { partition: Partition { tenant: Tenant::default(), space, bucket }, name: Bytes::new() }
    }

    #[tokio::test]
    async fn a_strand_waits_once_and_the_queue_is_bounded() {
        let queue = FoldQueue::default();
        for bucket in 0..20_000 {
            queue.note(&strand(bucket), Encoding::Hot);
            queue.note(&strand(bucket), Encoding::Cold);
        }
        for bucket in 0..16_384 {
            assert_eq!(queue.next().await, (strand(bucket), Encoding::Hot));
        }
        assert!(queue.take().is_none());
        queue.note(&strand(3), Encoding::Cold);
        assert_eq!(queue.next().await, (strand(3), Encoding::Cold));
    }

    #[tokio::test]
    async fn every_waiter_is_woken() {
        let queue = std::sync::Arc::new(FoldQueue::default());
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let queue = std::sync::Arc::clone(&queue);
                tokio::spawn(async move { queue.next().await.0.partition.bucket })
            })
            .collect();
        tokio::task::yield_now().await;
        (0..3).for_each(|bucket| queue.note(&strand(bucket), Encoding::Hot));
        let mut seen = Vec::new();
        for waiter in waiters {
            seen.push(waiter.await.unwrap());
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
    }
}
