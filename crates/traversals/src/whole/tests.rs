//! Whole graphs are read from stored rows: labels, weights, limits, several buckets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graph::{Edge, EdgeId, PropertiesBuilder, Vertex};
use model_graph::{ReaderContext, VisibleLabels};
use store::{Clock, Commit, Store, Tenant, Timestamp, Write, WriteIds};

use super::*;

const NAME: PropertyKeyId = PropertyKeyId(1);
const WEIGHT: PropertyKeyId = PropertyKeyId(7);
const ALL: WholeOptions<'_> = WholeOptions {
    vertex_labels: &[],
    having: None,
    edge_labels: Some(&[]),
    weight: None,
    memory_bytes_max: 1 << 20,
};

fn edge(source: i64, labels: (u32, u32), target: i64, weight: Option<ScalarRef<'_>>) -> Edge {
    let mut properties = PropertiesBuilder::default();
    weight.into_iter().for_each(|weight| properties.put_one(WEIGHT, weight));
    let id = EdgeId {
        source: VertexId::Number(source),
        label: LabelId(labels.0),
        sub_label: LabelId(labels.1),
        sort_values: "".into(),
        target: VertexId::Number(target),
    };
    Edge { id, expires: None, properties: properties.finish() }
}

/// A graph whose labels 1 to 3 are seen; vertices are (id, label), and have a name that says whether the id is even.
async fn reader(buckets: u32, vertices: &[(i64, u32)], edges: &[Edge]) -> Reader {
    let store = Store::memory(store::MemoryOptions {
        clock: Clock::manual(Timestamp(0)),
        feed: store::FeedOptions::recommended(),
    });
    let ids = WriteIds::new();
    let bucket = |id: &VertexId| keys::bucket_of_vertex(&id.to_key(), buckets);
    let mut rows = Vec::new();
    for &(number, label) in vertices {
        let id = VertexId::Number(number);
        let mut properties = PropertiesBuilder::default();
        properties.put_one(NAME, ScalarRef::Text(if number % 2 == 0 { "even" } else { "odd" }));
        let properties = properties.finish();
        let vertex = Vertex { id: id.clone(), label: LabelId(label), expires: None, properties };
        rows.push((bucket(&id), keys::vertex(&id), vertex.to_stored()));
    }
    for edge in edges {
        let row = (bucket(&edge.id.source), keys::edge(&edge.id, EdgeDirection::Out), edge.to_stored());
        rows.push(row);
    }
    for (bucket, key, value) in rows {
        let commit = Commit {
            partition: keys::partition(&Tenant::default(), bucket),
            write_id: ids.next(),
            conditions: vec![],
            writes: vec![Write::PutStamped(key, value.into())],
            change: None,
            reclaims: false,
        };
        store.commit_known(commit).await.unwrap();
    }
    let labels = || (1..=3).map(LabelId);
    let context = ReaderContext {
        graph: Tenant::default(),
        buckets,
        visible: Arc::new(VisibleLabels::new(labels(), labels())),
        now: Timestamp(1_000_000),
    };
    Reader::new(&store, context).unwrap()
}

async fn pairs(reader: &Reader, options: WholeOptions<'_>) -> Vec<(i64, i64)> {
    let whole = WholeGraph::read(reader, options, &|_| true).await.unwrap();
    let id = |vertex| match whole.id(vertex) {
        VertexIdRef::Number(number) => number,
        other => panic!("{other}"),
    };
    for vertex in 0..whole.out().vertices() {
        assert_eq!(whole.vertex(&VertexId::Number(id(vertex))), Some(vertex));
    }
    assert_eq!(whole.vertex(&VertexId::Number(99)), None);
    let mut pairs: Vec<_> = whole.out().iter().map(|(from, to)| (id(from), id(to))).collect();
    pairs.sort_unstable();
    pairs
}

#[tokio::test]
async fn edges_between_the_vertices_of_the_labels_are_read() {
    let vertices = [(1, 1), (2, 1), (3, 2), (4, 9)];
    let edges = [
        edge(1, (1, 1), 2, None),
        edge(2, (2, 2), 1, None),
        edge(2, (1, 1), 3, None),
        edge(3, (3, 2), 3, None),
        edge(1, (9, 9), 3, None),
        edge(1, (1, 1), 4, None),
        edge(5, (1, 1), 1, None),
    ];
    for buckets in [1, 4] {
        let reader = reader(buckets, &vertices, &edges).await;
        assert_eq!(pairs(&reader, ALL).await, [(1, 2), (2, 1), (2, 3), (3, 3)]);
        let some = WholeOptions { vertex_labels: &[LabelId(1)], ..ALL };
        assert_eq!(pairs(&reader, some).await, [(1, 2), (2, 1)]);
        let some = WholeOptions { edge_labels: Some(&[LabelId(2)]), ..ALL };
        assert_eq!(pairs(&reader, some).await, [(2, 1), (3, 3)]);
        let parent = WholeOptions { edge_labels: Some(&[LabelId(3)]), ..ALL };
        assert_eq!(pairs(&reader, parent).await, [(3, 3)]);
        assert_eq!(pairs(&reader, WholeOptions { edge_labels: None, ..ALL }).await, []);
        let even = WholeOptions { having: Some((NAME, "even")), ..ALL };
        assert_eq!(WholeGraph::read(&reader, even, &|_| true).await.unwrap().out().vertices(), 1);
        let counts = count_vertices(&reader, &|_| true).await.unwrap();
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(LabelId(1), 2), (LabelId(2), 1)]);
        let counts = count_edges(&reader, &|_| true).await.unwrap();
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(LabelId(1), 4), (LabelId(2), 2)]);
    }
}

#[tokio::test]
async fn weights_are_numbers_of_a_property() {
    let weights = [None, Some(ScalarRef::Int(3)), Some(ScalarRef::Double(0.5)), Some(ScalarRef::Float(2.5))];
    let edges: Vec<_> = (0..).zip(weights).map(|(target, weight)| edge(0, (1, 1), target, weight)).collect();
    let vertices = [(0, 1), (1, 1), (2, 1), (3, 1)];
    let weighted = WholeOptions { weight: Some(WEIGHT), ..ALL };
    let whole = WholeGraph::read(&reader(1, &vertices, &edges).await, weighted, &|_| true).await.unwrap();
    assert_eq!(whole.out().weights(0), Some(&[1.0, 3.0, 0.5, 2.5][..]));
    for wrong in [ScalarRef::Text("3"), ScalarRef::Int(-1), ScalarRef::Double(f64::MAX)] {
        let reader = reader(1, &vertices, &[edge(0, (1, 1), 1, Some(wrong))]).await;
        let refused = WholeGraph::read(&reader, weighted, &|_| true).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, WholeError::Algorithm(graph_algorithms::Error::Weight(_))),
            "{wrong:?}: {refused}"
        );
    }
}

#[tokio::test]
async fn it_stops_at_its_limit_or_when_told() {
    let vertices: Vec<_> = (0..5_000).map(|id| (id, 1)).collect();
    let reader = reader(1, &vertices, &[]).await;
    let small = WholeOptions { memory_bytes_max: 100_000, ..ALL };
    let refused = WholeGraph::read(&reader, small, &|_| true).await;
    assert!(matches!(refused, Err(WholeError::Memory { bytes_max: 100_000 })));
    let seen = AtomicU64::new(0);
    let stop = |rows| {
        seen.store(rows, Ordering::Relaxed);
        false
    };
    let refused = WholeGraph::read(&reader, ALL, &stop).await;
    assert!(matches!(refused, Err(WholeError::Algorithm(graph_algorithms::Error::Stopped))));
    assert!(seen.load(Ordering::Relaxed) <= 4_096);
    let whole = WholeGraph::read(&reader, ALL, &|_| true).await.unwrap();
    assert_eq!(whole.out().vertices(), 5_000);
    assert!(whole.bytes() < 300_000, "{}", whole.bytes());
}
