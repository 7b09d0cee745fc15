//! The optimistic loop: read, think, commit on condition of what was read, and again where another writer came first.
//!
//! [`RetryBackoff`] is the budget: how often, and with which waits. [`Attempts`] counts one piece of work through it,
//! [`unless_lost`] tells a lost race from a refusal, and [`RetryLocks`] make the loop fair: who lost once queues, so that
//! no writer loses for ever. Outcomes that are unknown are asked for by [`crate::Store::commit_known`] and its kin. A group
//! of commits is the same loop over those that lost ([`crate::Store::commit_all_known`]).
//!
//! ```
//! use store::retry::{RetryBackoff, unless_lost};
//! use store::{Clock, Commit, Condition, FeedOptions, MemoryOptions, Partition};
//! use store::{Space, SpaceKind, Store, Tenant, Write, WriteIds};
//!
//! const COUNTERS: Space = Space { id: 200, kind: SpaceKind::Commit, name: "counters" };
//! const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
//!
//! async fn increment(store: &Store, write_ids: &WriteIds) -> Result<u8, store::Error> {
//!     let partition = Partition { tenant: Tenant::default(), space: COUNTERS, bucket: 0 };
//!     let mut attempts = BACKOFF.attempts();
//!     while attempts.next().await {
//!         let (count, condition) = match store.get(&partition, b"count").await? {
//!             None => (0, Condition::Absent("count".into())),
//!             Some(row) => (row.value[0], Condition::Version("count".into(), row.stamp)),
//!         };
//!         let commit = Commit {
//!             partition: partition.clone(),
//!             write_id: write_ids.next(),
//!             conditions: vec![condition],
//!             writes: vec![Write::PutStamped("count".into(), vec![count + 1].into())],
//!             change: None,
//!             reclaims: false,
//!         };
//!         if unless_lost(store.commit_known(commit).await)?.is_some() {
//!             return Ok(count + 1);
//!         }
//!     }
//!     Err(attempts.exhausted("the counter").into_error())
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let options = MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() };
//! let (store, write_ids) = (Store::memory(options), WriteIds::new());
//! assert_eq!(increment(&store, &write_ids).await?, 1);
//! assert_eq!(increment(&store, &write_ids).await?, 2);
//! # Ok::<(), store::Error>(())
//! # }).unwrap();
//! ```

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use crate::{Error, ErrorKind, bucket_of};

/// How often a read of several pages begins anew that met a commit in its partition.
pub const READ_ATTEMPTS_MAX: u32 = 16;

/// The budget of a piece of work that others may come before: how often it is attempted, and what is waited between.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryBackoff {
    attempts_max: u32,
    /// `None`: each attempt follows at once.
    waits: Option<Waits>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Waits {
    after: u32,
    wait_max: Duration,
}

impl RetryBackoff {
    /// Up to so many attempts, one right after the other: for commits, which wait for the store themselves.
    pub const fn at_once(attempts_max: u32) -> Self {
        Self { attempts_max, waits: None }
    }

    /// Up to so many attempts. The first `after` retries only let other tasks run; then the waits are 2 ms, 4 ms, 8 ms and so on up to
    /// `wait_max`: for what another is about to finish.
    pub const fn waiting(attempts_max: u32, after: u32, wait_max: Duration) -> Self {
        Self { attempts_max, waits: Some(Waits { after, wait_max }) }
    }

    /// The same with `more` attempts: for work of so many steps, each of which takes one.
    #[must_use]
    pub fn plus(self, more: usize) -> Self {
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        Self { attempts_max: self.attempts_max.saturating_add(more), ..self }
    }

    /// The attempts at one piece of work.
    pub const fn attempts(self) -> Attempts {
        Attempts { backoff: self, made: 0 }
    }

    /// Waits after so many attempts that came to nothing. Cost: none without waits.
    pub async fn wait(self, attempts: u32) {
        let Some(Waits { after, wait_max }) = self.waits else { return };
        match attempts.checked_sub(after) {
            None | Some(0) => tokio::task::yield_now().await,
            Some(doublings) => {
                let wait = Duration::from_millis(1 << doublings.min(20));
                tokio::time::sleep(wait.min(wait_max)).await;
            }
        }
    }
}

/// The attempts at one piece of work.
#[derive(Debug)]
pub struct Attempts {
    backoff: RetryBackoff,
    made: u32,
}

impl Attempts {
    /// Begins the next attempt: at once if it is the first, else after the wait that is due. `false` if there have been as
    /// many as may be. Cost: a counter, and the wait.
    #[inline]
    pub async fn next(&mut self) -> bool {
        if self.made >= self.backoff.attempts_max {
            return false;
        }
        if self.made > 0 {
            self.backoff.wait(self.made).await;
        }
        self.made += 1;
        true
    }

    /// How many were begun.
    pub fn made(&self) -> u32 {
        self.made
    }

    /// Whether the attempt that is under way is the first.
    pub fn is_first(&self) -> bool {
        self.made <= 1
    }

    /// What the work ends with once [`Attempts::next`] says that the budget is spent. `what` was to be changed.
    pub fn exhausted(&self, what: impl Into<Box<str>>) -> Exhausted {
        Exhausted { what: what.into(), attempts: self.made }
    }
}

/// Other writers came first as often as may be: nothing was written, and the caller may try again later.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("change {what}: other writers came first {attempts} times")]
pub struct Exhausted {
    /// What was to be changed.
    pub what: Box<str>,
    /// How often it was attempted.
    pub attempts: u32,
}

impl Exhausted {
    /// The same as a refusal of the store: `Unavailable`.
    pub fn into_error(self) -> Error {
        Error::new(ErrorKind::Unavailable, self.to_string())
    }
}

/// What became of a commit: `None` if another writer came first, so that the work is to be attempted again.
///
/// # Errors
///
/// Every other refusal.
#[inline]
pub fn unless_lost<T>(outcome: Result<T, Error>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind().is_lost_race() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts how often a read of several pages was begun anew.
///
/// ```text
/// let mut attempts = ReadAttempts::default();
/// loop {
///     match read(&store.snapshot()?).await {
///         Err(error) if attempts.again(&error) => {}
///         read => return read,
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct ReadAttempts(u32);

impl ReadAttempts {
    /// Whether a read that ended with this error is to begin anew: with a new snapshot, and nothing of what it read. False
    /// after [`READ_ATTEMPTS_MAX`] attempts, and for any error but `Changed`.
    pub fn again(&mut self, error: &Error) -> bool {
        self.0 += 1;
        error.kind() == ErrorKind::Changed && self.0 < READ_ATTEMPTS_MAX
    }
}

/// Where writers queue that lost a race, and those who meet them there; where nobody lost, nobody waits.
///
/// A writer that passed by a queue could win again and again, and those in it lose every time. So writers ask
/// [`RetryLocks::is_queued`] before their first attempt, and [queue](RetryLocks::queue) if somebody does. Only these wait, not those they
/// came with: they would hold up others, and these the next.
///
/// A fixed number of locks is shared by hash: two that share one only wait longer. They are async mutexes and may be
/// locked over an await.
#[derive(Debug)]
pub struct RetryLocks(Box<[Mutex<()>]>);

/// One of the locks.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RetryLock(usize);

/// A lock that a writer holds: the others behind it wait until it is let go.
pub type RetryGuard<'l> = MutexGuard<'l, ()>;

impl RetryLocks {
    /// So many locks, a power of two.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub fn new(count: u32) -> Self {
        assert!(count.is_power_of_two(), "locks are spread over a power of two");
        Self((0..count).map(|_| Mutex::default()).collect())
    }

    /// The lock of what has this name, given in parts. Cost: a hash of each.
    pub fn of(&self, parts: &[&[u8]]) -> RetryLock {
        let count = u32::try_from(self.0.len()).expect("made of a u32");
        let hash = parts.iter().fold(0, |hash, part| hash ^ bucket_of(part, count));
        RetryLock(hash as usize)
    }

    fn mutex(&self, lock: RetryLock) -> &Mutex<()> {
        self.0.get(lock.0).expect("a hash of fewer bits than there are locks")
    }

    /// Whether somebody has the lock. Cost: an atomic exchange.
    pub fn is_queued(&self, lock: RetryLock) -> bool {
        self.mutex(lock).try_lock().is_err()
    }

    /// Waits for a lock, whoever has it.
    pub async fn lock(&self, lock: RetryLock) -> RetryGuard<'_> {
        self.mutex(lock).lock().await
    }

    /// Waits for the locks of writers: of those that lost, and of those that meet somebody there. They are taken in order, so
    /// that no two writers wait for each other. Cost where nobody lost and nobody queues: an atomic exchange each.
    pub async fn queue(&self, writers: impl Iterator<Item = (RetryLock, HasLost)>) -> Vec<RetryGuard<'_>> {
        let waits = |(lock, has_lost): &(RetryLock, HasLost)| has_lost.0 || self.is_queued(*lock);
        let mut locks: Vec<RetryLock> = writers.filter(waits).map(|(lock, _)| lock).collect();
        locks.sort_unstable();
        locks.dedup();
        let mut guards = Vec::with_capacity(locks.len());
        for lock in locks {
            guards.push(self.lock(lock).await);
        }
        guards
    }
}

/// Whether a writer has lost a race.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HasLost(pub bool);
