//! How the catalogue's things lie in rows.
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
use store::{Cursor, ErrorKind, Timestamp};

use super::{
    Attribute, AttributeKind, AttributeSearch, AttributeType, AttributeValue, DefinedFormula, Definition,
};
use super::{Hook, HookState, Switches};
use crate::{Alignment, Error, Interval, IntervalUnit, Raster, Unit, UnitRule, Zone};

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

/// Stored bytes that are not what they should be.
pub(crate) fn damaged(what: &str) -> Error {
    store::Error::new(ErrorKind::Corrupt, format!("reading {what}")).into()
}

/// Puts parts one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    /// Begins with the format byte.
    pub(crate) fn new() -> Self {
        let mut bytes = Vec::with_capacity(192);
        bytes.push(FORMAT);
        Self(bytes)
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            let [low, ..] = number.to_le_bytes();
            self.0.push(low | 0x80);
            number >>= 7;
        }
        let [low, ..] = number.to_le_bytes();
        self.0.push(low);
    }

    pub(crate) fn time(&mut self, time: i64) {
        self.0.extend_from_slice(&time.to_le_bytes());
    }

    fn float(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Bytes with their length before them.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn texts(&mut self, texts: &[Box<str>]) {
        self.varint(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }
}

/// Reads parts one by one; every part is `None` where the bytes are none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Behind the format byte.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        bytes.strip_prefix(&[FORMAT]).map(Self)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        self.varint()?.try_into().ok()
    }

    pub(crate) fn time(&mut self) -> Option<i64> {
        self.take(8)?.try_into().ok().map(i64::from_le_bytes)
    }

    fn float(&mut self) -> Option<f64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes).map(f64::from_bits)
    }

    /// Bytes with their length before them.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?.try_into().ok()?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// The outer option: whether the bytes are any; the inner: whether something stands there.
    #[expect(clippy::option_option, reason = "both are asked")]
    fn option<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            _ => take(self).map(Some),
        }
    }

    pub(crate) fn list<T>(&mut self, mut take: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.varint()?;
        (0..count).map(|_| take(self)).collect()
    }

    fn owned(&mut self) -> Option<Box<str>> {
        self.text().map(Box::from)
    }
}

/// A definition as bytes.
pub(crate) fn put_definition(definition: &Definition) -> Vec<u8> {
    let mut out = Writer::new();
    out.varint(definition.number.into());
    let Switches { compression, audit, quotation } = definition.switches;
    out.byte(u8::from(compression) | u8::from(audit) << 1 | u8::from(quotation) << 2);
    out.byte(place(&ALIGNMENTS, definition.alignment));
    match definition.interval {
        None => out.byte(0),
        Some(interval) => {
            out.byte(place(&INTERVAL_UNITS, interval.unit) + 1);
            out.varint(interval.multiplier.into());
        }
    }
    out.varint(definition.day_start_seconds.into());
    out.text(&definition.name);
    out.option(definition.unit.as_deref(), Writer::text);
    out.text(&definition.description);
    out.text(definition.zone.name());
    out.option(definition.formula.as_ref(), |out, formula| out.text(&formula.text));
    out.option(definition.retention, |out, retention| out.text(&retention.to_string()));
    out.varint(definition.attributes.len() as u64);
    definition.attributes.iter().for_each(|attribute| put_attribute(&mut out, attribute));
    out.time(definition.created.0);
    out.time(definition.changed.0);
    out.0
}

/// The definition that the bytes are. Cost: about a microsecond without a formula.
pub(crate) fn take_definition(bytes: &[u8]) -> Option<Definition> {
    let mut fields = Reader::new(bytes)?;
    let number = fields.number()?;
    let switches = fields.byte()?;
    let alignment = *ALIGNMENTS.get(usize::from(fields.byte()?))?;
    let interval = match fields.byte()? {
        0 => None,
        unit => {
            Some(Interval::new(*INTERVAL_UNITS.get(usize::from(unit).checked_sub(1)?)?, fields.number()?))
        }
    };
    let day_start_seconds = fields.number()?;
    let name = fields.owned()?;
    let unit = fields.option(Reader::owned)?;
    let description = fields.owned()?;
    let zone = Zone::get(fields.text()?).ok()?;
    let formula = fields.option(take_formula)?;
    let retention = fields.option(|fields| Duration::parse(fields.text()?))?;
    let attributes = fields.list(take_attribute)?;
    let raster = match interval {
        None => None,
        Some(interval) => Some(Raster::new(interval, zone.clone(), day_start_seconds).ok()?),
    };
    Some(Definition {
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
        created: Timestamp(fields.time()?),
        changed: Timestamp(fields.time()?),
        raster,
    })
}

fn take_formula(fields: &mut Reader<'_>) -> Option<DefinedFormula> {
    let text = fields.text()?;
    let tree: Formula = lang_formula::parse(text).ok()?;
    Some(DefinedFormula { text: text.into(), tree: Arc::new(tree) })
}

/// The place of an entry in a table of few.
fn place<T: PartialEq + Copy>(table: &[T], entry: T) -> u8 {
    table.iter().position(|one| *one == entry).and_then(|place| place.try_into().ok()).unwrap_or_default()
}

fn put_attribute(out: &mut Writer, attribute: &Attribute) {
    out.text(&attribute.name);
    let (kind, text) = match &attribute.value {
        AttributeValue::Category(text) => (0, Some(text)),
        AttributeValue::Text(text) => (1, Some(text)),
        AttributeValue::Date(_) => (2, None),
        AttributeValue::YesOrNo(_) => (3, None),
        AttributeValue::Series(_) => (4, None),
        AttributeValue::Node(path) => (5, Some(path)),
    };
    out.byte(kind);
    match &attribute.value {
        AttributeValue::Date(date) => out.text(&date.to_string()),
        AttributeValue::YesOrNo(yes) => out.byte(u8::from(*yes)),
        AttributeValue::Series(number) => out.varint((*number).into()),
        _ => out.text(text.map(AsRef::as_ref).unwrap_or_default()),
    }
    out.option(attribute.from, Writer::time);
    out.option(attribute.to, Writer::time);
}

fn take_attribute(fields: &mut Reader<'_>) -> Option<Attribute> {
    let name = fields.owned()?;
    let value = match fields.byte()? {
        0 => AttributeValue::Category(fields.owned()?),
        1 => AttributeValue::Text(fields.owned()?),
        2 => AttributeValue::Date(fields.text()?.parse().ok()?),
        3 => AttributeValue::YesOrNo(fields.byte()? != 0),
        4 => AttributeValue::Series(fields.number()?),
        5 => AttributeValue::Node(fields.owned()?),
        _ => return None,
    };
    Some(Attribute { name, value, from: fields.option(Reader::time)?, to: fields.option(Reader::time)? })
}

/// All units of a repository as bytes.
pub(crate) fn put_units<'a>(units: impl ExactSizeIterator<Item = &'a Unit>) -> Vec<u8> {
    let mut out = Writer::new();
    out.varint(units.len() as u64);
    for unit in units {
        out.text(&unit.name);
        out.option(unit.base.as_deref(), Writer::text);
        out.float(unit.offset);
        out.float(unit.factor);
        out.option(unit.integral.as_deref(), Writer::text);
        out.byte(match unit.aggregation {
            UnitRule::Average => 0,
            UnitRule::Sum => 1,
        });
    }
    out.0
}

/// The units that the bytes are.
pub(crate) fn take_units(bytes: &[u8]) -> Option<Vec<Unit>> {
    Reader::new(bytes)?.list(|fields| {
        Some(Unit {
            name: fields.owned()?,
            base: fields.option(Reader::owned)?,
            offset: fields.float()?,
            factor: fields.float()?,
            integral: fields.option(Reader::owned)?,
            aggregation: if fields.byte()? == 0 { UnitRule::Average } else { UnitRule::Sum },
        })
    })
}

/// An attribute type as bytes.
pub(crate) fn put_attribute_type(attribute_type: &AttributeType) -> Vec<u8> {
    let mut out = Writer::new();
    out.text(&attribute_type.name);
    match &attribute_type.kind {
        AttributeKind::Category(categories) => {
            out.byte(0);
            out.texts(categories);
        }
        AttributeKind::Text => out.byte(1),
        AttributeKind::Date => out.byte(2),
        AttributeKind::YesOrNo => out.byte(3),
        AttributeKind::Series => out.byte(4),
        AttributeKind::Node(paths) => {
            out.byte(5);
            out.texts(paths);
        }
    }
    out.byte(u8::from(attribute_type.is_multiple));
    out.text(&attribute_type.description);
    out.0
}

/// The attribute type that the bytes are.
pub(crate) fn take_attribute_type(bytes: &[u8]) -> Option<AttributeType> {
    let mut fields = Reader::new(bytes)?;
    let name = fields.owned()?;
    let kind = match fields.byte()? {
        0 => AttributeKind::Category(fields.list(Reader::owned)?),
        1 => AttributeKind::Text,
        2 => AttributeKind::Date,
        3 => AttributeKind::YesOrNo,
        4 => AttributeKind::Series,
        5 => AttributeKind::Node(fields.list(Reader::owned)?),
        _ => return None,
    };
    Some(AttributeType { name, kind, is_multiple: fields.byte()? != 0, description: fields.owned()? })
}

/// A hook as bytes.
pub(crate) fn put_hook(hook: &Hook) -> Vec<u8> {
    let mut out = Writer::new();
    out.text(&hook.name);
    out.text(&hook.url);
    out.option(hook.series.as_deref(), Writer::text);
    out.varint(hook.attributes.len() as u64);
    for attribute in &hook.attributes {
        out.text(&attribute.name);
        out.option(attribute.value.as_deref(), Writer::text);
    }
    out.option(hook.secret.as_deref(), Writer::text);
    out.byte(u8::from(hook.is_active));
    out.0
}

/// The hook that the bytes are.
pub(crate) fn take_hook(bytes: &[u8]) -> Option<Hook> {
    let mut fields = Reader::new(bytes)?;
    Some(Hook {
        name: fields.owned()?,
        url: fields.owned()?,
        series: fields.option(Reader::owned)?,
        attributes: fields.list(|fields| {
            Some(AttributeSearch { name: fields.owned()?, value: fields.option(Reader::owned)? })
        })?,
        secret: fields.option(Reader::owned)?,
        is_active: fields.byte()? != 0,
    })
}

/// How far a hook was told, as bytes.
pub(crate) fn put_hook_state(state: &HookState) -> Vec<u8> {
    let mut out = Writer::new();
    out.0.extend_from_slice(&state.cursor(0).to_bytes());
    for number in [state.failures.into(), state.delivered, state.failed, state.cuts] {
        out.varint(number);
    }
    out.time(state.retry_at.0);
    out.text(&state.last_error);
    // Those of other shards, up to the end: stores with one shard have none.
    for cursor in state.cursors.iter().skip(1) {
        out.0.extend_from_slice(&cursor.to_bytes());
    }
    out.0
}

/// What the bytes say of how far a hook was told.
pub(crate) fn take_hook_state(bytes: &[u8]) -> Option<HookState> {
    let mut fields = Reader::new(bytes)?;
    let mut state = HookState {
        cursors: vec![take_cursor(&mut fields)?],
        failures: fields.number()?,
        delivered: fields.varint()?,
        failed: fields.varint()?,
        cuts: fields.varint()?,
        retry_at: Timestamp(fields.time()?),
        last_error: fields.owned()?,
    };
    while !fields.0.is_empty() {
        state.cursors.push(take_cursor(&mut fields)?);
    }
    Some(state)
}

fn take_cursor(fields: &mut Reader<'_>) -> Option<Cursor> {
    Some(Cursor::from_bytes(fields.take(16)?.try_into().ok()?))
}
