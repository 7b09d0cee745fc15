//! Many operations, gathered by entity, and what one attempt at them reads and writes together.

use std::collections::HashMap;

use entity::{Error, Operation};
use store::{ErrorKind, Row, Timestamp};

use super::outcomes::Outcomes;
use super::pending::PendingCommit;
use crate::query::Matching;
use crate::tenant::TenantState;
use crate::watch::Watch;

/// One attempt at many writes.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    pub(super) now: Timestamp,
    pub(super) attempt: u32,
    /// What entities must match to be written; `None`: nothing.
    pub(super) matching: Option<&'a Matching<'a>>,
}

impl Round<'_> {
    /// Reads what must be known of each entity.
    pub(super) async fn read(
        &self,
        state: &TenantState,
        ids: &[&str],
        watches: Vec<Result<Watch, Error>>,
    ) -> Result<Vec<Read>, Error> {
        // The first attempt goes without histories that are not cached.
        let (rows, histories) = state.rows_and_headers(ids, self.attempt > 0).await?;
        let fit = match self.matching {
            Some(matching) => matching.judge(state, &rows).await?,
            None => vec![true; rows.len()],
        };
        let read = watches.into_iter().zip(rows).zip(histories).zip(fit);
        Ok(read.map(|(((watch, row), header), fits)| Read { watch, row, header, fits }).collect())
    }
}

/// What a round needs to know of an entity.
pub(super) struct Read {
    /// `Err`: it should have moved, and could not.
    pub(super) watch: Result<Watch, Error>,
    pub(super) row: Option<Row>,
    /// The header of its history, if there is no such entity.
    pub(super) header: Option<Row>,
    /// Whether it is to be written.
    pub(super) fits: bool,
}

/// The operations of one entity, in order, each with its index in the request.
pub(super) struct Group<'a> {
    pub(super) id: &'a str,
    pub(super) operations: Vec<(usize, &'a Operation)>,
}

/// What is to be written together.
pub(super) struct Gathered<'a> {
    pub(super) pending: Vec<(&'a Group<'a>, PendingCommit)>,
    /// About so many bytes.
    pub(super) bytes: usize,
}

impl<'a> Gathered<'a> {
    /// Room for so many entities.
    pub(super) fn of(entities: usize) -> Self {
        Self { pending: Vec::with_capacity(entities), bytes: 0 }
    }

    /// Adds the commit of an entity.
    pub(super) fn add(&mut self, group: &'a Group<'a>, pending: PendingCommit) {
        self.bytes = self.bytes.saturating_add(pending.size());
        self.pending.push((group, pending));
    }
}

/// The operations by the entity that they are on.
pub(super) fn groups(operations: &[(Box<str>, Operation)]) -> Vec<Group<'_>> {
    let mut indexes: HashMap<&str, usize> = HashMap::with_capacity(operations.len());
    let mut groups: Vec<Group<'_>> = Vec::with_capacity(operations.len());
    for (index, (id, operation)) in operations.iter().enumerate() {
        let index_of_group = *indexes.entry(id).or_insert(groups.len());
        match groups.get_mut(index_of_group) {
            Some(group) => group.operations.push((index, operation)),
            None => groups.push(Group { id, operations: vec![(index, operation)] }),
        }
    }
    groups
}

impl Group<'_> {
    /// The same outcome for all operations.
    pub(super) fn fail(&self, outcomes: &Outcomes, error: impl Fn() -> Error) {
        for (index, _) in &self.operations {
            outcomes.set(*index, Err(error()));
        }
    }

    /// The store refused the commit: operations that were themselves refused keep their reason.
    pub(super) fn refuse(&self, outcomes: &Outcomes, error: &Error) {
        for (index, _) in &self.operations {
            outcomes.refuse(*index, repeat(error));
        }
    }
}

/// The same refusal for another operation.
pub(super) fn repeat(error: &Error) -> Error {
    match error {
        Error::Store(error) => store::Error::new(error.kind(), error.action()).into(),
        Error::TimedOut(timed_out) => Error::TimedOut(*timed_out),
        error => store::Error::new(ErrorKind::Unavailable, error.to_string()).into(),
    }
}
