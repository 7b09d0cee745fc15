//! Names for commits, unlike any other process's.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::WriteId;

/// Gives write ids; clones share. High half: random, once a process and handle; low half: counts.
#[derive(Clone, Debug)]
pub(crate) struct WriteIds {
    high: u64,
    count: Arc<AtomicU64>,
}

impl WriteIds {
    /// A new line of ids. The randomness is that of the standard library's hash seeds.
    pub(crate) fn new() -> Self {
        Self { high: RandomState::new().build_hasher().finish(), count: Arc::default() }
    }

    /// An id never given before. Cost: one atomic addition.
    pub(crate) fn next(&self) -> WriteId {
        let low = self.count.fetch_add(1, Ordering::Relaxed);
        WriteId(u128::from(self.high) << 64 | u128::from(low))
    }
}
