//! What commits on series tell the feed: hooks and caches hang on it.
//!
//! ```text
//! kind 1 and 2 of the change record: of points, of definitions; format 2
//! payload = record*
//! record  = kind:u8  number:u32  rest
//! rest    = from:i64  to:i64  points:u32      of kinds 1 put, 2 deleted, 3 replaced
//!         | length:u32  definition            of kinds 4 defined, 5 changed, 6 removed (as it was before)
//! ```
//!
//! Numbers are little-endian; the definition is as it is stored. The change's partition says which repository.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use store::wire::{Malformed, Reader};
use store::{Change, ChangeRecord};

use crate::encode::take_definition;
use crate::keys::MODEL;
use crate::{Definition, Layout};
use strands::{Edit, TimeRange};

const FORMAT: u8 = 2;
const KIND_POINTS: u8 = 1;
const KIND_DEFINITIONS: u8 = 2;

/// What happened to a series.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesChange {
    /// Points were put.
    Put(PointsChange),
    /// Points were removed.
    Deleted(PointsChange),
    /// A range was replaced.
    Replaced(PointsChange),
    /// It was defined so.
    Defined(Arc<Definition>),
    /// Its definition was changed to this.
    Changed(Arc<Definition>),
    /// It was removed; this is what it was.
    Removed(Arc<Definition>),
}

/// Which points of which series.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PointsChange {
    /// The series' number.
    pub series: u32,
    /// What was touched: from the first time to just behind the last.
    pub range: TimeRange,
    /// How many points were put.
    pub points: u32,
}

impl SeriesChange {
    /// The number of the series.
    pub fn series(&self) -> u32 {
        match self {
            Self::Put(points) | Self::Deleted(points) | Self::Replaced(points) => points.series,
            Self::Defined(definition) | Self::Changed(definition) | Self::Removed(definition) => {
                definition.number
            }
        }
    }

    /// The definition, where the record has it.
    pub fn definition(&self) -> Option<&Arc<Definition>> {
        match self {
            Self::Put(_) | Self::Deleted(_) | Self::Replaced(_) => None,
            Self::Defined(definition) | Self::Changed(definition) | Self::Removed(definition) => {
                Some(definition)
            }
        }
    }
}

/// What became of a definition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DefinitionFate {
    Defined = 4,
    Changed = 5,
    Removed = 6,
}

/// Appends the record of a definition.
pub(crate) fn put_definition(out: &mut Vec<u8>, fate: DefinitionFate, number: u32, definition: &[u8]) {
    let length = u32::try_from(definition.len()).expect("a definition fits into a row");
    out.push(fate as u8);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(definition);
}

/// Parts records of definitions: each with the number of its series. Cost: one pass, without a copy.
pub(crate) fn part_definitions(mut records: &[u8]) -> Result<Vec<(u32, &[u8])>, Malformed> {
    let mut parts = Vec::new();
    while !records.is_empty() {
        let mut fields = Reader::new(records);
        fields.byte()?;
        let number = take_number(&mut fields)?;
        take_long(&mut fields)?;
        let (record, rest) = records.split_at(records.len() - fields.rest().len());
        parts.push((number, record));
        records = rest;
    }
    Ok(parts)
}

/// The record of an edit of points' times; empty for one that touches nothing.
pub(crate) fn edit_record(number: u32, layout: &Layout, edit: &Edit) -> Vec<u8> {
    let of_slots = |range: &TimeRange| match layout {
        // The first time of a slot that lies in the range.
        Layout::End(raster) if range.from > i64::MIN => TimeRange { from: raster.ceil(range.from), ..*range },
        Layout::Begin(_) | Layout::End(_) | Layout::Spontaneous => *range,
    };
    let (kind, range, points) = match edit {
        Edit::Put(points) => match (points.times.first(), points.times.last()) {
            (Some(first), Some(last)) => {
                (1, TimeRange { from: *first, to: last.saturating_add(1) }, points.len())
            }
            _ => return Vec::new(),
        },
        Edit::Delete(range) => (2, of_slots(range), 0),
        Edit::Replace(range, points) => (3, of_slots(range), points.len()),
    };
    let mut record = Vec::with_capacity(26);
    record.push(kind);
    record.extend_from_slice(&number.to_le_bytes());
    record.extend_from_slice(&range.from.to_le_bytes());
    record.extend_from_slice(&range.to.to_le_bytes());
    record.extend_from_slice(&u32::try_from(points).unwrap_or(u32::MAX).to_le_bytes());
    record
}

/// What a commit of points says; nothing without records.
pub(crate) fn of_points(records: Vec<u8>) -> Option<ChangeRecord> {
    (!records.is_empty()).then(|| ChangeRecord::new(MODEL, FORMAT, KIND_POINTS, records))
}

/// What a commit of definitions says; nothing without records.
pub(crate) fn of_definitions(records: Vec<u8>) -> Option<ChangeRecord> {
    (!records.is_empty()).then(|| ChangeRecord::new(MODEL, FORMAT, KIND_DEFINITIONS, records))
}

/// The changes of series in a record of the feed, in order; none for records of other models.
/// Ends early at bytes that are none.
pub(crate) fn change_records(change: &Change) -> impl Iterator<Item = SeriesChange> + '_ {
    let own = change.record.of(MODEL).filter(|own| own.format == FORMAT);
    let mut fields = Reader::new(own.map_or(&[], |own| own.payload));
    std::iter::from_fn(move || take_record(&mut fields).ok())
}

/// How many changes these bytes tell.
#[cfg(feature = "testing")]
pub(crate) fn count(payload: &[u8]) -> Result<usize, Malformed> {
    let mut fields = Reader::new(payload);
    let mut count = 0;
    while !fields.is_empty() {
        take_record(&mut fields)?;
        count += 1;
    }
    Ok(count)
}

fn take_record(fields: &mut Reader<'_>) -> Result<SeriesChange, Malformed> {
    let kind = fields.byte()?;
    let series = take_number(fields)?;
    if (1..=3).contains(&kind) {
        let range = TimeRange { from: fields.i64()?, to: fields.i64()? };
        let points = PointsChange { series, range, points: take_number(fields)? };
        return Ok(match kind {
            1 => SeriesChange::Put(points),
            2 => SeriesChange::Deleted(points),
            _ => SeriesChange::Replaced(points),
        });
    }
    let definition = Arc::new(take_definition(take_long(fields)?)?);
    Ok(match kind {
        4 => SeriesChange::Defined(definition),
        5 => SeriesChange::Changed(definition),
        6 => SeriesChange::Removed(definition),
        _ => return Err(Malformed),
    })
}

fn take_number(fields: &mut Reader<'_>) -> Result<u32, Malformed> {
    fields.array().map(u32::from_le_bytes)
}

/// Bytes with their length before them.
fn take_long<'a>(fields: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
    let length = usize::try_from(take_number(fields)?).map_err(|_| Malformed)?;
    fields.take(length)
}
