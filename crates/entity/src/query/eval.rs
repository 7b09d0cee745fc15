//! Whether a stored entity matches a query, decided on its bytes: a query is made ready once
//! ([`Matcher`]), and then looks only at the attributes it asks for, without allocating.
//!
//! Each look counts its steps on a [`Pace`]: what is answered once that is over does not count.
//!
//! Paths may continue in entities that Relationships point to. Those are looked up in [`Links`]; one
//! that is not there yet is noted, and the answer does not count until the caller has fetched it.

use std::collections::HashMap;

use bytes::Bytes;
use geo::Geometry;
use smallvec::SmallVec;
use store::{Pace, Timestamp};

use super::shape::Shape;
use super::value::{Target, Test, each_at, each_language, each_scalar, text_of};
use super::{Filter, GeoRelation, LinkedPath, Meta, Path, Query, ScopeQuery, Selector};
use crate::expiry::is_expired;
use crate::geometry::parse_geometry;
use crate::{AttributeView, EntityView, InstanceView, Kind, TermId};

/// Entities that Relationships point to, as far as they were fetched.
#[derive(Debug, Default)]
pub struct Links {
    /// By id; `None`: there is no such entity.
    pub held: HashMap<Box<str>, Option<Bytes>>,
    /// Ids that were asked for and are not in `held`.
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
    filter: Option<Node>,
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

#[derive(Debug)]
enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Exists(Track),
    Missing(Track),
    Compare { track: Track, test: Test, negated: bool },
}

/// A path, made ready.
#[derive(Debug)]
pub struct Track {
    attribute: Option<TermId>,
    members: SmallVec<[TermId; 2]>,
    meta: Option<Meta>,
    json: Vec<Box<str>>,
    linked: Option<Box<LinkedTrack>>,
    /// It holds a name that is nowhere used.
    nowhere: bool,
}

/// A path in an entity that a Relationship points to, made ready.
#[derive(Debug)]
struct LinkedTrack {
    /// The entity must have one of these; empty: whatever types.
    types: Vec<Option<TermId>>,
    track: Track,
}

impl Matcher {
    /// Makes the conditions of a query ready. Cost: linear in the query.
    pub fn new(query: &Query) -> Self {
        let head = Selector {
            ids: query.ids.clone(),
            id_pattern: query.id_pattern.clone(),
            types: query.types.clone(),
        };
        let filter = query.filter.as_ref().map(Node::new);
        let geo = query.geo.as_ref();
        let mut attributes: Vec<TermId> = query.attributes.iter().flatten().copied().collect();
        attributes.sort_unstable();
        Self {
            head: head.ready(),
            selectors: query.selectors.iter().cloned().map(Selector::ready).collect(),
            attributes,
            attributes_asked: !query.attributes.is_empty(),
            links: filter.as_ref().is_some_and(Node::links),
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
        let leaves = self.filter.as_ref().map_or(0, Node::leaves);
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
                let scopes_held: SmallVec<[&str; 4]> = entity.scopes().collect();
                scopes.selects(scopes_held.iter().copied())
            })
    }

    fn matches_attributes(&self, entity: &EntityView<'_>) -> bool {
        let held = |attribute: AttributeView<'_>| {
            self.attributes.binary_search(&attribute.name()).is_ok()
                && attribute.instances().any(|instance| self.view.lives(&instance))
        };
        !self.attributes_asked || entity.attributes().any(held)
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

/// What was shown of a condition on one path.
#[derive(Clone, Copy, Debug, Default)]
struct Leaf {
    /// The path led somewhere.
    somewhere: bool,
    /// To something that passed the test (without its negation).
    held: bool,
}

fn next(leaves: &mut std::slice::Iter<'_, Leaf>) -> Leaf {
    *leaves.next().expect("there is a leaf for each condition")
}

/// A condition that holds of all pieces if it holds of one.
fn decided(held: bool, is_over: bool) -> Option<bool> {
    if held { Some(true) } else { Some(false).filter(|_| is_over) }
}

fn all(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn any(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    all(one.map(|one| !one), other.map(|other| !other)).map(|none| !none)
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

impl Node {
    fn new(filter: &Filter) -> Self {
        let nodes = |parts: &[Filter]| parts.iter().map(Self::new).collect();
        match filter {
            Filter::And(parts) => Self::And(nodes(parts)),
            Filter::Or(parts) => Self::Or(nodes(parts)),
            Filter::Exists(path) => Self::Exists(Track::new(path)),
            Filter::Missing(path) => Self::Missing(Track::new(path)),
            Filter::Compare(path, comparison, operand) => {
                let (test, negated) = Test::new(*comparison, operand);
                Self::Compare { track: Track::new(path), test, negated }
            }
        }
    }

    fn links(&self) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::links),
            Self::Exists(track) | Self::Missing(track) | Self::Compare { track, .. } => {
                track.linked.is_some()
            }
        }
    }

    fn holds(&self, entity: &EntityView<'_>, view: &Visible, walk: &mut Walk<'_>) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(entity, view, walk)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(entity, view, walk)),
            Self::Exists(track) => track.each(entity, view, walk, &mut |_| true),
            Self::Missing(track) => !track.each(entity, view, walk, &mut |_| true),
            Self::Compare { track, test, negated: false } => {
                track.each(entity, view, walk, &mut |target| test.holds(target))
            }
            Self::Compare { track, test, negated: true } => {
                let mut somewhere = false;
                let held = track.each(entity, view, walk, &mut |target| {
                    somewhere |= test.applies(target);
                    test.holds(target)
                });
                somewhere && !held
            }
        }
    }
}

impl Node {
    fn leaves(&self) -> usize {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::leaves).sum(),
            Self::Exists(_) | Self::Missing(_) | Self::Compare { .. } => 1,
        }
    }

    /// Takes in a piece of an entity. Cost: that of [`Self::holds`]; nothing where it was met already.
    fn show(
        &self,
        piece: &EntityView<'_>,
        view: &Visible,
        walk: &mut Walk<'_>,
        leaves: &mut std::slice::IterMut<'_, Leaf>,
    ) {
        if let Self::And(parts) | Self::Or(parts) = self {
            parts.iter().for_each(|part| part.show(piece, view, walk, leaves));
            return;
        }
        let leaf = leaves.next().expect("there is a leaf for each condition");
        if leaf.held {
            return;
        }
        match self {
            Self::And(_) | Self::Or(_) => {}
            Self::Exists(track) | Self::Missing(track) => {
                leaf.held = track.each(piece, view, walk, &mut |_| true);
            }
            Self::Compare { track, test, .. } => {
                let mut somewhere = false;
                leaf.held = track.each(piece, view, walk, &mut |target| {
                    somewhere |= test.applies(target);
                    test.holds(target)
                });
                leaf.somewhere |= somewhere;
            }
        }
    }

    fn verdict(
        &self,
        leaves: &mut std::slice::Iter<'_, Leaf>,
        is_over: &dyn Fn(TermId) -> bool,
    ) -> Option<bool> {
        let over = |track: &Track| track.nowhere || track.attribute.is_none_or(is_over);
        match self {
            // All parts, so that leaves are counted on.
            Self::And(parts) => {
                let mut verdict = Some(true);
                for part in parts {
                    verdict = all(verdict, part.verdict(leaves, is_over));
                }
                verdict
            }
            Self::Or(parts) => {
                let mut verdict = Some(false);
                for part in parts {
                    verdict = any(verdict, part.verdict(leaves, is_over));
                }
                verdict
            }
            Self::Exists(track) | Self::Compare { track, negated: false, .. } => {
                decided(next(leaves).held, over(track))
            }
            Self::Missing(track) => decided(next(leaves).held, over(track)).map(|held| !held),
            Self::Compare { track, negated: true, .. } => {
                let leaf = next(leaves);
                decided(leaf.held, over(track)).map(|held| !held && leaf.somewhere)
            }
        }
    }

    fn wants(&self, leaves: &mut std::slice::Iter<'_, Leaf>, attribute: TermId) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                let mut wants = false;
                for part in parts {
                    wants |= part.wants(leaves, attribute);
                }
                wants
            }
            Self::Exists(track) | Self::Missing(track) | Self::Compare { track, .. } => {
                let held = next(leaves).held;
                !held && !track.nowhere && track.attribute == Some(attribute)
            }
        }
    }
}

/// Shown what a path leads to, says whether to stop.
type See<'s> = &'s mut dyn FnMut(Target<'_>) -> bool;

impl Track {
    pub(crate) fn new(path: &Path) -> Self {
        let linked = path.linked.as_ref().map(|path| Box::new(LinkedTrack::new(path)));
        let entity_meta = path.meta.is_some() && path.members.is_empty() && path.linked.is_none();
        Self {
            nowhere: path.members.contains(&None) || (path.attribute.is_none() && !entity_meta),
            attribute: path.attribute,
            members: path.members.iter().flatten().copied().collect(),
            meta: path.meta,
            json: path.json.clone(),
            linked,
        }
    }

    /// Shows `see` everything the path leads to, until it says to stop; answers whether it did.
    pub fn each(&self, entity: &EntityView<'_>, view: &Visible, walk: &mut Walk<'_>, see: See<'_>) -> bool {
        if self.nowhere {
            return false;
        }
        let Some(name) = self.attribute else {
            return match self.meta {
                Some(Meta::CreatedAt) => see(Target::Time(entity.created_at())),
                Some(Meta::ModifiedAt) => see(Target::Time(entity.modified_at())),
                _ => false,
            };
        };
        let Some(attribute) = entity.attribute(name) else {
            return false;
        };
        attribute
            .instances()
            .filter(|instance| view.counts(instance))
            .any(|instance| self.members_of(&instance, &self.members, view, walk, see))
    }

    fn members_of(
        &self,
        instance: &InstanceView<'_>,
        members: &[TermId],
        view: &Visible,
        walk: &mut Walk<'_>,
        see: See<'_>,
    ) -> bool {
        let Some((name, rest)) = members.split_first() else {
            return match &self.linked {
                Some(linked) => linked.each(instance, view, walk, see),
                None => {
                    walk.pace.spend(1 + instance.value().len() / BYTES_A_STEP)
                        && self.in_instance(instance, see)
                }
            };
        };
        let Some(member) = instance.member(*name) else {
            return false;
        };
        member
            .instances()
            .filter(|instance| view.lives(instance))
            .any(|instance| self.members_of(&instance, rest, view, walk, see))
    }

    fn in_instance(&self, instance: &InstanceView<'_>, see: See<'_>) -> bool {
        match self.meta {
            Some(Meta::CreatedAt) => see(Target::Time(instance.created_at())),
            Some(Meta::ModifiedAt) => see(Target::Time(instance.modified_at())),
            Some(Meta::ObservedAt) => instance.observed_at().is_some_and(|time| see(Target::Time(time))),
            Some(Meta::UnitCode) => instance.unit_code().is_some_and(|unit| see(Target::Text(unit))),
            Some(Meta::DatasetId) => instance.dataset().is_some_and(|dataset| see(Target::Text(dataset))),
            None => self.in_value(instance, see),
        }
    }

    fn in_value(&self, instance: &InstanceView<'_>, see: See<'_>) -> bool {
        let kind = instance.kind();
        let see = &mut |value: &str| {
            see(match kind {
                Kind::JsonProperty | Kind::GeoProperty | Kind::LanguageProperty => Target::Plain(value),
                Kind::Relationship | Kind::ListRelationship => Target::Link(value),
                Kind::Property | Kind::VocabProperty | Kind::ListProperty => Target::Json(value),
            })
        };
        match (kind, self.json.as_slice()) {
            (Kind::LanguageProperty, []) => each_language(instance.value(), "*", see),
            (Kind::LanguageProperty, [tag]) => each_language(instance.value(), tag, see),
            (Kind::LanguageProperty, _) => false,
            (_, path) => each_at(instance.value(), path, see),
        }
    }
}

impl LinkedTrack {
    fn new(linked: &LinkedPath) -> Self {
        Self { types: linked.types.clone(), track: Track::new(&linked.path) }
    }

    /// Continues in the entities that a Relationship points to.
    fn each(&self, instance: &InstanceView<'_>, view: &Visible, walk: &mut Walk<'_>, see: See<'_>) -> bool {
        if !matches!(instance.kind(), Kind::Relationship | Kind::ListRelationship) {
            return false;
        }
        let beyond = Visible { datasets: Vec::new(), now: view.now };
        each_scalar(instance.value(), false, &mut |target| {
            let Some(id) = text_of(target) else {
                return false;
            };
            let Some(found) = walk.links.held.get(&*id) else {
                walk.links.wanted.push(id.into());
                return false;
            };
            let Some(bytes) = found.clone() else {
                return false;
            };
            EntityView::peek(&bytes).is_ok_and(|entity| {
                !is_expired(entity.expires_at(), view.now)
                    && self.is_of_type(&entity)
                    && self.track.each(&entity, &beyond, walk, see)
            })
        })
    }

    fn is_of_type(&self, entity: &EntityView<'_>) -> bool {
        self.types.is_empty() || entity.types().any(|held| self.types.contains(&Some(held)))
    }
}

#[cfg(test)]
mod tests;
