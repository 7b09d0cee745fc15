//! Appends, removals and epochs on their way to the committer.
//!
//! An appended row is stored as a stamped one is, with the number of the commit that it goes ahead of, or that comes next. The
//! number of the commit that began an epoch is the epoch's: so a row was appended before an epoch if its number is not beyond
//! the epoch's, whatever was open in between, and cache and snapshots know it as they know others.

use bytes::Bytes;
use tokio::sync::oneshot;

use store_contract::limits::{check_append, check_removal};
use store_contract::place::place;
use store_contract::{
    Append, Appended, Commit, CommitWithAppends, Condition, Epoch, Error, Limits, Partition, Stamp,
};

use super::{Embedded, lost, merge};
use crate::request::Request;

impl Embedded {
    /// Appends rows in an epoch.
    ///
    /// # Errors
    ///
    /// `Fenced`, `Unavailable`, `TooLarge`.
    pub async fn append(&self, append: Append, epoch: Epoch) -> Result<(), Error> {
        let bytes = check_append(&append.partition, &append.rows, &Limits::EMBEDDED)?;
        self.shared.spaces.learn(append.partition.space)?;
        self.shared.check_writable()?;
        let (answer, outcome) = oneshot::channel();
        self.submit(bytes, Request::Append(append, epoch, answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Removes appended rows.
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
        let bytes = check_removal(partition, &keys, &Limits::EMBEDDED)?;
        self.shared.spaces.learn(partition.space)?;
        if matches!(appended, Appended::Before(_)) {
            self.read_ahead(partition, &keys).await?;
        }
        let (answer, outcome) = oneshot::channel();
        self.submit(bytes, Request::Remove(partition.clone(), keys, appended, answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Reads rows that the committer will look at, so that nobody waits for the disk then.
    async fn read_ahead(&self, partition: &Partition, keys: &[Bytes]) -> Result<(), Error> {
        let places: Vec<_> = keys.iter().map(|key| place(partition, key)).collect();
        let shared = self.shared.clone();
        let read = move || places.iter().try_for_each(|place| shared.get_from_disk(place).map(drop));
        self.shared.block(read).await
    }

    /// Begins an epoch.
    ///
    /// # Errors
    ///
    /// `Conflict`, `Unavailable`.
    pub async fn bump(&self, partition: &Partition, seen: Vec<Condition>) -> Result<Epoch, Error> {
        let (commit, bytes) = self.check(Commit::of_bump(partition, seen)).await?;
        self.shared.warm(std::iter::once(&commit)).await;
        let (answer, outcome) = oneshot::channel();
        self.submit(bytes, Request::Bump(commit, answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Commits with what goes ahead of them, all in one batch as far as it fits. Outcomes in their order.
    pub async fn append_then_commit_all(&self, commits: Vec<CommitWithAppends>) -> Vec<Result<Stamp, Error>> {
        let (mut bytes, mut sound): (usize, Vec<_>) = (0, Vec::new());
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits {
            match self.append_ahead(commit).await {
                Ok((commit, more)) => {
                    bytes = bytes.saturating_add(more);
                    sound.push(commit);
                    outcomes.push(None);
                }
                Err(error) => outcomes.push(Some(error)),
            }
        }
        let submitted = self.submit_all(bytes, sound).await;
        merge(outcomes, submitted)
    }

    /// Checks a commit and what goes ahead of it. What is too much for one batch is appended here; answers with the rest, and
    /// its size.
    async fn append_ahead(&self, mut commit: CommitWithAppends) -> Result<(CommitWithAppends, usize), Error> {
        let sizes = commit.prepare(&Limits::EMBEDDED)?;
        let CommitWithAppends { appends, epoch, commit, lets_go } = commit;
        let appended = appends.iter().map(|append| &append.partition);
        for partition in appended.chain(lets_go.iter().map(|removal| &removal.partition)) {
            self.shared.spaces.learn(partition.space)?;
        }
        let (commit, mut bytes) = self.check(commit).await?;
        let mut left = Vec::with_capacity(appends.len());
        for (append, more) in appends.into_iter().zip(sizes) {
            if bytes.saturating_add(more) > Limits::EMBEDDED.commit_bytes {
                self.append(append, epoch).await?;
            } else {
                bytes = bytes.saturating_add(more);
                left.push(append);
            }
        }
        Ok((CommitWithAppends { appends: left, epoch, commit, lets_go }, bytes))
    }
}
