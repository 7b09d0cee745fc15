//! How a query finds its elements: which rows are walked, and what of them is checked on the elements.
//!
//! A plan has a stage for each label that can have matches, walked one after the other. A stage has one access path or several, each of which finds all
//! matches of the label, and finds others, too: every condition is checked on the element.

mod error;
mod served;
mod within;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use store::Range;
use xxhash_rust::xxh3::Xxh3;

pub use self::error::PlanError;
use crate::admit::name_of;
use crate::condition::{Condition, Test};
use crate::id::{join_names, primary_key_id};
use crate::keys::SortValues;
use crate::schema::{EdgeLabel, EdgeLabelKind, IdStrategy, IndexLabel, Label, Schema, VertexLabel};
use crate::{EdgeDirection, LabelId, PropertyKeyId, Scalar, VertexId, keys};

/// The most elements of labels without an index that a query over all labels looks at.
pub const UNINDEXED_ELEMENTS_MAX: usize = 100_000;

/// What is asked of vertices or edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Of which label; `None`: of any.
    pub label: Option<LabelId>,
    /// What properties must be; all of these.
    pub conditions: Vec<Condition>,
}

/// The rows that an access path walks.
#[derive(Clone, Debug, PartialEq)]
pub enum Walked {
    /// Vertices.
    Vertices,
    /// Rows that find vertices by label.
    Label,
    /// Edges, at one of their ends.
    Edges,
    /// Rows that point at edges of other buckets.
    Pointers,
    /// Rows of an index.
    Index {
        /// The index.
        index: Arc<IndexLabel>,
        /// By which of the rows in the ranges an element is found.
        finding: Finding,
    },
}

/// By which rows of an index, of those in the ranges of a path, an element that matches is found. Rows may be left over of values that it had
/// (`model-graph/src/load.rs`): it is found by one row alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finding {
    /// By the only one that it can have: the ranges have one value of each field.
    Only,
    /// By the one of its values.
    OfValues,
    /// By the first one of its values: it may have several.
    First,
}

/// Rows that find, among others, all matches of a label.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPath {
    /// Which rows.
    pub walked: Walked,
    /// Ranges of them, in order and apart from each other.
    pub ranges: Vec<Range>,
    /// The more, the fewer rows there will be, as far as can be told without a look.
    weight: u32,
}

/// Whose elements a stage finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wanted {
    /// Vertices of any label.
    AnyVertex,
    /// Vertices of a label.
    Vertex(LabelId),
    /// Edges of any label.
    AnyEdge,
    /// Edges made with a label.
    Edge(LabelId),
    /// Edges of a parent label, made with any of its sub labels.
    EdgeOfParent(LabelId),
}

/// A part of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Whose elements are wanted; others are passed over.
    pub wanted: Wanted,
    /// What is checked on elements.
    pub conditions: Vec<Condition>,
    /// Ways to find them; the one that seems best first, at least one.
    pub paths: Vec<AccessPath>,
    /// The vertex whose edges they are: only its bucket is walked.
    pub vertex: Option<VertexId>,
    /// The most elements that it looks at, and the refusal behind that.
    pub bound: Option<(usize, PlanError)>,
}

impl Stage {
    fn new(wanted: Wanted, conditions: Vec<Condition>, paths: Vec<AccessPath>) -> Self {
        Self { wanted, conditions, paths, vertex: None, bound: None }
    }
}

impl AccessPath {
    fn of(walked: Walked, range: Range) -> Self {
        Self { walked, ranges: vec![range], weight: 0 }
    }
}

/// Plans a query of vertices. Cost: linear in the labels, indexes and conditions.
///
/// # Errors
///
/// [`PlanError`], if no index serves it.
pub fn plan_vertices(schema: &Schema, query: &Query) -> Result<Vec<Stage>, PlanError> {
    let conditions = &query.conditions[..];
    match query.label {
        None if conditions.is_empty() => {
            let path = AccessPath::of(Walked::Vertices, keys::vertices_range());
            Ok(vec![Stage::new(Wanted::AnyVertex, Vec::new(), vec![path])])
        }
        None => served_of_all(schema, schema.vertex_labels().map(Part::Vertex), query),
        Some(id) => {
            let Some(label) = schema.vertex_label(id) else { return Ok(Vec::new()) };
            let part = Part::Vertex(label);
            match conditions {
                [] => Ok(vec![part.whole(Vec::new())]),
                _ => part.served(schema, conditions).map(|stage| vec![stage]),
            }
        }
    }
}

/// Plans a query of edges. Cost: linear in the labels, indexes and conditions.
///
/// # Errors
///
/// [`PlanError`], if no index serves it.
pub fn plan_edges(schema: &Schema, query: &Query) -> Result<Vec<Stage>, PlanError> {
    let conditions = &query.conditions[..];
    match query.label {
        None if conditions.is_empty() => {
            let path = AccessPath::of(Walked::Edges, keys::all_edges_range(EdgeDirection::Out));
            Ok(vec![Stage::new(Wanted::AnyEdge, Vec::new(), vec![path])])
        }
        None => {
            // Edges of a parent are those of its sub labels.
            let labels = schema.edge_labels().filter(|label| label.kind != EdgeLabelKind::Parent);
            served_of_all(schema, labels.map(|label| Part::Edge(schema, label)), query)
        }
        Some(id) => {
            let Some(label) = schema.edge_label(id) else { return Ok(Vec::new()) };
            match (label.kind, conditions) {
                (_, []) => Ok(vec![Part::Edge(schema, label).whole(Vec::new())]),
                (EdgeLabelKind::Parent, _) => {
                    let parts = schema.sub_labels(id).map(|label| Part::Edge(schema, label));
                    served_of_all(schema, parts, query)
                }
                _ => Part::Edge(schema, label).served(schema, conditions).map(|stage| vec![stage]),
            }
        }
    }
}

/// Plans a query of the edges of a vertex, in one or both directions. Cost: constant.
pub fn plan_neighbourhood(
    schema: &Schema,
    vertex: &VertexId,
    directions: &[EdgeDirection],
    query: &Query,
) -> Vec<Stage> {
    let label = query.label.map(|id| schema.edge_label(id));
    let (wanted, key_label) = match label {
        None => (Wanted::AnyEdge, None),
        Some(None) => return Vec::new(),
        Some(Some(label)) => (wanted_of(label), Some(label.key_label())),
    };
    let vertex_key = vertex.to_key();
    let sorted = label.flatten().and_then(|label| by_sort_keys(label, &query.conditions));
    let stage = |(direction, walked)| {
        let range = match (&sorted, key_label) {
            (Some((sub_label, sort_values)), Some(label)) => {
                keys::sorted_edges_range(&vertex_key, direction, (label, *sub_label), sort_values)
            }
            _ => keys::edges_range(&vertex_key, direction, key_label),
        };
        let stage = Stage::new(wanted, query.conditions.clone(), vec![AccessPath::of(walked, range)]);
        Stage { vertex: Some(vertex.clone()), ..stage }
    };
    let walks = directions.iter().flat_map(|direction| match direction {
        EdgeDirection::Out => vec![(*direction, Walked::Edges)],
        EdgeDirection::In => vec![(*direction, Walked::Edges), (*direction, Walked::Pointers)],
    });
    walks.map(stage).collect()
}

/// The label of edges, and what their sort values begin with, where conditions say so: of all sort keys or of some of the first.
fn by_sort_keys(label: &EdgeLabel, conditions: &[Condition]) -> Option<(LabelId, SortValues)> {
    if label.kind == EdgeLabelKind::Parent {
        return None;
    }
    let names: Vec<_> = label.sort_keys.iter().map_while(|key| name_asked(conditions, *key)).collect();
    let is_whole = names.len() == label.sort_keys.len();
    match (names.len(), is_whole) {
        (0, _) => None,
        (_, true) => Some((label.id, SortValues::Whole(join_names(names).into_owned()))),
        // Joined with an empty one, they end with a separator.
        (_, false) => {
            let begin = join_names(names.into_iter().chain([Cow::Borrowed("")]));
            Some((label.id, SortValues::Begin(begin.into_owned())))
        }
    }
}

/// The value that a property must have, as ids and sort values spell it.
fn name_asked(conditions: &[Condition], key: PropertyKeyId) -> Option<Cow<'_, str>> {
    // Zero is equal to minus zero, which is spelled otherwise.
    let is_zero = |value: &Scalar| {
        matches!(value, Scalar::Float(_) | Scalar::Double(_)) && value.as_ref().to_f64() == Some(0.0)
    };
    conditions.iter().find_map(|condition| match &condition.test {
        Test::Equal(value) if condition.key == key && !is_zero(value) => Some(name_of(value.as_ref())),
        _ => None,
    })
}

fn wanted_of(label: &EdgeLabel) -> Wanted {
    match label.kind {
        EdgeLabelKind::Parent => Wanted::EdgeOfParent(label.id),
        EdgeLabelKind::Normal | EdgeLabelKind::Sub | EdgeLabelKind::General => Wanted::Edge(label.id),
    }
}

/// A label in a query.
#[derive(Clone, Copy)]
enum Part<'a> {
    Vertex(&'a Arc<VertexLabel>),
    Edge(&'a Schema, &'a Arc<EdgeLabel>),
}

impl Part<'_> {
    fn label(&self) -> &Label {
        match self {
            Self::Vertex(label) => label,
            Self::Edge(_, label) => label,
        }
    }

    fn wanted(&self) -> Wanted {
        match self {
            Self::Vertex(label) => Wanted::Vertex(label.id),
            Self::Edge(_, label) => wanted_of(label),
        }
    }

    /// All of its elements.
    fn whole(&self, conditions: Vec<Condition>) -> Stage {
        let path = match self {
            Self::Vertex(label) if label.id_strategy == IdStrategy::PrimaryKey => {
                AccessPath::of(Walked::Vertices, keys::primary_key_range(label.id))
            }
            Self::Vertex(label) => AccessPath::of(Walked::Label, keys::label_range(label.id)),
            Self::Edge(schema, label) => {
                let mut ranges: Vec<_> = edge_ranges(schema, label);
                ranges.sort_unstable_by(|one, two| one.start.cmp(&two.start));
                ranges.dedup();
                AccessPath { walked: Walked::Edges, ranges, weight: 0 }
            }
        };
        Stage::new(self.wanted(), conditions, vec![path])
    }

    /// Its elements that match conditions, found by an index.
    fn served(&self, schema: &Schema, conditions: &[Condition]) -> Result<Stage, PlanError> {
        let label = self.label();
        let conditions = by_words(label, conditions);
        let mut paths: Vec<_> = match self {
            Self::Vertex(label) => by_primary_keys(label, &conditions).into_iter().collect(),
            Self::Edge(..) => Vec::new(),
        };
        let complete = label.indexes.iter().filter(|index| index.is_complete());
        paths.extend(complete.filter_map(|index| served::path_of(schema, index, &conditions)));
        paths.sort_by_key(|path| std::cmp::Reverse(path.weight));
        if !paths.is_empty() {
            return Ok(Stage::new(self.wanted(), conditions, paths));
        }
        let building =
            label.indexes.iter().find(|index| served::path_of(schema, index, &conditions).is_some());
        match building {
            Some(index) => Err(PlanError::NotReady { index: (*index.name).into(), status: index.status }),
            None => Err(PlanError::no_index(schema, &conditions, Some(label))),
        }
    }
}

/// A stage for each label whose elements have the properties: served by an index, or walked whole up to a bound. At least one must be served.
fn served_of_all<'a>(
    schema: &Schema,
    parts: impl Iterator<Item = Part<'a>>,
    query: &Query,
) -> Result<Vec<Stage>, PlanError> {
    let (mut stages, mut rest, mut first_refusal) = (Vec::new(), Vec::new(), None);
    for part in parts {
        let has_all = query.conditions.iter().all(|condition| part.label().has_property(condition.key));
        if !has_all {
            continue;
        }
        match part.served(schema, &query.conditions) {
            Ok(stage) => stages.push(stage),
            Err(refusal @ PlanError::NotReady { .. }) => return Err(refusal),
            Err(refusal) => {
                let conditions = by_words(part.label(), &query.conditions);
                let bound = Some((UNINDEXED_ELEMENTS_MAX, refusal.clone()));
                rest.push(Stage { bound, ..part.whole(conditions) });
                first_refusal.get_or_insert(refusal);
            }
        }
    }
    if stages.is_empty() {
        let label = query.label.and_then(|id| schema.edge_label(id)).map(|label| &label.label);
        return Err(PlanError::no_index(schema, &query.conditions, label));
    }
    stages.extend(rest);
    Ok(stages)
}

/// The conditions as they are checked on elements of a label: texts that a SEARCH index serves are compared by words.
fn by_words(label: &Label, conditions: &[Condition]) -> Vec<Condition> {
    let is_searched = |condition: &Condition| {
        label.indexes.iter().any(|index| served::is_search(index) && *index.fields == [condition.key])
    };
    let by_words = |condition: &Condition| match condition.test.by_words() {
        Some(test) if is_searched(condition) => Condition { key: condition.key, test },
        _ => condition.clone(),
    };
    conditions.iter().map(by_words).collect()
}

/// The one vertex whose primary keys have the values that are asked for.
fn by_primary_keys(label: &VertexLabel, conditions: &[Condition]) -> Option<AccessPath> {
    if label.id_strategy != IdStrategy::PrimaryKey {
        return None;
    }
    let names = label.primary_keys.iter().map(|key| name_asked(conditions, *key));
    let names: Vec<_> = names.collect::<Option<_>>()?;
    let id = primary_key_id(label.id.0, &join_names(names));
    let start = keys::vertex(&VertexId::Text(id.into()));
    let end = Some([&start[..], &[0]].concat().into());
    Some(AccessPath { weight: u32::MAX, ..AccessPath::of(Walked::Vertices, Range { start, end }) })
}

/// Where the edges of a label lie, at their sources: of labels with primary keys all together.
fn edge_ranges(schema: &Schema, label: &EdgeLabel) -> Vec<Range> {
    let all = || vec![keys::all_edges_range(EdgeDirection::Out)];
    let links = match label.kind {
        EdgeLabelKind::Normal | EdgeLabelKind::Sub | EdgeLabelKind::General => label.links.to_vec(),
        EdgeLabelKind::Parent => schema.sub_labels(label.id).flat_map(|sub| sub.links.to_vec()).collect(),
    };
    let mut ranges = Vec::new();
    for link in links {
        match schema.vertex_label(link.source) {
            Some(source) if source.id_strategy == IdStrategy::PrimaryKey => {
                ranges.push(keys::edges_of_primary_key_range(link.source, EdgeDirection::Out));
            }
            _ => return all(),
        }
    }
    ranges
}

/// A number that differs, most likely, where plans differ: what goes on with a page of another query is told by it. Cost: linear in the plan.
pub fn fingerprint(stages: &[Stage]) -> u64 {
    let mut hasher = Xxh3::new();
    for stage in stages {
        hasher.update(format!("{:?}{:?}{:?}", stage.wanted, stage.vertex, stage.conditions).as_bytes());
        for path in &stage.paths {
            let walked: &[u8] = match &path.walked {
                Walked::Vertices => b"v",
                Walked::Label => b"L",
                Walked::Edges => b"e",
                Walked::Pointers => b"E",
                Walked::Index { .. } => b"X",
            };
            hasher.update(walked);
            for range in &path.ranges {
                hasher.update(&range.start.len().to_le_bytes());
                hasher.update(&range.start);
                if let Some(end) = &range.end {
                    hasher.update(end);
                }
            }
        }
    }
    hasher.digest()
}
