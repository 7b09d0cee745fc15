//! Locks for writers that met others on one entity.

use store::bucket_of;
use tokio::sync::{Mutex, MutexGuard};

/// How many locks there are: ids share them by hash.
const LOCKS: u32 = 64;

/// Where writers queue that lost a race, and those who meet them there; where nobody lost, nobody waits.
#[derive(Debug)]
pub(crate) struct RetryLocks(Box<[Mutex<()>]>);

impl Default for RetryLocks {
    fn default() -> Self {
        Self((0..LOCKS).map(|_| Mutex::default()).collect())
    }
}

impl RetryLocks {
    /// The lock of an id.
    pub(crate) fn of(&self, id: &str) -> &Mutex<()> {
        self.at(slot_of(id))
    }

    fn at(&self, slot: usize) -> &Mutex<()> {
        self.0.get(slot).expect("a slot is below the number of locks")
    }

    /// Whether somebody has the lock of an id. Cost: an atomic exchange.
    pub(crate) fn is_taken(&self, id: &str) -> bool {
        is_locked(self.of(id))
    }

    /// Takes the locks of the writers of entities: of all of them if they `lost`, else of those for which somebody queues.
    /// Whoever passed by a queue could win again and again, and those in it lose every time. Locks are taken in order of
    /// their slots, so that no two writers wait for each other. Cost where nobody queues: an atomic exchange each.
    pub(crate) async fn take<'a>(
        &self,
        ids: impl Iterator<Item = &'a str>,
        lost: bool,
    ) -> Vec<MutexGuard<'_, ()>> {
        let mut slots: Vec<usize> =
            ids.map(slot_of).filter(|slot| lost || is_locked(self.at(*slot))).collect();
        slots.sort_unstable();
        slots.dedup();
        let mut taken = Vec::with_capacity(slots.len());
        for slot in slots {
            taken.push(self.at(slot).lock().await);
        }
        taken
    }
}

fn slot_of(id: &str) -> usize {
    bucket_of(id.as_bytes(), LOCKS) as usize
}

fn is_locked(lock: &Mutex<()>) -> bool {
    lock.try_lock().is_err()
}
