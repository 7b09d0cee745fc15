//! What a commit tells the feed: subscriptions, histories and caches hang on it.
//!
//! ```text
//! payload = record*               the operations of one commit, in order; all on one entity
//! record  = format:u8=1  fate:u8  id:text  types:(count, term*)  touched:(count, term*)
//! fate    = 1 created, 2 updated, 3 deleted
//! ```
//!
//! Texts, counts and terms are as in `encode.rs`. `types` are those before and after the operation,
//! `touched` the attributes whose instances were written or removed. Values are not told: a reader
//! looks at the entity, which is at least as new.

#[cfg(test)]
mod tests;

use smallvec::SmallVec;

use crate::encode::{put_text, put_varint};
use crate::view::Fields;
use crate::{Fate, TermId};

const FORMAT: u8 = 1;

/// One operation, as the feed tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangeRecord<'a> {
    /// What became of the entity; never `Unchanged`.
    pub fate: Fate,
    /// The entity's id.
    pub id: &'a str,
    /// Its types before and after.
    pub types: SmallVec<[TermId; 2]>,
    /// Attributes whose instances were written or removed.
    pub touched: SmallVec<[TermId; 4]>,
}

/// Appends a record; nothing for what changed nothing.
pub(crate) fn put_record(out: &mut Vec<u8>, fate: Fate, id: &str, types: &[TermId], touched: &[TermId]) {
    let fate = match fate {
        Fate::Created => 1,
        Fate::Updated => 2,
        Fate::Deleted => 3,
        Fate::Unchanged => return,
    };
    out.extend_from_slice(&[FORMAT, fate]);
    put_text(out, id);
    for terms in [types, touched] {
        put_varint(out, terms.len() as u64);
        terms.iter().for_each(|term| put_varint(out, u64::from(term.0)));
    }
}

/// The records of a change's payload, in order; ends early at bytes that are none.
pub fn change_records(payload: &[u8]) -> impl Iterator<Item = ChangeRecord<'_>> {
    let mut fields = Fields(payload);
    std::iter::from_fn(move || {
        if fields.byte()? != FORMAT {
            return None;
        }
        let fate = match fields.byte()? {
            1 => Fate::Created,
            2 => Fate::Updated,
            3 => Fate::Deleted,
            _ => return None,
        };
        let id = fields.text()?;
        let types = terms(&mut fields)?.into_iter().collect();
        Some(ChangeRecord { fate, id, types, touched: terms(&mut fields)? })
    })
}

fn terms(fields: &mut Fields<'_>) -> Option<SmallVec<[TermId; 4]>> {
    let count = fields.varint()?;
    (0..count).map(|_| fields.term()).collect()
}
