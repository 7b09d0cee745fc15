//! What is known of an entity of which only history is left.
//!
//! ```text
//! header = format:u8=1  created:i64  last:i64  flags:u8  [deleted:i64]  types:(count, term*)  scopes:(count, text*)
//! ```
//!
//! `last` is a time that no write of the entity goes behind, should it come back.

use smallvec::SmallVec;
use store::Timestamp;

use crate::encode::{put_text, put_time, put_varint};
use crate::view::Fields;
use crate::{EntityView, TermId};

const FORMAT: u8 = 1;
const FLAG_DELETED: u8 = 1;

/// The header of a history without an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// When the entity was created.
    pub created: Timestamp,
    /// A time that no write of the entity goes behind, should it come back.
    pub last: Timestamp,
    /// When the entity went; `None` for a history that never had one.
    pub deleted: Option<Timestamp>,
    /// The types it had.
    pub types: SmallVec<[TermId; 2]>,
    /// The scopes it had.
    pub scopes: Vec<Box<str>>,
}

impl Header {
    /// That of an entity that goes at `now`.
    pub fn of_gone(view: &EntityView<'_>, now: Timestamp) -> Self {
        Self {
            created: view.created_at(),
            last: now,
            deleted: Some(now),
            types: view.types().collect(),
            scopes: view.scopes().map(Into::into).collect(),
        }
    }

    /// Its stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.push(FORMAT);
        put_time(&mut out, self.created);
        put_time(&mut out, self.last);
        out.push(if self.deleted.is_some() { FLAG_DELETED } else { 0 });
        if let Some(deleted) = self.deleted {
            put_time(&mut out, deleted);
        }
        put_varint(&mut out, self.types.len() as u64);
        self.types.iter().for_each(|of_type| put_varint(&mut out, u64::from(of_type.0)));
        put_varint(&mut out, self.scopes.len() as u64);
        self.scopes.iter().for_each(|scope| put_text(&mut out, scope));
        out
    }

    /// That of a stored form; `None` if the bytes are none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        if fields.byte()? != FORMAT {
            return None;
        }
        let (created, last) = (fields.time()?, fields.time()?);
        let deleted = if fields.byte()? & FLAG_DELETED == 0 { None } else { Some(fields.time()?) };
        let types = (0..fields.number()?).map(|_| fields.term()).collect::<Option<_>>()?;
        let scopes = (0..fields.number()?).map(|_| fields.text().map(Into::into)).collect::<Option<_>>()?;
        Some(Self { created, last, deleted, types, scopes })
    }
}
