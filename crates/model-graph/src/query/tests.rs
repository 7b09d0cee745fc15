//! Random schemas, elements and queries, on every access path: what is found is what a look at all elements finds.

mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use graph::admit::Admission;
use graph::analyse::Words;
use graph::condition::{Condition, Test};
use graph::index::put_index_rows;
use graph::plan::{PlanError, Query, Stage, plan_edges, plan_neighbourhood, plan_vertices};
use graph::schema::{
    Creation, EdgeLabelDraft, Frequency, IdStrategy, IndexBase, IndexKind, IndexLabelDraft, LabelDraft,
    Outcome, PropertyKeyDraft, Schema, SchemaError, SchemaKind, SchemaStatus, VertexLabelDraft,
};
use graph::{
    Cardinality, DataType, Edge, EdgeDirection, EdgeId, GraphMode, LabelId, Properties, PropertiesBuilder,
    PropertiesRef, Scalar, Value, Vertex, VertexId,
};
use proptest::prelude::*;
use store::{Append, Clock, Commit, Deadline, Store, Tenant, Timestamp, Write, WriteIds};

use super::*;
use crate::{ReaderContext, VisibleLabels};

const NOW_MS: i64 = 1_000;
const CREATION: Creation<'_> = Creation { graph: "hugegraph", mode: GraphMode::None, created: "\"now\"" };
/// Name, type and cardinality of the properties that every label has.
const KEYS: [(&str, DataType, Cardinality); 5] = [
    ("text", DataType::Text, Cardinality::Single),
    ("int", DataType::Int, Cardinality::Single),
    ("date", DataType::Date, Cardinality::Single),
    ("double", DataType::Double, Cardinality::Single),
    ("tags", DataType::Text, Cardinality::Set),
];

/// An index: whether of edges, its kind, its fields.
type DraftedIndex = (bool, IndexKind, Vec<usize>);

/// A part of a schema to be made.
#[derive(Clone, Debug)]
enum Draft {
    Key(PropertyKeyDraft),
    Vertex(VertexLabelDraft),
    Edge(EdgeLabelDraft),
    Index(IndexLabelDraft),
}

impl Draft {
    /// What it makes of a schema.
    fn apply(&self, schema: &Schema, creation: &Creation<'_>) -> Result<Outcome<()>, SchemaError> {
        fn without_part<T>(outcome: Outcome<T>) -> Outcome<()> {
            Outcome { part: Arc::new(()), change: outcome.change }
        }
        match self {
            Self::Key(draft) => schema.create_property_key(draft, creation).map(without_part),
            Self::Vertex(draft) => schema.create_vertex_label(draft, creation).map(without_part),
            Self::Edge(draft) => schema.create_edge_label(draft, creation).map(without_part),
            Self::Index(draft) => schema.create_index_label(draft, creation).map(without_part),
        }
    }
}

/// Property keys and labels.
fn labels() -> Vec<Draft> {
    let key = |(name, data_type, cardinality): &(&str, DataType, Cardinality)| {
        Draft::Key(PropertyKeyDraft {
            data_type: *data_type,
            cardinality: *cardinality,
            ..PropertyKeyDraft::named(name)
        })
    };
    let names = |keys: &[(&str, DataType, Cardinality)]| {
        keys.iter().map(|(name, ..)| (*name).into()).collect::<Vec<Box<str>>>()
    };
    // The first properties make up ids and sort values.
    let label = |name: &str, needed: usize| {
        let (properties, nullable_keys) = (names(&KEYS), names(&KEYS[needed..]));
        LabelDraft { properties, nullable_keys, ..LabelDraft::named(name) }
    };
    let vertex = |(name, id_strategy, needed): (&str, IdStrategy, usize)| {
        let primary_keys = names(&KEYS[..needed]);
        Draft::Vertex(VertexLabelDraft { label: label(name, needed), id_strategy, primary_keys })
    };
    let edge = |(name, needed): (&str, usize)| {
        let links = vec![("one".into(), "two".into())];
        let sort_keys = names(&KEYS[..needed]);
        let frequency = (needed > 0).then_some(Frequency::Multiple);
        let label = label(name, needed);
        Draft::Edge(EdgeLabelDraft { label, links, frequency, sort_keys, ..EdgeLabelDraft::named(name) })
    };
    let vertices = [
        ("one", IdStrategy::CustomizeString, 0),
        ("two", IdStrategy::CustomizeNumber, 0),
        ("bare", IdStrategy::Automatic, 0),
        ("named", IdStrategy::PrimaryKey, 2),
    ];
    let edges = [("knows", 0), ("likes", 0), ("rated", 2)];
    let labels = vertices.into_iter().map(vertex).chain(edges.into_iter().map(edge));
    KEYS.iter().map(key).chain(labels).collect()
}

fn index_drafts(indexes: &[DraftedIndex]) -> Vec<Draft> {
    let draft = |(number, (is_edge, kind, fields)): (usize, &DraftedIndex)| {
        let base = match is_edge {
            true => (SchemaKind::EdgeLabel, ["knows", "likes", "rated"][number % 3]),
            false => (SchemaKind::VertexLabel, ["one", "two", "named"][number % 3]),
        };
        Draft::Index(IndexLabelDraft {
            base: Some((base.0, base.1.into())),
            index_kind: Some(*kind),
            fields: fields.iter().map(|field| KEYS[*field].0.into()).collect(),
            ..IndexLabelDraft::named(&format!("index{number}"))
        })
    };
    indexes.iter().enumerate().map(draft).collect()
}

fn schema(indexes: &[DraftedIndex]) -> Schema {
    let mut schema = Schema::default();
    for draft in labels() {
        schema = draft.apply(&schema, &CREATION).unwrap().change.unwrap().schema;
    }
    for draft in index_drafts(indexes) {
        // What the rules of schemas refuse is left out.
        if let Ok(outcome) = draft.apply(&schema, &CREATION) {
            schema = outcome.change.map_or(schema, |change| change.schema);
        }
    }
    let all: Vec<_> = schema.index_labels().map(|index| index.id).collect();
    let created = schema.set_index_status(&all, SchemaStatus::Created).map(|change| change.schema);
    created.unwrap_or(schema)
}

fn any_index() -> impl Strategy<Value = DraftedIndex> {
    let kinds = vec![IndexKind::Secondary, IndexKind::Range, IndexKind::Search, IndexKind::Shard];
    let fields = proptest::sample::subsequence((0..KEYS.len()).collect::<Vec<_>>(), 1..3).prop_shuffle();
    (any::<bool>(), proptest::sample::select(kinds), fields)
}

fn any_scalar(field: usize) -> BoxedStrategy<Scalar> {
    match KEYS[field].1 {
        DataType::Int => (0..2_i32).prop_map(Scalar::Int).boxed(),
        DataType::Date => (-1..2_i64).prop_map(Scalar::Date).boxed(),
        DataType::Double => (-2..3_i8).prop_map(|it| Scalar::Double(f64::from(it) / 2.0)).boxed(),
        _ => "[ab]( [ab])?".prop_map(|text| Scalar::Text(text.into())).boxed(),
    }
}

/// Property values by field, of an element that has them or not.
fn any_properties() -> impl Strategy<Value = Properties> {
    let one = |field: usize| proptest::option::weighted(0.8, any_scalar(field).prop_map(Value::One));
    let tags = proptest::option::of(proptest::collection::vec(any_scalar(4), 0..3).prop_map(Value::Many));
    (one(0), one(1), one(2), one(3), tags).prop_map(|(text, int, date, double, tags)| {
        let mut builder = PropertiesBuilder::default();
        for (field, value) in [text, int, date, double, tags].iter().enumerate() {
            if let Some(value) = value {
                builder.put(graph::PropertyKeyId(u32::try_from(field).unwrap() + 1), KEYS[field].1, value);
            }
        }
        builder.finish()
    })
}

fn any_condition() -> impl Strategy<Value = Condition> {
    (0..KEYS.len()).prop_flat_map(|field| {
        let (a, b) = (any_scalar(field), any_scalar(field));
        let tests = (0..12, a, b).prop_map(|(kind, a, b)| match (kind, a) {
            (0, a) => Test::NotEqual(a),
            (1, a) => Test::Within(vec![a, b]),
            (2, a) => Test::HasAll(vec![a, b]),
            (3, a) => Test::Range(Bound::Included(a), Bound::Excluded(b)),
            (4, a) => Test::Range(Bound::Excluded(a), Bound::Unbounded),
            (5, a) => Test::Outside(a, b),
            (6, Scalar::Text(text)) => Test::TextContains(text),
            (_, a) => Test::Equal(a),
        });
        let key = graph::PropertyKeyId(u32::try_from(field).unwrap() + 1);
        tests.prop_map(move |test| Condition { key, test })
    })
}

fn any_conditions() -> impl Strategy<Value = Vec<Condition>> {
    let equal = |field: u32, value| Condition { key: graph::PropertyKeyId(field), test: Test::Equal(value) };
    let of_key = (any_scalar(0), any_scalar(1), any_condition(), 1..4_usize).prop_map(
        move |(text, int, third, count)| {
            [equal(1, text), equal(2, int), third].into_iter().take(count).collect()
        },
    );
    prop_oneof![2 => proptest::collection::vec(any_condition(), 0..3), 1 => of_key]
}

/// All elements: what is in the store, and what a look at all of them needs.
#[derive(Clone, Debug)]
struct Elements {
    vertices: Vec<Vertex>,
    edges: Vec<Edge>,
}

fn any_elements() -> impl Strategy<Value = Elements> {
    let expires = || proptest::sample::select(vec![None, None, Some(NOW_MS + 1), Some(NOW_MS)]);
    let vertex =
        (0..5_u32, 0..12_i64, expires(), any_properties()).prop_map(|(label, id, expires, properties)| {
            // Label 5 is not in the schema.
            let id = if label == 0 {
                VertexId::Text(format!("v{id}").into())
            } else {
                VertexId::Number(id * 4 + i64::from(label))
            };
            Vertex { id, label: LabelId(label + 1), expires, properties }
        });
    let edge = (1..4_u32, 0..4_i64, 0..4_i64, expires(), any_properties()).prop_map(
        |(label, source, target, expires, properties)| {
            let label = LabelId(label);
            let (source, target) =
                (VertexId::Text(format!("v{source}").into()), VertexId::Text(format!("v{target}").into()));
            let id = EdgeId { source, label, sub_label: label, sort_values: "".into(), target };
            Edge { id, expires, properties }
        },
    );
    let vertices = proptest::collection::btree_map(any::<u8>(), vertex, 0..25);
    let edges = proptest::collection::btree_map(any::<u8>(), edge, 0..25);
    (vertices, edges).prop_map(|(vertices, edges)| Elements {
        vertices: vertices.into_values().collect(),
        edges: edges.into_values().collect(),
    })
}

/// Those that a schema admits, with the ids that it gives them; each id once.
fn admitted(schema: &Schema, elements: &Elements) -> Elements {
    let admission = Admission { schema, now_ms: NOW_MS, takes_ids: true };
    let vertex = |it: &Vertex| {
        let label = schema.vertex_label(it.label).filter(|label| !label.primary_keys.is_empty());
        let id = label.map(|label| admission.vertex_id(label, None, it.properties.as_ref(), || 0));
        Some(Vertex { id: id.transpose().ok()?.unwrap_or_else(|| it.id.clone()), ..it.clone() })
    };
    let edge = |it: &Edge| {
        let (label, id) = (schema.edge_label(it.id.label)?, it.id.clone());
        let id = admission.edge_id(label, id.source, id.target, it.properties.as_ref()).ok()?;
        Some(Edge { id, ..it.clone() })
    };
    let vertices: BTreeMap<_, _> =
        elements.vertices.iter().filter_map(vertex).map(|it| (it.id.clone(), it)).collect();
    let edges: BTreeMap<_, _> =
        elements.edges.iter().filter_map(edge).map(|it| (it.id.clone(), it)).collect();
    Elements { vertices: vertices.into_values().collect(), edges: edges.into_values().collect() }
}

fn index_writes(schema: &Schema, base: IndexBase, row: &Bytes, properties: PropertiesRef<'_>) -> Vec<Write> {
    let mut rows = Vec::new();
    put_index_rows(schema.indexes_of(base), row, properties, &mut rows).unwrap();
    rows.into_iter().map(|row| Write::Put(row.key, row.value)).collect()
}

/// A store with these elements, and a reader of it.
async fn reader(store: &Store, schema: &Schema, elements: &Elements, buckets: u32) -> Reader {
    let mut writes: Vec<(u32, Write)> = Vec::new();
    let bucket_of = |id: &VertexId| keys::bucket_of_vertex(&id.to_key(), buckets);
    for it in &elements.vertices {
        let (bucket, row) = (bucket_of(&it.id), keys::vertex(&it.id));
        if it.label != LabelId(4) {
            writes.push((bucket, Write::Put(keys::label(it.label, &it.id), Bytes::new())));
        }
        let indexed = index_writes(schema, IndexBase::Vertex(it.label), &row, it.properties.as_ref());
        writes.extend(indexed.into_iter().map(|write| (bucket, write)));
        writes.push((bucket, Write::PutStamped(row, it.to_stored().into())));
    }
    for it in &elements.edges {
        let (bucket, row) = (bucket_of(&it.id.source), keys::edge(&it.id, EdgeDirection::Out));
        let indexed = index_writes(schema, IndexBase::Edge(it.id.sub_label), &row, it.properties.as_ref());
        writes.extend(indexed.into_iter().map(|write| (bucket, write)));
        if bucket_of(&it.id.target) == bucket {
            writes.push((bucket, Write::PutStamped(row, it.to_stored().into())));
            let row = keys::edge(&it.id, EdgeDirection::In);
            writes.push((bucket, Write::Put(row, it.to_stored().into())));
            continue;
        }
        writes.push((bucket, Write::PutStamped(row, it.to_stored_of_life(Some(7)).into())));
        // The one of life 3 points at nothing.
        let rows = [3, 7].map(|life| (keys::pointer(&it.id, life), Bytes::new())).into();
        let partition = keys::pointers_partition(&Tenant::default(), bucket_of(&it.id.target));
        let append = Append { partition, rows };
        while store.append(append.clone(), store.fence(&append.partition)).await.is_err() {}
    }
    let ids = WriteIds::new();
    for bucket in 0..buckets {
        let of_bucket =
            writes.iter().filter(|(of, _)| *of == bucket).map(|(_, write)| write.clone()).collect();
        let partition = keys::partition(&Tenant::default(), bucket);
        let (conditions, change, write_id) = (vec![], None, ids.next());
        let commit = Commit { partition, write_id, conditions, writes: of_bucket, change, reclaims: false };
        // The worst store does not carry out every commit.
        while store.commit_known(commit.clone()).await.is_err() {}
    }
    let visible = VisibleLabels::new(
        schema.vertex_labels().map(|label| label.id),
        schema.edge_labels().map(|label| label.id),
    );
    let (graph, visible) = (Tenant::default(), Arc::new(visible));
    Reader::new(store, ReaderContext { graph, buckets, visible, now: Timestamp(NOW_MS * 1_000) }).unwrap()
}

/// What is found, in order: by pages of `max` matches, each but the first from a token.
async fn found(reader: &Reader, stages: &[Stage], max: usize) -> Vec<String> {
    let (mut all, mut token): (Vec<String>, Option<Vec<u8>>) = (Vec::new(), None);
    loop {
        let stages = stages.to_vec();
        let mut matches = match &token {
            None => reader.matches(stages, Deadline::default()),
            Some(token) => reader.matches_from(stages, token, Deadline::default()).unwrap(),
        };
        let count = matches
            .next(max, |found| {
                all.push(match found {
                    Found::Vertex(vertex) => vertex.id().unwrap().to_string(),
                    Found::Edge(edge) => edge.key.to_id().unwrap().to_string(),
                });
            })
            .await
            .unwrap();
        token = matches.token();
        assert!(count == max || token.is_none(), "fewer only at the end");
        if token.is_none() {
            return all;
        }
    }
}

/// Whether an element is among what a query asks for.
fn is_expected(
    schema: &Schema,
    query: &Query,
    base: IndexBase,
    expires: Option<i64>,
    properties: PropertiesRef<'_>,
) -> bool {
    let is_searched = |condition: &Condition| {
        let mut indexes = schema.indexes_of(base).iter();
        indexes.any(|it| it.index_type.kind() == IndexKind::Search && *it.fields == [condition.key])
    };
    let matches = |condition: &Condition| match &condition.test {
        Test::TextContains(text) if is_searched(condition) => {
            let test = Test::Words(Words::of_query(text));
            Condition { key: condition.key, test }.matches(properties).unwrap()
        }
        _ => condition.matches(properties).unwrap(),
    };
    let is_of_label = query.label.is_none_or(|label| label == base.label());
    let is_seen = expires.is_none_or(|moment| moment > NOW_MS);
    is_of_label && is_seen && query.conditions.iter().all(matches)
}

/// Checks a plan as it is, and each of its paths alone.
async fn check(reader: &Reader, stages: Vec<Stage>, expected: &BTreeSet<String>, max: usize) {
    let paths = stages.iter().map(|stage| stage.paths.len()).max().unwrap_or(0);
    let alone = |path: usize| {
        let of_stage = |stage: &Stage| {
            let path = stage.paths.get(path).unwrap_or(&stage.paths[0]).clone();
            Stage { paths: vec![path], ..stage.clone() }
        };
        stages.iter().map(of_stage).collect::<Vec<_>>()
    };
    for stages in std::iter::once(stages.clone()).chain((0..paths).map(alone)) {
        for max in [max, 1_000] {
            let found = found(reader, &stages, max).await;
            let once: BTreeSet<_> = found.iter().cloned().collect();
            assert_eq!(once.len(), found.len(), "once each: {found:?} by {stages:?}");
            assert_eq!(&once, expected, "by {stages:?}");
        }
        let (mut matches, count) = (reader.matches(stages, Deadline::default()), expected.len() / 2);
        assert_eq!(matches.skip(count).await.unwrap(), count);
        assert_eq!(matches.skip(1_000).await.unwrap(), expected.len() - count);
    }
}

async fn check_all(
    store: &Store,
    (indexes, elements): (&[DraftedIndex], &Elements),
    queries: &[(u32, Vec<Condition>)],
    (buckets, max): (u32, usize),
) {
    let schema = schema(indexes);
    let elements = &admitted(&schema, elements);
    let reader = reader(store, &schema, elements, buckets).await;
    compare(&reader, &schema, elements, queries, max).await;
}

/// Checks that queries find what a look at these elements finds.
async fn compare(
    reader: &Reader,
    schema: &Schema,
    elements: &Elements,
    queries: &[(u32, Vec<Condition>)],
    max: usize,
) {
    for (label, conditions) in queries {
        let query = Query { label: (*label > 0).then_some(LabelId(*label)), conditions: conditions.clone() };
        let is_vertex = |it: &&Vertex| {
            schema.vertex_label(it.label).is_some()
                && is_expected(
                    schema,
                    &query,
                    IndexBase::Vertex(it.label),
                    it.expires,
                    it.properties.as_ref(),
                )
        };
        let is_edge = |it: &&Edge| {
            is_expected(schema, &query, IndexBase::Edge(it.id.sub_label), it.expires, it.properties.as_ref())
        };
        if let Some(stages) = planned(plan_vertices(schema, &query)) {
            let expected = elements.vertices.iter().filter(is_vertex).map(|it| it.id.to_string()).collect();
            check(reader, stages, &expected, max).await;
        }
        if *label > 3 {
            continue;
        }
        if let Some(stages) = planned(plan_edges(schema, &query)) {
            let expected = elements.edges.iter().filter(is_edge).map(|it| it.id.to_string()).collect();
            check(reader, stages, &expected, max).await;
        }
        // Conditions on edges of a vertex are compared as they are written.
        let vertex = VertexId::from("v1");
        for direction in [EdgeDirection::Out, EdgeDirection::In] {
            let stages = plan_neighbourhood(schema, &vertex, &[direction], &query);
            let is_near = |it: &&Edge| {
                let end = if direction == EdgeDirection::Out { &it.id.source } else { &it.id.target };
                let properties = it.properties.as_ref();
                let matches = graph::condition::matches_all(&query.conditions, properties).unwrap();
                let is_of_label = query.label.is_none_or(|label| label == it.id.label);
                *end == vertex && is_of_label && matches && it.expires.is_none_or(|at| at > NOW_MS)
            };
            let expected = elements.edges.iter().filter(is_near).map(|it| it.id.to_string()).collect();
            check(reader, stages, &expected, max).await;
        }
    }
}

fn planned(plan: Result<Vec<Stage>, PlanError>) -> Option<Vec<Stage>> {
    plan.ok()
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((64 * ProptestConfig::default().cases).div_ceil(256)))]
    #[test]
    fn every_plan_finds_what_is_there(
        indexes in proptest::collection::vec(any_index(), 2..9),
        elements in any_elements(),
        queries in proptest::collection::vec((0..5_u32, any_conditions()), 4..10),
        buckets in proptest::sample::select(vec![1_u32, 4]),
        max in 1..4_usize,
        hostile in proptest::option::of(any::<u64>()),
    ) {
        let clock = Clock::manual(Timestamp(0));
        let store = match hostile {
            Some(seed) => store::testing::hostile(clock, seed),
            None => store::testing::memory(clock),
        };
        wait(check_all(&store, (&indexes, &elements), &queries, (buckets, max)));
    }
}
