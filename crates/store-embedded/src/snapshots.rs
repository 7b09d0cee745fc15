//! Snapshots of the engine, each of which can be ended while it is read: the engine cannot be closed before.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use rocksdb::{DB, Snapshot};
use self_cell::self_cell;
use store_contract::{Error, ErrorKind};

/// How long a snapshot can be read: so long the engine keeps what is overwritten and removed meanwhile.
pub const SNAPSHOT_AGE_MAX: Duration = Duration::from_secs(3600);

self_cell! {
    /// The engine, and its snapshot.
    struct Pinned {
        owner: Arc<DB>,
        #[covariant]
        dependent: Snapshot,
    }
}

/// A snapshot of the engine, until it is ended.
pub(crate) struct EngineSnapshot {
    pinned: RwLock<Option<Pinned>>,
    taken: Instant,
}

impl EngineSnapshot {
    /// The engine as it is now.
    pub(crate) fn new(engine: Arc<DB>) -> Self {
        let pinned = Pinned::new(engine, |engine| engine.snapshot());
        Self { pinned: RwLock::new(Some(pinned)), taken: Instant::now() }
    }

    /// Reads from it.
    ///
    /// # Errors
    ///
    /// `Unavailable` if it was ended, and what the read answers.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Snapshot<'_>) -> Result<T, Error>) -> Result<T, Error> {
        match &*self.pinned.read() {
            Some(pinned) => read(pinned.borrow_dependent()),
            None => Err(ended()),
        }
    }

    fn end(&self) {
        drop(self.pinned.write().take());
    }
}

fn ended() -> Error {
    let hours = SNAPSHOT_AGE_MAX.as_secs() / 3600;
    let action = format!(
        "read a snapshot: it ends after {hours} h (SNAPSHOT_AGE_MAX), and when the store is closed or opened again"
    );
    Error::new(ErrorKind::Unavailable, action)
}

/// Snapshots that may still be read.
#[derive(Debug, Default)]
pub(crate) struct Snapshots(Mutex<Vec<Weak<EngineSnapshot>>>);

impl Snapshots {
    /// Notes a snapshot, so that it can be ended.
    pub(crate) fn add(&self, snapshot: &Arc<EngineSnapshot>) {
        let mut open = self.0.lock();
        // Those that were dropped are forgotten whenever the list would grow.
        if open.len() == open.capacity() {
            open.retain(|snapshot| snapshot.strong_count() > 0);
        }
        open.push(Arc::downgrade(snapshot));
    }

    /// Ends all: the engine is free once reads that run are over.
    pub(crate) fn end(&self) {
        let open = std::mem::take(&mut *self.0.lock());
        for snapshot in open.iter().filter_map(Weak::upgrade) {
            snapshot.end();
        }
    }

    /// Ends those that are older than they may be.
    pub(crate) fn end_overdue(&self) {
        let open: Vec<_> = self.0.lock().iter().filter_map(Weak::upgrade).collect();
        for snapshot in open.iter().filter(|snapshot| snapshot.taken.elapsed() > SNAPSHOT_AGE_MAX) {
            snapshot.end();
        }
    }
}

impl std::fmt::Debug for EngineSnapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("EngineSnapshot").field("taken", &self.taken).finish_non_exhaustive()
    }
}
