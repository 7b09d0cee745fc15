//! Writes: fetch, think, commit; again where another writer came first.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;

use bytes::Bytes;
use store::{Commit, Condition, Direction, ErrorKind, Row, Stamp, Timestamp, Write, WriteId};

use crate::apply::{Outcome, apply, apply_expiry};
use crate::entities::next_range;
use crate::feed::put_record;
use crate::tenant::Context;
use crate::{Change, EntityView, Error, Fate, Operation, TenantEntities, keys};

/// How often a write starts again because another writer came first.
const ATTEMPTS_MAX: usize = 64;
/// Entities whose commits are submitted together.
const GROUP_ENTITIES_MAX: usize = 1024;
/// Expiry rows that are read in one page.
const PAGE_EXPIRED: usize = 256;

/// All that is to be written of one entity in one commit.
struct Draught {
    conditions: Vec<Condition>,
    writes: Vec<Write>,
    feed: Vec<u8>,
    /// What the entity row holds, or is to hold.
    bytes: Option<Bytes>,
}

impl Draught {
    fn new(id: &str, row: Option<Row>) -> Self {
        let key = keys::entity(id);
        let condition = match &row {
            Some(row) => Condition::Version(key, row.stamp),
            None => Condition::Absent(key),
        };
        let bytes = row.map(|row| row.value);
        Self { conditions: vec![condition], writes: Vec::new(), feed: Vec::new(), bytes }
    }

    /// One operation on what is held or drafted.
    fn think(
        &mut self,
        id: &str,
        operation: &Operation,
        now: Timestamp,
        bytes_max: usize,
    ) -> Result<Change, Error> {
        let stored = self.bytes.as_ref().map(|bytes| EntityView::parse(bytes)).transpose()?;
        let outcome = apply(stored.as_ref(), id, operation, now, bytes_max)?;
        Ok(self.take(id, outcome))
    }

    fn take(&mut self, id: &str, outcome: Outcome) -> Change {
        let Outcome { bytes, writes, change, types } = outcome;
        if change.fate == Fate::Unchanged {
            return change;
        }
        put_record(&mut self.feed, change.fate, id, &types, &change.updated);
        if self.writes.is_empty() {
            self.writes = writes;
        } else {
            self.writes.extend(writes);
        }
        self.bytes = bytes.map(Bytes::from);
        change
    }

    /// The commit; `None` if nothing changed.
    fn commit(mut self, context: &Context, id: &str) -> Result<Option<Commit>, Error> {
        if self.feed.is_empty() {
            return Ok(None);
        }
        let Some(Condition::Version(key, _) | Condition::Absent(key)) = self.conditions.first() else {
            return Ok(None);
        };
        self.writes.push(match self.bytes {
            Some(bytes) => Write::PutStamped(key.clone(), bytes),
            None => Write::Delete(key.clone()),
        });
        Ok(Some(Commit {
            partition: context.partition(id)?.clone(),
            write_id: context.write_ids.next(),
            conditions: self.conditions,
            writes: self.writes,
            change: self.feed.into(),
        }))
    }
}

/// Whether a commit is done, or must be thought anew. `Err`: it is refused.
async fn settle(
    context: &Context,
    id: &str,
    write_id: WriteId,
    outcome: Result<Stamp, store::Error>,
) -> Result<bool, Error> {
    let error = match outcome {
        Ok(_) => return Ok(true),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::Conflict => Ok(false),
        ErrorKind::Unknown => match context.store.resolve(context.partition(id)?, write_id).await {
            Ok(store::Outcome::Committed(_)) => Ok(true),
            Ok(store::Outcome::NotCommitted) => Ok(false),
            Err(_) => Err(error.into()),
        },
        _ => Err(error.into()),
    }
}

impl TenantEntities {
    /// One operation on one entity: read, think, commit; tried again when another writer came first.
    /// Cost: one cached read and one commit of the entity and its touched index rows.
    ///
    /// # Errors
    ///
    /// What the operation refuses; [`Error::Contention`]; what the store refuses.
    pub async fn apply(&self, id: &str, operation: Operation, now: Timestamp) -> Result<Change, Error> {
        if let Some(change) = self.attempt(id, &operation, now).await? {
            return Ok(change);
        }
        // Those that lost once go one by one: each finds what the one before left, and few lose again.
        let _turn = match self.context().turns.of(id) {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        for _ in 1..ATTEMPTS_MAX {
            if let Some(change) = self.attempt(id, &operation, now).await? {
                return Ok(change);
            }
        }
        Err(Error::Contention(id.into()))
    }

    /// `None`: another writer came first.
    async fn attempt(
        &self,
        id: &str,
        operation: &Operation,
        now: Timestamp,
    ) -> Result<Option<Change>, Error> {
        let context = self.context();
        let mut draught = Draught::new(id, context.row(id).await?);
        let change = draught.think(id, operation, now, context.options.entity_bytes_max)?;
        let Some(commit) = draught.commit(context, id)? else {
            return Ok(Some(change));
        };
        let write_id = commit.write_id;
        let outcome = context.store.commit(commit).await;
        Ok(settle(context, id, write_id, outcome).await?.then_some(change))
    }

    /// Many operations in one group: each entity is its own atom, operations on the same entity
    /// happen in order (and in one atom), outcomes come in the order of `operations`.
    /// Cost: one read for each bucket and one group commit for each thousand entities.
    pub async fn apply_all(
        &self,
        operations: Vec<(Box<str>, Operation)>,
        now: Timestamp,
    ) -> Vec<Result<Change, Error>> {
        let mut outcomes: Vec<Option<Result<Change, Error>>> = operations.iter().map(|_| None).collect();
        let groups = groups(&operations);
        for groups in groups.chunks(GROUP_ENTITIES_MAX) {
            let mut left: Vec<&Group<'_>> = groups.iter().collect();
            for _ in 0..ATTEMPTS_MAX {
                if left.is_empty() {
                    break;
                }
                left = self.attempt_all(&left, now, &mut outcomes).await;
            }
            for group in left {
                group.tell(&mut outcomes, || Error::Contention(group.id.into()));
            }
        }
        let lost = || Err(store::Error::new(ErrorKind::Unknown, "apply: no outcome was told").into());
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(lost)).collect()
    }

    /// Answers the groups that other writers came before.
    async fn attempt_all<'a>(
        &self,
        groups: &[&'a Group<'a>],
        now: Timestamp,
        outcomes: &mut [Option<Result<Change, Error>>],
    ) -> Vec<&'a Group<'a>> {
        let context = self.context();
        let ids: Vec<&str> = groups.iter().map(|group| group.id).collect();
        let rows = match context.rows(&ids).await {
            Ok(rows) => rows,
            Err(error) => {
                let text = error.to_string();
                for group in groups {
                    group.tell(outcomes, || store::Error::new(ErrorKind::Unavailable, text.clone()).into());
                }
                return Vec::new();
            }
        };
        let (mut commits, mut committing) = (Vec::with_capacity(groups.len()), Vec::new());
        for (group, row) in groups.iter().zip(rows) {
            let mut draught = Draught::new(group.id, row);
            for (index, operation) in &group.operations {
                let outcome = draught.think(group.id, operation, now, context.options.entity_bytes_max);
                if let Some(place) = outcomes.get_mut(*index) {
                    *place = Some(outcome);
                }
            }
            match draught.commit(context, group.id) {
                Ok(None) => {}
                Ok(Some(commit)) => {
                    committing.push((*group, commit.write_id));
                    commits.push(commit);
                }
                Err(error) => group.refuse(outcomes, &error),
            }
        }
        let told = context.store.commit_all(commits).await;
        let mut left = Vec::new();
        for ((group, write_id), told) in committing.into_iter().zip(told) {
            match settle(context, group.id, write_id, told).await {
                Ok(true) => {}
                Ok(false) => left.push(group),
                Err(error) => group.refuse(outcomes, &error),
            }
        }
        left
    }

    /// Removes what expired before `now`; answers how many entities lost something, or went.
    pub(crate) async fn purge_expired(&self, now: Timestamp) -> Result<usize, Error> {
        let context = self.context();
        let mut purged = 0;
        for partition in &context.partitions {
            // What expires at a time is gone at that time.
            let mut range = Some(keys::expired_range(Timestamp(now.0.saturating_add(1))));
            while let Some(rest) = range {
                let page = context.store.scan(partition, &rest, Direction::Forward, PAGE_EXPIRED).await?;
                let mut ids: Vec<&str> = page.rows().filter_map(|(key, _)| keys::id_of_key(key)).collect();
                ids.sort_unstable();
                ids.dedup();
                purged += self.purge(&ids, now).await?;
                range = next_range(&rest, &page);
            }
        }
        Ok(purged)
    }

    async fn purge(&self, ids: &[&str], now: Timestamp) -> Result<usize, Error> {
        let context = self.context();
        let mut commits = Vec::with_capacity(ids.len());
        for (id, row) in ids.iter().zip(context.rows(ids).await?) {
            let mut draught = Draught::new(id, row);
            let stored = draught.bytes.clone();
            let Some(bytes) = &stored else {
                continue;
            };
            if let Some(outcome) = apply_expiry(&EntityView::parse(bytes)?, now)? {
                draught.take(id, outcome);
            }
            commits.extend(draught.commit(context, id)?);
        }
        let mut purged = 0;
        for outcome in context.store.commit_all(commits).await {
            match outcome {
                Ok(_) => purged += 1,
                Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unknown) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(purged)
    }
}

/// The operations of one entity, in order, with their places in the request.
struct Group<'a> {
    id: &'a str,
    operations: Vec<(usize, &'a Operation)>,
}

fn groups(operations: &[(Box<str>, Operation)]) -> Vec<Group<'_>> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(operations.len());
    let mut groups: Vec<Group<'_>> = Vec::with_capacity(operations.len());
    for (index, (id, operation)) in operations.iter().enumerate() {
        let place = *places.entry(id).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.operations.push((index, operation)),
            None => groups.push(Group { id, operations: vec![(index, operation)] }),
        }
    }
    groups
}

impl Group<'_> {
    /// The same outcome for all operations.
    fn tell(&self, outcomes: &mut [Option<Result<Change, Error>>], error: impl Fn() -> Error) {
        for (index, _) in &self.operations {
            if let Some(place) = outcomes.get_mut(*index) {
                *place = Some(Err(error()));
            }
        }
    }

    /// The store refused the commit: operations that were themselves refused keep their reason.
    fn refuse(&self, outcomes: &mut [Option<Result<Change, Error>>], error: &Error) {
        for (index, _) in &self.operations {
            if let Some(place) = outcomes.get_mut(*index).filter(|place| matches!(place, Some(Ok(_)))) {
                let kind = match error {
                    Error::Store(error) => error.kind(),
                    _ => ErrorKind::Unavailable,
                };
                *place = Some(Err(store::Error::new(kind, error.to_string()).into()));
            }
        }
    }
}
