//! Writes: fetch, think, commit; again where another writer came first.

mod outcomes;
mod pending;
mod group;
mod purge;
#[cfg(test)]
pub(crate) mod tests;

use entity::{Change, Error, Operation, Precondition};
use futures_util::stream::{self, StreamExt};
use store::retry::{HasLost, RetryBackoff, unless_lost};
use store::{Stamp, Timestamp};

use self::group::{Gathered, Group, Read, Round, groups, repeat};
use self::outcomes::Outcomes;
use self::pending::PendingCommit;
use crate::TenantEntities;
use crate::in_use::Notes;
use crate::query::Matching;
use crate::tenant::TenantState;

/// How often a write starts again because another writer came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Entities whose commits are submitted together: few enough that the store is at work on them while the next are thought.
const GROUP_ENTITIES_MAX: usize = 128;
/// The commit that reaches so many bytes in all is the last that is submitted with others.
const GROUP_BYTES_MAX: usize = 4 << 20;
/// Such groups of one call that are under way at once.
const GROUPS_AT_ONCE: usize = 4;

/// One operation on one entity, as it was asked for.
#[derive(Clone, Copy)]
struct Request<'a> {
    id: &'a str,
    required: &'a Precondition,
    operation: &'a Operation,
    now: Timestamp,
}

/// Whether a commit is done, or must be thought anew. `Err`: it is refused.
fn settle(outcome: Result<Stamp, store::Error>) -> Result<bool, Error> {
    Ok(unless_lost(outcome)?.is_some())
}

impl TenantEntities {
    /// One operation on one entity: read, think, commit; tried again when another writer came first.
    /// Cost: one cached read and one commit of the entity and its touched index rows.
    ///
    /// # Errors
    ///
    /// What the operation refuses; [`Error::Contention`]; what the store refuses.
    pub async fn apply(&self, id: &str, operation: Operation, now: Timestamp) -> Result<Change, Error> {
        self.apply_if(id, &Precondition::default(), operation, now).await
    }

    /// The same, if the entity is as `required` in the moment of the write. Cost: as [`Self::apply`].
    ///
    /// # Errors
    ///
    /// As [`Self::apply`]; what an unmet precondition comes to.
    pub async fn apply_if(
        &self,
        id: &str,
        required: &Precondition,
        operation: Operation,
        now: Timestamp,
    ) -> Result<Change, Error> {
        let locks = &self.state().retry_locks;
        let request = Request { id, required, operation: &operation, now };
        let lock = locks.of(&[id.as_bytes()]);
        let guard = if locks.is_queued(lock) { Some(locks.lock(lock).await) } else { None };
        match self.attempt(request, false).await {
            Err(error) if !self.state().store.may_lag() || matches!(error, Error::Store(_)) => {
                return Err(error);
            }
            // Judged by a row that may be out of date, and no commit says that it is not.
            Err(_) => {}
            Ok(Some(change)) if self.is_settled(&change) => return Ok(change),
            Ok(_) => {}
        }
        drop(guard);
        // Those that lost once go one by one: each finds what the one before left, and few lose again.
        let _guard = locks.lock(lock).await;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if let Some(change) = self.attempt(request, true).await? {
                return Ok(change);
            }
        }
        Err(attempts.exhausted(id).into())
    }

    /// Whether a change was committed, or is none by a row that cannot be out of date.
    fn is_settled(&self, change: &Change) -> bool {
        change.fate != entity::Fate::Unchanged || !self.state().store.may_lag()
    }

    /// `None`: another writer came first, or there is a history that is not cached: `again` looks it up.
    async fn attempt(&self, request: Request<'_>, again: bool) -> Result<Option<Change>, Error> {
        let Request { id, operation, now, .. } = request;
        let (state, watch) = self.watch(id).await?;
        let row = if again { state.row_linear(id).await? } else { state.row_at_home(id).await? };
        let header = match &row {
            Some(_) => None,
            None if again => state.header_row(id).await?,
            None => state.header_row_cached(id)?,
        };
        if state.is_superseded() {
            // It may have moved before it was read.
            return Ok(None);
        }
        let mut pending = PendingCommit::new(id, row, header, watch)?;
        pending.check(request)?;
        let change = pending.think(state, id, operation, now)?;
        let recorded = !pending.head.is_empty();
        pending.check_index(state.store.limits())?;
        let mut notes = Notes::default();
        if pending.add_notes(state, id, &mut notes)? {
            state.put_notes(notes).await?;
            if pending.add_notes(state, id, &mut Notes::default())? {
                // The fence was raised.
                return Ok(None);
            }
        }
        let Some(commit) = pending.commit(state, id)? else {
            return Ok(Some(change));
        };
        if !settle(state.store.commit_known(commit).await)? {
            return Ok(None);
        }
        if recorded {
            state.histories.note(state.tenant(), id);
        }
        Ok(Some(change))
    }

    /// Many operations in one group: each entity is its own atom, operations on the same entity
    /// happen in order (and in one atom), outcomes come in the order of `operations`.
    /// Cost: one read for each bucket and one group commit for each 128 entities (4 MiB), of which four are under way at once.
    pub async fn apply_all(
        &self,
        operations: Vec<(Box<str>, Operation)>,
        now: Timestamp,
    ) -> Vec<Result<Change, Error>> {
        self.apply_groups(&groups(&operations), operations.len(), Round { now, attempt: 0, matching: None })
            .await
    }

    /// One operation on each of many entities that match in the moment of the write, each named once; to others it is
    /// [`Error::NoSuchEntity`]. Cost: as [`Self::apply_all`].
    pub(crate) async fn apply_matching(
        &self,
        ids: &[Box<str>],
        operation: &Operation,
        matching: &Matching<'_>,
    ) -> Vec<Result<Change, Error>> {
        let groups = ids.iter().enumerate();
        let groups: Vec<_> =
            groups.map(|(index, id)| Group { id, operations: vec![(index, operation)] }).collect();
        let round = Round { now: matching.query.now, attempt: 0, matching: Some(matching) };
        self.apply_groups(&groups, ids.len(), round).await
    }

    /// The outcomes of so many operations, of the groups of each entity.
    async fn apply_groups(
        &self,
        groups: &[Group<'_>],
        count: usize,
        round: Round<'_>,
    ) -> Vec<Result<Change, Error>> {
        let outcomes = Outcomes::new(count);
        // Each entity is in one of them.
        let parts = stream::iter(groups.chunks(GROUP_ENTITIES_MAX));
        parts.for_each_concurrent(GROUPS_AT_ONCE, |part| self.apply_part(part, round, &outcomes)).await;
        outcomes.into_list()
    }

    async fn apply_part(&self, groups: &[Group<'_>], round: Round<'_>, outcomes: &Outcomes) {
        let mut left: Vec<&Group<'_>> = groups.iter().collect();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if left.is_empty() {
                return;
            }
            let attempt = attempts.made() - 1;
            left = self.attempt_all(&left, Round { attempt, ..round }, outcomes).await;
        }
        for group in left {
            group.fail(outcomes, || Error::Contention(group.id.into()));
        }
    }

    /// Answers the groups that other writers came before. Those that queue wait for their locks, the others go first:
    /// if all waited, they would delay others, and those the next.
    async fn attempt_all<'a>(
        &self,
        groups: &[&'a Group<'a>],
        round: Round<'_>,
        outcomes: &Outcomes,
    ) -> Vec<&'a Group<'a>> {
        let locks = &self.state().retry_locks;
        let lock_of = |group: &Group<'_>| locks.of(&[group.id.as_bytes()]);
        // After the first attempt some only look for a history; who is left after the second has lost to others.
        let lost = round.attempt > 1;
        let (free, queued): (Vec<&Group<'_>>, Vec<&Group<'_>>) =
            groups.iter().partition(|group| !lost && !locks.is_queued(lock_of(group)));
        let mut left = self.attempt_groups(&free, round, outcomes).await;
        let _guards = locks.queue(queued.iter().map(|group| (lock_of(group), HasLost(lost)))).await;
        left.extend(self.attempt_groups(&queued, round, outcomes).await);
        left
    }

    /// Answers the groups that other writers came before.
    async fn attempt_groups<'a>(
        &self,
        groups: &[&'a Group<'a>],
        round: Round<'_>,
        outcomes: &Outcomes,
    ) -> Vec<&'a Group<'a>> {
        if groups.is_empty() {
            return Vec::new();
        }
        let ids: Vec<&str> = groups.iter().map(|group| group.id).collect();
        let (state, read) = match self.read_round(round, &ids).await {
            Ok(Some(read)) => read,
            Ok(None) => return groups.to_vec(),
            Err(error) => {
                for group in groups {
                    group.fail(outcomes, || repeat(&error));
                }
                return Vec::new();
            }
        };
        let (mut gathered, mut left) = (Gathered::of(groups.len()), Vec::new());
        // Judged by rows that may be out of date, as long as no commit says that they are not.
        let may_lag = round.attempt == 0 && state.store.may_lag();
        for (group, Read { watch, row, header, fits }) in groups.iter().zip(read) {
            let watch = match watch {
                Ok(watch) => watch,
                Err(error) => {
                    group.fail(outcomes, || repeat(&error));
                    continue;
                }
            };
            if !fits && may_lag {
                left.push(*group);
                continue;
            }
            if !fits {
                group.fail(outcomes, || Error::NoSuchEntity(group.id.into()));
                continue;
            }
            let mut pending = match PendingCommit::new(group.id, row, header, watch) {
                Ok(pending) => pending,
                Err(error) => {
                    group.fail(outcomes, || repeat(&error));
                    continue;
                }
            };
            for (index, operation) in &group.operations {
                let outcome = pending.think(state, group.id, operation, round.now);
                outcomes.set(*index, outcome);
            }
            if let Err(error) = pending.check_index(state.store.limits()) {
                group.refuse(outcomes, &error);
                continue;
            }
            gathered.add(group, pending);
            if gathered.bytes >= GROUP_BYTES_MAX {
                let gathered = std::mem::replace(&mut gathered, Gathered::of(0));
                state.commit_gathered(gathered, may_lag, outcomes, &mut left).await;
            }
        }
        state.commit_gathered(gathered, may_lag, outcomes, &mut left).await;
        left
    }

    /// What a round needs to know of entities; `None`: the layout changed meanwhile.
    async fn read_round(
        &self,
        round: Round<'_>,
        ids: &[&str],
    ) -> Result<Option<(&TenantState, Vec<Read>)>, Error> {
        let state = self.state();
        let mut watches = Vec::with_capacity(ids.len());
        for id in ids {
            match state.watch(id).await {
                Ok(Some(watch)) => watches.push(Ok(watch)),
                Ok(None) => return Ok(None),
                Err(error) if error.is_outage() => return Err(error),
                // What cannot be moved keeps no other from being written.
                Err(error) => watches.push(Err(error)),
            }
        }
        let read = round.read(state, ids, watches).await?;
        // They may have moved before they were read.
        Ok((!state.is_superseded()).then_some((state, read)))
    }
}

impl TenantState {
    /// Commits together; those that other writers came before are `left`.
    async fn commit_gathered<'a>(
        &self,
        gathered: Gathered<'a>,
        may_lag: bool,
        outcomes: &Outcomes,
        left: &mut Vec<&'a Group<'a>>,
    ) {
        let noted = self.noted_of(gathered.pending, outcomes, left).await;
        let (mut groups, mut commits) = (Vec::with_capacity(noted.len()), Vec::with_capacity(noted.len()));
        for (group, pending) in noted {
            let recorded = !pending.head.is_empty();
            match pending.commit(self, group.id) {
                Ok(None) if may_lag => left.push(group),
                Ok(None) => {}
                Ok(Some(commit)) => {
                    groups.push((group, recorded));
                    commits.push(commit);
                }
                Err(error) => group.refuse(outcomes, &error),
            }
        }
        let outcome = self.store.commit_all_known(commits).await;
        for ((group, recorded), outcome) in groups.into_iter().zip(outcome) {
            match settle(outcome) {
                Ok(true) if recorded => self.histories.note(self.tenant(), group.id),
                Ok(true) => {}
                Ok(false) => left.push(group),
                Err(error) => group.refuse(outcomes, &error),
            }
        }
    }

    /// Those of which all is noted now that is to be noted before they are committed.
    async fn noted_of<'a>(
        &self,
        gathered: Vec<(&'a Group<'a>, PendingCommit)>,
        outcomes: &Outcomes,
        left: &mut Vec<&'a Group<'a>>,
    ) -> Vec<(&'a Group<'a>, PendingCommit)> {
        let mut notes = Notes::default();
        let add = |(group, pending): &(&'a Group<'a>, PendingCommit), notes: &mut Notes<'a>| {
            pending.add_notes(self, group.id, notes)
        };
        // Damaged ones are refused below.
        let is_any = gathered.iter().fold(false, |any, one| add(one, &mut notes).unwrap_or(true) | any);
        if !is_any {
            return gathered;
        }
        let put = self.put_notes(notes).await;
        let mut noted = Vec::with_capacity(gathered.len());
        for (group, pending) in gathered {
            match (pending.add_notes(self, group.id, &mut Notes::default()), &put) {
                (Ok(false), _) => noted.push((group, pending)),
                (Ok(true), Ok(())) => left.push(group),
                (Ok(true), Err(error)) => group.refuse(outcomes, error),
                (Err(error), _) => group.refuse(outcomes, &error),
            }
        }
        noted
    }
}
