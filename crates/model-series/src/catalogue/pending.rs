//! Commits of the catalogue: what reaches one bucket is one commit of the store; what reaches several, or is more than
//! one commit takes, is an intent (`intent.rs`).
//!
//! Invariant: a commit of a bucket names the epoch of that bucket, and whoever names one knows that no intent was under
//! way after it began: intents begin new epochs of all their buckets. Whoever finds one carries it out first. So nobody
//! writes what an intent looks at between its look and its last row.
//!
//! Units and attribute types lie in the first bucket, and definitions in all buckets lean on them. So who changes one names all
//! buckets, and who defines a series looks at them after the epoch of its bucket, without a condition.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use store::retry::unless_lost;
use store::{Commit, Condition, Epoch, ErrorKind, Row, Stamp, Write, later_wins};
use tokio::sync::Mutex;

use super::context::{BACKOFF, Context};
use super::keys;
use crate::Error;
use crate::feed::of_definitions;

/// Rows and conditions of one change in the making.
#[derive(Debug, Default)]
pub(crate) struct PendingCommit {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) writes: Vec<Write>,
    pub(crate) change: Vec<u8>,
    /// Whether it makes room.
    pub(crate) reclaims: bool,
}

/// What a process knows of intents of a repository.
#[derive(Debug)]
pub(crate) struct Settled {
    buckets: u32,
    /// By bucket, the epoch that is known to have begun before the head was seen idle.
    epochs: RwLock<Box<[Option<Epoch>]>>,
    /// The number of the last intent that was seen to be over.
    over: AtomicU64,
    /// Held by the task of this process that has an intent, from before it is stored to its end: so that tasks come in turn. It is held over
    /// awaits; nobody else waits for it.
    pub(super) starting: Mutex<()>,
    /// Held by the task that carries an intent out, for as long as that one lasts: so that one task of this process reads it.
    pub(super) carrying: Mutex<()>,
}

impl Settled {
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

    fn knows(&self, bucket: u32, epoch: Epoch) -> bool {
        self.epochs.read().get(bucket as usize) == Some(&Some(epoch))
    }

    fn note(&self, bucket: u32, epoch: Epoch) {
        if let Some(slot) = self.epochs.write().get_mut(bucket as usize) {
            *slot = Some(epoch);
        }
    }
}

impl Context {
    /// Carries a change out whole, or not at all; `false` if another writer came first. Cost: one commit, if all lies in one bucket and
    /// fits; else that of an intent.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for what is too large even for an intent; if the store refuses.
    pub(crate) async fn commit(&self, mut pending: PendingCommit) -> Result<bool, Error> {
        // A change may come to the same row by several ways: what was drafted last has all of them in mind.
        later_wins(&mut pending.writes);
        let buckets = self.buckets_of(&pending);
        if let (Some(bucket), 0..=1) = (buckets.first(), buckets.len())
            && self.fits(&pending)
        {
            return self.commit_in(*bucket, pending).await;
        }
        // Rare, and large: what waits for other commits is not to carry it along.
        Box::pin(self.commit_by_intent(pending, &buckets)).await
    }

    /// The buckets that a change reaches, or looks at to stay as they are.
    fn buckets_of(&self, pending: &PendingCommit) -> BTreeSet<u32> {
        let buckets = self.buckets();
        let written = || pending.writes.iter().map(Write::key);
        if buckets == 1 || written().any(|key| keys::is_master_data(key)) {
            return (0..buckets).collect();
        }
        let seen = pending.conditions.iter().filter_map(Condition::key);
        let seen = seen.filter(|key| !keys::is_master_data(key));
        written().chain(seen).map(|key| keys::bucket_of_key(key, buckets)).collect()
    }

    /// Whether a change fits into one commit, with a condition more.
    fn fits(&self, pending: &PendingCommit) -> bool {
        let limits = self.store.limits();
        let rows = pending.conditions.len() + pending.writes.len() + 1;
        let of_writes = pending.writes.iter().map(bytes_of);
        let of_conditions = pending.conditions.iter().filter_map(Condition::key).map(Bytes::len);
        let bytes = of_writes.chain(of_conditions).fold(pending.change.len(), usize::saturating_add);
        // A record of changes has a head of some bytes.
        rows <= limits.commit_rows && bytes <= limits.commit_bytes - limits.commit_bytes / 64
    }

    async fn commit_in(&self, bucket: u32, pending: PendingCommit) -> Result<bool, Error> {
        let PendingCommit { conditions, writes, change, reclaims } = pending;
        let is_near = |condition: &Condition| {
            condition.key().is_none_or(|key| keys::bucket_of_key(key, self.buckets()) == bucket)
        };
        let (near, far): (Vec<Condition>, Vec<Condition>) = conditions.into_iter().partition(is_near);
        let change = of_definitions(change);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let epoch = self.settled_epoch(bucket).await?;
            if !self.hold(&far).await? {
                return Ok(false);
            }
            let commit = Commit {
                partition: self.partition(bucket).clone(),
                write_id: self.write_ids.next(),
                conditions: near.iter().cloned().chain([Condition::Fence(epoch)]).collect(),
                writes: writes.clone(),
                change: change.clone(),
                reclaims,
            };
            match self.store.commit_known(commit).await {
                // Its conditions say all that it follows from: they are asked for again in the new epoch.
                Err(error) if error.kind() == ErrorKind::Fenced => {}
                outcome => return outcome_of(outcome),
            }
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// The epoch of a bucket, once no intent is under way. Who waited for one asks anew, and is before the next: that begins
    /// with a commit.
    async fn settled_epoch(&self, bucket: u32) -> Result<Epoch, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let epoch = self.store.fence(self.partition(bucket));
            if self.settled.knows(bucket, epoch) {
                return Ok(epoch);
            }
            if !Box::pin(self.carry_out_met()).await? {
                self.settled.note(bucket, epoch);
                return Ok(epoch);
            }
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// Whether conditions hold now.
    async fn hold(&self, conditions: &[Condition]) -> Result<bool, Error> {
        if conditions.is_empty() {
            return Ok(true);
        }
        let keys: Vec<Bytes> = conditions.iter().filter_map(Condition::key).cloned().collect();
        let rows = self.rows(&keys).await?;
        let rowed = conditions.iter().filter(|condition| condition.key().is_some());
        Ok(rowed.zip(&rows).all(|(condition, row)| holds(condition, row.as_ref())))
    }
}

/// Whether a condition holds of the row that it names.
pub(super) fn holds(condition: &Condition, row: Option<&Row>) -> bool {
    match condition {
        Condition::Absent(_) => row.is_none(),
        Condition::Present(_) => row.is_some(),
        Condition::Version(_, stamp) => row.is_some_and(|row| row.stamp == *stamp),
        Condition::Fence(_) => true,
    }
}

/// The bytes of keys and values that a write has.
pub(super) fn bytes_of(write: &Write) -> usize {
    match write {
        Write::Put(key, value) | Write::PutStamped(key, value) => key.len() + value.len(),
        Write::Delete(key) => key.len(),
        Write::DeleteRange(range) => range.start.len() + range.end.as_ref().map_or(0, Bytes::len),
    }
}

/// What became of a commit; `false` if another writer came first.
pub(super) fn outcome_of(outcome: Result<Stamp, store::Error>) -> Result<bool, Error> {
    match unless_lost(outcome) {
        Ok(committed) => Ok(committed.is_some()),
        Err(error) if error.kind() == ErrorKind::TooLarge => {
            Err(Error::Limit(format!("a change of the catalogue is too large: {}", error.action())))
        }
        Err(error) => Err(error.into()),
    }
}
