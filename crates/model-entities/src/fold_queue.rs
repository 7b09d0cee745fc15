//! Which entities have gathered head rows: counted in memory, by hash.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use parking_lot::Mutex;
use store::Tenant;
use tokio::sync::Notify;

/// Head rows from which an entity is worth a fold.
pub(crate) const FOLD_ROWS_MIN: u16 = 256;
/// Counters, in chunks that are made when they are first needed. Entities that share one are folded early.
const CHUNKS: usize = 256;
const CHUNK_COUNTERS: usize = 4096;
/// The most entities that wait; those beyond are counted anew.
const WAITING_MAX: usize = 65_536;

/// An entity that has gathered head rows enough to be folded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryJob {
    /// Whose.
    pub tenant: Tenant,
    /// Its id.
    pub id: Box<str>,
}

/// Counts head rows, and queues entities that have many.
#[derive(Debug)]
pub(crate) struct FoldQueue {
    chunks: Box<[OnceLock<Box<[AtomicU16]>>]>,
    waiting: Mutex<VecDeque<HistoryJob>>,
    arrived: Notify,
}

impl FoldQueue {
    pub(crate) fn new() -> Self {
        Self {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            waiting: Mutex::default(),
            arrived: Notify::new(),
        }
    }

    /// Notes a head row. Cost: a hash and an atomic addition.
    pub(crate) fn note(&self, tenant: &Tenant, id: &str) {
        let seed = xxhash_rust::xxh3::xxh3_64(&tenant.number().to_be_bytes());
        let hash = usize::try_from(xxhash_rust::xxh3::xxh3_64_with_seed(id.as_bytes(), seed) >> 32);
        let hash = hash.expect("32 bits");
        let chunk = self.chunks.get(hash % CHUNKS).expect("one of the chunks");
        let chunk = chunk.get_or_init(|| (0..CHUNK_COUNTERS).map(|_| AtomicU16::new(0)).collect());
        let counter = chunk.get(hash / CHUNKS % CHUNK_COUNTERS).expect("one of the counters");
        if counter.fetch_add(1, Ordering::Relaxed) + 1 < FOLD_ROWS_MIN {
            return;
        }
        counter.store(0, Ordering::Relaxed);
        let mut waiting = self.waiting.lock();
        if waiting.len() < WAITING_MAX {
            waiting.push_back(HistoryJob { tenant: tenant.clone(), id: id.into() });
            drop(waiting);
            self.arrived.notify_one();
        }
    }

    /// The next entity; waits for it.
    pub(crate) async fn next(&self) -> HistoryJob {
        loop {
            let job = self.waiting.lock().pop_front();
            if let Some(job) = job {
                return job;
            }
            self.arrived.notified().await;
        }
    }
}
