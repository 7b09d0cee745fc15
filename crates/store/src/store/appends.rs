//! What spans partitions: rows that go ahead of commits, their removal, and the epochs that keep the two apart.

use bytes::Bytes;

use super::outcomes::Name;
use super::{Engine, Store};
use crate::{
    Append, Appended, CommitWithAppends, Condition, Epoch, Error, ErrorKind, Partition, Removal, Stamp,
};

impl Store {
    /// The epoch of a partition, for commits that follow from what is read afterwards, or point at what is appended afterwards
    /// (see [`Condition::Fence`]). One that another process has begun may be seen late: the commit is refused then, and with
    /// that it is known. Cost: a load.
    pub fn fence(&self, partition: &Partition) -> Epoch {
        match &self.engine {
            Engine::Memory(memory) => memory.fence(partition),
            // One for all partitions does: a newer one refuses more commits than it must, once each.
            Engine::Embedded(embedded) => embedded.fence(),
            Engine::Hostile(hostile) => hostile.fence(partition),
        }
    }

    /// Begins a new epoch of a partition (and maybe of others), if all of `seen` holds of its rows. When this returns, no commit
    /// that names an older one happens any more: such commits are before the feed's present end, or will be refused with
    /// `Fenced`. Cost: a small commit, and for each writer under way another attempt: for what is rare.
    ///
    /// # Errors
    ///
    /// `Conflict` if something that was seen is so no more; `Unavailable`.
    pub async fn bump(&self, partition: &Partition, seen: Vec<Condition>) -> Result<Epoch, Error> {
        match &self.engine {
            Engine::Memory(memory) => memory.bump(partition, seen),
            Engine::Embedded(embedded) => embedded.bump(partition, seen).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.bump(partition, seen)
            }
        }
    }

    /// Puts rows into an append space, in an epoch of the partition that they belong to (not of theirs): idempotent, durable when
    /// it returns. For a key and an epoch there is one value. Rows that no commit comes to point at are removed by a sweep.
    ///
    /// # Errors
    ///
    /// `Fenced` if the engine sees that the epoch is over (not all look); `Unavailable`, `TooLarge`.
    pub async fn append(&self, append: Append, epoch: Epoch) -> Result<(), Error> {
        match &self.engine {
            Engine::Memory(memory) => memory.append(&append, epoch),
            Engine::Embedded(embedded) => embedded.append(append, epoch).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.append(&append, epoch)
            }
        }
    }

    /// Removes rows of an append space by their keys, as far as they were appended in the epochs that `appended` names. Durable
    /// when it returns; a row that is appended late in one of these epochs may stay, for a later sweep.
    /// Cost: a small write; with [`Appended::Before`] a read of each row, too.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `TooLarge`.
    pub async fn remove(
        &self,
        partition: &Partition,
        keys: Vec<Bytes>,
        appended: Appended,
    ) -> Result<(), Error> {
        match &self.engine {
            Engine::Memory(memory) => memory.remove(partition, &keys, appended),
            Engine::Embedded(embedded) => embedded.remove(partition, keys, appended).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.remove(partition, &keys, appended)
            }
        }
    }

    /// Appends, then commits in the same epoch, then removes what the commit lets go: what it makes count is there before it. Each append is within the limits of
    /// one, as are the commit and each removal; all together may be as large as they like. An unknown outcome is asked for, as by
    /// [`Store::commit_known`]. Where it is refused some of the rows may be there, without a commit: they are the same in the next
    /// attempt of this epoch, or are left to a sweep.
    ///
    /// Cost: where a store belongs to one process one batch and one sync, of which a conflict drops the appends, too (as far as
    /// all is within the limits of a commit: what is more goes ahead in batches of its own); elsewhere a write for each partition.
    ///
    /// # Errors
    ///
    /// As [`Store::commit_known`]; `Fenced` if the epoch is over.
    pub async fn append_then_commit(&self, commit: CommitWithAppends) -> Result<Stamp, Error> {
        let lost = || Err(Error::new(ErrorKind::Unknown, "commit: the engine gave no outcome"));
        self.append_then_commit_all(vec![commit]).await.pop().unwrap_or_else(lost)
    }

    /// The same of many commits that are submitted together, as [`Store::commit_all`] submits them. Outcomes in their order.
    pub async fn append_then_commit_all(
        &self,
        mut commits: Vec<CommitWithAppends>,
    ) -> Vec<Result<Stamp, Error>> {
        let rows_in_batch = match &self.engine {
            Engine::Memory(_) | Engine::Hostile(_) => 0,
            Engine::Embedded(_) => self.limits().good_rows,
        };
        let behind: Vec<_> = commits.iter_mut().map(|it| (it.epoch, it.take_behind(rows_in_batch))).collect();
        let names = commits.iter().map(|it| Name::of(&it.commit)).collect();
        let outcomes = match &self.engine {
            Engine::Memory(memory) => memory.append_then_commit_all(commits),
            Engine::Embedded(embedded) => embedded.append_then_commit_all(commits).await,
            Engine::Hostile(hostile) => hostile.append_then_commit_all(commits).await,
        };
        let outcomes = self.make_all_known(names, outcomes).await;
        for ((epoch, removals), _) in behind.into_iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok())
        {
            self.remove_behind(removals, epoch).await;
        }
        outcomes
    }

    /// Removes what a commit has let go. What cannot be removed now is left to a sweep.
    async fn remove_behind(&self, removals: Vec<Removal>, epoch: Epoch) {
        for Removal { partition, keys } in removals {
            if matches!(&self.engine, Engine::Hostile(hostile) if hostile.dies()) {
                return;
            }
            if let Err(error) = self.remove(&partition, keys, Appended::Until(epoch)).await {
                tracing::warn!(%error, "rows that a commit has let go are left to a sweep");
                return;
            }
        }
    }
}
