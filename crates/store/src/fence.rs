//! Fences: what commits can be made to heed that follow from something read elsewhere. A commit names the fence that was
//! seen before that was read; once the fence is raised it is refused.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often the fence of a partition was raised, as far as its reader knows. It is of an open store: never kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fence(pub(crate) u64);

/// Yes or no, read under a fence and valid as long as that is not raised. Cost of a look: a load.
#[derive(Debug, Default)]
pub struct FencedFlag(AtomicU64);

impl FencedFlag {
    /// What was read under this fence; `None`: nothing yet.
    pub fn get(&self, fence: Fence) -> Option<bool> {
        let packed = self.0.load(Ordering::Acquire);
        (packed | 1 == pack(fence, true)).then_some(packed & 1 == 1)
    }

    /// Notes what was read after this fence was seen.
    pub fn set(&self, fence: Fence, flag: bool) {
        self.0.store(pack(fence, flag), Ordering::Release);
    }
}

/// Zero is that of no fence.
fn pack(Fence(raised): Fence, flag: bool) -> u64 {
    raised.wrapping_add(1) << 1 | u64::from(flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_that_of_its_fence() {
        let flag = FencedFlag::default();
        assert_eq!(flag.get(Fence(0)), None);
        for (raised, is_set) in [(0, false), (0, true), (1, true), (2, false)] {
            flag.set(Fence(raised), is_set);
            assert_eq!(flag.get(Fence(raised)), Some(is_set));
            assert_eq!(flag.get(Fence(raised + 1)), None);
        }
        assert_eq!(flag.get(Fence(1)), None);
    }
}
