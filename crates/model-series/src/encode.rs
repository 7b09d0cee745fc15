//! How the catalogue's things lie in rows: definitions, units, attribute types, and what all rows are made of.
//!
//! ```text
//! definition = format:u8=1  number  switches:u8  alignment:u8  interval  day-start  name  unit?  description  zone
//!              formula?  retention?  count attribute*  created:time  changed:time
//! interval   = unit:u8 (0: none)  multiplier
//! attribute  = name  value  from?:time  to?:time
//! value      = kind:u8  text | date | number | u8
//! ```
//!
//! Numbers and counts are varints, times eight bytes, texts a length and UTF-8; `?` is a byte 0, or 1 and the thing.
//! Rows of other kinds are made of the same parts, with a format byte first.

use std::sync::Arc;

use lang_formula::{Duration, Formula};
use store::wire::{Malformed, Reader, put_f64, put_i64, put_text, put_varint};
use store::{ErrorKind, Timestamp};

use crate::{
    Alignment, Attribute, AttributeKind, AttributeType, AttributeValue, DefinedFormula, Definition, Error,
    Interval, IntervalUnit, Raster, Switches, Unit, UnitRule, Zone,
};

const FORMAT: u8 = 1;

/// Interval units by stored number (counted from 1).
const INTERVAL_UNITS: [IntervalUnit; 9] = [
    IntervalUnit::Millisecond,
    IntervalUnit::Second,
    IntervalUnit::Minute,
    IntervalUnit::Hour,
    IntervalUnit::Day,
    IntervalUnit::Week,
    IntervalUnit::Month,
    IntervalUnit::Quarter,
    IntervalUnit::Year,
];

/// Alignments by stored number.
const ALIGNMENTS: [Alignment; 3] = [Alignment::Begin, Alignment::End, Alignment::Spontaneous];

/// The stored number of an interval unit: its place in [`INTERVAL_UNITS`], counted from 1.
fn interval_unit_code(unit: IntervalUnit) -> u8 {
    match unit {
        IntervalUnit::Millisecond => 1,
        IntervalUnit::Second => 2,
        IntervalUnit::Minute => 3,
        IntervalUnit::Hour => 4,
        IntervalUnit::Day => 5,
        IntervalUnit::Week => 6,
        IntervalUnit::Month => 7,
        IntervalUnit::Quarter => 8,
        IntervalUnit::Year => 9,
    }
}

/// The stored number of an alignment: its place in [`ALIGNMENTS`].
fn alignment_code(alignment: Alignment) -> u8 {
    match alignment {
        Alignment::Begin => 0,
        Alignment::End => 1,
        Alignment::Spontaneous => 2,
    }
}

/// Stored bytes that are not what they should be.
pub(crate) fn damaged(what: &str) -> Error {
    store::Error::new(ErrorKind::Corrupt, format!("reading {what}")).into()
}

/// Begins a stored form with its format byte.
pub(crate) fn begin() -> Vec<u8> {
    let mut out = Vec::with_capacity(192);
    out.push(FORMAT);
    out
}

/// Reads a stored form behind its format byte.
pub(crate) fn read(bytes: &[u8]) -> Result<Reader<'_>, Malformed> {
    bytes.strip_prefix(&[FORMAT]).map(Reader::new).ok_or(Malformed)
}

pub(crate) fn put_option<T>(out: &mut Vec<u8>, value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

fn put_texts(out: &mut Vec<u8>, texts: &[Box<str>]) {
    put_varint(out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(out, text));
}

pub(crate) fn take_option<'a, T>(
    fields: &mut Reader<'a>,
    take: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    match fields.byte()? {
        0 => Ok(None),
        _ => take(fields).map(Some),
    }
}

/// As many things as a count before them says.
pub(crate) fn take_list<'a, T>(
    fields: &mut Reader<'a>,
    mut take: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = fields.count()?;
    (0..count).map(|_| take(fields)).collect()
}

pub(crate) fn take_owned(fields: &mut Reader<'_>) -> Result<Box<str>, Malformed> {
    fields.text().map(Box::from)
}

/// A definition as bytes.
pub(crate) fn put_definition(definition: &Definition) -> Vec<u8> {
    let mut out = begin();
    put_varint(&mut out, definition.number.into());
    let Switches { compression, audit, quotation } = definition.switches;
    out.push(u8::from(compression) | u8::from(audit) << 1 | u8::from(quotation) << 2);
    out.push(alignment_code(definition.alignment));
    match definition.interval {
        None => out.push(0),
        Some(interval) => {
            out.push(interval_unit_code(interval.unit));
            put_varint(&mut out, interval.multiplier.into());
        }
    }
    put_varint(&mut out, definition.day_start_seconds.into());
    put_text(&mut out, &definition.name);
    put_option(&mut out, definition.unit.as_deref(), put_text);
    put_text(&mut out, &definition.description);
    put_text(&mut out, definition.zone.name());
    put_option(&mut out, definition.formula.as_ref(), |out, formula| put_text(out, &formula.text));
    put_option(&mut out, definition.retention, |out, retention| put_text(out, &retention.to_string()));
    put_varint(&mut out, definition.attributes.len() as u64);
    definition.attributes.iter().for_each(|attribute| put_attribute(&mut out, attribute));
    put_i64(&mut out, definition.created.0);
    put_i64(&mut out, definition.changed.0);
    out
}

/// The definition that the bytes are. Cost: about a microsecond without a formula.
pub(crate) fn take_definition(bytes: &[u8]) -> Result<Definition, Malformed> {
    let fields = &mut read(bytes)?;
    let number = fields.varint_u32()?;
    let switches = fields.byte()?;
    let alignment = *ALIGNMENTS.get(usize::from(fields.byte()?)).ok_or(Malformed)?;
    let interval = match usize::from(fields.byte()?).checked_sub(1) {
        None => None,
        Some(unit) => {
            let unit = *INTERVAL_UNITS.get(unit).ok_or(Malformed)?;
            Some(Interval::new(unit, fields.varint_u32()?))
        }
    };
    let day_start_seconds = fields.varint_u32()?;
    let name = take_owned(fields)?;
    let unit = take_option(fields, take_owned)?;
    let description = take_owned(fields)?;
    let zone = Zone::get(fields.text()?).map_err(|_| Malformed)?;
    let formula = take_option(fields, take_formula)?;
    let retention = take_option(fields, |fields| Duration::parse(fields.text()?).ok_or(Malformed))?;
    let attributes = take_list(fields, take_attribute)?;
    let raster = match interval {
        None => None,
        Some(interval) => {
            Some(Raster::new(interval, zone.clone(), day_start_seconds).map_err(|_| Malformed)?)
        }
    };
    Ok(Definition {
        number,
        name,
        alignment,
        interval,
        day_start_seconds,
        unit,
        description,
        zone,
        formula,
        switches: Switches {
            compression: switches & 1 != 0,
            audit: switches & 2 != 0,
            quotation: switches & 4 != 0,
        },
        retention,
        attributes,
        created: Timestamp(fields.i64()?),
        changed: Timestamp(fields.i64()?),
        raster,
    })
}

fn take_formula(fields: &mut Reader<'_>) -> Result<DefinedFormula, Malformed> {
    let text = fields.text()?;
    let tree: Formula = lang_formula::parse(text).map_err(|_| Malformed)?;
    Ok(DefinedFormula { text: text.into(), tree: Arc::new(tree) })
}

fn put_tagged(out: &mut Vec<u8>, tag: u8, text: &str) {
    out.push(tag);
    put_text(out, text);
}

fn put_attribute(out: &mut Vec<u8>, attribute: &Attribute) {
    put_text(out, &attribute.name);
    match &attribute.value {
        AttributeValue::Category(text) => put_tagged(out, 0, text),
        AttributeValue::Text(text) => put_tagged(out, 1, text),
        AttributeValue::Date(date) => put_tagged(out, 2, &date.to_string()),
        AttributeValue::YesOrNo(yes) => out.extend([3, u8::from(*yes)]),
        AttributeValue::Series(number) => {
            out.push(4);
            put_varint(out, (*number).into());
        }
        AttributeValue::Node(path) => put_tagged(out, 5, path),
    }
    put_option(out, attribute.from, put_i64);
    put_option(out, attribute.to, put_i64);
}

fn take_attribute(fields: &mut Reader<'_>) -> Result<Attribute, Malformed> {
    let name = take_owned(fields)?;
    let value = match fields.byte()? {
        0 => AttributeValue::Category(take_owned(fields)?),
        1 => AttributeValue::Text(take_owned(fields)?),
        2 => AttributeValue::Date(fields.text()?.parse().map_err(|_| Malformed)?),
        3 => AttributeValue::YesOrNo(fields.byte()? != 0),
        4 => AttributeValue::Series(fields.varint_u32()?),
        5 => AttributeValue::Node(take_owned(fields)?),
        _ => return Err(Malformed),
    };
    Ok(Attribute {
        name,
        value,
        from: take_option(fields, Reader::i64)?,
        to: take_option(fields, Reader::i64)?,
    })
}

/// All units of a repository as bytes.
pub(crate) fn put_units<'a>(units: impl ExactSizeIterator<Item = &'a Unit>) -> Vec<u8> {
    let mut out = begin();
    put_varint(&mut out, units.len() as u64);
    for unit in units {
        put_text(&mut out, &unit.name);
        put_option(&mut out, unit.base.as_deref(), put_text);
        put_f64(&mut out, unit.offset);
        put_f64(&mut out, unit.factor);
        put_option(&mut out, unit.integral.as_deref(), put_text);
        out.push(match unit.aggregation {
            UnitRule::Average => 0,
            UnitRule::Sum => 1,
        });
    }
    out
}

/// The units that the bytes are.
pub(crate) fn take_units(bytes: &[u8]) -> Result<Vec<Unit>, Malformed> {
    take_list(&mut read(bytes)?, |fields| {
        Ok(Unit {
            name: take_owned(fields)?,
            base: take_option(fields, take_owned)?,
            offset: fields.f64()?,
            factor: fields.f64()?,
            integral: take_option(fields, take_owned)?,
            aggregation: if fields.byte()? == 0 { UnitRule::Average } else { UnitRule::Sum },
        })
    })
}

/// An attribute type as bytes.
pub(crate) fn put_attribute_type(attribute_type: &AttributeType) -> Vec<u8> {
    let mut out = begin();
    put_text(&mut out, &attribute_type.name);
    match &attribute_type.kind {
        AttributeKind::Category(categories) => {
            out.push(0);
            put_texts(&mut out, categories);
        }
        AttributeKind::Text => out.push(1),
        AttributeKind::Date => out.push(2),
        AttributeKind::YesOrNo => out.push(3),
        AttributeKind::Series => out.push(4),
        AttributeKind::Node(paths) => {
            out.push(5);
            put_texts(&mut out, paths);
        }
    }
    out.push(u8::from(attribute_type.is_multiple));
    put_text(&mut out, &attribute_type.description);
    out
}

/// The attribute type that the bytes are.
pub(crate) fn take_attribute_type(bytes: &[u8]) -> Result<AttributeType, Malformed> {
    let fields = &mut read(bytes)?;
    let name = take_owned(fields)?;
    let kind = match fields.byte()? {
        0 => AttributeKind::Category(take_list(fields, take_owned)?),
        1 => AttributeKind::Text,
        2 => AttributeKind::Date,
        3 => AttributeKind::YesOrNo,
        4 => AttributeKind::Series,
        5 => AttributeKind::Node(take_list(fields, take_owned)?),
        _ => return Err(Malformed),
    };
    Ok(AttributeType { name, kind, is_multiple: fields.byte()? != 0, description: take_owned(fields)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_places_in_their_tables() {
        assert!(ALIGNMENTS.iter().zip(0..).all(|(alignment, code)| alignment_code(*alignment) == code));
        assert!(INTERVAL_UNITS.iter().zip(1..).all(|(unit, code)| interval_unit_code(*unit) == code));
    }
}
