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

use bytes::Bytes;
use store::{Commit, Condition, Epoch, ErrorKind, Write, later_wins};

use super::context::{BACKOFF, Context};
use super::pending::{PendingCommit, bytes_of, holds, outcome_of};
use crate::feed::of_definitions;
use crate::{Error, keys};

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
            if self.intents.knows(bucket, epoch) {
                return Ok(epoch);
            }
            if !Box::pin(self.carry_out_met()).await? {
                self.intents.note(bucket, epoch);
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
