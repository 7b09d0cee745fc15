//! Names for commits, unlike those of any other process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::WriteId;
use crate::incarnation::random_u64;

/// Gives write ids; clones share. High half: random, once a process and handle; low half: counts.
///
/// The promise that models lean on: two lines of ids never meet, so that a write id found in a row or in the feed
/// tells a writer its own commit from everybody else's.
#[derive(Clone, Debug)]
pub struct WriteIds {
    high: u64,
    count: Arc<AtomicU64>,
}

impl WriteIds {
    /// A new line of ids.
    #[expect(
        clippy::new_without_default,
        reason = "a default is the same each time; every line of ids differs"
    )]
    pub fn new() -> Self {
        Self { high: random_u64(), count: Arc::default() }
    }

    /// An id never given before. Cost: one atomic addition.
    pub fn next(&self) -> WriteId {
        let low = self.count.fetch_add(1, Ordering::Relaxed);
        WriteId(u128::from(self.high) << 64 | u128::from(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_a_line_and_lines_never_meet() {
        let (ids, other) = (WriteIds::new(), WriteIds::new());
        let clone = ids.clone();
        let mut given = vec![ids.next(), clone.next(), ids.next(), other.next(), other.next()];
        given.sort_unstable_by_key(|id| id.0);
        given.dedup();
        assert_eq!(given.len(), 5);
        assert_ne!(ids.high, other.high);
    }
}
