//! All that is to be written of one entity in one commit.

use bytes::Bytes;
use entity::apply::{Outcome, WriteRules, apply};
use entity::expiry::live_bytes;
use entity::feed::{EntityOutcome, Records};
use entity::history::{head::put_entries, header::Header};
use entity::index::{IndexRows, Indexed, diff, index_rows};
use entity::{Change, EntityView, Error, Fate, Limit, LimitName, Operation, Precondition, TermId, keys};
use smallvec::SmallVec;
use store::{Commit, Condition, Limits, Row, Stamp, Timestamp, Write, later_wins};

use super::Request;
use crate::histories::damaged_header;
use crate::in_use::{Notes, unnoted};
use crate::tenant::TenantState;
use crate::watch::Watch;

/// Rows of a commit that are none of the index, at most: the entity, its head row, its history and what finds that.
const ROWS_BESIDE_MAX: usize = 128;
/// What an index key holds beside the id: row, type, attribute, class, and a text of which 64 bytes are kept, escaped.
const KEY_BESIDE_ID_BYTES_MAX: usize = 160;
/// Index rows of several operations that are gathered before what they amount to is found anew.
const CHAIN_ROWS_MAX: usize = 16 << 10;

/// Conditions and rows in the making.
pub(super) struct PendingCommit {
    /// The key of the entity, and the version that it replaces; `None`: there is none.
    key: Bytes,
    stamp: Option<Stamp>,
    writes: Vec<Write>,
    /// Whether these are the writes of several operations, one after another.
    is_chain: bool,
    /// So many writes are more than operations on one entity amount to.
    chain_max: usize,
    /// The entity as it is stored.
    stored: Option<Bytes>,
    feed: Records,
    watch: Watch,
    /// What is in the entity's row, or is to be.
    pub(super) bytes: Option<Bytes>,
    /// The head row of its history.
    pub(super) head: Vec<u8>,
    /// The time of the newest write of the entity, as far as is known.
    last: Timestamp,
    /// The header of the history of an entity that is not there, as it is stored.
    header_row: Option<Row>,
    /// What that row is to become, if the entity is deleted.
    header: Option<Header>,
    /// Attributes that the entity may have been given; `None`: any.
    given: Option<SmallVec<[TermId; 8]>>,
}

impl PendingCommit {
    /// `header_row`: the header of the history of an entity that is not there.
    ///
    /// # Errors
    ///
    /// If the header is damaged.
    pub(super) fn new(
        id: &str,
        row: Option<Row>,
        header_row: Option<Row>,
        watch: Watch,
    ) -> Result<Self, Error> {
        let stamp = row.as_ref().map(|row| row.stamp);
        let bytes = row.map(|row| row.value);
        let last = header_row
            .as_ref()
            .map(|row| Header::parse(&row.value).map(|header| header.last).ok_or_else(damaged_header));
        let last = last.transpose()?;
        Ok(Self {
            key: keys::entity(id),
            stamp,
            writes: Vec::new(),
            is_chain: false,
            chain_max: CHAIN_ROWS_MAX,
            stored: bytes.clone(),
            feed: Records::new(watch.known.records_states, watch.moves),
            watch,
            bytes,
            head: Vec::new(),
            last: last.unwrap_or(Timestamp(i64::MIN)),
            header_row,
            header: None,
            given: Some(SmallVec::new()),
        })
    }

    /// Which attributes have index rows.
    pub(super) fn indexed(&self) -> &Indexed {
        &self.watch.known.indexed
    }

    /// Adds what is to be noted before it is committed: attributes that it is the first of its types to have; whether that is anything.
    /// Cost: a look in memory for each attribute that it was given.
    pub(super) fn add_notes<'a>(
        &self,
        state: &TenantState,
        id: &'a str,
        notes: &mut Notes<'a>,
    ) -> Result<bool, Error> {
        let Some(bytes) = &self.bytes else { return Ok(false) };
        if self.given.as_ref().is_some_and(SmallVec::is_empty) {
            return Ok(false);
        }
        let pairs = unnoted(&self.watch, &EntityView::peek(bytes)?, self.given.as_deref());
        let is_any = !pairs.is_empty();
        notes.add(state.bucket(id), &self.watch, id, pairs);
        Ok(is_any)
    }

    /// About so many bytes are to be written.
    pub(super) fn size(&self) -> usize {
        let writes = self.writes.iter().map(|write| match write {
            Write::Put(key, value) | Write::PutStamped(key, value) => key.len() + value.len(),
            other => other.key().len(),
        });
        writes.sum::<usize>() + self.bytes.as_ref().map_or(0, Bytes::len) + self.head.len()
    }

    /// Checks a precondition against what is stored, and has not expired.
    pub(super) fn check(&self, request: Request<'_>) -> Result<(), Error> {
        let Request { id, required, operation, now } = request;
        if *required == Precondition::default() {
            return Ok(());
        }
        let bytes = self.live(now)?;
        let stored = bytes.as_ref().map(|bytes| EntityView::parse(bytes)).transpose()?;
        required.check(id, stored.as_ref(), operation.creates())
    }

    /// One operation on what is stored or pending.
    pub(super) fn think(
        &mut self,
        state: &TenantState,
        id: &str,
        operation: &Operation,
        now: Timestamp,
    ) -> Result<Change, Error> {
        let bytes = self.bytes.clone();
        let stored = bytes.as_ref().map(|bytes| EntityView::parse(bytes)).transpose()?;
        let now = self.time(stored.as_ref(), now);
        let rules = WriteRules { entity_bytes_max: state.options.entity_bytes_max, indexed: self.indexed() };
        let outcome = apply(stored.as_ref(), id, operation, now, rules)?;
        let live = if self.feed.has_states() { self.live(now)? } else { None };
        let live = live.as_ref().map(|bytes| EntityView::peek(bytes)).transpose()?;
        self.take(state, id, Before { stored: stored.as_ref(), live: live.as_ref() }, outcome, now)
    }

    /// What is stored or pending, without what of it has expired.
    fn live(&self, now: Timestamp) -> Result<Option<Bytes>, Error> {
        Ok(self.bytes.clone().map(|bytes| live_bytes(bytes, now)).transpose()?.flatten())
    }

    /// The time of the next write: later than that of any other of the entity.
    pub(super) fn time(&mut self, stored: Option<&EntityView<'_>>, now: Timestamp) -> Timestamp {
        let last = stored.map_or(self.last, |view| self.last.max(view.modified_at()));
        now.max(Timestamp(last.0.saturating_add(1)))
    }

    pub(super) fn take(
        &mut self,
        state: &TenantState,
        id: &str,
        before: Before<'_>,
        outcome: Outcome,
        now: Timestamp,
    ) -> Result<Change, Error> {
        let Outcome { bytes, writes, change, types } = outcome;
        if change.fate == Fate::Unchanged {
            return Ok(change);
        }
        self.is_chain = !self.feed.is_empty();
        // Where types came or went, any attribute may be new to one.
        let has_types = before.stored.is_some_and(|stored| stored.types().eq(types.iter().copied()));
        match &mut self.given {
            Some(given) if has_types => given.extend_from_slice(&change.updated),
            given => *given = None,
        }
        if self.writes.is_empty() {
            self.writes = writes;
        } else {
            self.writes.extend(writes);
        }
        self.last = now;
        self.bytes = bytes.map(Bytes::from);
        if self.writes.len() > self.chain_max {
            self.index_anew()?;
            self.chain_max = (2 * self.writes.len()).max(CHAIN_ROWS_MAX);
        }
        self.record_change(id, before.live, &change, &types)?;
        if state.policy.records(&state.terms, &types) {
            self.record(id, before.stored, &change, &types)?;
        }
        Ok(change)
    }

    /// Adds a change to the record for the feed.
    fn record_change(
        &mut self,
        id: &str,
        before: Option<&EntityView<'_>>,
        change: &Change,
        types: &[TermId],
    ) -> Result<(), Error> {
        let after = if self.feed.has_states() { self.live(self.last)? } else { None };
        let (fate, touched, after) = (change.fate, &change.updated[..], after.as_deref());
        self.feed.put(&EntityOutcome { fate, id, types, touched, before, after });
        Ok(())
    }

    /// Adds a change to the head row of history.
    fn record(
        &mut self,
        id: &str,
        stored: Option<&EntityView<'_>>,
        change: &Change,
        types: &[TermId],
    ) -> Result<(), Error> {
        let bytes = self.bytes.clone();
        let after = bytes.as_ref().map(|bytes| EntityView::peek(bytes)).transpose()?;
        put_entries(&mut self.head, stored, after.as_ref(), &change.updated, self.last);
        self.header = match (stored, &after) {
            (Some(stored), None) => Some(Header::of_gone(stored, self.last)),
            _ => None,
        };
        if after.is_none() {
            let rows = types.iter().map(|of_type| Write::Put(keys::history_type(*of_type, id), Bytes::new()));
            self.writes.extend(rows);
        }
        Ok(())
    }

    /// The commit; `None` if nothing changed.
    pub(super) fn commit(mut self, state: &TenantState, id: &str) -> Result<Option<Commit>, Error> {
        if self.feed.is_empty() {
            return Ok(None);
        }
        let mut conditions = Vec::with_capacity(3);
        conditions.push(match self.stamp {
            Some(stamp) => Condition::Version(self.key.clone(), stamp),
            None => Condition::Absent(self.key.clone()),
        });
        let key = self.key.clone();
        self.writes.push(match &self.bytes {
            Some(bytes) => Write::PutStamped(key, bytes.clone()),
            None => Write::Delete(key),
        });
        let reclaims = self.bytes.is_none();
        self.commit_history(id, &mut conditions);
        if self.is_chain {
            self.index_anew()?;
            later_wins(&mut self.writes);
        }
        conditions.push(Condition::Fence(self.watch.fence));
        for write in &self.writes {
            if let Write::Put(key, _) = write
                && key.first() == Some(&keys::EXPIRY)
            {
                state.purged.note(key);
            }
        }
        let mut commit = Commit {
            partition: state.partition(id)?.clone(),
            write_id: state.write_ids.next(),
            conditions,
            writes: self.writes,
            change: None,
            reclaims,
        };
        // What is left for states; without them the commit is not measured.
        let room = match self.feed.has_states() {
            true => state.store.limits().commit_bytes.saturating_sub(commit.bytes()),
            false => 0,
        };
        commit.change = Some(self.feed.into_record(room));
        Ok(Some(commit))
    }

    /// Instead of the index rows of all operations, one after another, those that the entity gains and loses by all of them.
    /// Cost: a pass over the entity before and after.
    fn index_anew(&mut self) -> Result<(), Error> {
        let rows = |bytes: &Option<Bytes>| -> Result<IndexRows, Error> {
            let view = bytes.as_ref().map(|bytes| EntityView::peek(bytes)).transpose()?;
            Ok(view.map_or_else(IndexRows::default, |view| index_rows(&view, self.indexed())))
        };
        let (before, after) = (rows(&self.stored)?, rows(&self.bytes)?);
        self.writes.retain(|write| !keys::is_index_of_entity(write.key()));
        diff(&before, &after, &mut self.writes);
        Ok(())
    }

    /// Refuses an entity with more index rows than one commit can remove, or replace by as many others: half of its rows, and three
    /// eighths of its bytes. Any attribute may be indexed some day. Cost: a pass over an entity that may have so many.
    pub(super) fn check_index(&self, limits: Limits) -> Result<(), Error> {
        let rows_max = (limits.commit_rows / 2).saturating_sub(ROWS_BESIDE_MAX);
        let bytes_max = limits.commit_bytes / 8 * 3;
        let Some(bytes) = &self.bytes else { return Ok(()) };
        let view = EntityView::peek(bytes)?;
        // Each row is for a part of the stored bytes, and a type.
        let at_most = bytes.len().saturating_mul(view.types().count().max(1));
        let row_bytes = view.id().len() + KEY_BESIDE_ID_BYTES_MAX;
        if at_most <= rows_max && at_most.saturating_mul(row_bytes) <= bytes_max {
            return Ok(());
        }
        let index = index_rows(&view, &Indexed::All);
        let (rows, bytes) = (index.count(), index.bytes());
        Limit::check(LimitName::IndexRows, rows_max, rows)?;
        Limit::check(LimitName::IndexBytes, bytes_max, bytes)
    }

    fn commit_history(&mut self, id: &str, conditions: &mut Vec<Condition>) {
        if !self.head.is_empty() {
            let mut row = Vec::with_capacity(id.len() + 10 + self.head.len());
            keys::put_head(&mut row, id, self.last);
            let key_length = row.len();
            row.extend_from_slice(&self.head);
            let row = Bytes::from(row);
            self.writes.push(Write::Put(row.slice(..key_length), row.slice(key_length..)));
        }
        if self.stamp.is_none() && (self.header_row.is_some() || !self.head.is_empty()) {
            // An entity that comes back goes on behind its history.
            let key = keys::history_header(id);
            conditions.push(match &self.header_row {
                Some(row) => Condition::Version(key, row.stamp),
                None => Condition::Absent(key),
            });
        }
        match (&self.bytes, &self.header) {
            (Some(_), _) if self.header_row.is_some() => {
                self.writes.push(Write::Delete(keys::history_header(id)))
            }
            (None, Some(header)) => {
                self.writes.push(Write::PutStamped(keys::history_header(id), header.encode().into()));
            }
            _ => {}
        }
    }
}

/// An entity before an operation.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    /// As it is stored.
    pub(super) stored: Option<&'a EntityView<'a>>,
    /// As it is recorded: without what has expired, unless that is what happens to it.
    pub(super) live: Option<&'a EntityView<'a>>,
}
