//! Whether a stored entity matches a query, decided on its bytes: a query is made ready once
//! ([`Matcher`]), and then looks only at the attributes it asks for, without allocating.
//!
//! Each look counts its steps on a [`Pace`]: what is answered once that is over does not count.
//!
//! Paths may continue in entities that Relationships point to. Those are looked up in [`Links`]; one
//! that is not there yet is noted, and the answer does not count until the caller has fetched it.

mod track;
mod condition;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use bytes::Bytes;
use geo::Geometry;
use smallvec::SmallVec;
use store::{Pace, Timestamp};

use super::shape::Shape;
use super::{GeoRelation, Query, ScopeQuery, Selector};
use crate::expiry::is_expired;
use crate::geometry::parse_geometry;
use crate::{AttributeView, EntityView, InstanceView, Kind, TermId};

use condition::{Condition, Leaf, all, decided};

pub use track::Track;

/// Entities that Relationships point to, as far as they were fetched.
#[derive(Debug, Default)]
pub struct Links {
    /// By id; `None`: there is no such entity.
    pub fetched: HashMap<Box<str>, Option<Bytes>>,
    /// Ids that were asked for and are not in `fetched`.
    pub wanted: Vec<Box<str>>,
}

/// A query's conditions, made ready for many entities.
#[derive(Debug)]
pub struct Matcher {
    /// What the query itself selects.
    head: Selector,
    /// And any of these, unless there are none.
    selectors: Vec<Selector>,
    attributes: Vec<TermId>,
    attributes_asked: bool,
    filter: Option<Condition>,
    scopes: Option<ScopeQuery>,
    geo: Option<(Option<TermId>, GeoRelation, Shape)>,
    view: Visible,
    links: bool,
}

/// A geometry of more positions may be long to relate to a single entity's.
const LIGHT_POSITIONS_MAX: usize = 512;
/// Steps of a look at an entity, beside those that depend on what it holds.
const STEPS_AN_ENTITY: usize = 4;
/// Text is passed over at so many bytes a step.
const BYTES_A_STEP: usize = 64;

/// Which instances of attributes count.
#[derive(Clone, Debug)]
pub struct Visible {
    /// Sorted.
    datasets: Vec<Option<Box<str>>>,
    now: Timestamp,
}

/// What a look at an entity takes along.
pub struct Walk<'w> {
    /// Entities that Relationships point to.
    pub links: &'w mut Links,
    /// What the walk may spend.
    pub pace: &'w mut Pace,
}

/// What pieces of an entity showed of a query's conditions.
#[derive(Clone, Debug)]
pub struct Shown {
    leaves: SmallVec<[Leaf; 4]>,
    geo: bool,
}

impl Matcher {
    /// Makes the conditions of a query ready. Cost: linear in the query.
    pub fn new(query: &Query) -> Self {
        let head = Selector {
            ids: query.ids.clone(),
            id_pattern: query.id_pattern.clone(),
            types: query.types.clone(),
        };
        let filter = query.filter.as_ref().map(Condition::new);
        let geo = query.geo.as_ref();
        let mut attributes: Vec<TermId> = query.attributes.iter().flatten().copied().collect();
        attributes.sort_unstable();
        Self {
            head: head.ready(),
            selectors: query.selectors.iter().cloned().map(Selector::ready).collect(),
            attributes,
            attributes_asked: !query.attributes.is_empty(),
            links: filter.as_ref().is_some_and(Condition::links),
            filter,
            scopes: query.scopes.clone(),
            geo: geo.map(|geo| (geo.attribute, geo.relation, Shape::new(&geo.geometry))),
            view: Visible::new(query),
        }
    }

    /// Whether the query looks into entities that Relationships point to.
    pub fn links(&self) -> bool {
        self.links
    }

    /// Whether a look at one entity may take long by what the query asks.
    pub fn is_heavy(&self) -> bool {
        self.geo.as_ref().is_some_and(|(.., shape)| shape.positions() > LIGHT_POSITIONS_MAX)
    }

    /// Whether the entity matches; counts only if no link is wanted afterwards, and the pace is not over.
    ///
    /// Cost: some hundred nanoseconds for comparisons of numbers and short texts.
    pub fn matches(&self, entity: &EntityView<'_>, links: &mut Links, pace: &mut Pace) -> bool {
        let walk = &mut Walk { links, pace };
        walk.pace.spend(STEPS_AN_ENTITY)
            && self.matches_head(entity)
            && self.matches_attributes(entity)
            && self.filter.as_ref().is_none_or(|filter| filter.holds(entity, &self.view, walk))
            && self.matches_geo(entity, walk.pace)
    }

    /// That nothing of an entity was shown yet.
    pub fn unseen(&self) -> Shown {
        let leaves = self.filter.as_ref().map_or(0, Condition::leaves);
        Shown { leaves: smallvec::smallvec![Leaf::default(); leaves], geo: false }
    }

    /// Takes in a piece of an entity: some instances of some attributes. Counts only if no link is wanted afterwards, else
    /// the piece is to be shown again; and only if the pace is not over.
    pub fn show(&self, piece: &EntityView<'_>, shown: &mut Shown, links: &mut Links, pace: &mut Pace) {
        let walk = &mut Walk { links, pace };
        if let Some(filter) = &self.filter {
            filter.show(piece, &self.view, walk, &mut shown.leaves.iter_mut());
        }
        shown.geo = shown.geo || self.matches_geo(piece, walk.pace);
    }

    /// Whether filter and geo-query hold of all pieces of an entity, as soon as it is decided; `is_over` says whether an
    /// attribute was shown whole.
    pub fn verdict(&self, shown: &Shown, is_over: &dyn Fn(TermId) -> bool) -> Option<bool> {
        let filter = self.filter.as_ref();
        let filter = filter.map_or(Some(true), |filter| filter.verdict(&mut shown.leaves.iter(), is_over));
        let geo = match &self.geo {
            Some((name, ..)) => decided(shown.geo, name.is_none_or(is_over)),
            None => Some(true),
        };
        all(filter, geo)
    }

    /// Whether more of an attribute could change the verdict.
    pub fn wants(&self, shown: &Shown, attribute: TermId) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| filter.wants(&mut shown.leaves.iter(), attribute))
            || !shown.geo && self.geo.as_ref().is_some_and(|(name, ..)| *name == Some(attribute))
    }

    /// Whether id, types, scopes and expiry match.
    pub fn matches_head(&self, entity: &EntityView<'_>) -> bool {
        !is_expired(entity.expires_at(), self.view.now)
            && self.head.selects(entity)
            && (self.selectors.is_empty() || self.selectors.iter().any(|one| one.selects(entity)))
            && self.scopes.as_ref().is_none_or(|scopes| {
                let stored: SmallVec<[&str; 4]> = entity.scopes().collect();
                scopes.selects(stored.iter().copied())
            })
    }

    fn matches_attributes(&self, entity: &EntityView<'_>) -> bool {
        let is_asked = |attribute: AttributeView<'_>| {
            self.attributes.binary_search(&attribute.name()).is_ok()
                && attribute.instances().any(|instance| self.view.lives(&instance))
        };
        !self.attributes_asked || entity.attributes().any(is_asked)
    }

    /// Disjoint, like all relations, needs a geometry to relate.
    fn matches_geo(&self, entity: &EntityView<'_>, pace: &mut Pace) -> bool {
        let Some((name, relation, shape)) = &self.geo else {
            return true;
        };
        let Some(attribute) = name.and_then(|name| entity.attribute(name)) else {
            return false;
        };
        let see = |stored: &Geometry<f64>, pace: &mut Pace| shape.relates(*relation, stored, pace);
        each_geometry(&attribute, &self.view, pace, see)
    }
}

impl Visible {
    pub(crate) fn new(query: &Query) -> Self {
        let mut datasets = query.datasets.clone();
        datasets.sort_unstable();
        Self { datasets, now: query.now }
    }

    /// Whether an instance of an entity's attribute counts.
    pub fn counts(&self, instance: &InstanceView<'_>) -> bool {
        self.lives(instance)
            && (self.datasets.is_empty()
                || self
                    .datasets
                    .binary_search_by(|wanted| wanted.as_deref().cmp(&instance.dataset()))
                    .is_ok())
    }

    fn lives(&self, instance: &InstanceView<'_>) -> bool {
        !is_expired(instance.expires_at(), self.now)
    }
}

/// Looks at the geometries of a GeoProperty's instances that count, until `see` says to stop; answers whether it did.
pub fn each_geometry(
    attribute: &AttributeView<'_>,
    view: &Visible,
    pace: &mut Pace,
    mut see: impl FnMut(&Geometry<f64>, &mut Pace) -> bool,
) -> bool {
    let counts = |instance: &InstanceView<'_>| instance.kind() == Kind::GeoProperty && view.counts(instance);
    attribute.instances().filter(counts).any(|instance| {
        let text = instance.value();
        pace.spend(text.len() / BYTES_A_STEP) && parse_geometry(text).is_some_and(|stored| see(&stored, pace))
    })
}
