//! Clients side by side that write, change and remove, and are killed in the midst of it, while indexes are built, labels removed and expired vertices
//! swept: in the end each client finds what it knows to be there, every edge is seen from both sides, and every index is exact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use graph::condition::{Condition as Asked, Test};
use graph::plan::{Query, plan_vertices};
use graph::schema::IdStrategy;
use graph::{Edge, EdgeKey, Scalar};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::Deadline;

use super::*;

const CLIENTS: i64 = 3;
/// Vertices of each client.
const OWN: i64 = 4;
const STEPS: usize = 24;
/// Vertices that all clients write, beyond those of the clients.
const SHARED: [i64; 2] = [1_000, 1_001];

/// What a client knows of its vertices and the edges between them: ages; nothing of what it was killed at.
#[derive(Default)]
struct Known {
    vertices: BTreeMap<i64, Option<i32>>,
    edges: BTreeMap<(i64, i64), Option<i32>>,
}

fn aged(age: i32) -> Properties {
    let mut properties = PropertiesBuilder::default();
    properties.put_one(AGE, ScalarRef::Int(age));
    properties.finish()
}

fn edge_id(source: i64, target: i64) -> EdgeId {
    let (source, target) = (VertexId::Number(source), VertexId::Number(target));
    EdgeId { source, label: KNOWS, sub_label: KNOWS, sort_values: "".into(), target }
}

/// Carries out what a client asks for, or is killed before it ends: then `None`.
async fn unless_killed<T>(
    random: &mut StdRng,
    work: impl Future<Output = Result<T, Error>>,
) -> Option<Result<T, Error>> {
    let patience = if random.random_range(0..5) == 0 { random.random_range(0..12) } else { 10_000 };
    let killed = async {
        for _ in 0..patience {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = killed => None,
    }
}

async fn step(graph: &Graph, known: &mut Known, random: &mut StdRng, client: i64) {
    let mut own = || client * OWN + random.random_range(0..OWN);
    let (one, two) = (own(), own());
    match random.random_range(0..10) {
        0..=2 => put_vertex(graph, known, random, one).await,
        3 => remove_vertex(graph, known, random, (one, client)).await,
        4..=6 => put_edge(graph, known, random, (one, two)).await,
        7..=8 => change_edge(graph, known, random, (one, two)).await,
        _ => write_shared(graph, random).await,
    }
}

async fn put_vertex(graph: &Graph, known: &mut Known, random: &mut StdRng, one: i64) {
    let age = random.random_range(0..4);
    let put = vec![VertexOperation::Put(vertex(one, PERSON, age))];
    match unless_killed(random, graph.write_vertices(put, NOW)).await {
        Some(Ok(_)) => _ = known.vertices.insert(one, Some(age)),
        Some(Err(Error::Contention(_))) | None => _ = known.vertices.remove(&one),
        Some(Err(error)) => panic!("{error}"),
    }
}

async fn remove_vertex(graph: &Graph, known: &mut Known, random: &mut StdRng, (one, client): (i64, i64)) {
    let done = unless_killed(random, graph.remove_vertices(&[VertexId::Number(one)], NOW)).await;
    known.edges.retain(|(source, target), _| *source != one && *target != one);
    match done {
        Some(Ok(_)) => {
            known.vertices.insert(one, None);
            let all = (client * OWN..(client + 1) * OWN).flat_map(|other| [(one, other), (other, one)]);
            known.edges.extend(all.map(|edge| (edge, None)));
        }
        Some(Err(Error::Contention(_))) | None => _ = known.vertices.remove(&one),
        Some(Err(error)) => panic!("{error}"),
    }
}

async fn put_edge(graph: &Graph, known: &mut Known, random: &mut StdRng, (one, two): (i64, i64)) {
    let age = random.random_range(0..4);
    let of_shared = random.random();
    let id = edge_id(one, if of_shared { shared(random) } else { two });
    let put = vec![EdgeOperation::Put(Edge { id, expires: None, properties: aged(age) }, None)];
    match unless_killed(random, graph.write_edges(put, CheckVertices::Yes, NOW)).await {
        Some(Ok(_)) if !of_shared => _ = known.edges.insert((one, two), Some(age)),
        Some(Ok(_) | Err(Error::NoSuchVertex(_))) => {}
        Some(Err(Error::Contention(_))) | None => _ = known.edges.remove(&(one, two)),
        Some(Err(error)) => panic!("{error}"),
    }
}

async fn change_edge(graph: &Graph, known: &mut Known, random: &mut StdRng, (one, two): (i64, i64)) {
    let age = random.random_range(0..4);
    let change = crate::write::Change::Append(aged(age));
    if random.random() {
        // Of a vertex that others may be removing.
        let change = vec![EdgeOperation::Change(edge_id(one, shared(random)), change)];
        let done = graph.write_edges(change, CheckVertices::No, NOW).await;
        assert!(matches!(done, Ok(_) | Err(Error::NoSuchEdge(_) | Error::Contention(_))), "{done:?}");
        return;
    }
    let change = vec![EdgeOperation::Change(edge_id(one, two), change)];
    match unless_killed(random, graph.write_edges(change, CheckVertices::No, NOW)).await {
        Some(Ok(_)) => _ = known.edges.insert((one, two), Some(age)),
        Some(Err(Error::NoSuchEdge(_))) => {
            let was = known.edges.insert((one, two), None);
            assert!(!matches!(was, Some(Some(_))), "an edge that was acknowledged is gone");
        }
        Some(Err(Error::Contention(_))) | None => _ = known.edges.remove(&(one, two)),
        Some(Err(error)) => panic!("{error}"),
    }
}

fn shared(random: &mut StdRng) -> i64 {
    SHARED[random.random_range(0..SHARED.len())]
}

/// Puts, lets expire or removes a vertex that others have edges to.
async fn write_shared(graph: &Graph, random: &mut StdRng) {
    let shared = shared(random);
    let done = match random.random_range(0..3) {
        0 => graph.remove_vertices(&[VertexId::Number(shared)], NOW).await.map(drop),
        1 => graph.write_vertices(vec![expiring(shared, 5)], NOW).await.map(drop),
        _ => {
            let put = VertexOperation::Put(vertex(shared, PERSON, random.random_range(0..4)));
            graph.write_vertices(vec![put], NOW).await.map(drop)
        }
    };
    assert!(matches!(done, Ok(()) | Err(Error::Contention(_))), "{done:?}");
}

async fn client(node: impl Fn() -> Store, number: i64, seed: u64) -> Known {
    let (mut random, mut known) = (StdRng::seed_from_u64(seed), Known::default());
    let mut graph = default_graph(node()).await;
    for _ in 0..STEPS {
        step(&graph, &mut known, &mut random, number).await;
        if graph.store().may_lag() && random.random_range(0..8) == 0 {
            // The process ends, and another begins.
            graph = default_graph(node()).await;
        }
        tokio::task::yield_now().await;
    }
    known
}

/// Builds indexes, removes labels with their elements, sweeps what has expired.
async fn others(graph: &Graph, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let draft = index(IndexKind::Range);
    make(graph, |schema, creation| schema.create_index_label(&draft, creation)).await;
    for round in 0..10 {
        let done = match random.random_range(0..5) {
            0 => graph.rebuild_indexes(SchemaKind::VertexLabel, "person", NOW).await.map(drop),
            1 => graph.remove_expired(later(random.random_range(0..10)), 100).await.map(drop),
            2 => graph.finish_removals(NOW).await.map(drop),
            3 => {
                let label = VertexLabelDraft {
                    id_strategy: IdStrategy::CustomizeNumber,
                    ..VertexLabelDraft::named("junk")
                };
                make(graph, |schema, creation| schema.create_vertex_label(&label, creation)).await;
                let junk = graph.state().await.unwrap().schema.vertex_label_named("junk").unwrap().id;
                let puts = (0..20).map(|number| {
                    let mut put = vertex(2_000 + number, junk, 1);
                    put.properties = Properties::default();
                    VertexOperation::Put(put)
                });
                graph.write_vertices(puts.collect(), NOW).await.unwrap();
                graph.remove_from_schema(NOW, |schema| schema.remove_vertex_label("junk")).await.map(drop)
            }
            _ => graph.run_tasks(&clock()).await.map(drop),
        };
        let is_known = match &done {
            Ok(()) | Err(Error::Contention(_)) => true,
            Err(Error::Store(error)) => error.kind() == ErrorKind::Conflict,
            Err(_) => false,
        };
        assert!(is_known, "round {round}: {done:?}");
        tokio::task::yield_now().await;
    }
}

/// All rows of a kind, of all buckets.
async fn rows(graph: &Graph, kind: u8) -> BTreeMap<Bytes, Bytes> {
    let mut rows = BTreeMap::new();
    for bucket in 0..graph.buckets() {
        let partition = keys::partition(graph.part(), bucket);
        let mut pages = store::rows::Pages::new(graph.store(), &partition, Range::prefix(vec![kind]), 1_000);
        while let Some(page) = pages.next().await.unwrap() {
            let copied = |(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
            rows.extend(page.rows().map(copied));
        }
    }
    rows
}

async fn check_rows(graph: &Graph) {
    let schema = graph.state().await.unwrap().schema.clone();
    let (mut indexed, mut labels, mut ends) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (key, stored) in rows(graph, b'v').await {
        let id = VertexId::of_key(keys::vertex_key_of_row(&key).unwrap()).unwrap();
        let stored = Vertex::of_stored(id, &stored).unwrap();
        let label = schema.vertex_label(stored.label).expect("what a removed label left is gone");
        put_index_rows(&label.indexes, &key, stored.properties.as_ref(), &mut indexed).unwrap();
        labels.insert(keys::label(stored.label, &stored.id));
        ends.insert(stored.id);
    }
    let keys_of = |rows: BTreeMap<Bytes, Bytes>| rows.into_keys().collect::<BTreeSet<_>>();
    assert_eq!(keys_of(rows(graph, b'L').await), labels);
    assert!(rows(graph, b'r').await.is_empty(), "all removals are finished");
    let (mut out, mut into) = (BTreeMap::new(), BTreeMap::new());
    let reader = graph.reader(NOW).await.unwrap();
    for (key, value) in rows(graph, b'e').await {
        let id = EdgeKey::parse(&key).unwrap().to_id().unwrap();
        assert!(ends.contains(&id.source) && ends.contains(&id.target), "{id} has its ends");
        let edge = Edge::of_stored(id, &value).unwrap();
        let indexes = &schema.edge_label(KNOWS).unwrap().indexes;
        put_index_rows(indexes, &key, edge.properties.as_ref(), &mut indexed).unwrap();
        out.insert(edge.id.to_string(), edge.properties);
    }
    for id in &ends {
        let key = id.to_key();
        let mut pages = reader.edges(&key, EdgeDirection::In, &[]);
        while let Some(page) = pages.next().await.unwrap() {
            for edge in page.iter() {
                let edge = edge.unwrap();
                let properties = Properties::of_bytes(edge.view.properties.as_bytes());
                into.insert(edge.key.to_id().unwrap().to_string(), properties);
            }
        }
    }
    assert_eq!(out, into, "edges are seen from both sides");
    assert_eq!(keys_of(rows(graph, b'X').await), indexed.into_iter().map(|row| row.key).collect());
}

async fn check_known(graph: &Graph, known: &Known) {
    let reader = graph.reader(NOW).await.unwrap();
    for (number, age) in &known.vertices {
        let found = reader.vertex(&VertexId::Number(*number)).await.unwrap();
        let found = found.map(|found| Properties::of_bytes(found.view().unwrap().properties.as_bytes()));
        assert_eq!(found, age.map(aged), "vertex {number}");
    }
    for ((source, target), age) in &known.edges {
        let found = reader.edge(&edge_id(*source, *target)).await.unwrap();
        let found = found.map(|found| Properties::of_bytes(found.view().unwrap().properties.as_bytes()));
        assert_eq!(found, age.map(aged), "edge {source} to {target}");
    }
}

/// A range lists each vertex once.
async fn check_range(graph: &Graph) {
    let (state, reader) = graph.reader_with_state(NOW).await.unwrap();
    let low_high = (std::ops::Bound::Included(Scalar::Int(0)), std::ops::Bound::Included(Scalar::Int(9)));
    let conditions = vec![Asked { key: AGE, test: Test::Range(low_high.0, low_high.1) }];
    let stages = plan_vertices(&state.schema, &Query { label: Some(PERSON), conditions }).unwrap();
    let mut found = Vec::new();
    let mut matches = reader.matches(stages, Deadline::default());
    let take = |it: crate::Found<'_>| match it {
        crate::Found::Vertex(vertex) => found.push(vertex.key.to_vec()),
        crate::Found::Edge(_) => panic!("vertices were asked for"),
    };
    matches.next(1_000, take).await.unwrap();
    let once: BTreeSet<_> = found.iter().cloned().collect();
    let mut seen = 0;
    for (key, stored) in rows(graph, b'v').await {
        let view = graph::VertexView::parse(&stored).unwrap();
        if view.label == PERSON && reader.sees_vertex(&view) {
            assert!(once.contains(keys::vertex_key_of_row(&key).unwrap()));
            seen += 1;
        }
    }
    assert_eq!((found.len(), once.len()), (seen, seen));
}

async fn attack(store: Store, buckets: u32, seed: u64) {
    let options = GraphOptions { buckets, ..OPTIONS };
    let graph = Graphs::new(store.clone(), options).get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    make_attacked_schema(&graph).await;
    let shared_graph = Arc::clone(&graph);
    let node = {
        let store = store.clone();
        move || store.beside()
    };
    let known = if store.may_lag() {
        let (one, two, three, ()) = tokio::join!(
            client(&node, 0, seed),
            client(&node, 1, seed + 1),
            client(&node, 2, seed + 2),
            others(&shared_graph, seed),
        );
        [one, two, three]
    } else {
        let (one, two, three, ()) = tokio::join!(
            client_of(&graph, 0, seed),
            client_of(&graph, 1, seed + 1),
            client_of(&graph, 2, seed + 2),
            others(&graph, seed),
        );
        [one, two, three]
    };
    drop(graph);
    // Another process begins where the others were killed.
    let graph = default_graph(node()).await;
    for known in &known {
        check_known(&graph, known).await;
    }
    while graph.finish_removals(NOW).await.unwrap() > 0 {}
    run_until_finished(&graph).await;
    graph.remove_expired(later(100), 1_000).await.unwrap();
    assert_eq!(status(&graph).await, SchemaStatus::Created);
    check_range(&graph).await;
    check_rows(&graph).await;
    for known in &known {
        check_known(&graph, known).await;
    }
}

/// The same on a store of one process, all of whose clients share a graph.
async fn client_of(graph: &Graph, number: i64, seed: u64) -> Known {
    let (mut random, mut known) = (StdRng::seed_from_u64(seed), Known::default());
    for _ in 0..STEPS {
        step(graph, &mut known, &mut random, number).await;
        tokio::task::yield_now().await;
    }
    known
}

/// That of the other tests, with edges that are found by age.
async fn make_attacked_schema(graph: &Graph) {
    let age = PropertyKeyDraft { data_type: DataType::Int, ..PropertyKeyDraft::named("age") };
    make(graph, |schema, creation| schema.create_property_key(&age, creation)).await;
    let label =
        LabelDraft { properties: vec!["age".into()], ttl_ms: 1_000_000, ..LabelDraft::named("person") };
    let label =
        VertexLabelDraft { label, id_strategy: IdStrategy::CustomizeNumber, primary_keys: Vec::new() };
    make(graph, |schema, creation| schema.create_vertex_label(&label, creation)).await;
    let label = LabelDraft { properties: vec!["age".into()], ..LabelDraft::named("knows") };
    let links = vec![("person".into(), "person".into())];
    let knows = EdgeLabelDraft { label, links, ..EdgeLabelDraft::named("knows") };
    make(graph, |schema, creation| schema.create_edge_label(&knows, creation)).await;
    let known_by_age = IndexLabelDraft {
        base: Some((SchemaKind::EdgeLabel, "knows".into())),
        index_kind: Some(IndexKind::Secondary),
        fields: vec!["age".into()],
        ..IndexLabelDraft::named("known_by_age")
    };
    make(graph, |schema, creation| schema.create_index_label(&known_by_age, creation)).await;
}

#[test]
fn clients_that_are_killed_while_the_schema_changes_leave_a_whole_graph() {
    assert!(CLIENTS * OWN < SHARED[0]);
    for seed in seeds(24) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            Box::pin(attack(Store::memory(memory_options()), 1, seed)).await;
            let buckets = if seed % 2 == 0 { 1 } else { 4 };
            let hostile = Store::hostile(HostileOptions::new(memory_options(), seed));
            Box::pin(attack(hostile, buckets, seed)).await;
        });
    }
}
