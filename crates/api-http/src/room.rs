//! Room in memory that requests share: many bodies at once are bounded together, not only one by one.
//!
//! A request takes room as its body grows and gives all of it back at its end. Requests that each hold a part and
//! wait for more would wait for ever; so of the room as much as one request can need is a *reserve*, which one request
//! has at a time. Who has it never waits again, so it ends, and what it held goes to the next.
//!
//! What is small takes no room: large requests that come slowly cannot keep it out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

/// What room is counted in.
const UNIT_BYTES: usize = 1024;
/// A request that needs no more takes no room and never waits: how many there are at once bounds what they need.
const SMALL_BYTES: usize = 64 << 10;

/// Room in memory; clones share.
///
/// Invariant: what all shares hold is at most `bytes_max`, rounded up to 1 KiB for each share. Requests that need at
/// most 64 KiB hold nothing of it.
#[derive(Clone, Debug)]
pub struct Room {
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

/// What one request holds of a [`Room`]; given back when dropped.
#[derive(Debug)]
pub struct Share {
    room: Room,
    common: usize,
    /// What is held of the reserve; `None` while another may have it.
    reserve: Option<usize>,
}

/// There was no room, and none came in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no room in memory")]
pub struct Full;

impl Room {
    /// Room of `bytes_max`, of which one request needs at most `request_bytes_max`: less would leave the largest
    /// requests no way through. Who finds no room waits for `wait_max`.
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

    /// A share that holds nothing yet.
    pub fn share(&self) -> Share {
        Share { room: self.clone(), common: 0, reserve: None }
    }

    /// Bytes that are held; small requests hold none.
    pub fn held_bytes(&self) -> usize {
        let inner = &*self.inner;
        let common = inner.common_units.saturating_sub(inner.common.available_permits());
        common.saturating_add(inner.reserve_held.load(Ordering::Relaxed)).saturating_mul(UNIT_BYTES)
    }

    /// Requests that found no room in time.
    pub fn refused(&self) -> u64 {
        self.inner.refused.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Sees to it that the share holds at least `bytes`, as soon as they are more than small. Cost: one atomic operation
    /// if there is room.
    ///
    /// # Errors
    ///
    /// [`Full`] if there was no room for as long as a request waits; what the share held it keeps until it is dropped.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), Full> {
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
        if grown {
            return Ok(());
        }
        self.room.inner.refused.fetch_add(1, Ordering::Relaxed);
        Err(Full)
    }

    /// Takes common room, if it is there now.
    fn take(&mut self, more: usize) -> bool {
        let Ok(count) = u32::try_from(more) else { return false };
        let Ok(permit) = self.room.inner.common.try_acquire_many(count) else { return false };
        permit.forget();
        self.common += more;
        true
    }

    fn take_reserve(&mut self, more: usize) -> bool {
        let held = self.reserve.unwrap_or_default() + more;
        let fits = held <= self.room.inner.reserve_units;
        if fits {
            self.reserve = Some(held);
            self.room.inner.reserve_held.fetch_add(more, Ordering::Relaxed);
        }
        fits
    }

    fn leave_reserve(&mut self) {
        if let Some(held) = self.reserve.take() {
            self.room.inner.reserve_held.fetch_sub(held, Ordering::Relaxed);
            self.room.inner.reserve.add_permits(1);
        }
    }

    /// Waits for common room or for the reserve, whichever comes first.
    async fn wait(&mut self, more: usize) -> bool {
        let inner = Arc::clone(&self.room.inner);
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

impl Drop for Share {
    fn drop(&mut self) {
        if self.common > 0 {
            self.room.inner.common.add_permits(self.common);
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
            let room = Room::new(bytes_max, request_bytes_max, PATIENCE);
            let bodies: Vec<_> = (0..64)
                .map(|body| {
                    let room = room.clone();
                    tokio::spawn(async move {
                        let mut share = room.share();
                        for part in 1..=16 {
                            share.grow(request_bytes_max * part / 16).await?;
                            assert!(room.held_bytes() <= bytes_max, "{} of {bytes_max}", room.held_bytes());
                            // Others come between, not always the same ones.
                            for _ in 0..(body * part) % 3 {
                                tokio::task::yield_now().await;
                            }
                        }
                        Ok::<_, Full>(())
                    })
                })
                .collect();
            for body in bodies {
                assert_eq!(body.await.expect("no panic"), Ok(()));
            }
            assert_eq!((room.held_bytes(), room.refused()), (0, 0));
            assert_eq!(room.inner.common.available_permits(), room.inner.common_units);
            assert_eq!(room.inner.reserve.available_permits(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_room_waits_and_is_refused() {
        let room = Room::new(10 * PART, 4 * PART, PATIENCE);
        let (mut common, mut reserve, mut third) = (room.share(), room.share(), room.share());
        common.grow(6 * PART).await.expect("room");
        reserve.grow(4 * PART - 1).await.expect("the reserve");
        assert_eq!(room.held_bytes(), 10 * PART);
        assert_eq!(third.grow(PART).await, Err(Full));
        assert_eq!((room.refused(), room.held_bytes()), (1, 10 * PART));
        // More than a request may need is not there either.
        assert_eq!(reserve.grow(5 * PART).await, Err(Full));
        let waiting = tokio::spawn(async move { third.grow(PART).await });
        tokio::task::yield_now().await;
        drop(common);
        assert_eq!(waiting.await.expect("no panic"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_small_passes_a_full_room() {
        let room = Room::new(10 * PART, 4 * PART, PATIENCE);
        let (mut common, mut reserve, mut small) = (room.share(), room.share(), room.share());
        common.grow(6 * PART).await.expect("room");
        reserve.grow(4 * PART).await.expect("the reserve");
        for bytes in [0, 1, SMALL_BYTES] {
            assert_eq!(tokio::time::timeout(Duration::ZERO, small.grow(bytes)).await, Ok(Ok(())));
        }
        assert_eq!((room.held_bytes(), room.refused()), (10 * PART, 0));
        assert_eq!(small.grow(SMALL_BYTES + 1).await, Err(Full));
        assert_eq!(room.refused(), 1);
        drop(common);
        // Beyond it takes room for all of it.
        assert_eq!(small.grow(SMALL_BYTES + 1).await, Ok(()));
        assert_eq!(room.held_bytes(), 4 * PART + SMALL_BYTES + UNIT_BYTES);
        drop((small, reserve));
        assert_eq!(room.held_bytes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_reserve_is_left_as_soon_as_there_is_room() {
        let room = Room::new(8 * PART, 4 * PART, PATIENCE);
        let (mut first, mut second) = (room.share(), room.share());
        first.grow(4 * PART).await.expect("room");
        second.grow(2 * PART).await.expect("the reserve");
        drop(first);
        second.grow(3 * PART).await.expect("room");
        assert_eq!((second.common, second.reserve), (3 * PART / UNIT_BYTES, None));
        assert_eq!(room.held_bytes(), 3 * PART);
        // Whoever gives up waiting leaves nothing behind.
        let mut third = room.share();
        third.grow(4 * PART).await.expect("the reserve");
        let waiting = tokio::spawn({
            let mut share = room.share();
            async move { share.grow(3 * PART).await }
        });
        tokio::task::yield_now().await;
        waiting.abort();
        assert!(waiting.await.expect_err("aborted").is_cancelled());
        drop((second, third));
        assert_eq!(room.held_bytes(), 0);
    }
}
