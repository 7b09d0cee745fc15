//! Which kinds of rows are asked for one by one. Only their rows are in the cache, and only those a batch remembers:
//! index rows pass through without book-keeping.
//!
//! Invariant: a kind that rows of the batch under way have passed unremembered is asked for only once that batch is shown.
//! So a reader who finds a kind asked for, and then reads the engine, may keep what it read unless the committer
//! publishes it meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

#[derive(Debug)]
pub(crate) struct Kinds {
    /// One bit for each kind.
    asked: Box<[AtomicU64]>,
    batch: Mutex<OfBatch>,
}

#[derive(Debug, Default)]
struct OfBatch {
    /// Kinds of rows that are in the batch under way and are not remembered.
    passed: Vec<u16>,
    /// Those of them that are asked for from its end on.
    wanted: Vec<u16>,
}

impl Kinds {
    pub(crate) fn new() -> Self {
        Self { asked: (0..=u16::MAX / 64).map(|_| AtomicU64::new(0)).collect(), batch: Mutex::default() }
    }

    /// Notes that rows of this kind are asked for; answers whether they are remembered from now on. If not, they are from
    /// the end of the batch under way. Cost: a load, but for the first time.
    pub(crate) fn ask(&self, kind: u16) -> bool {
        if self.is_asked(kind) {
            return true;
        }
        let mut batch = self.batch.lock();
        if !batch.passed.contains(&kind) {
            self.set(kind);
            return true;
        }
        if !batch.wanted.contains(&kind) {
            batch.wanted.push(kind);
        }
        false
    }

    /// Whether rows of this kind are remembered.
    pub(crate) fn is_asked(&self, kind: u16) -> bool {
        let word = self.asked.get(usize::from(kind / 64));
        word.is_some_and(|word| word.load(Ordering::SeqCst) & bit(kind) != 0)
    }

    /// The committer's note that a row of this kind goes into the batch unremembered; false if it must be remembered.
    pub(crate) fn pass(&self, kind: u16) -> bool {
        let mut batch = self.batch.lock();
        if self.is_asked(kind) {
            return false;
        }
        batch.passed.push(kind);
        true
    }

    /// The committer's note that the batch is shown, or is none.
    pub(crate) fn end_batch(&self) {
        let mut batch = self.batch.lock();
        batch.passed.clear();
        for kind in batch.wanted.drain(..) {
            self.set(kind);
        }
    }

    fn set(&self, kind: u16) {
        if let Some(word) = self.asked.get(usize::from(kind / 64)) {
            word.fetch_or(bit(kind), Ordering::SeqCst);
        }
    }
}

fn bit(kind: u16) -> u64 {
    1 << (kind % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_asked_for_one_by_one() {
        let kinds = Kinds::new();
        for kind in [0, 63, 64, u16::MAX] {
            assert!(!kinds.is_asked(kind));
            assert!(kinds.ask(kind));
            assert!(kinds.is_asked(kind));
            assert!(!kinds.pass(kind), "it is remembered");
        }
        assert!(!kinds.is_asked(1));
    }

    #[test]
    fn what_passed_is_asked_for_once_the_batch_is_shown() {
        let kinds = Kinds::new();
        assert!(kinds.pass(7));
        for _ in 0..2 {
            assert!(!kinds.ask(7));
        }
        assert!(!kinds.is_asked(7));
        kinds.end_batch();
        assert!(kinds.is_asked(7));
        assert!(!kinds.is_asked(8));
        assert!(kinds.pass(8));
        kinds.end_batch();
        assert!(!kinds.is_asked(8), "nobody asked");
        assert!(kinds.ask(8));
    }
}
