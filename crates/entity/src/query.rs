//! Queries as typed trees. Front ends parse their own syntax into these; names are resolved to
//! terms there: a name no entity of the tenant ever used is `None`, and matches nothing.
//!
//! A query goes `plan.rs` (which index rows lead to its matches), `run.rs` (reads them through
//! `stream.rs`, looks the entities up, keeps the page, or the first in an order: `order.rs`, `collation.rs`), `eval.rs`
//! (whether an entity matches: `value.rs`, `select.rs`, `shape.rs`, `relation.rs`). `cells.rs` numbers places.

mod collation;
pub mod moment;
mod wanted;
mod values;
mod value;
pub(crate) mod relation;
mod shape;
mod select;
pub mod eval;
pub mod order;
pub mod plan;

use regex::Regex;
use smallvec::SmallVec;
use store::{Deadline, Timestamp};

pub use collation::Collation;

use crate::TermId;

/// Which entities, in which order, and how many. All given parts must match.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Any of these ids; empty: any id.
    pub ids: Vec<Box<str>>,
    /// A pattern somewhere in the id (as in NGSI-LD and NGSIv2: unanchored). Patterns are made by
    /// `Regex::new`, without options beside their text: the planner reads how they start.
    pub id_pattern: Option<Regex>,
    /// The types.
    pub types: Option<TypeQuery>,
    /// Selected by any of these, beside `ids`, `id_pattern` and `types`; empty: any entity.
    pub selectors: Vec<Selector>,
    /// Has at least one of these attributes, of whatever datasetId; empty: whatever attributes.
    pub attributes: Vec<Option<TermId>>,
    /// Attribute values.
    pub filter: Option<Filter>,
    /// Scopes.
    pub scopes: Option<ScopeQuery>,
    /// Geometry.
    pub geo: Option<GeoQuery>,
    /// Only instances of these datasetIds count for conditions and order ("@none" as `None`); empty: all instances.
    pub datasets: Vec<Option<Box<str>>>,
    /// By id where empty.
    pub order: Order,
    /// In which order texts come; `None`: that of the root collation.
    pub collation: Option<Collation>,
    /// How many matches to pass over.
    pub offset: usize,
    /// How many matches to give at the most; 0 gives none (for counting).
    pub limit: usize,
    /// The page ends with the match that makes it so large, as they are stored; `None`: whatever its size.
    pub page_bytes_max: Option<usize>,
    /// Whether to count all matches.
    pub count: bool,
    /// The time against which transient entities and instances are expired.
    pub now: Timestamp,
    /// Until when it may go on.
    pub deadline: Deadline,
}

/// A selection of entities (NGSI-LD 5.2.33): all given parts must match.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    /// Any of these ids; empty: any id.
    pub ids: Vec<Box<str>>,
    /// A pattern somewhere in the id, as in [`Query::id_pattern`].
    pub id_pattern: Option<Regex>,
    /// The types; `None`: any.
    pub types: Option<TypeQuery>,
}

/// A type selection (NGSI-LD 4.17): `A`, `A,B` / `A|B` (any), `A;B` (all), parentheses.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeQuery {
    /// Has this type.
    Is(Option<TermId>),
    /// Any of them.
    Any(Vec<TypeQuery>),
    /// All of them.
    All(Vec<TypeQuery>),
}

/// A scope selection (NGSI-LD 4.19).
#[derive(Clone, Debug, PartialEq)]
pub enum ScopeQuery {
    /// A scope pattern as its levels: a name; `+` for any one level; a last `#` for this and all below.
    /// `/#` alone (only `#`) is any scope at all.
    Matches(Vec<Box<str>>),
    /// Any of them.
    Any(Vec<ScopeQuery>),
    /// All of them.
    All(Vec<ScopeQuery>),
}

/// Conditions on attribute values (NGSI-LD 4.9; NGSIv2 simple query language).
#[derive(Clone, Debug)]
pub enum Filter {
    /// All of them.
    And(Vec<Filter>),
    /// Any of them.
    Or(Vec<Filter>),
    /// The path leads somewhere.
    Exists(Path),
    /// The path leads nowhere (NGSIv2 `!attr`).
    Missing(Path),
    /// A comparison of what the path leads to. True if any instance and any element satisfies it;
    /// negated comparisons are true where the path leads somewhere (`NotMatch`: to a text) and no
    /// value there equals or matches any operand. Relationships are equal or not, and satisfy no
    /// other comparison.
    Compare(Path, Comparison, Operand),
}

impl TypeQuery {
    /// All types it names; what it selects has one of them at least.
    pub fn named(&self) -> Vec<TermId> {
        match self {
            Self::Is(name) => name.iter().copied().collect(),
            Self::Any(parts) | Self::All(parts) => parts.iter().flat_map(Self::named).collect(),
        }
    }
}

impl Filter {
    /// The attributes that its paths begin with.
    pub fn attributes(&self) -> Vec<TermId> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::attributes).collect(),
            Self::Exists(path) | Self::Missing(path) | Self::Compare(path, ..) => {
                path.attribute.into_iter().collect()
            }
        }
    }

    /// How many Relationships its paths follow one after the other, at the most.
    pub fn link_depth(&self) -> usize {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::link_depth).max().unwrap_or(0),
            Self::Exists(path) | Self::Missing(path) | Self::Compare(path, ..) => path.link_depth(),
        }
    }
}

/// Where in an entity: attribute, sub-attributes, then members inside of the JSON value.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The attribute. Without attribute and members, `meta` is the entity's own: a front end that meets
    /// `unknown.createdAt` asks for `Filter::Or(vec![])`, which nothing matches.
    pub attribute: Option<TermId>,
    /// Sub-attributes on the way, outermost first. Front ends give the names of temporal and unit
    /// members through `meta` instead.
    pub members: Vec<Option<TermId>>,
    /// A member of the instance that is no attribute.
    pub meta: Option<Meta>,
    /// Members inside of the JSON value (trailing path `[a.b]`; a language tag of a
    /// LanguageProperty, `*` for any language).
    pub json: Vec<Box<str>>,
    /// Continue in the entity the Relationship points to (`attribute{…}`).
    pub linked: Option<Box<LinkedPath>>,
}

/// A path in an entity that a Relationship points to.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedPath {
    /// The entity must have one of these types; empty: whatever types.
    pub types: Vec<Option<TermId>>,
    /// Where in it.
    pub path: Path,
}

impl Path {
    /// How many Relationships are followed.
    pub fn link_depth(&self) -> usize {
        self.linked.as_ref().map_or(0, |linked| linked.path.link_depth() + 1)
    }
}

/// Members of an entity or instance that can be compared and are no attributes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Meta {
    /// When it was created. With no attribute in the path: the entity's.
    CreatedAt,
    /// When it was last changed. With no attribute in the path: the entity's.
    ModifiedAt,
    /// When it was observed.
    ObservedAt,
    /// The unit.
    UnitCode,
    /// The datasetId.
    DatasetId,
}

/// How to compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `~=`
    Match,
    /// `!~=`
    NotMatch,
}

/// What to compare with.
#[derive(Clone, Debug)]
pub enum Operand {
    /// Any of these values (one, for ordering comparisons).
    Values(SmallVec<[Scalar; 1]>),
    /// From the first to the second, both included.
    Range(Scalar, Scalar),
    /// A pattern somewhere in the text.
    Pattern(Regex),
}

/// A value in a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A number.
    Number(f64),
    /// A text or URI.
    Text(Box<str>),
    /// `true` or `false`.
    Bool(bool),
    /// A date-time: compares with texts and typed values that denote a time.
    Time(Timestamp),
    /// A date or time of day as text: compares lexically with texts.
    TimeText(Box<str>),
    /// NGSIv2 `null`.
    Null,
}

/// A geo-query (NGSI-LD 4.10).
#[derive(Clone, Debug)]
pub struct GeoQuery {
    /// The GeoProperty; `None`: a name that is nowhere used.
    pub attribute: Option<TermId>,
    /// How the entity's geometry must lie to the given one.
    pub relation: GeoRelation,
    /// The given geometry, WGS 84 longitude and latitude.
    pub geometry: geo::Geometry<f64>,
}

/// How geometries lie to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeoRelation {
    /// No farther than so many metres, and no nearer than so many, along the great circle.
    Near {
        /// At most so far.
        max: Option<f64>,
        /// At least so far.
        min: Option<f64>,
    },
    /// The entity's lies within the given one.
    Within,
    /// The entity's contains the given one.
    Contains,
    /// They share a point.
    Intersects,
    /// They are the same.
    Equals,
    /// They share no point.
    Disjoint,
    /// They overlap (share some, but not all, of each, in their own dimension).
    Overlaps,
}

/// In which order; by id after the keys.
pub type Order = Vec<OrderBy>;

/// One key of the order.
#[derive(Clone, Debug)]
pub struct OrderBy {
    /// By what.
    pub key: OrderKey,
    /// Greatest first.
    pub descending: bool,
}

/// What to order by. Entities that lack it come last.
#[derive(Clone, Debug)]
pub enum OrderKey {
    /// The entity's id, by its characters' codes.
    Id,
    /// The entity's first type, by IRI.
    Type,
    /// Of the entity's scopes the one that comes first.
    Scope,
    /// A value, in an entity itself: links are not followed.
    Value(Path),
    /// The distance in metres between a GeoProperty and a geometry; behind all that have one, those whose attribute is none,
    /// by its value.
    Distance(Option<TermId>, geo::Geometry<f64>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_know_how_far_they_reach() {
        let and = Filter::And(vec![
            crate::testing::query::filter("a == 1"),
            crate::testing::query::filter("a{b{c}} == 1"),
        ]);
        for (filter, expected) in [
            (crate::testing::query::filter("a.b[c]"), 0),
            (crate::testing::query::filter("!a{b}"), 1),
            (and, 2),
            (Filter::Or(Vec::new()), 0),
        ] {
            assert_eq!(filter.link_depth(), expected, "{filter:?}");
        }
    }
}
