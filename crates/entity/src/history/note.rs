//! Instances as points of a strand, and back.
//!
//! A point's time is that of the write, in nanoseconds; its value is what aggregates compute with; its flags say what the
//! value is ([`Class`]); `observed` is observedAt. The rest is its note: an instance as in `encode.rs`, but for
//! - the value, which is empty where value and class tell it;
//! - observedAt and datasetId, which are left out (observedAt is there if it does not fit into nanoseconds);
//! - all of its and its members' times that are the point's own, which are `i64::MIN`.
//!
//! Instances that differ in value and time alone thus share one note. The note of a removal is one byte: the kind of what
//! was removed.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use smallvec::SmallVec;
use store::Timestamp;
use strands::{ABSENT, Columns, Points, UNOBSERVED};

use crate::encode::{InstanceHead, put_text, put_varint, seal};
use crate::view::Fields;
use crate::{InstanceView, Kind, TermId};

/// Stands for the point's own time.
const OWN_TIME: Timestamp = Timestamp(i64::MIN);
/// Nanoseconds of a microsecond.
pub const MICROSECOND: i64 = 1000;
/// Whole numbers below are printed without a fraction.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Set in flags beside the class: nobody said when the value was observed.
pub const UNOBSERVED_FLAG: u8 = 8;
/// Set in flags beside the class: it was changed later, so its `modifiedAt` is not the point's time. The greatest of flags:
/// the summary of a block tells whether one has it.
pub const CHANGED_FLAG: u8 = 16;
/// The bits of the class.
const CLASS_BITS: u8 = 7;

/// What a point's value is. Numbers are stored in its flags: never reuse one. Those with a number come first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Class {
    /// A number that prints back as it was sent.
    Number = 0,
    /// A whole number that was sent with `.0`.
    Fraction = 1,
    /// A number in a spelling of its own: its text is in the note.
    Spelled = 2,
    /// 1 for true, 0 for false.
    Bool = 3,
    /// The number of elements of an array, whose text is in the note.
    Array = 4,
    /// A text: in the note.
    Text = 5,
    /// Anything else: in the note.
    Other = 6,
    /// No value: the instance was removed.
    Removal = 7,
}

impl Class {
    /// That of a point.
    pub fn of_flags(flags: u8) -> Self {
        match flags & CLASS_BITS {
            0 => Self::Number,
            1 => Self::Fraction,
            2 => Self::Spelled,
            3 => Self::Bool,
            4 => Self::Array,
            5 => Self::Text,
            6 => Self::Other,
            7 => Self::Removal,
            8.. => unreachable!("three bits"),
        }
    }

    fn flags(self) -> u8 {
        match self {
            Self::Text | Self::Other | Self::Removal => self as u8 | ABSENT,
            _ => self as u8,
        }
    }

    /// Class and number of a value.
    fn of_value(kind: Kind, text: &str) -> (Self, f64) {
        match text.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => (Self::of_number(number, text), number),
                _ => (Self::Other, 0.0),
            },
            Some(b't') => (Self::Bool, 1.0),
            Some(b'f') => (Self::Bool, 0.0),
            Some(b'[') => (Self::Array, lang_json::elements(text).fold(0.0, |count, _| count + 1.0)),
            Some(b'"') => (Self::Text, 0.0),
            Some(b'{') if kind == Kind::Property && typed_text(text).is_some() => (Self::Text, 0.0),
            _ => (Self::Other, 0.0),
        }
    }

    fn of_number(number: f64, text: &str) -> Self {
        let mut printed = String::with_capacity(24);
        write_number(&mut printed, number);
        match text.strip_prefix(&*printed) {
            Some("") => Self::Number,
            Some(".0") => Self::Fraction,
            _ => Self::Spelled,
        }
    }
}

/// The text of a JSON-LD typed value (a date, say): a JSON string.
pub fn typed_text(value: &str) -> Option<&str> {
    lang_json::member(value, "@value").filter(|text| text.starts_with('"'))
}

fn write_number(out: &mut String, number: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and in the range of an i64")]
    if number.fract() == 0.0 && number.abs() < WHOLE_MAX && !(number == 0.0 && number.is_sign_negative()) {
        out.push_str(itoa::Buffer::new().format(number as i64));
    } else {
        out.push_str(zmij::Buffer::new().format_finite(number));
    }
}

/// Points in the making.
#[derive(Debug, Default)]
pub struct PointsBuilder {
    /// The points so far.
    pub points: Points,
    places: HashMap<Bytes, u32>,
    note: Vec<u8>,
}

impl PointsBuilder {
    /// Appends an instance that was written at `time` (nanoseconds; later than all before).
    pub fn push(&mut self, time: i64, instance: &InstanceView<'_>) {
        self.note.clear();
        let (class, number) = Class::of_value(instance.kind(), instance.value());
        put_note(&mut self.note, instance, micros(time), class);
        let observed = instance.observed_at().map_or(UNOBSERVED, nanos);
        let unobserved = if observed == UNOBSERVED { UNOBSERVED_FLAG } else { 0 };
        let changed = if instance.modified_at() == micros(time) { 0 } else { CHANGED_FLAG };
        self.put(time, number, class.flags() | unobserved | changed, observed);
    }

    /// Appends the removal of an instance of this kind at `time`.
    pub fn push_removal(&mut self, time: i64, kind: Kind) {
        self.note.clear();
        self.note.push(kind as u8);
        self.put(time, 0.0, Class::Removal.flags() | UNOBSERVED_FLAG, UNOBSERVED);
    }

    /// The same of scopes, which are `observed` to change (in nanoseconds).
    pub fn push_seen_removal(&mut self, time: i64, observed: i64, kind: Kind) {
        self.note.clear();
        self.note.push(kind as u8);
        self.put(time, 0.0, Class::Removal.flags(), observed);
    }

    fn put(&mut self, time: i64, number: f64, flags: u8, observed: i64) {
        let place = self.place();
        self.points.times.push(time);
        self.points.values.push(number);
        self.points.flags.push(flags);
        self.points.observed.push(observed);
        self.points.notes.places.push(place);
    }

    fn place(&mut self) -> u32 {
        let last = self.points.notes.places.last().copied();
        let is_same = |place: &u32| {
            self.points.notes.dictionary.get(*place as usize).is_some_and(|it| *it == self.note)
        };
        if let Some(last) = last.filter(is_same) {
            return last;
        }
        if let Some(place) = self.places.get(self.note.as_slice()) {
            return *place;
        }
        let note = Bytes::copy_from_slice(&self.note);
        let place = u32::try_from(self.points.notes.dictionary.len()).expect("less notes than points");
        self.points.notes.dictionary.push(note.clone());
        self.places.insert(note, place);
        place
    }
}

/// Microseconds of a point's time.
pub fn micros(time: i64) -> Timestamp {
    Timestamp(time.div_euclid(MICROSECOND))
}

/// A time in nanoseconds, or the nearest that there is.
pub fn nanos(time: Timestamp) -> i64 {
    time.0.saturating_mul(MICROSECOND).max(UNOBSERVED + 1)
}

fn fits(time: Timestamp) -> bool {
    micros(nanos(time)) == time
}

fn put_note(out: &mut Vec<u8>, instance: &InstanceView<'_>, time: Timestamp, class: Class) {
    let own = |at: Timestamp| if at == time { OWN_TIME } else { at };
    let head = InstanceHead {
        kind: instance.kind(),
        created: own(instance.created_at()),
        modified: own(instance.modified_at()),
        observed: instance.observed_at().filter(|time| !fits(*time)),
        expires: instance.expires_at(),
        dataset: None,
        unit: instance.unit_code(),
        has_extras: instance.tail().0 > 0,
    };
    head.put(out);
    let is_in_column = matches!(class, Class::Number | Class::Fraction | Class::Bool);
    put_text(out, if is_in_column { "" } else { instance.value() });
    put_tail(out, instance, &|at| if at == time.0 { OWN_TIME.0 } else { at });
}

/// Extras and members of an instance, whose members' times are changed by `time`.
fn put_tail(out: &mut Vec<u8>, instance: &InstanceView<'_>, becomes: &dyn Fn(i64) -> i64) {
    let (extras, tail) = instance.tail();
    if extras > 0 {
        put_varint(out, extras);
    }
    out.extend_from_slice(tail);
    let members = instance.member_bytes();
    if members.is_empty() {
        return;
    }
    let mut places = SmallVec::new();
    let found = find_times(members, 0, &mut places);
    debug_assert!(found.is_some(), "stored members are sound");
    let start = out.len() - members.len();
    for place in places {
        let Some(bytes) = out.get_mut(start + place..).and_then(|rest| rest.first_chunk_mut::<8>()) else {
            continue;
        };
        *bytes = becomes(i64::from_le_bytes(*bytes)).to_le_bytes();
    }
}

/// Where `createdAt` and `modifiedAt` of all instances in `members` stand, at all depths.
fn find_times(members: &[u8], base: usize, places: &mut SmallVec<[usize; 8]>) -> Option<()> {
    let mut fields = Fields::new(members);
    while !fields.is_empty() {
        fields.term()?;
        let mut instances = Fields::new(fields.bytes()?);
        let mut at = base + members.len() - fields.rest().len() - instances.rest().len();
        while !instances.is_empty() {
            let before = instances.rest().len();
            let body = instances.bytes()?;
            at += before - instances.rest().len();
            let start = at - body.len();
            places.extend([start + 2, start + 10]);
            let inner = InstanceView::body(body, body)?.member_bytes();
            find_times(inner, at - inner.len(), places)?;
        }
    }
    Some(())
}

/// A point of a history, read as it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// When it was written, in nanoseconds.
    pub time: i64,
    /// The number that aggregates compute with.
    pub value: f64,
    /// What the value is.
    pub class: Class,
    observed: i64,
    note: &'a [u8],
}

/// Why there is a value, and a flag.
const HAS_POINT: &str = "the index is that of a point";

impl<'a> Point<'a> {
    /// The point at `index`, which must be there. Cost: nothing of the note is read.
    pub fn new(points: &'a Points, index: usize) -> Self {
        Self::of(&points.columns(), index)
    }

    /// The same, of columns of which times, observedAt and notes may be missing: these mean nothing then, and there is no note.
    pub fn of(points: &Columns<'a>, index: usize) -> Self {
        let note = |place: &u32| {
            &**points.dictionary.get(*place as usize).expect("places lie inside the dictionary")
        };
        Self {
            time: points.times.get(index).copied().unwrap_or_default(),
            value: *points.values.get(index).expect(HAS_POINT),
            class: Class::of_flags(*points.flags.get(index).expect(HAS_POINT)),
            observed: points.observed.get(index).copied().unwrap_or(UNOBSERVED),
            note: points.places.get(index).map_or(&[], note),
        }
    }

    /// The note; `None` for a removal, and where it is damaged.
    pub fn note(&self) -> Option<InstanceView<'a>> {
        InstanceView::body(self.note, self.note)
    }

    /// What kind of value it has, or was removed; a Property's where there is no note, or a damaged one. Cost: a byte is read.
    pub fn kind(&self) -> Kind {
        self.note.first().and_then(|kind| Kind::from_stored(*kind)).unwrap_or(Kind::Property)
    }

    fn own(&self, time: Option<Timestamp>) -> Timestamp {
        time.filter(|time| *time != OWN_TIME).unwrap_or_else(|| micros(self.time))
    }

    /// When the attribute's instance was first written.
    pub fn created_at(&self) -> Timestamp {
        self.own(self.note().map(|note| note.created_at()))
    }

    /// When this state was written.
    pub fn modified_at(&self) -> Timestamp {
        self.own(self.note().map(|note| note.modified_at()))
    }

    /// When the value was observed.
    pub fn observed_at(&self) -> Option<Timestamp> {
        let beyond = self.observed == i64::MAX || self.observed == UNOBSERVED + 1;
        let exact = if beyond { self.note().and_then(|note| note.observed_at()) } else { None };
        exact.or_else(|| (self.observed != UNOBSERVED).then(|| micros(self.observed)))
    }

    /// The value as canonical JSON text.
    pub fn value(&self) -> Cow<'a, str> {
        match self.class {
            Class::Number | Class::Fraction | Class::Bool => {
                let mut text = String::with_capacity(24);
                self.write_value(&mut text);
                Cow::Owned(text)
            }
            _ => Cow::Borrowed(self.note().map_or("null", |note| note.value())),
        }
    }

    /// Appends the value as canonical JSON text.
    pub fn write_value(&self, out: &mut String) {
        match self.class {
            Class::Number => write_number(out, self.value),
            Class::Fraction => {
                write_number(out, self.value);
                out.push_str(".0");
            }
            Class::Bool => out.push_str(if self.value == 0.0 { "false" } else { "true" }),
            _ => out.push_str(self.note().map_or("null", |note| note.value())),
        }
    }

    /// Appends the instance in its stored form (length and body); nothing for a removal.
    pub fn put_stored(&self, out: &mut Vec<u8>, dataset: Option<&str>) {
        let Some(note) = self.note() else {
            return;
        };
        let start = out.len();
        let head = InstanceHead {
            kind: note.kind(),
            created: self.created_at(),
            modified: self.modified_at(),
            observed: self.observed_at(),
            expires: note.expires_at(),
            dataset,
            unit: note.unit_code(),
            has_extras: note.tail().0 > 0,
        };
        head.put(out);
        put_text(out, &self.value());
        let own = micros(self.time).0;
        put_tail(out, &note, &|at| if at == OWN_TIME.0 { own } else { at });
        seal(out, start);
    }
}

/// Tells attributes and datasets of entities apart in instance ids.
pub fn tag_of(id: &str, attribute: TermId, dataset: Option<&str>) -> u32 {
    let hash = xxhash_rust::xxh3::xxh3_64(&crate::keys::strand_name(id, attribute, dataset));
    u32::try_from(hash >> 32).expect("32 bits are left")
}
