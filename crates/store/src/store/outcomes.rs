//! What became of commits whose acknowledgement was lost.

use super::{Engine, Store};
use crate::{Commit, Error, ErrorKind, Outcome, Partition, Stamp, WriteId};
use store_contract::Ticket;

impl Store {
    /// [`Store::commit`], and where the outcome is not known asks for it: a commit that was not carried out, and never will be,
    /// is a `Conflict`, as if another had come first. Cost: that of [`Store::commit`], and seldom of [`Store::resolve`].
    ///
    /// # Errors
    ///
    /// As [`Store::commit`]; `Unknown` only if nobody can tell.
    pub async fn commit_known(&self, commit: Commit) -> Result<Stamp, Error> {
        let name = Name::of(&commit);
        let outcome = self.commit(commit).await;
        self.make_known(name, outcome).await
    }

    /// [`Store::commit_all`], each outcome as [`Store::commit_known`] tells it.
    pub async fn commit_all_known(&self, commits: Vec<Commit>) -> Vec<Result<Stamp, Error>> {
        let names = commits.iter().map(Name::of).collect();
        let outcomes = self.commit_all(commits).await;
        self.make_all_known(names, outcomes).await
    }

    /// What became of the commit `write_id` in `partition`, whose acknowledgement was lost; with the ticket of the error that
    /// said so ([`Error::ticket`]), if it had one. The engine may write to find out: what it says was not committed never will be.
    /// Cost: without a ticket a walk of the feed, newest first; not for the usual path.
    ///
    /// # Errors
    ///
    /// `Unknown` if there is no ticket, it is not in the feed, and the feed no longer reaches back to the store's first
    /// commit; `Unavailable`.
    pub async fn resolve(
        &self,
        partition: &Partition,
        write_id: WriteId,
        ticket: Option<Ticket>,
    ) -> Result<Outcome, Error> {
        partition.tenant.check()?;
        match &self.engine {
            // One process has them to itself, and their feed says it all.
            Engine::Memory(memory) => memory.resolve(partition, write_id),
            Engine::Embedded(embedded) => embedded.resolve(partition, write_id).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.resolve(partition, write_id, ticket)
            }
        }
    }

    pub(super) async fn make_all_known(
        &self,
        names: Vec<Name>,
        outcomes: Vec<Result<Stamp, Error>>,
    ) -> Vec<Result<Stamp, Error>> {
        let mut known = Vec::with_capacity(outcomes.len());
        for (name, outcome) in names.into_iter().zip(outcomes) {
            known.push(self.make_known(name, outcome).await);
        }
        known
    }

    async fn make_known(&self, name: Name, outcome: Result<Stamp, Error>) -> Result<Stamp, Error> {
        let error = match outcome {
            Err(error) if error.kind() == ErrorKind::Unknown => error,
            known => return known,
        };
        match self.resolve(&name.partition, name.write_id, error.ticket()).await {
            Ok(Outcome::Committed(stamp)) => Ok(stamp),
            Ok(Outcome::NotCommitted) => {
                let action = "commit: it was not carried out, and will not be";
                Err(Error::new(ErrorKind::Conflict, action))
            }
            Err(_) => Err(error),
        }
    }
}

/// What names a commit once it was submitted.
pub(super) struct Name {
    partition: Partition,
    write_id: WriteId,
}

impl Name {
    pub(super) fn of(commit: &Commit) -> Self {
        Self { partition: commit.partition.clone(), write_id: commit.write_id }
    }
}
