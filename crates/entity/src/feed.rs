//! What a commit tells the feed: subscriptions, histories and caches hang on it.
//!
//! ```text
//! kinds 1 (brief) and 2 (with states) of the change record; format 3
//! payload = moves:varint record*  the operations of one commit, in order; all on one entity
//! record  = fate:u8  id:text  types:(count, term*)  touched:(count, term*)  [before:state  after:state]
//! fate    = 1 created, 2 updated, 3 deleted
//! state   = length entity         of kind 2 only; a length of zero: there is none
//! ```
//!
//! Texts, counts, terms and entities are as in `encode.rs`. `types` are those before and after the operation,
//! `touched` the attributes whose instances were written or removed. The state before holds those attributes alone, all of
//! them if the entity is deleted; the state after is whole. A record without states is that of a tenant without consumers
//! (`consumers.rs`), or of a commit that would be too large: its reader looks at the entity, which is at least as new.
//!
//! `moves` says how often the entities of the tenant had begun to move to other buckets (`rebucket.rs`). Changes of one entity with
//! the same number lie in one partition, where the feed keeps their order; those with a greater number are later. Once one
//! of them is in the feed, all changes with lesser numbers are: a reader who meets a greater number, and must tell changes in
//! order, first reads all shards up to their ends of then ([`store::Store::feed_end`]) and takes what has lesser numbers. The feed
//! of a single process tells them in order by itself.

#[cfg(test)]
mod tests;

use smallvec::SmallVec;
use store::{ChangeRecord, ROW_BYTES_MAX};

use crate::encode::{put_text, put_varint, seal};
use crate::keys::MODEL;
use crate::view::Fields;
use crate::{AttributeView, EntityView, Fate, TermId};

/// How a change record is laid out.
pub const FORMAT: u8 = 3;
const KIND_BRIEF: u8 = 1;
const KIND_STATES: u8 = 2;

/// One operation, as the feed tells it.
#[derive(Clone, Debug)]
pub struct EntityChange<'a> {
    /// How often entities had begun to move to other buckets: of two changes of an entity, the one with the greater number is later;
    /// those of one number are change in order.
    pub moves: u32,
    /// What became of the entity; never `Unchanged`.
    pub fate: Fate,
    /// The entity's id.
    pub id: &'a str,
    /// Its types before and after.
    pub types: SmallVec<[TermId; 2]>,
    /// Attributes whose instances were written or removed.
    pub touched: SmallVec<[TermId; 4]>,
    /// What it was and became, if the record carries that.
    pub states: Option<States<'a>>,
}

/// What an entity was and became, read in place. What had expired by then is in neither, unless the change is that it expired.
#[derive(Clone, Copy, Debug)]
pub struct States<'a> {
    /// The entity before, with the touched attributes alone; `None` if there was none.
    pub before: Option<EntityView<'a>>,
    /// The whole entity as of the commit; `None` if there is none.
    pub after: Option<EntityView<'a>>,
}

impl<'a> States<'a> {
    /// A touched attribute as it was; `None` if there was none. Cost: passes over the touched ones before it.
    pub fn attribute_before(&self, name: TermId) -> Option<AttributeView<'a>> {
        self.before?.attribute(name)
    }
}

/// An operation that is to be change.
pub struct EntityOutcome<'a> {
    /// What became of the entity.
    pub fate: Fate,
    /// The entity's id.
    pub id: &'a str,
    /// Its types before and after.
    pub types: &'a [TermId],
    /// The attributes whose instances were written or removed.
    pub touched: &'a [TermId],
    /// The entity before, if it is known.
    pub before: Option<&'a EntityView<'a>>,
    /// The entity after, if there is one and states are recorded.
    pub after: Option<&'a [u8]>,
}

/// The records of one commit.
#[derive(Debug)]
pub struct Records {
    brief: Vec<u8>,
    /// The same with states, if they are wanted and not too large.
    full: Option<Vec<u8>>,
    moves: u32,
}

impl Records {
    /// The record of a commit, with states or without, after so many moves.
    pub fn new(with_states: bool, moves: u32) -> Self {
        Self { brief: Vec::new(), full: with_states.then(Vec::new), moves }
    }

    /// Whether nothing changed so far.
    pub fn is_empty(&self) -> bool {
        self.brief.is_empty()
    }

    /// Whether states are change.
    pub fn has_states(&self) -> bool {
        self.full.is_some()
    }

    /// Adds a record; nothing for what changed nothing. Cost: with states, a copy of the entity.
    pub fn put(&mut self, change: &EntityOutcome<'_>) {
        if self.brief.is_empty() && change.fate != Fate::Unchanged {
            put_varint(&mut self.brief, self.moves.into());
            self.full.iter_mut().for_each(|full| put_varint(full, self.moves.into()));
        }
        put_record(&mut self.brief, change);
        if let Some(full) = &mut self.full {
            put_record(full, change);
            put_states(full, change);
            self.full.take_if(|full| full.len() > ROW_BYTES_MAX);
        }
    }

    /// What a commit says that has so many bytes left for it.
    pub fn into_record(self, room: usize) -> ChangeRecord {
        match self.full.filter(|full| full.len() <= room) {
            Some(full) => ChangeRecord::new(MODEL, FORMAT, KIND_STATES, full),
            None => ChangeRecord::new(MODEL, FORMAT, KIND_BRIEF, self.brief),
        }
    }
}

fn put_record(out: &mut Vec<u8>, change: &EntityOutcome<'_>) {
    let fate = match change.fate {
        Fate::Created => 1,
        Fate::Updated => 2,
        Fate::Deleted => 3,
        Fate::Unchanged => return,
    };
    out.push(fate);
    put_text(out, change.id);
    for terms in [change.types, change.touched] {
        put_varint(out, terms.len() as u64);
        terms.iter().for_each(|term| put_varint(out, u64::from(term.0)));
    }
}

fn put_states(out: &mut Vec<u8>, change: &EntityOutcome<'_>) {
    let start = out.len();
    match (change.before, change.fate) {
        (None, _) => {}
        (Some(before), Fate::Deleted) => out.extend_from_slice(before.bytes()),
        (Some(before), _) => put_part(out, before, change.touched),
    }
    seal(out, start);
    let after = change.after.unwrap_or(&[]);
    put_varint(out, after.len() as u64);
    out.extend_from_slice(after);
}

/// Appends the stored form of an entity with some of its attributes alone.
fn put_part(out: &mut Vec<u8>, entity: &EntityView<'_>, names: &[TermId]) {
    let mut sorted: SmallVec<[TermId; 8]> = names.into();
    sorted.sort_unstable();
    out.extend_from_slice(entity.head());
    for attribute in entity.attributes().filter(|attribute| sorted.binary_search(&attribute.name()).is_ok()) {
        out.extend_from_slice(attribute.bytes());
    }
}

/// The changes of entities that a record of the feed tells, in order; none for records of other models.
/// Ends early at bytes that are none.
pub fn change_records(record: &ChangeRecord) -> impl Iterator<Item = EntityChange<'_>> {
    let own = record.of(MODEL).filter(|own| own.format == FORMAT);
    let has_states = own.is_some_and(|own| own.kind == KIND_STATES);
    let mut fields = Fields::new(own.map_or(&[], |own| own.payload));
    let moves = fields.number().and_then(|moves| u32::try_from(moves).ok());
    std::iter::from_fn(move || take_record(&mut fields, moves?, has_states))
}

fn take_record<'a>(fields: &mut Fields<'a>, moves: u32, has_states: bool) -> Option<EntityChange<'a>> {
    let fate = match fields.byte()? {
        1 => Fate::Created,
        2 => Fate::Updated,
        3 => Fate::Deleted,
        _ => return None,
    };
    let id = fields.text()?;
    let types = terms(fields)?.into_iter().collect();
    let touched = terms(fields)?;
    let states = if has_states {
        Some(States { before: take_state(fields)?, after: take_state(fields)? })
    } else {
        None
    };
    Some(EntityChange { moves, fate, id, types, touched, states })
}

/// A state that may be none; `None` if the bytes are neither.
#[expect(clippy::option_option, reason = "both are asked")]
fn take_state<'a>(fields: &mut Fields<'a>) -> Option<Option<EntityView<'a>>> {
    match fields.bytes()? {
        [] => Some(None),
        bytes => EntityView::parse(bytes).ok().map(Some),
    }
}

fn terms(fields: &mut Fields<'_>) -> Option<SmallVec<[TermId; 4]>> {
    let count = fields.number()?;
    (0..count).map(|_| fields.term()).collect()
}
