//! Fences: what commits can be made to heed that follow from something read elsewhere, or point at rows that were written
//! before them. Each partition is in an epoch; a commit can name the one that was seen before that was read or written, and
//! is refused once there is a newer one.
//!
//! So one notion serves both who must be sure that all writers know something (a barrier), and who removes rows that no commit
//! points at, and must be sure that none will (a sweep).

use std::sync::atomic::{AtomicU64, Ordering};

/// The epoch of a partition, as its reader knows it. Of one store: a later one is newer, also over restarts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Epoch(pub(crate) u64);

/// Yes or no, read in an epoch and valid as long as there is no newer one. Cost of a look: a load.
#[derive(Debug, Default)]
pub struct FencedFlag(AtomicU64);

impl FencedFlag {
    /// What was read in this epoch; `None`: nothing yet.
    pub fn get(&self, epoch: Epoch) -> Option<bool> {
        let packed = self.0.load(Ordering::Acquire);
        (packed | 1 == pack(epoch, true)).then_some(packed & 1 == 1)
    }

    /// Notes what was read after this epoch was seen.
    pub fn set(&self, epoch: Epoch, flag: bool) {
        self.0.store(pack(epoch, flag), Ordering::Release);
    }
}

/// Zero is that of no epoch.
fn pack(Epoch(number): Epoch, flag: bool) -> u64 {
    number.wrapping_add(1) << 1 | u64::from(flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_that_of_its_epoch() {
        let flag = FencedFlag::default();
        assert_eq!(flag.get(Epoch(0)), None);
        for (number, is_set) in [(0, false), (0, true), (1, true), (2, false)] {
            flag.set(Epoch(number), is_set);
            assert_eq!(flag.get(Epoch(number)), Some(is_set));
            assert_eq!(flag.get(Epoch(number + 1)), None);
        }
        assert_eq!(flag.get(Epoch(1)), None);
    }
}
