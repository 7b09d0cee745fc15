//! Memory that requests share: bodies and answers are bounded together, not only one by one.
//!
//! A request has one reservation ([`RequestMemory`]). It grows with the body and with what is made of it, becomes the answer's,
//! and ends when the client has taken the answer. Requests that each hold a part and wait for more would wait for ever; so a
//! part of the budget is a *reserve*, which one request has at a time. Who has it never waits again, so it ends, and what it
//! held goes to the next.
//!
//! What is small reserves nothing: large requests that come slowly cannot keep it out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};

/// What memory is counted in.
const UNIT_BYTES: usize = 1024;
/// What needs no more reserves nothing and never waits: how many requests there are at once bounds what they need.
pub const SMALL_BYTES: usize = 64 << 10;

/// A bound on memory; clones share.
///
/// Invariant: what all reservations hold is at most `bytes_max`, rounded up to 1 KiB for each; beside it, the one request
/// that has the reserve takes what it needs, and answers to writes are never refused. What needs at most 64 KiB holds nothing.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    #[expect(
        clippy::redundant_allocation,
        reason = "the clones of one handle count their users in a place of their own"
    )]
    inner: Arc<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    /// What is not the reserve, and how much that is in all.
    common: Semaphore,
    common_units: usize,
    /// Who may use the reserve, how large it is, and how much of it is in use.
    reserve: Semaphore,
    reserve_held: AtomicUsize,
    /// What was taken though it was not there.
    overdrawn: AtomicUsize,
    wait_max: Duration,
    refused: AtomicU64,
}

/// What one request or answer holds of a [`MemoryBudget`]; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    common: usize,
    /// Units taken from the reserve; `None` while another may have it.
    reserve: Option<usize>,
    overdrawn: usize,
    /// What it is to hold, small or not.
    bytes: usize,
}

/// The memory of one request, from the first piece of its body to the last byte of its answer: one reservation, whoever
/// grows it. Clones share.
#[derive(Clone, Debug)]
pub struct RequestMemory(Arc<Mutex<Reservation>>);

/// The memory that one part of a request's work uses. It stays reserved until the request's answer is made.
#[derive(Debug)]
pub struct Share {
    memory: RequestMemory,
    bytes: usize,
}

/// The budget had no memory left, and none came in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("bodies and answers take all of memory_bytes_max")]
pub struct MemoryFull;

impl MemoryBudget {
    /// A budget of `bytes_max`, of which `request_bytes_max` is the reserve: what the largest requests usually need. Who
    /// finds nothing left waits for `wait_max`.
    pub fn new(bytes_max: usize, request_bytes_max: usize, wait_max: Duration) -> Self {
        let reserve_units = units(request_bytes_max);
        let common_units = (bytes_max / UNIT_BYTES).saturating_sub(reserve_units).min(Semaphore::MAX_PERMITS);
        Self {
            inner: Arc::new(Arc::new(Inner {
                common: Semaphore::new(common_units),
                common_units,
                reserve: Semaphore::new(1),
                reserve_held: AtomicUsize::new(0),
                overdrawn: AtomicUsize::new(0),
                wait_max,
                refused: AtomicU64::new(0),
            })),
        }
    }

    /// The same budget for one connection: what its requests clone is no word that all processors write.
    pub fn handle(&self) -> Self {
        Self { inner: Arc::new(Arc::clone(&self.inner)) }
    }

    /// A reservation that holds nothing yet.
    pub fn reservation(&self) -> Reservation {
        Reservation { budget: self.clone(), common: 0, reserve: None, overdrawn: 0, bytes: 0 }
    }

    /// The memory of a request that holds nothing yet. Cost: an allocation.
    pub fn request(&self) -> RequestMemory {
        RequestMemory(Arc::new(Mutex::new(self.reservation())))
    }

    /// Bytes that are reserved.
    pub fn reserved_bytes(&self) -> usize {
        let inner = &**self.inner;
        let common = inner.common_units.saturating_sub(inner.common.available_permits());
        let beside = [&inner.reserve_held, &inner.overdrawn].map(|units| units.load(Ordering::Relaxed));
        beside.into_iter().fold(common, usize::saturating_add).saturating_mul(UNIT_BYTES)
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
        let Some(more) = self.missing(bytes) else { return Ok(()) };
        let grown = self.take_now(more) || Box::pin(self.wait(more)).await;
        if grown { Ok(()) } else { Err(self.refused()) }
    }

    /// The same without waiting: for memory that is in use already, and would be in use while it waits.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] if there is none left.
    pub fn try_grow(&mut self, bytes: usize) -> Result<(), MemoryFull> {
        match self.missing(bytes) {
            Some(more) if !self.take_now(more) => Err(self.refused()),
            _ => Ok(()),
        }
    }

    /// Holds `bytes`, no more and no less: what is there too much is given back, and what is not there is taken all the same.
    pub fn settle(&mut self, bytes: usize) {
        let needed = if bytes <= SMALL_BYTES { 0 } else { units(bytes) };
        // Others wait for the reserve.
        if self.reserve.is_some() && self.take(needed.saturating_sub(self.common)) {
            self.leave_reserve();
        }
        self.give_back(self.held().saturating_sub(needed));
        self.bytes = bytes.min(SMALL_BYTES);
        if let Some(more) = self.missing(bytes)
            && !self.take_now(more)
        {
            self.overdrawn += more;
            self.budget.inner.overdrawn.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Gives back so many units: first those that were overdrawn, then those of the reserve.
    fn give_back(&mut self, surplus: usize) {
        if surplus == 0 && self.reserve.is_none() {
            return;
        }
        let inner = Arc::clone(&self.budget.inner);
        let of_overdrawn = surplus.min(self.overdrawn);
        self.overdrawn -= of_overdrawn;
        inner.overdrawn.fetch_sub(of_overdrawn, Ordering::Relaxed);
        let surplus = surplus - of_overdrawn;
        let of_reserve = surplus.min(self.reserve.unwrap_or_default());
        if let Some(held) = &mut self.reserve {
            *held -= of_reserve;
            inner.reserve_held.fetch_sub(of_reserve, Ordering::Relaxed);
        }
        if self.reserve == Some(0) {
            self.leave_reserve();
        }
        let of_common = surplus - of_reserve;
        self.common -= of_common;
        inner.common.add_permits(of_common);
    }

    fn held(&self) -> usize {
        self.common + self.reserve.unwrap_or_default() + self.overdrawn
    }

    /// Notes what is needed, and returns how many units of it are missing.
    fn missing(&mut self, bytes: usize) -> Option<usize> {
        self.bytes = self.bytes.max(bytes);
        units(bytes).checked_sub(self.held()).filter(|more| *more > 0 && bytes > SMALL_BYTES)
    }

    /// Takes what is there now.
    fn take_now(&mut self, more: usize) -> bool {
        let Some(held) = self.reserve else { return self.take(more) };
        // As soon as there is room for all of it, the reserve is left to others.
        if self.take(held + more) {
            self.leave_reserve();
        } else {
            self.take_reserve(more);
        }
        true
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

    /// Takes of the reserve, also more than it is: who has it must not wait, so it is not refused either.
    fn take_reserve(&mut self, more: usize) {
        self.reserve = Some(self.reserve.unwrap_or_default() + more);
        self.budget.inner.reserve_held.fetch_add(more, Ordering::Relaxed);
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
                self.take_reserve(more);
                true
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
        if self.overdrawn > 0 {
            self.budget.inner.overdrawn.fetch_sub(self.overdrawn, Ordering::Relaxed);
        }
    }
}

impl RequestMemory {
    /// Memory for another `bytes`, in addition to what is reserved. Cost: nothing while all of it is small, else one atomic operation if
    /// there is memory left.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] if there was none for as long as a request waits.
    pub async fn grow(&self, bytes: usize) -> Result<(), MemoryFull> {
        let mut held = self.0.lock().await;
        let bytes = held.bytes.saturating_add(bytes);
        held.grow(bytes).await
    }

    /// A part of the work that holds nothing yet.
    pub fn share(&self) -> Share {
        Share { memory: self.clone(), bytes: 0 }
    }

    /// Hands over what is reserved to the answer, when the request's work is done. Cost: next to nothing if none of it is left.
    pub async fn into_reservation(self) -> Reservation {
        match Arc::try_unwrap(self.0) {
            Ok(held) => held.into_inner(),
            Err(shared) => Self(shared).take().await,
        }
    }

    /// Bytes that are reserved. What the request's work may still ask for comes on top.
    pub async fn take(&self) -> Reservation {
        let mut held = self.0.lock().await;
        let empty = held.budget.reservation();
        std::mem::replace(&mut *held, empty)
    }
}

impl Share {
    /// Sees to it that this part holds at least `bytes`.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] if there was no memory for as long as a request waits.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), MemoryFull> {
        if let Some(more) = bytes.checked_sub(self.bytes) {
            self.memory.grow(more).await?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// The same, but for what is there now: for work that cannot wait.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] if there is none left, or another part of the request's work is waiting for some.
    pub fn try_grow(&mut self, bytes: usize) -> Result<(), MemoryFull> {
        if let Some(more) = bytes.checked_sub(self.bytes) {
            let mut held = self.memory.0.try_lock().map_err(|_| MemoryFull)?;
            let all = held.bytes.saturating_add(more);
            held.try_grow(all)?;
            self.bytes = bytes;
        }
        Ok(())
    }
}

impl Default for RequestMemory {
    /// Of a budget that is never full.
    fn default() -> Self {
        MemoryBudget::new(Semaphore::MAX_PERMITS, 0, Duration::ZERO).request()
    }
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT_BYTES)
}

#[cfg(test)]
mod tests;
