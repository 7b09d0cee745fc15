//! Writes against a plain model, on stores of one process and of two nodes, with one bucket and several.

mod model;
mod races;
mod kills;

use std::sync::Arc;
use std::time::Duration;

use graph::schema::{
    Creation, EdgeLabelDraft, IdStrategy, IndexKind, IndexLabelDraft, LabelDraft, PropertyKeyDraft, Schema,
    SchemaKind, SchemaStatus, VertexLabelDraft,
};
use graph::{
    DataType, EdgeDirection, EdgeId, GraphMode, IndexLabelId, LabelId, Properties, PropertiesBuilder,
    PropertyKeyId, ScalarRef, VertexId, keys,
};
use parking_lot::RwLock;
use store::{Clock, Commit, Direction, Store, Tenant, Timestamp};

use super::*;
use crate::hubs::Hubs;
use crate::{Reader, ReaderContext, VisibleLabels};

pub(super) const NAME: PropertyKeyId = PropertyKeyId(1);
pub(super) const AGE: PropertyKeyId = PropertyKeyId(2);
/// Vertices with ids of their own, found by age; names are unique.
pub(super) const PERSON: LabelId = LabelId(1);
/// Vertices without indexes.
pub(super) const THING: LabelId = LabelId(2);
/// Edges of any vertices, found by age.
pub(super) const KNOWS: LabelId = LabelId(1);
/// Edges without indexes.
pub(super) const HAS: LabelId = LabelId(2);

fn texts(names: &[&str]) -> Vec<Box<str>> {
    names.iter().map(|name| (*name).into()).collect()
}

fn label(name: &str, properties: &[&str]) -> LabelDraft {
    LabelDraft { properties: texts(properties), nullable_keys: texts(properties), ..LabelDraft::named(name) }
}

/// Persons and things, which know and have each other.
pub(super) fn schema() -> Arc<Schema> {
    let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
    let mut schema = Schema::default();
    for (name, data_type) in [("name", DataType::Text), ("age", DataType::Int)] {
        let draft = PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) };
        schema = schema.create_property_key(&draft, &new).unwrap().change.unwrap().schema;
    }
    for name in ["person", "thing"] {
        let draft = VertexLabelDraft {
            label: label(name, &["name", "age"]),
            id_strategy: IdStrategy::CustomizeString,
            primary_keys: Vec::new(),
        };
        schema = schema.create_vertex_label(&draft, &new).unwrap().change.unwrap().schema;
    }
    for name in ["knows", "has"] {
        let draft = EdgeLabelDraft {
            label: label(name, &["name", "age"]),
            links: vec![("person".into(), "person".into())],
            ..EdgeLabelDraft::named(name)
        };
        schema = schema.create_edge_label(&draft, &new).unwrap().change.unwrap().schema;
    }
    let indexes = [
        ("personByAge", SchemaKind::VertexLabel, "person", IndexKind::Range, "age"),
        ("personByName", SchemaKind::VertexLabel, "person", IndexKind::Unique, "name"),
        ("knowsByAge", SchemaKind::EdgeLabel, "knows", IndexKind::Secondary, "age"),
    ];
    for (name, of, base, kind, field) in indexes {
        let draft = IndexLabelDraft {
            base: Some((of, base.into())),
            index_kind: Some(kind),
            fields: texts(&[field]),
            ..IndexLabelDraft::named(name)
        };
        schema = schema.create_index_label(&draft, &new).unwrap().change.unwrap().schema;
    }
    let indexes: Vec<_> = (1..=3).map(IndexLabelId).collect();
    let change = schema.set_index_status(&indexes, SchemaStatus::Created);
    Arc::new(change.map_or(schema, |change| change.schema))
}

pub(super) fn properties(name: Option<&str>, age: Option<i32>) -> Properties {
    let mut builder = PropertiesBuilder::default();
    if let Some(name) = name {
        builder.put_one(NAME, ScalarRef::Text(name));
    }
    if let Some(age) = age {
        builder.put_one(AGE, ScalarRef::Int(age));
    }
    builder.finish()
}

pub(super) fn vertex(id: &str, label: LabelId, properties: Properties) -> Vertex {
    Vertex { id: id.into(), label, expires: None, properties }
}

pub(super) fn edge_id(source: &str, label: LabelId, target: &str) -> EdgeId {
    EdgeId { source: source.into(), label, sub_label: label, sort_values: "".into(), target: target.into() }
}

pub(super) fn edge(source: &str, label: LabelId, target: &str, properties: Properties) -> Edge {
    Edge { id: edge_id(source, label, target), expires: None, properties }
}

/// A node that writes a graph.
pub(super) struct Node {
    pub(super) store: Store,
    pub(super) writer: Writer,
    pub(super) schema: Arc<Schema>,
    pub(super) now: Timestamp,
    /// As the state of the graph would tell all nodes.
    pub(super) hubs: Arc<RwLock<Option<Arc<Hubs>>>>,
    buckets: u32,
}

impl Node {
    pub(super) fn new(store: Store, buckets: u32) -> Self {
        let writer = Writer::new(store.clone(), Tenant::default(), buckets);
        Self { store, writer, schema: schema(), hubs: Arc::default(), now: Timestamp(0), buckets }
    }

    /// The same, of which others know the hubs.
    pub(super) fn with_hubs(self, hubs: &Arc<RwLock<Option<Arc<Hubs>>>>) -> Self {
        Self { hubs: Arc::clone(hubs), ..self }
    }

    pub(super) async fn vertices(
        &self,
        operations: Vec<VertexOperation>,
    ) -> Result<Vec<Written<Vertex>>, Error> {
        self.writer.write_vertices(operations, self).await
    }

    pub(super) async fn edges(
        &self,
        operations: Vec<EdgeOperation>,
        check: CheckVertices,
    ) -> Result<Vec<Written<Edge>>, Error> {
        self.writer.write_edges(operations, check, self).await
    }

    pub(super) async fn remove(&self, ids: &[VertexId]) -> Result<Vec<bool>, Error> {
        self.writer.remove_vertices(ids, self).await
    }

    /// What a removal leaves that ends behind its first commit.
    pub(super) async fn cut_removal(&self, id: &str) {
        let id = VertexId::from(id);
        let partition = self.writer.partition(self.writer.bucket_of(&id));
        let writes = vec![
            store::Write::Delete(keys::vertex(&id)),
            store::Write::Delete(keys::label(LabelId(3), &id)),
            store::Write::PutStamped(keys::removal(&id), bytes::Bytes::new()),
        ];
        let commit = || Commit {
            partition: partition.clone(),
            write_id: store::WriteIds::new().next(),
            conditions: Vec::new(),
            writes: writes.clone(),
            change: None,
            reclaims: false,
        };
        while self.store.commit_known(commit()).await.is_err() {}
    }

    pub(super) fn reader(&self) -> Reader {
        let visible = VisibleLabels::new([PERSON, THING], [KNOWS, HAS]);
        let context = ReaderContext {
            graph: Tenant::default(),
            buckets: self.buckets,
            visible: Arc::new(visible),
            now: Timestamp(0),
        };
        let hubs = self.hubs.read().clone();
        Reader::new(&self.store, context).unwrap().with_hubs(hubs)
    }

    /// The edges of a vertex as texts of ids, sorted.
    pub(super) async fn neighbours(&self, of: &str, direction: EdgeDirection) -> Vec<String> {
        let reader = self.reader();
        let (mut found, mut pages) = (Vec::new(), reader.edges(&VertexId::from(of).to_key(), direction, &[]));
        while let Some(page) = pages.next_up_to(2).await.unwrap() {
            found.extend(page.iter().map(|edge| edge.unwrap().key.to_id().unwrap().to_string()));
        }
        assert_eq!(neighbours_at_once(&reader, of, direction).await, found);
        found.sort();
        found
    }

    /// All rows of a kind, of all buckets.
    pub(super) async fn rows(&self, kind: u8) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        for bucket in 0..self.buckets {
            let range = store::Range::prefix(vec![kind]);
            let page =
                self.store.scan(self.writer.partition(bucket), &range, Direction::Forward, 4_000).await;
            rows.extend(page.unwrap().rows().map(|(key, value)| (key.to_vec(), value.to_vec())));
        }
        rows.sort();
        rows
    }
}

impl Moments for Node {
    async fn moment(&self) -> Result<Moment, Error> {
        let epochs = self.writer.epochs();
        let (schema, hubs) = (Arc::clone(&self.schema), self.hubs.read().clone());
        Ok(Moment { schema, hubs, epochs, now: self.now })
    }
}

/// Stores to write on: plain, and the worst that may be; with a second node of each.
pub(super) fn stores(seed: u64) -> [(Store, Store); 2] {
    let plain = store::testing::memory(Clock::manual(Timestamp(0)));
    let hostile = store::testing::hostile(Clock::manual(Timestamp(0)), seed);
    [plain, hostile].map(|store| (store.clone(), store.beside()))
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_changes_nothing() {
    for (store, _) in stores(1) {
        for buckets in [1, 4] {
            let node = Node::new(store.clone(), buckets);
            let put = vec![VertexOperation::Put(vertex("a", PERSON, properties(Some("x"), Some(1))))];
            node.vertices(put).await.unwrap();
            let of_nobody = EdgeOperation::Put(edge("a", KNOWS, "nobody", Properties::default()), None);
            let refused = node.edges(vec![of_nobody], CheckVertices::Yes).await;
            assert!(matches!(refused, Err(Error::NoSuchVertex(id)) if id == "nobody".into()));
            let ends = Some(EndLabels { source: THING, target: PERSON });
            let of_other = EdgeOperation::Put(edge("a", KNOWS, "a", Properties::default()), ends);
            let refused = node.edges(vec![of_other], CheckVertices::Yes).await;
            assert!(matches!(refused, Err(Error::OtherLabel { demanded: THING, stored: PERSON, .. })));
            let change = Change::Append(properties(None, Some(2)));
            let refused = node.vertices(vec![VertexOperation::Change("b".into(), change.clone())]).await;
            assert!(matches!(refused, Err(Error::NoSuchVertex(_))));
            let refused =
                node.edges(vec![EdgeOperation::Change(edge_id("a", HAS, "b"), change)], CheckVertices::No);
            assert!(matches!(refused.await, Err(Error::NoSuchEdge(_))));
            assert_eq!((node.rows(b'v').await.len(), node.rows(b'e').await.len()), (1, 0));
            assert_eq!(node.remove(&["a".into(), "b".into()]).await.unwrap(), [true, false]);
            assert!(node.rows(b'v').await.is_empty() && node.rows(b'r').await.is_empty());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_unique_value_is_that_of_one_element_and_free_when_it_goes() {
    for (store, beside) in stores(2) {
        let (one, two) = (Node::new(store, 1), Node::new(beside, 1));
        let put = |id, name| vec![VertexOperation::Put(vertex(id, PERSON, properties(Some(name), None)))];
        one.vertices(put("a", "x")).await.unwrap();
        assert!(matches!(two.vertices(put("b", "x")).await, Err(Error::NotUnique)));
        two.vertices(put("b", "y")).await.unwrap();
        two.vertices(put("a", "x")).await.unwrap();
        one.vertices(put("a", "z")).await.unwrap();
        two.vertices(put("b", "x")).await.unwrap();
        one.remove(&["b".into()]).await.unwrap();
        two.vertices(put("c", "x")).await.unwrap();
        let both = [put("d", "w"), put("e", "w")].concat();
        assert!(matches!(one.vertices(both).await, Err(Error::NotUnique)), "two of one request");
        let twice = [put("d", "w"), put("d", "w")].concat();
        one.vertices(twice).await.unwrap();
    }
}

/// A request was read by a schema whose label is gone when it is written: nobody would see the element, or remove it.
#[tokio::test(start_paused = true)]
async fn elements_of_a_removed_label_are_refused() {
    for (store, _) in stores(1) {
        let node = Node::new(store, 1);
        let things = ["a", "b"].map(|id| VertexOperation::Put(vertex(id, THING, properties(None, None))));
        node.vertices(things.to_vec()).await.unwrap();
        let gone = LabelId(9);
        for vertex in [vertex("c", gone, properties(None, None)), vertex("a", gone, properties(None, None))] {
            for operation in [
                VertexOperation::Put(vertex.clone()),
                VertexOperation::Create(vertex.clone()),
                VertexOperation::Merge(vertex.clone(), Strategies::default()),
            ] {
                assert!(matches!(node.vertices(vec![operation]).await, Err(Error::LabelRemoved)));
            }
        }
        let edge = edge("a", gone, "b", properties(None, None));
        for operation in
            [EdgeOperation::Put(edge.clone(), None), EdgeOperation::Merge(edge, None, Strategies::default())]
        {
            let refused = node.edges(vec![operation], CheckVertices::No).await;
            assert!(matches!(refused, Err(Error::LabelRemoved)));
        }
        assert_eq!((node.rows(b'v').await.len(), node.rows(b'e').await.len()), (2, 0));
    }
}

/// The job that looks for removals that a crash left waits for nobody: writers would wait behind it.
#[tokio::test(start_paused = true)]
async fn writers_do_not_wait_for_a_long_removal() {
    for (store, _) in stores(1) {
        let node = Node::new(store, 1);
        let removal_under_way = node.writer.share_marks().await.unwrap();
        let both = async {
            let finished = node.writer.finish_removals(&node).await;
            let put = VertexOperation::Put(vertex("a", THING, properties(None, None)));
            (finished, node.vertices(vec![put]).await)
        };
        let (finished, put) = tokio::time::timeout(Duration::from_secs(9), both).await.expect("nobody waits");
        assert_eq!((finished.unwrap(), put.unwrap().len()), (0, 1));
        drop(removal_under_way);
    }
}

/// The index rows that must be there of the elements that are.
pub(super) async fn check_index_rows(node: &Node) {
    let mut expected = Vec::new();
    let mut labels = Vec::new();
    for (key, value) in node.rows(b'v').await {
        let id = VertexId::of_key(&key[1..]).unwrap();
        let vertex = Vertex::of_stored(id, &value).unwrap();
        labels.push(keys::label(vertex.label, &vertex.id).to_vec());
        let indexes = &node.schema.vertex_label(vertex.label).unwrap().indexes;
        graph::index::put_index_rows(indexes, &key, vertex.properties.as_ref(), &mut expected).unwrap();
    }
    for (key, value) in node.rows(b'e').await {
        let id = graph::EdgeKey::parse(&key).unwrap().to_id().unwrap();
        let edge = Edge::of_stored(id, &value).unwrap();
        let indexes = &node.schema.edge_label(edge.id.sub_label).unwrap().indexes;
        graph::index::put_index_rows(indexes, &key, edge.properties.as_ref(), &mut expected).unwrap();
    }
    let of_kind = |kind: u8| {
        let mut rows: Vec<_> =
            expected.iter().filter(|row| row.key[0] == kind).map(|row| row.key.to_vec()).collect();
        rows.sort();
        rows
    };
    let keys_of = |rows: Vec<(Vec<u8>, Vec<u8>)>| rows.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    labels.sort();
    assert_eq!(keys_of(node.rows(b'L').await), labels, "rows that find vertices by label");
    assert_eq!(keys_of(node.rows(b'X').await), of_kind(b'X'), "rows of indexes");
    assert_eq!(keys_of(node.rows(b'x').await), of_kind(b'x'), "rows of unique indexes");
}

/// Two that have the same value from before the index was there leave it in one request; the row is that of one of them.
#[tokio::test(start_paused = true)]
async fn a_unique_value_is_given_up_by_its_owner_alone() {
    for (store, _) in stores(3) {
        let node = Node::new(store, 1);
        let put = |id, name| VertexOperation::Put(vertex(id, PERSON, properties(Some(name), None)));
        node.vertices(vec![put("a", "x")]).await.unwrap();
        // As it was written before the index: without its row.
        let b = vertex("b", PERSON, properties(Some("x"), None));
        let commit = || Commit {
            partition: node.writer.partition(0).clone(),
            write_id: store::WriteIds::new().next(),
            conditions: vec![],
            writes: vec![store::Write::PutStamped(keys::vertex(&b.id), b.to_stored().into())],
            change: None,
            reclaims: false,
        };
        while node.store.commit_known(commit()).await.is_err() {}
        node.remove(&["b".into()]).await.unwrap();
        assert!(matches!(node.vertices(vec![put("c", "x")]).await, Err(Error::NotUnique)), "it is a's still");
        while node.store.commit_known(commit()).await.is_err() {}
        node.vertices(vec![put("a", "y"), put("b", "z")]).await.unwrap();
        node.vertices(vec![put("c", "x")]).await.unwrap();
    }
}

/// The life of an element follows from its properties as they become.
#[tokio::test(start_paused = true)]
async fn an_element_expires_by_the_property_that_it_then_has() {
    let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
    let seen = PropertyKeyDraft {
        data_type: DataType::Date,
        aggregate_type: graph::schema::AggregateType::Max,
        ..PropertyKeyDraft::named("seen")
    };
    let schema = Schema::default().create_property_key(&seen, &new).unwrap().change.unwrap().schema;
    let draft = LabelDraft { ttl_ms: 10, ttl_start_time: Some("seen".into()), ..label("device", &["seen"]) };
    let draft =
        VertexLabelDraft { label: draft, id_strategy: IdStrategy::CustomizeString, primary_keys: Vec::new() };
    let schema = schema.create_vertex_label(&draft, &new).unwrap().change.unwrap().schema;
    let (store, _) = stores(4).into_iter().next().unwrap();
    let node = Node { schema: Arc::new(schema), ..Node::new(store, 1) };
    let seen = |moment: i64| {
        let mut builder = PropertiesBuilder::default();
        builder.put_one(NAME, ScalarRef::Date(moment));
        Vertex { expires: Some(moment + 10), ..vertex("d", PERSON, builder.finish()) }
    };
    let expires =
        async |operation| node.vertices(vec![operation]).await.unwrap().remove(0).stored().unwrap().expires;
    assert_eq!(expires(VertexOperation::Put(seen(100))).await, Some(110));
    assert_eq!(expires(VertexOperation::Put(seen(50))).await, Some(110), "the greatest stays");
    let change = Change::Append(seen(200).properties);
    assert_eq!(expires(VertexOperation::Change("d".into(), change)).await, Some(210));
}

/// A merge that would leave out what must be there is refused.
#[tokio::test(start_paused = true)]
async fn merged_elements_have_what_they_must_have() {
    let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
    let mut schema = Schema::default();
    for (name, data_type) in [("name", DataType::Text), ("age", DataType::Int)] {
        let draft = PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) };
        schema = schema.create_property_key(&draft, &new).unwrap().change.unwrap().schema;
    }
    let label = LabelDraft { nullable_keys: texts(&["name"]), ..label("person", &["name", "age"]) };
    let draft =
        VertexLabelDraft { label, id_strategy: IdStrategy::CustomizeString, primary_keys: Vec::new() };
    let schema = schema.create_vertex_label(&draft, &new).unwrap().change.unwrap().schema;
    let (store, _) = stores(5).into_iter().next().unwrap();
    let node = Node { schema: Arc::new(schema), ..Node::new(store, 1) };
    let merge = |properties, key| {
        let strategies = [(key, graph::update::UpdateStrategy::Override)].into();
        VertexOperation::Merge(vertex("a", PERSON, properties), Arc::new(strategies))
    };
    let refused = node.vertices(vec![merge(properties(Some("x"), None), NAME)]).await;
    assert!(matches!(refused, Err(Error::Admit(_))), "{refused:?}");
    node.vertices(vec![merge(properties(None, Some(3)), AGE)]).await.unwrap();
    node.vertices(vec![merge(properties(Some("x"), None), AGE)]).await.unwrap();
    let refused = node.vertices(vec![merge(properties(Some("y"), None), NAME)]).await;
    assert!(matches!(refused, Err(Error::Admit(_))), "the age would be lost");
}

/// The edges of a hub go in commits that the store takes, however many rows find each.
#[tokio::test(start_paused = true)]
async fn edges_of_a_hub_go_in_commits_that_the_store_takes() {
    for (store, _) in stores(6) {
        let node = Node::new(store, 1);
        let put = |id: &str| VertexOperation::Put(vertex(id, THING, Properties::default()));
        node.vertices(vec![put("hub")]).await.unwrap();
        for batch in 0..30 {
            let edges = (0..100).map(|edge_of| {
                let target = format!("{batch}-{edge_of}");
                EdgeOperation::Put(edge("hub", KNOWS, &target, properties(None, Some(edge_of))), None)
            });
            node.edges(edges.collect(), CheckVertices::No).await.unwrap();
        }
        assert_eq!(node.rows(b'X').await.len(), 3_000);
        assert_eq!(node.remove(&["hub".into()]).await.unwrap(), [true]);
        assert!(node.rows(b'e').await.is_empty() && node.rows(b'E').await.is_empty());
        assert!(node.rows(b'X').await.is_empty() && node.rows(b'r').await.is_empty());
    }
}

/// The edges of a vertex, read with those of others at once: the first, then the rest.
async fn neighbours_at_once(reader: &Reader, of: &str, direction: EdgeDirection) -> Vec<String> {
    let ways = [direction.opposite(), direction];
    let vertices = ["a", of, "b", of].map(|id| VertexId::from(id).to_key());
    let mut near = reader.edges_of_many(&ways, &[]);
    near.read(vertices.iter().map(Vec::as_slice), 1).await.unwrap();
    let id = |edge: Result<crate::EdgeRef<'_>, _>| edge.unwrap().key.to_id().unwrap().to_string();
    let mut found: Vec<_> = near.edges(3, 1).map(id).collect();
    if let Some(mut rest) = near.rest(3, 1) {
        while let Some(page) = rest.next().await.unwrap() {
            found.extend(page.iter().map(id));
        }
    }
    found
}
