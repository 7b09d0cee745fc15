//! Memory that requests share: bodies and answers are bounded together, not only one by one.
//!
//! A request reserves memory as its body grows and gives all of it back at its end; an answer, as soon as it is taken by the
//! client. Requests that each hold a part and wait for more would wait for ever; so of the budget as much as one request can
//! need is a *reserve*, which one request has at a time. Who has it never waits again, so it ends, and what it held goes to
//! the next.
//!
//! What is small reserves nothing: large requests that come slowly cannot keep it out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

/// What memory is counted in.
const UNIT_BYTES: usize = 1024;
/// What needs no more reserves nothing and never waits: how many requests there are at once bounds what they need.
pub const SMALL_BYTES: usize = 64 << 10;

/// A bound on memory; clones share.
///
/// Invariant: what all reservations hold is at most `bytes_max`, rounded up to 1 KiB for each. What needs at most
/// 64 KiB holds nothing of it.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// What is not the reserve, and how much that is in all.
    common: Semaphore,
    common_units: usize,
    /// Who may use the reserve, how large it is, and how much of it is in use.
    reserve: Semaphore,
    reserve_units: usize,
    reserve_held: AtomicUsize,
    wait_max: Duration,
    refused: AtomicU64,
}

/// What one request or answer holds of a [`MemoryBudget`]; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    common: usize,
    /// What is held of the reserve; `None` while another may have it.
    reserve: Option<usize>,
}

/// The budget had no memory left, and none came in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("bodies and answers take all of memory_bytes_max")]
pub struct MemoryFull;

impl MemoryBudget {
    /// A budget of `bytes_max`, of which one request needs at most `request_bytes_max`: less would leave the largest
    /// requests no way through. Who finds nothing left waits for `wait_max`.
    pub fn new(bytes_max: usize, request_bytes_max: usize, wait_max: Duration) -> Self {
        let reserve_units = units(request_bytes_max);
        let common_units = (bytes_max / UNIT_BYTES).saturating_sub(reserve_units).min(Semaphore::MAX_PERMITS);
        Self {
            inner: Arc::new(Inner {
                common: Semaphore::new(common_units),
                common_units,
                reserve: Semaphore::new(1),
                reserve_units,
                reserve_held: AtomicUsize::new(0),
                wait_max,
                refused: AtomicU64::new(0),
            }),
        }
    }

    /// A reservation that holds nothing yet.
    pub fn reservation(&self) -> Reservation {
        Reservation { budget: self.clone(), common: 0, reserve: None }
    }

    /// Bytes that are reserved.
    pub fn reserved_bytes(&self) -> usize {
        let inner = &*self.inner;
        let common = inner.common_units.saturating_sub(inner.common.available_permits());
        common.saturating_add(inner.reserve_held.load(Ordering::Relaxed)).saturating_mul(UNIT_BYTES)
    }

    /// Requests and answers that found nothing left in time.
    pub fn refused(&self) -> u64 {
        self.inner.refused.load(Ordering::Relaxed)
    }
}

impl Reservation {
    /// Sees to it that the reservation holds at least `bytes`, as soon as they are more than small. Cost: one atomic operation
    /// if there is memory left.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] if there was none for as long as a request waits; what the reservation held it keeps until it is
    /// dropped.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), MemoryFull> {
        if bytes <= SMALL_BYTES {
            return Ok(());
        }
        let more = units(bytes).saturating_sub(self.common + self.reserve.unwrap_or_default());
        if more == 0 {
            return Ok(());
        }
        let reserve = self.reserve;
        let grown = match reserve {
            // As soon as there is room for all of it, the reserve is left to others.
            Some(held) if self.take(held + more) => {
                self.leave_reserve();
                true
            }
            Some(_) => self.take_reserve(more),
            None => self.take(more) || self.wait(more).await,
        };
        if grown { Ok(()) } else { Err(self.refused()) }
    }

    /// The same, but for what is there now: for what is made already, and would be held while waiting.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] if there is none left.
    pub fn try_grow(&mut self, bytes: usize) -> Result<(), MemoryFull> {
        if bytes <= SMALL_BYTES {
            return Ok(());
        }
        let more = units(bytes).saturating_sub(self.common + self.reserve.unwrap_or_default());
        let reserved = more == 0
            || match self.reserve {
                Some(_) => self.take_reserve(more),
                None => self.take(more),
            };
        if reserved { Ok(()) } else { Err(self.refused()) }
    }

    fn refused(&self) -> MemoryFull {
        self.budget.inner.refused.fetch_add(1, Ordering::Relaxed);
        MemoryFull
    }

    /// Takes common room, if it is there now.
    fn take(&mut self, more: usize) -> bool {
        let Ok(count) = u32::try_from(more) else { return false };
        let Ok(permit) = self.budget.inner.common.try_acquire_many(count) else { return false };
        permit.forget();
        self.common += more;
        true
    }

    fn take_reserve(&mut self, more: usize) -> bool {
        let held = self.reserve.unwrap_or_default() + more;
        let fits = held <= self.budget.inner.reserve_units;
        if fits {
            self.reserve = Some(held);
            self.budget.inner.reserve_held.fetch_add(more, Ordering::Relaxed);
        }
        fits
    }

    fn leave_reserve(&mut self) {
        if let Some(held) = self.reserve.take() {
            self.budget.inner.reserve_held.fetch_sub(held, Ordering::Relaxed);
            self.budget.inner.reserve.add_permits(1);
        }
    }

    /// Waits for common room or for the reserve, whichever comes first.
    async fn wait(&mut self, more: usize) -> bool {
        let inner = Arc::clone(&self.budget.inner);
        let count = u32::try_from(more).ok().filter(|_| more <= inner.common_units);
        let common = async {
            match count {
                Some(count) => inner.common.acquire_many(count).await,
                // There is never so much.
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Ok(permit) = common => {
                permit.forget();
                self.common += more;
                true
            }
            Ok(permit) = inner.reserve.acquire() => {
                permit.forget();
                self.reserve = Some(0);
                self.take_reserve(more)
            }
            () = tokio::time::sleep(inner.wait_max) => false,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.common > 0 {
            self.budget.inner.common.add_permits(self.common);
        }
        self.leave_reserve();
    }
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than is small, also a sixteenth of the requests below.
    const PART: usize = 2 * SMALL_BYTES;

    /// Time stands still until everybody waits for it: then, and only then, the wait ends.
    const PATIENCE: Duration = Duration::from_secs(3600);

    #[tokio::test(start_paused = true)]
    async fn large_requests_at_once_all_get_through() {
        for (bytes_max, request_bytes_max) in
            [(16 * PART, 16 * PART), (40 * PART, 16 * PART), (100 * PART, 9 * PART)]
        {
            let budget = MemoryBudget::new(bytes_max, request_bytes_max, PATIENCE);
            let bodies: Vec<_> = (0..64)
                .map(|body| {
                    let budget = budget.clone();
                    tokio::spawn(async move {
                        let mut share = budget.reservation();
                        for part in 1..=16 {
                            share.grow(request_bytes_max * part / 16).await?;
                            assert!(
                                budget.reserved_bytes() <= bytes_max,
                                "{} of {bytes_max}",
                                budget.reserved_bytes()
                            );
                            // Others come between, not always the same ones.
                            for _ in 0..(body * part) % 3 {
                                tokio::task::yield_now().await;
                            }
                        }
                        Ok::<_, MemoryFull>(())
                    })
                })
                .collect();
            for body in bodies {
                assert_eq!(body.await.expect("no panic"), Ok(()));
            }
            assert_eq!((budget.reserved_bytes(), budget.refused()), (0, 0));
            assert_eq!(budget.inner.common.available_permits(), budget.inner.common_units);
            assert_eq!(budget.inner.reserve.available_permits(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_room_waits_and_is_refused() {
        let budget = MemoryBudget::new(10 * PART, 4 * PART, PATIENCE);
        let (mut common, mut reserve, mut third) =
            (budget.reservation(), budget.reservation(), budget.reservation());
        common.grow(6 * PART).await.expect("room");
        reserve.grow(4 * PART - 1).await.expect("the reserve");
        assert_eq!(budget.reserved_bytes(), 10 * PART);
        assert_eq!(third.grow(PART).await, Err(MemoryFull));
        assert_eq!((budget.refused(), budget.reserved_bytes()), (1, 10 * PART));
        // More than a request may need is not there either.
        assert_eq!(reserve.grow(5 * PART).await, Err(MemoryFull));
        let waiting = tokio::spawn(async move { third.grow(PART).await });
        tokio::task::yield_now().await;
        drop(common);
        assert_eq!(waiting.await.expect("no panic"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_small_passes_a_full_room() {
        let budget = MemoryBudget::new(10 * PART, 4 * PART, PATIENCE);
        let (mut common, mut reserve, mut small) =
            (budget.reservation(), budget.reservation(), budget.reservation());
        common.grow(6 * PART).await.expect("room");
        reserve.grow(4 * PART).await.expect("the reserve");
        for bytes in [0, 1, SMALL_BYTES] {
            assert_eq!(tokio::time::timeout(Duration::ZERO, small.grow(bytes)).await, Ok(Ok(())));
        }
        assert_eq!((budget.reserved_bytes(), budget.refused()), (10 * PART, 0));
        assert_eq!(small.grow(SMALL_BYTES + 1).await, Err(MemoryFull));
        assert_eq!(budget.refused(), 1);
        drop(common);
        // Beyond it takes budget for all of it.
        assert_eq!(small.grow(SMALL_BYTES + 1).await, Ok(()));
        assert_eq!(budget.reserved_bytes(), 4 * PART + SMALL_BYTES + UNIT_BYTES);
        drop((small, reserve));
        assert_eq!(budget.reserved_bytes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_reserve_is_left_as_soon_as_there_is_room() {
        let budget = MemoryBudget::new(8 * PART, 4 * PART, PATIENCE);
        let (mut first, mut second) = (budget.reservation(), budget.reservation());
        first.grow(4 * PART).await.expect("room");
        second.grow(2 * PART).await.expect("the reserve");
        drop(first);
        second.grow(3 * PART).await.expect("room");
        assert_eq!((second.common, second.reserve), (3 * PART / UNIT_BYTES, None));
        assert_eq!(budget.reserved_bytes(), 3 * PART);
        // Whoever gives up waiting leaves nothing behind.
        let mut third = budget.reservation();
        third.grow(4 * PART).await.expect("the reserve");
        let waiting = tokio::spawn({
            let mut share = budget.reservation();
            async move { share.grow(3 * PART).await }
        });
        tokio::task::yield_now().await;
        waiting.abort();
        assert!(waiting.await.expect_err("aborted").is_cancelled());
        drop((second, third));
        assert_eq!(budget.reserved_bytes(), 0);
    }
}
