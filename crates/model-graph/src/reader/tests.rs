use graph::{Edge, Properties, PropertiesBuilder, PropertyKeyId, ScalarRef, Vertex};
use store::{Clock, Commit, Write, WriteIds};

use super::*;

const NOW: i64 = 1_000;

fn vertex(id: &str, label: u32, expires: Option<i64>) -> Vertex {
    Vertex { id: id.into(), label: LabelId(label), expires, properties: Properties::default() }
}

fn edge(source: &str, label: u32, target: &str, expires: Option<i64>) -> Edge {
    let label = LabelId(label);
    let id = EdgeId {
        source: source.into(),
        label,
        sub_label: label,
        sort_values: "".into(),
        target: target.into(),
    };
    let mut properties = PropertiesBuilder::default();
    properties.put_one(PropertyKeyId(1), ScalarRef::Text(target));
    Edge { id, expires, properties: properties.finish() }
}

async fn put(store: &Store, writes: Vec<(u32, Bytes, Vec<u8>)>) {
    let ids = WriteIds::new();
    for (bucket, key, value) in writes {
        let write = match key.first() {
            Some(b'E') => Write::Put(key, value.into()),
            _ => Write::PutStamped(key, value.into()),
        };
        let partition = keys::partition(&Tenant::default(), bucket);
        let commit = || Commit {
            partition: partition.clone(),
            write_id: ids.next(),
            conditions: vec![],
            writes: vec![write.clone()],
            change: None,
            reclaims: false,
        };
        // The worst store says at times that a commit was not carried out.
        while store.commit_known(commit()).await.is_err() {}
    }
}

/// A graph of four vertices: labels 1 and 2 are seen, of edges label 1.
async fn reader(buckets: u32) -> Reader {
    let store = store::testing::memory(Clock::manual(Timestamp(0)));
    let bucket = |id: &VertexId| keys::bucket_of_vertex(&id.to_key(), buckets);
    let vertices = [
        vertex("a", 1, None),
        vertex("b", 2, Some(NOW + 1)),
        vertex("c", 1, Some(NOW)),
        vertex("d", 3, None),
    ];
    let edges = [
        edge("a", 1, "b", None),
        edge("a", 1, "c", Some(NOW)),
        edge("a", 2, "b", None),
        edge("b", 1, "a", None),
    ];
    let mut writes: Vec<_> =
        vertices.iter().map(|it| (bucket(&it.id), keys::vertex(&it.id), it.to_stored())).collect();
    for it in &edges {
        writes.push((bucket(&it.id.source), keys::edge(&it.id, EdgeDirection::Out), it.to_stored()));
        writes.push((bucket(&it.id.target), keys::edge(&it.id, EdgeDirection::In), it.to_stored()));
    }
    put(&store, writes).await;
    let visible = VisibleLabels::new([LabelId(1), LabelId(2)], [LabelId(1)]);
    let context = ReaderContext {
        graph: Tenant::default(),
        buckets,
        visible: Arc::new(visible),
        now: Timestamp(NOW * 1_000),
    };
    Reader::new(&store, context).unwrap()
}

async fn neighbours(reader: &Reader, of: &str, direction: EdgeDirection, labels: &[LabelId]) -> Vec<String> {
    let (mut found, mut pages) = (Vec::new(), reader.edges(&VertexId::from(of).to_key(), direction, labels));
    while let Some(page) = pages.next_up_to(1).await.unwrap() {
        for edge in page.iter() {
            let EdgeRef { key, view } = edge.unwrap();
            assert!(!view.properties.is_empty());
            found.push(key.to_id().unwrap().to_string());
        }
    }
    found
}

#[tokio::test]
async fn what_expired_or_lost_its_label_is_not_seen() {
    for buckets in [1, 4] {
        let reader = reader(buckets).await;
        let ids: Vec<VertexId> = ["a", "b", "c", "d", "e"].map(VertexId::from).into();
        let found = reader.vertices(&ids).await.unwrap();
        let found: Vec<_> = found.iter().map(|it| it.as_ref().map(|it| it.view().unwrap().label.0)).collect();
        assert_eq!(found, [Some(1), Some(2), None, None, None]);
        for (id, expected) in ids.iter().zip(found) {
            assert_eq!(reader.vertex(id).await.unwrap().is_some(), expected.is_some(), "{id}");
        }
        for (id, is_seen) in
            [("Sa>1>1>>Sb", true), ("Sa>1>1>>Sc", false), ("Sa>2>2>>Sb", false), ("Sb>1>1>>Sc", false)]
        {
            assert_eq!(reader.edge(&id.parse().unwrap()).await.unwrap().is_some(), is_seen, "{id}");
        }
    }
}

#[tokio::test]
async fn neighbours_are_those_of_direction_and_label() {
    use EdgeDirection::{In, Out};
    for buckets in [1, 4] {
        let reader = reader(buckets).await;
        for labels in [&[][..], &[LabelId(1)], &[LabelId(2), LabelId(1), LabelId(1)]] {
            assert_eq!(neighbours(&reader, "a", Out, labels).await, ["Sa>1>1>>Sb"]);
            assert_eq!(neighbours(&reader, "b", In, labels).await, ["Sa>1>1>>Sb"]);
            assert_eq!(neighbours(&reader, "a", In, labels).await, ["Sb>1>1>>Sa"]);
        }
        assert!(neighbours(&reader, "a", Out, &[LabelId(2)]).await.is_empty());
    }
}

/// A graph of small vertices and a hub of so many edges, in one bucket: of each vertex, way and labels the same edges are read at once as one
/// after another, however many are wanted first.
#[tokio::test]
async fn many_neighbourhoods_are_those_of_each_vertex() {
    const HUB_EDGES: u32 = 700;
    let store = store::testing::plain(Clock::manual(Timestamp(0)));
    let mut writes = Vec::new();
    for number in 0..HUB_EDGES {
        let (source, target) = if number % 3 == 0 {
            ("hub".into(), number.to_string())
        } else {
            (number.to_string(), "hub".into())
        };
        let it = edge(&source, number % 5, &target, (number % 7 == 0).then_some(NOW));
        for direction in [EdgeDirection::Out, EdgeDirection::In] {
            writes.push((0, keys::edge(&it.id, direction), it.to_stored()));
        }
    }
    put(&store, writes).await;
    let visible = VisibleLabels::new([], [0, 1, 3, 4].map(LabelId));
    let (graph, now) = (Tenant::default(), Timestamp(NOW * 1_000));
    let context = ReaderContext { graph, buckets: 1, visible: Arc::new(visible), now };
    let reader = Reader::new(&store, context).unwrap();
    let ids = ["hub", "1", "3", "nobody", "hub", "2", "0", "4"].map(VertexId::from);
    let vertex_keys = ids.each_ref().map(VertexId::to_key);
    let ways = [EdgeDirection::Out, EdgeDirection::In];
    // More than a list of ranges may hold.
    let many: Vec<LabelId> = (0..600).map(LabelId).collect();
    for labels in [&[][..], &[LabelId(1)], &[LabelId(4), LabelId(0), LabelId(4), LabelId(2)], &many] {
        let mut near = reader.edges_of_many(&ways, labels);
        for wanted in [1, 3, 130, usize::MAX] {
            near.read(vertex_keys.iter().map(Vec::as_slice), wanted).await.unwrap();
            for (of, (number, way)) in
                (0..ids.len()).flat_map(|of| ways.iter().enumerate().map(move |way| (of, way)))
            {
                let id = |edge: Result<EdgeRef<'_>, _>| edge.unwrap().key.to_id().unwrap().to_string();
                let mut found: Vec<_> = near.edges(of, number).map(id).collect();
                if let Some(mut rest) = near.rest(of, number) {
                    while let Some(page) = rest.next_up_to(50).await.unwrap() {
                        found.extend(page.iter().map(id));
                    }
                }
                let expected = neighbours(&reader, &ids[of].to_string(), *way, labels).await;
                assert_eq!(found, expected, "{} {way:?} {labels:?} {wanted}", ids[of]);
            }
            assert!((near.rows() > 0 || labels.len() == many.len()) && near.bytes() < 1 << 20);
        }
    }
}

#[test]
fn labels_of_large_numbers_take_no_room() {
    let visible = VisibleLabels::new([LabelId(3), LabelId(u32::MAX)], [LabelId(u32::MAX - 1)]);
    assert!(visible.has_vertices(LabelId(3)) && visible.has_vertices(LabelId(u32::MAX)));
    assert!(visible.has_edges(LabelId(u32::MAX - 1)));
    for label in [0, 2, 4, 65_535, 65_536, u32::MAX - 1] {
        assert!(!visible.has_vertices(LabelId(label)), "{label}");
    }
}

/// Of labels and sort values that the source has, and others: those that a look at all its edges finds.
#[tokio::test]
async fn edges_between_two_vertices_are_found_by_label_and_sort_values() {
    let store = store::testing::plain(Clock::manual(Timestamp(0)));
    let mut writes = Vec::new();
    for number in 0..400_u32 {
        let mut it = edge("a", number % 5, &format!("t{}", number % 11), (number % 7 == 0).then_some(NOW));
        it.id.sub_label = LabelId(number % 5 + 10 * (number % 2));
        it.id.sort_values = ["", "x", "xy", "y"][number as usize % 4].into();
        writes.push((0, keys::edge(&it.id, EdgeDirection::Out), it.to_stored()));
    }
    put(&store, writes).await;
    let visible = VisibleLabels::new([], [0, 1, 3, 4, 11, 12, 13].map(LabelId));
    let (graph, now) = (Tenant::default(), Timestamp(NOW * 1_000));
    let context = ReaderContext { graph, buckets: 1, visible: Arc::new(visible), now };
    let reader = Reader::new(&store, context).unwrap();
    let (mut pages, mut all) = (reader.edges(&VertexId::from("a").to_key(), EdgeDirection::Out, &[]), vec![]);
    while let Some(page) = pages.next().await.unwrap() {
        all.extend(page.iter().map(|edge| edge.unwrap().key.to_id().unwrap()));
    }
    let source = VertexId::from("a");
    for target in ["t0", "t5", "t99", "a"].map(VertexId::from) {
        for (label, sort) in
            [(None, None), (Some(1), None), (Some(3), Some("x")), (None, Some("")), (None, Some("z"))]
        {
            let expected: Vec<_> = all
                .iter()
                .filter(|id| id.target == target)
                .filter(|id| label.is_none_or(|label| id.label == LabelId(label)))
                .filter(|id| sort.is_none_or(|sort| *id.sort_values == *sort))
                .collect();
            for looks in [0, 1, 3, usize::MAX] {
                let mut between = reader.edges_between((&source, &target), label.map(LabelId), sort);
                let (mut found, mut is_over) = (Vec::new(), false);
                for _ in 0..looks {
                    let Some(page) = between.next().await.unwrap() else {
                        is_over = true;
                        break;
                    };
                    found.extend(page.iter().map(|edge| edge.unwrap().key.to_id().unwrap()));
                }
                let mut rest = between.rest();
                while let Some(page) = rest.next().await.unwrap() {
                    assert!(!is_over, "nothing is left");
                    found.extend(page.iter().map(|edge| edge.unwrap().key.to_id().unwrap()));
                }
                found.retain(|id| id.target == target && sort.is_none_or(|sort| *id.sort_values == *sort));
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{target} {label:?} {sort:?} {looks}");
            }
        }
    }
}
