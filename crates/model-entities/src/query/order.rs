//! Ordering matches: the first ones are kept in a bounded heap.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use bytes::Bytes;
use smallvec::SmallVec;

use super::eval::{Links, Track, Visible, geometries};
use super::relation::distance;
use super::value::{Target, each_scalar, parse_number, text_of};
use super::{OrderBy, OrderKey, Query};
use crate::{EntityView, TermId, Terms};

/// Keeps the first matches in an order.
#[derive(Debug)]
pub(crate) struct Top {
    keys: Vec<SortBy>,
    view: Visible,
    room: usize,
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
    Value(Box<Track>),
    Distance(Option<TermId>, geo::Geometry<f64>),
}

/// Values of different types sort in this order of types.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Key {
    Bool(bool),
    Number(f64),
    Time(i64),
    Text(Box<str>),
}

#[derive(Debug)]
struct Entry {
    /// With whether it is descending; what is missing comes last either way.
    keys: SmallVec<[(Option<Key>, bool); 2]>,
    id: Box<str>,
    entity: Bytes,
}

impl Top {
    /// Keeps up to `room` matches in the query's order; `None` if that is by id.
    pub(crate) fn new(query: &Query, room: usize) -> Option<Self> {
        let natural =
            matches!(query.order.as_slice(), [] | [OrderBy { key: OrderKey::Id, descending: false }, ..]);
        let sort_by = |order: &OrderBy| SortBy {
            by: match &order.key {
                OrderKey::Id => By::Id,
                OrderKey::Type => By::Type,
                OrderKey::Value(path) => By::Value(Box::new(Track::new(path))),
                OrderKey::Distance(name, geometry) => By::Distance(*name, geometry.clone()),
            },
            descending: order.descending,
        };
        (!natural).then(|| Self {
            keys: query.order.iter().map(sort_by).collect(),
            view: Visible::new(query),
            room,
            heap: BinaryHeap::new(),
        })
    }

    /// Cost: the keys of the entity, and a place in the heap if it is among the first.
    pub(crate) fn push(&mut self, view: &EntityView<'_>, entity: Bytes, terms: &Terms) {
        let keys = self.keys.iter().map(|key| (key.of(view, &self.view, terms), key.descending)).collect();
        self.heap.push(Entry { keys, id: view.id().into(), entity });
        if self.heap.len() > self.room {
            self.heap.pop();
        }
    }

    /// The first ones, in order, without the first `offset`.
    pub(crate) fn page(self, offset: usize) -> Vec<Bytes> {
        self.heap.into_sorted_vec().into_iter().skip(offset).map(|entry| entry.entity).collect()
    }
}

impl SortBy {
    /// Of several values the one that comes first.
    fn of(&self, entity: &EntityView<'_>, view: &Visible, terms: &Terms) -> Option<Key> {
        let mut first: Option<Key> = None;
        let mut see = |key: Key| {
            let before = first.as_ref().and_then(|held| key.partial_cmp(held));
            let before = if self.descending { before.map(Ordering::reverse) } else { before };
            if first.is_none() || before == Some(Ordering::Less) {
                first = Some(key);
            }
        };
        match &self.by {
            By::Id => see(Key::Text(entity.id().into())),
            By::Type => {
                if let Some(iri) = entity.types().next().and_then(|term| terms.iri(term)) {
                    see(Key::Text((*iri).into()));
                }
            }
            By::Value(track) => {
                track.each(entity, view, &mut Links::default(), &mut |target| {
                    match target {
                        Target::Time(time) => see(Key::Time(time.0)),
                        Target::Text(text) => see(Key::Text(text.into())),
                        Target::Json(text) | Target::Plain(text) => {
                            let typed = matches!(target, Target::Json(_));
                            each_scalar(text, typed, &mut |scalar| {
                                key_of(scalar).map(&mut see);
                                false
                            });
                        }
                    }
                    false
                });
            }
            By::Distance(name, from) => {
                if let Some(attribute) = name.and_then(|name| entity.attribute(name)) {
                    geometries(&attribute, view).for_each(|at| see(Key::Number(distance(&at, from))));
                }
            }
        }
        first
    }
}

fn key_of(scalar: &str) -> Option<Key> {
    match scalar {
        "true" => Some(Key::Bool(true)),
        "false" => Some(Key::Bool(false)),
        _ => parse_number(scalar)
            .map(Key::Number)
            .or_else(|| text_of(scalar).map(|text| Key::Text(text.into()))),
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        for ((one, descending), (two, _)) in self.keys.iter().zip(&other.keys) {
            let order = match (one, two) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(one), Some(two)) => {
                    let order = one.partial_cmp(two).unwrap_or(Ordering::Equal);
                    if *descending { order.reverse() } else { order }
                }
            };
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
