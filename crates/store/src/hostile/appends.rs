//! Appends, removals and epochs of a hostile engine: row by row, some of them once more later, some commits never.

use bytes::Bytes;

use super::{Hostile, Late};
use crate::{
    Append, Appended, CommitWithAppends, Condition, Epoch, Error, Limits, Partition, Stamp, WriteId,
};

impl Hostile {
    /// The epoch as this handle knows it: since its last commit there.
    pub(crate) fn fence(&self, partition: &Partition) -> Epoch {
        let mut epochs = self.epochs.lock();
        *epochs.entry(partition.clone()).or_insert_with(|| self.world.memory.fence(partition))
    }

    pub(crate) fn bump(&self, partition: &Partition, seen: Vec<Condition>) -> Result<Epoch, Error> {
        self.world.stir();
        self.forget(partition, &seen, &[]);
        self.world.memory.bump(partition, seen)
    }

    /// Whether whoever writes comes no further, now and then.
    pub(crate) fn dies(&self) -> bool {
        self.world.roll(self.world.options.late)
    }

    pub(crate) fn append(&self, append: &Append, epoch: Epoch) -> Result<(), Error> {
        self.world.memory.check_open()?;
        store_contract::limits::check_append(&append.partition, &append.rows, &Limits::PORTABLE)?;
        let world = &self.world;
        let mut rows: Vec<_> = append.rows.iter().map(|row| (world.dice.lock().next(), row)).collect();
        rows.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, row) in rows {
            world.stir();
            let one = Append { partition: append.partition.clone(), rows: vec![row.clone()] };
            world.memory.append(&one, epoch)?;
            // It was sent twice.
            if world.roll(world.options.late) {
                world.late.lock().push(Late::Append(one, epoch));
            }
        }
        Ok(())
    }

    pub(crate) fn remove(
        &self,
        partition: &Partition,
        keys: &[Bytes],
        appended: Appended,
    ) -> Result<(), Error> {
        let world = &self.world;
        world.stir();
        world.memory.remove(partition, keys, appended)?;
        if world.roll(world.options.late) {
            world.late.lock().push(Late::Remove(partition.clone(), keys.to_vec(), appended));
        }
        self.forget_rows(partition, keys);
        Ok(())
    }

    pub(crate) async fn append_then_commit_all(
        &self,
        commits: Vec<CommitWithAppends>,
    ) -> Vec<Result<Stamp, Error>> {
        let order = self.order(commits.iter().map(|it| &it.commit.partition));
        let mut commits: Vec<_> = commits.into_iter().map(Some).collect();
        let mut outcomes: Vec<Option<Result<Stamp, Error>>> = commits.iter().map(|_| None).collect();
        for place in order {
            let commit = commits.get_mut(place).and_then(Option::take);
            if let Some((commit, outcome)) = commit.zip(outcomes.get_mut(place)) {
                *outcome = Some(self.append_then_commit(commit).await);
            }
        }
        let lost = || Err(self.world.unknown(WriteId::default(), None));
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(lost)).collect()
    }

    async fn append_then_commit(&self, mut commit: CommitWithAppends) -> Result<Stamp, Error> {
        let world = &self.world;
        commit.prepare(&Limits::PORTABLE)?;
        for append in &commit.appends {
            self.append(append, commit.epoch)?;
            self.pause().await;
            // Nobody came to commit.
            if world.roll(world.options.late) {
                return Err(world.unknown(commit.commit.write_id, Some(None)));
            }
        }
        self.commit(commit.commit)
    }
}
