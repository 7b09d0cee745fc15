//! Ordering matches: the first ones are kept in a bounded heap.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use bytes::Bytes;
use lang_json::Kind as Json;
use smallvec::SmallVec;
use store::Pace;

use super::eval::{Links, Track, Visible, Walk, each_geometry};
use super::moment::parse_moment;
use super::shape::Shape;
use super::value::{Target, text_of};
use super::wanted::parse_number;
use super::{Collation, OrderBy, OrderKey, Path, Query};
use crate::{EntityView, Error, Limit, LimitName, TermId};

/// Texts are ordered by so many bytes of their beginnings, those that begin alike by the next key; by so many bytes of
/// what they are collated by.
const TEXT_BYTES_MAX: usize = 1024;
const KEY_BYTES_MAX: usize = 1024;
/// Text is collated at so many bytes a step.
const BYTES_A_STEP: usize = 16;

/// Names of terms.
pub type Iris<'a> = &'a dyn Fn(TermId) -> Option<Arc<str>>;

/// Keeps the first matches in an order.
#[derive(Debug)]
pub struct Top {
    keys: Vec<SortBy>,
    view: Visible,
    collation: Collation,
    room: usize,
    /// Bytes of entities in memory, and how many may be.
    bytes: usize,
    bytes_max: usize,
    /// Bytes of the keys, and how many there may be.
    keys_bytes: usize,
    keys_bytes_max: usize,
    /// Greatest on top.
    heap: BinaryHeap<Entry>,
}

#[derive(Debug)]
struct SortBy {
    by: By,
    descending: bool,
}

#[derive(Debug)]
enum By {
    Id,
    Type,
    Scope,
    Value(Box<Track>),
    Distance(Option<TermId>, Box<Shape>),
}

/// What entities are sorted by. Values of different types sort in this order of types (NGSI-LD 4.23.2).
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Key {
    Number(f64),
    /// What sorts as the text does.
    Text(Box<[u8]>),
    Object,
    /// By the element that comes first.
    Array(Option<Box<Key>>),
    Bool(bool),
    TimeOfDay(Box<str>),
    Date(Box<str>),
    DateTime(i64),
    Null,
}

#[derive(Debug)]
struct Entry {
    /// With whether it is descending.
    keys: SmallVec<[(Option<Key>, bool); 2]>,
    id: Box<str>,
    /// `None` where there was no room for it.
    entity: Option<Bytes>,
}

impl Top {
    /// Keeps up to `room` matches in the query's order, by keys of no more than so many bytes in all; `None` if the order is by id.
    pub fn new(query: &Query, room: usize, keys_bytes_max: usize) -> Option<Self> {
        let natural =
            matches!(query.order.as_slice(), [] | [OrderBy { key: OrderKey::Id, descending: false }, ..]);
        (!natural).then(|| Self {
            keys: query.order.iter().flat_map(SortBy::all).collect(),
            view: Visible::new(query),
            collation: query.collation.clone().unwrap_or_else(Collation::root),
            room,
            bytes: 0,
            keys_bytes: 0,
            keys_bytes_max,
            bytes_max: query.page_bytes_max.unwrap_or(usize::MAX),
            heap: BinaryHeap::new(),
        })
    }

    /// Takes in a match; counts only if the pace is not over afterwards.
    ///
    /// Cost: the keys of the entity, and a place in the heap if it is among the first.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the keys take too much.
    pub fn push(
        &mut self,
        view: &EntityView<'_>,
        entity: Bytes,
        iris: Iris<'_>,
        pace: &mut Pace,
    ) -> Result<(), Error> {
        let by = (&self.view, &self.collation, iris);
        let of = |key: &SortBy| (key.of(view, by, pace), key.descending);
        let keys = self.keys.iter().map(of).collect();
        let entity = Some(entity).filter(|entity| self.bytes.saturating_add(entity.len()) <= self.bytes_max);
        let entry = Entry { keys, id: view.id().into(), entity };
        self.bytes += entry.entity.as_ref().map_or(0, Bytes::len);
        self.keys_bytes += entry.keys_bytes();
        self.heap.push(entry);
        if self.heap.len() > self.room
            && let Some(last) = self.heap.pop()
        {
            self.bytes -= last.entity.as_ref().map_or(0, Bytes::len);
            self.keys_bytes -= last.keys_bytes();
        }
        Limit::check(LimitName::SortKeyBytes, self.keys_bytes_max, self.keys_bytes)
    }

    /// The first ones, in order, without the first `offset`: their ids, and as many of the entities as there was room for.
    pub fn page(self, offset: usize) -> impl Iterator<Item = (Box<str>, Option<Bytes>)> + Send + use<> {
        let sorted = self.heap.into_sorted_vec().into_iter().skip(offset);
        sorted.map(|entry| (entry.id, entry.entity))
    }
}

impl SortBy {
    /// What a key of an order comes to: for distances, the value where there is none.
    fn all(order: &OrderBy) -> SmallVec<[Self; 2]> {
        let descending = order.descending;
        let one = |by: By| Self { by, descending };
        let of_path = |path: &Path| one(By::Value(Box::new(Track::new(path))));
        match &order.key {
            OrderKey::Id => smallvec::smallvec![one(By::Id)],
            OrderKey::Type => smallvec::smallvec![one(By::Type)],
            OrderKey::Scope => smallvec::smallvec![one(By::Scope)],
            OrderKey::Value(path) => smallvec::smallvec![of_path(path)],
            OrderKey::Distance(name, geometry) => {
                let path = Path {
                    attribute: *name,
                    members: Vec::new(),
                    meta: None,
                    json: Vec::new(),
                    linked: None,
                };
                let from = Box::new(Shape::new(geometry));
                smallvec::smallvec![one(By::Distance(*name, from)), of_path(&path)]
            }
        }
    }

    /// Of several values the one that comes first.
    fn of(
        &self,
        entity: &EntityView<'_>,
        (view, collation, iris): (&Visible, &Collation, Iris<'_>),
        pace: &mut Pace,
    ) -> Option<Key> {
        let mut first = First { key: None, descending: self.descending };
        let mut keys = Keys { collation, descending: self.descending, pace: pace.clone(), spent: 0 };
        match &self.by {
            By::Id => first.see(Key::Text(entity.id().as_bytes().into())),
            By::Type => {
                if let Some(iri) = entity.types().next().and_then(iris) {
                    first.see(keys.of_text(&iri));
                }
            }
            By::Scope => entity.scopes().for_each(|scope| first.see(keys.of_text(scope))),
            By::Value(track) => {
                let walk = &mut Walk { links: &mut Links::default(), pace };
                track.each(entity, view, walk, &mut |target| {
                    first.see(match target {
                        Target::Time(time) => Key::DateTime(time.0),
                        Target::Text(found) => keys.of_text(found),
                        Target::Json(value) => keys.of_value(value, true),
                        Target::Plain(value) | Target::Link(value) => keys.of_value(value, false),
                    });
                    keys.pace.check().is_err()
                });
            }
            By::Distance(name, from) => {
                if let Some(attribute) = name.and_then(|name| entity.attribute(name)) {
                    each_geometry(&attribute, view, pace, |at, pace| {
                        first.see(Key::Number(from.distance(at, pace)));
                        false
                    });
                }
            }
        }
        pace.spend(keys.spent);
        first.key
    }
}

/// The key that comes first of those that were seen.
struct First {
    key: Option<Key>,
    descending: bool,
}

impl First {
    fn see(&mut self, key: Key) {
        if compare(Some(&key), self.key.as_ref(), self.descending).is_lt() {
            self.key = Some(key);
        }
    }
}

/// Null and what is missing come last in either direction.
fn compare(one: Option<&Key>, other: Option<&Key>, descending: bool) -> Ordering {
    let late = |key: Option<&Key>| match key {
        None => 2,
        Some(Key::Null) => 1,
        Some(_) => 0,
    };
    late(one).cmp(&late(other)).then_with(|| {
        let order = one.partial_cmp(&other).unwrap_or(Ordering::Equal);
        if descending { order.reverse() } else { order }
    })
}

/// The beginning of a text that counts.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text)
}

/// Makes the keys of values.
struct Keys<'a> {
    collation: &'a Collation,
    descending: bool,
    /// Sees the deadline while a walk through the entity has the other one; and what it spent.
    pace: Pace,
    spent: usize,
}

impl Keys<'_> {
    /// Whether to go on.
    fn spend(&mut self, steps: usize) -> bool {
        self.spent = self.spent.saturating_add(steps);
        self.pace.spend(steps)
    }

    fn of_text(&mut self, text: &str) -> Key {
        let text = beginning(text);
        self.spend(1 + text.len() / BYTES_A_STEP);
        let mut key = self.collation.key(text).into_vec();
        key.truncate(KEY_BYTES_MAX);
        Key::Text(key.into())
    }

    /// The key of a stored value; `typed`: objects with an `@value` are that value.
    fn of_value(&mut self, text: &str, typed: bool) -> Key {
        match lang_json::kind(text) {
            Some(Json::Number) => parse_number(text).map_or(Key::Null, Key::Number),
            // A damaged text is nothing to sort by.
            Some(Json::String) => text_of(text).map_or(Key::Null, |text| self.of_text(&text)),
            Some(Json::Bool) => Key::Bool(text == "true"),
            Some(Json::Array) => {
                let mut first = First { key: None, descending: self.descending };
                for element in lang_json::elements(text) {
                    // What is over counts no more.
                    if !self.spend(1) {
                        break;
                    }
                    first.see(self.of_value(element, typed));
                }
                Key::Array(first.key.map(Box::new))
            }
            Some(Json::Object) => match lang_json::member(text, "@value").filter(|_| typed) {
                Some(value) => time_of(text, value).unwrap_or_else(|| self.of_value(value, false)),
                None => Key::Object,
            },
            Some(Json::Null) | None => Key::Null,
        }
    }
}

/// The key of a value that is said to be a date, a time or both.
fn time_of(typed: &str, value: &str) -> Option<Key> {
    let of_type = lang_json::member(typed, "@type").and_then(text_of)?;
    let value = text_of(value)?;
    match of_type.rsplit(['/', '#', ':']).next()? {
        "DateTime" | "dateTime" => parse_moment(&value).map(|time| Key::DateTime(time.0)),
        "Date" | "date" => Some(Key::Date(beginning(&value).into())),
        "Time" | "time" => Some(Key::TimeOfDay(beginning(&value).into())),
        _ => None,
    }
}

impl Key {
    /// What it takes beside its place in a list.
    fn bytes(&self) -> usize {
        match self {
            Self::Text(key) => key.len(),
            Self::TimeOfDay(text) | Self::Date(text) => text.len(),
            Self::Array(first) => first.as_ref().map_or(0, |first| size_of::<Self>() + first.bytes()),
            Self::Number(_) | Self::Object | Self::Bool(_) | Self::DateTime(_) | Self::Null => 0,
        }
    }
}

impl Entry {
    fn keys_bytes(&self) -> usize {
        let keys = self.keys.iter().map(|(key, _)| key.as_ref().map_or(0, Key::bytes));
        keys.map(|bytes| bytes + size_of::<(Option<Key>, bool)>()).sum()
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        for ((one, descending), (two, _)) in self.keys.iter().zip(&other.keys) {
            let order = compare(one.as_ref(), two.as_ref(), *descending);
            if order.is_ne() {
                return order;
            }
        }
        self.id.cmp(&other.id)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}
