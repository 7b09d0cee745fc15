//! How far the algorithm of a task is, whether it shall end, and what it may take.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What algorithms may take.
#[derive(Clone, Copy, Debug)]
pub struct AlgorithmOptions {
    /// The most bytes of memory for the ids and edges of a graph.
    pub memory_bytes_max: usize,
    /// On so many threads each works at most.
    pub threads: NonZeroUsize,
}

/// How far the algorithm of a task is, and whether it shall end.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Steps of the parts that are done.
    done: AtomicU64,
    /// Steps of the part at work.
    steps: AtomicU64,
    ends: AtomicBool,
}

impl Watch {
    /// Notes how many steps the part at work has done; whether to go on.
    pub(super) fn go_on(&self, steps: u64) -> bool {
        self.steps.store(steps, Ordering::Relaxed);
        !self.ends.load(Ordering::Relaxed)
    }

    /// Begins another part, whose steps are counted from 0.
    pub(super) fn begin_part(&self) {
        self.done.fetch_add(self.steps.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Steps of all parts.
    pub(super) fn steps(&self) -> u64 {
        self.done.load(Ordering::Relaxed) + self.steps.load(Ordering::Relaxed)
    }

    pub(super) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}
