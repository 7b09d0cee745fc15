//! What a process knows of the intents of a repository (`intent.rs`), so that most commits need not ask.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use store::Epoch;
use tokio::sync::Mutex;

/// What a process knows of intents of a repository.
#[derive(Debug)]
pub(crate) struct KnownIntents {
    buckets: u32,
    /// By bucket, the epoch that is known to have begun before the head was seen idle.
    epochs: RwLock<Box<[Option<Epoch>]>>,
    /// The number of the last intent that was seen to be over.
    over: AtomicU64,
    /// Held by the task of this process that has an intent, from before it is stored to its end: so that one task comes after the other. It is held over
    /// awaits; nobody else waits for it.
    pub(super) starting: Mutex<()>,
    /// Held by the task that carries an intent out, for as long as that one lasts: so that one task of this process reads it.
    pub(super) carrying: Mutex<()>,
}

impl KnownIntents {
    pub(crate) fn new(buckets: u32) -> Self {
        Self {
            buckets,
            epochs: RwLock::new((0..buckets).map(|_| None).collect()),
            over: AtomicU64::default(),
            starting: Mutex::default(),
            carrying: Mutex::default(),
        }
    }

    pub(crate) fn buckets(&self) -> u32 {
        self.buckets
    }

    /// The number of the last intent that was seen to be over; what is read afterwards has all of it.
    pub(super) fn over(&self) -> u64 {
        self.over.load(Ordering::Acquire)
    }

    pub(super) fn note_over(&self, number: u64) {
        self.over.fetch_max(number, Ordering::AcqRel);
    }

    pub(super) fn knows(&self, bucket: u32, epoch: Epoch) -> bool {
        self.epochs.read().get(bucket as usize) == Some(&Some(epoch))
    }

    pub(super) fn note(&self, bucket: u32, epoch: Epoch) {
        *self.epochs.write().get_mut(bucket as usize).expect("buckets are below their number") = Some(epoch);
    }
}
