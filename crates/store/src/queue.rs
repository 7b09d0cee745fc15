//! Things that a job is to look at, as this process knows them: a bounded queue, each thing in it once.
//!
//! The queue is a shortcut, not the record: that there is work is said by stored rows, which a job also sweeps now and then.
//! So what does not fit, or is lost with the process, is found later. To store the queue itself would be a write more
//! for each write.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Keys that wait for a job, each with a value as it was first noted.
///
/// ```
/// use store::WorkQueue;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let folds = WorkQueue::new(1_000);
/// assert!(folds.note(&"a", || 1) && folds.note(&"b", || 2));
/// assert!(!folds.note(&"a", || 3), "it waits already");
/// assert_eq!((folds.next().await, folds.next().await), (("a", 1), ("b", 2)));
/// # });
/// ```
#[derive(Debug)]
pub struct WorkQueue<K, V = ()> {
    waiting: Mutex<Waiting<K, V>>,
    arrived: Notify,
    keys_max: usize,
}

/// Invariant: `values` has exactly the keys of `order`.
#[derive(Debug)]
struct Waiting<K, V> {
    order: VecDeque<K>,
    values: HashMap<K, V>,
}

impl<K: Clone + Eq + Hash, V> WorkQueue<K, V> {
    /// An empty queue of at most so many.
    pub fn new(keys_max: usize) -> Self {
        let waiting = Waiting { order: VecDeque::new(), values: HashMap::new() };
        Self { waiting: Mutex::new(waiting), arrived: Notify::new(), keys_max }
    }

    /// Notes a thing; `false` if it waits already or the queue is full. Cost: a look-up, and a copy of a key that is new.
    pub fn note(&self, key: &K, value: impl FnOnce() -> V) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.order.len() >= self.keys_max || waiting.values.contains_key(key) {
            return false;
        }
        waiting.order.push_back(key.clone());
        waiting.values.insert(key.clone(), value());
        drop(waiting);
        self.arrived.notify_one();
        true
    }

    /// Takes the thing that waits longest; waits for one.
    pub async fn next(&self) -> (K, V) {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.arrived.notified().await;
        }
    }

    /// The same, if one waits now.
    pub fn take(&self) -> Option<(K, V)> {
        let mut waiting = self.waiting.lock();
        let key = waiting.order.pop_front()?;
        let value = waiting.values.remove(&key).expect("each key of the order has a value");
        let more = !waiting.order.is_empty();
        drop(waiting);
        if more {
            // A note wakes one waiter, and there is one permit at most: pass it on.
            self.arrived.notify_one();
        }
        Some((key, value))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_thing_waits_once_and_the_queue_is_bounded() {
        let queue = WorkQueue::new(100);
        for key in 0..200 {
            assert_eq!(queue.note(&key, || key * 2), key < 100);
            assert!(!queue.note(&key, || 0));
        }
        for key in 0..100 {
            assert_eq!(queue.next().await, (key, key * 2));
        }
        assert_eq!(queue.take(), None);
        assert!(queue.note(&3, || 7));
        assert_eq!(queue.next().await, (3, 7));
    }

    #[tokio::test]
    async fn every_waiter_is_woken() {
        let queue = Arc::new(WorkQueue::new(8));
        let wait = |_| {
            let queue = Arc::clone(&queue);
            tokio::spawn(async move { queue.next().await.0 })
        };
        let waiters: Vec<_> = (0..3).map(wait).collect();
        tokio::task::yield_now().await;
        (0..3).for_each(|key| _ = queue.note(&key, || ()));
        let mut seen = Vec::new();
        for waiter in waiters {
            seen.push(waiter.await.unwrap());
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
    }
}
