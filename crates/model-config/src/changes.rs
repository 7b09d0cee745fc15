//! What commits say of themselves in the feed: which anchor went from which version to which, and where, shortly. Who wants to know more
//! reads both versions.

use bytes::Bytes;
use store::wire::{Malformed, Reader, put_i64, put_text, put_varint};
use store::{ChangeRecord, Timestamp};

use crate::keys::MODEL;
use crate::version::VersionId;

/// How the payload is laid out.
const FORMAT: u8 = 1;
/// Data of an anchor were changed.
const DATA: u8 = 1;
/// An anchor was removed, with its data.
const REMOVED: u8 = 2;
/// A record names so many places at most, and so many bytes of them.
pub(crate) const PLACES_MAX: usize = 32;
pub(crate) const PLACES_BYTES_MAX: usize = 8 * 1024;

/// What became of a place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// It is new.
    Create,
    /// It was there, and is otherwise.
    Replace,
    /// It is gone.
    Remove,
}

impl Action {
    fn code(self) -> u8 {
        match self {
            Self::Create => 0,
            Self::Replace => 1,
            Self::Remove => 2,
        }
    }

    fn of_code(code: u8) -> Result<Self, Malformed> {
        match code {
            0 => Ok(Self::Create),
            1 => Ok(Self::Replace),
            2 => Ok(Self::Remove),
            _ => Err(Malformed),
        }
    }
}

/// A change of an anchor, as the feed tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigChange {
    /// The dataspace of the anchor.
    pub dataspace: Box<str>,
    /// Its name.
    pub anchor: Box<str>,
    /// Its schema set.
    pub schema_set: Box<str>,
    /// The number of its life: versions are of one life.
    pub number: u64,
    /// The version before.
    pub before: VersionId,
    /// The version after; `None`: the anchor was removed.
    pub after: Option<VersionId>,
    /// When it was written.
    pub at: Timestamp,
    /// When it was observed, if the writer said so.
    pub observed: Option<Timestamp>,
    /// Where, as paths, and what became of it: the topmost nodes.
    pub places: Vec<(Action, Box<str>)>,
    /// Whether there are more places than are named.
    pub is_cut: bool,
}

impl ConfigChange {
    const OBSERVED: u8 = 1;
    const CUT: u8 = 2;

    /// For the commit.
    pub(crate) fn to_record(&self) -> ChangeRecord {
        let mut out = Vec::with_capacity(128);
        let observed = if self.observed.is_some() { Self::OBSERVED } else { 0 };
        out.push(observed | if self.is_cut { Self::CUT } else { 0 });
        [&self.dataspace, &self.anchor, &self.schema_set].iter().for_each(|name| put_text(&mut out, name));
        out.extend_from_slice(&self.number.to_be_bytes());
        put_varint(&mut out, self.before.0);
        if let Some(after) = self.after {
            put_varint(&mut out, after.0);
        }
        put_i64(&mut out, self.at.0);
        if let Some(observed) = self.observed {
            put_i64(&mut out, observed.0);
        }
        put_varint(&mut out, self.places.len() as u64);
        for (action, path) in &self.places {
            out.push(action.code());
            put_text(&mut out, path);
        }
        ChangeRecord::new(MODEL, FORMAT, if self.after.is_some() { DATA } else { REMOVED }, out)
    }

    /// What a record of the feed says; `None` if it is another model's.
    ///
    /// # Errors
    ///
    /// `Malformed` bytes.
    pub fn of_record(record: &ChangeRecord) -> Option<Result<Self, Malformed>> {
        let own = record.of(MODEL)?;
        Some(if own.format == FORMAT { Self::parse(own.kind, own.payload) } else { Err(Malformed) })
    }

    pub(crate) fn parse(kind: u8, payload: &Bytes) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        let flags = reader.byte()?;
        if flags > Self::OBSERVED | Self::CUT || !matches!(kind, DATA | REMOVED) {
            return Err(Malformed);
        }
        let (dataspace, anchor) = (reader.text()?.into(), reader.text()?.into());
        let schema_set = reader.text()?.into();
        let number = reader.array().map(u64::from_be_bytes)?;
        let before = VersionId(reader.varint()?);
        let after = if kind == DATA { Some(VersionId(reader.varint()?)) } else { None };
        let at = Timestamp(reader.i64()?);
        let observed = if flags & Self::OBSERVED != 0 { Some(Timestamp(reader.i64()?)) } else { None };
        let mut places = Vec::new();
        for _ in 0..reader.count()? {
            places.push((Action::of_code(reader.byte()?)?, reader.text()?.into()));
        }
        reader.end()?;
        let is_cut = flags & Self::CUT != 0;
        Ok(Self { dataspace, anchor, schema_set, number, before, after, at, observed, places, is_cut })
    }
}

/// Gathers places for a record, as many as it takes.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) places: Vec<(Action, Box<str>)>,
    bytes: usize,
    pub(crate) is_cut: bool,
}

impl Places {
    pub(crate) fn add(&mut self, action: Action, path: impl Into<Box<str>>) {
        let path = path.into();
        if self.is_cut || self.places.len() >= PLACES_MAX || self.bytes + path.len() > PLACES_BYTES_MAX {
            self.is_cut = true;
            return;
        }
        self.bytes += path.len();
        self.places.push((action, path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written() {
        let mut places = Places::default();
        (0..40).for_each(|number| places.add(Action::Create, format!("/a[@k='{number}']")));
        assert!(places.is_cut && places.places.len() == PLACES_MAX);
        let change = ConfigChange {
            dataspace: "d".into(),
            anchor: "a".into(),
            schema_set: "s".into(),
            number: 9,
            before: VersionId(3),
            after: Some(VersionId(4)),
            at: Timestamp(5),
            observed: Some(Timestamp(-6)),
            places: places.places,
            is_cut: places.is_cut,
        };
        let removed = ConfigChange { after: None, observed: None, is_cut: false, ..change.clone() };
        for change in [change, removed] {
            assert_eq!(ConfigChange::of_record(&change.to_record()), Some(Ok(change)));
        }
        let other = ChangeRecord::new(store::Model { id: 1, name: "other" }, 1, 1, "");
        assert_eq!(ConfigChange::of_record(&other), None);
    }

    #[test]
    fn one_long_path_is_left_out() {
        let mut places = Places::default();
        places.add(Action::Remove, "x".repeat(PLACES_BYTES_MAX + 1));
        assert!(places.is_cut && places.places.is_empty());
    }
}
