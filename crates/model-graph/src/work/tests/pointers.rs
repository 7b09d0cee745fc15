//! Tests of sweeps of pointers: what is left goes, and hubs become wider while others write and read.

use std::collections::BTreeSet;

use super::*;
use crate::{Found, PointerSweep, Reader};

const BUCKETS: u32 = 4;
/// A page, in one bucket.
const FEW: PointerSweep = PointerSweep { rows_max: 7, hub_rows: u32::MAX, hub_bytes: usize::MAX };
const ALL: PointerSweep = PointerSweep { rows_max: 10_000, ..FEW };
const HUB: i64 = -1;

/// What goes ahead of an edge is left where its writer ends; the sweep goes over all buckets, some rows at a time, and goes on where another was.
#[tokio::test(start_paused = true)]
async fn pointers_without_edges_are_swept_some_at_a_time() {
    for store in [Store::memory(memory_options()), Store::hostile(HostileOptions::new(memory_options(), 5))] {
        let graphs = Graphs::new(store.clone(), GraphOptions { buckets: BUCKETS, ..OPTIONS });
        let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
        make_schema(&graph).await;
        let id = |from: i64, to: i64| EdgeId {
            source: VertexId::Number(from),
            label: KNOWS,
            sub_label: KNOWS,
            sort_values: "".into(),
            target: VertexId::Number(to),
        };
        let edge =
            |from| graph::Edge { id: id(from, from + 1), expires: None, properties: Properties::default() };
        let puts = (0..40).map(|from| EdgeOperation::Put(edge(from), None)).collect();
        graph.write_edges(puts, CheckVertices::No, NOW).await.unwrap();
        let pointers = async || {
            let mut rows = Vec::new();
            for bucket in 0..BUCKETS {
                let partition = keys::pointers_partition(graph.part(), bucket);
                let page =
                    store.scan(&partition, &Range::default(), Direction::Forward, 4_000).await.unwrap();
                rows.extend(page.rows().map(|(row, _)| row.to_vec()));
            }
            rows
        };
        let live = pointers().await;
        for from in 0..30 {
            let source = keys::partition(graph.part(), keys::bucket_of_id(&VertexId::Number(from), BUCKETS));
            let target = keys::bucket_of_id(&VertexId::Number(from + 5), BUCKETS);
            let partition = keys::pointers_partition(graph.part(), target);
            let rows = vec![(keys::pointer(&id(from, from + 5), 9), Bytes::new())];
            store.append(store::Append { partition, rows }, store.fence(&source)).await.unwrap();
        }
        let mut removed = 0;
        while removed < 30 {
            let beside = Graphs::new(store.beside(), GraphOptions { buckets: BUCKETS, ..OPTIONS });
            let beside = beside.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
            removed += beside.sweep_pointers(FEW).await.unwrap();
        }
        assert_eq!(pointers().await, live, "each edge has its pointer");
        assert_eq!(graph.sweep_pointers(ALL).await.unwrap(), 0);
    }
}

fn edge_to_hub(from: i64) -> EdgeId {
    EdgeId {
        source: VertexId::Number(from),
        label: KNOWS,
        sub_label: KNOWS,
        sort_values: "".into(),
        target: VertexId::Number(HUB),
    }
}

/// The sources of the edges at the hub, as a neighbourhood, as one read with others, and as a list in pages that go on by tokens has them.
async fn sources(reader: &Reader, graph: &Graph) -> [Vec<i64>; 3] {
    let source = |key: &graph::EdgeKey<'_>| match key.source().unwrap().into_owned() {
        VertexId::Number(number) => number,
        other => panic!("{other}"),
    };
    let (mut walked, mut pages) =
        (Vec::new(), reader.edges(&VertexId::Number(HUB).to_key(), EdgeDirection::In, &[]));
    while let Some(page) = pages.next_up_to(10).await.unwrap() {
        walked.extend(page.iter().map(|edge| source(&edge.unwrap().key)));
    }
    let mut many = reader.edges_of_many(&[EdgeDirection::In], &[]);
    let row_keys = [0, HUB].map(|number| VertexId::Number(number).to_key());
    many.read(row_keys.iter().map(|key| &key[..]), 10).await.unwrap();
    let mut read: Vec<_> = many.edges(1, 0).map(|edge| source(&edge.unwrap().key)).collect();
    let mut rest = many.rest(1, 0);
    while let Some(pages) = &mut rest
        && let Some(page) = pages.next_up_to(10).await.unwrap()
    {
        read.extend(page.iter().map(|edge| source(&edge.unwrap().key)));
    }
    let schema = graph.state().await.unwrap().schema.clone();
    let plan = graph::plan::plan_neighbourhood(
        &schema,
        &VertexId::Number(HUB),
        &[EdgeDirection::In],
        &graph::plan::Query::default(),
    );
    let (mut listed, mut token) = (Vec::new(), None::<Vec<u8>>);
    loop {
        let deadline = store::Deadline::at(None);
        let mut matches = match &token {
            None => reader.matches(plan.clone(), deadline),
            Some(token) => reader.matches_from(plan.clone(), token, deadline).unwrap(),
        };
        let take = |found: Found<'_>| match found {
            Found::Edge(edge) => listed.push(source(&edge.key)),
            Found::Vertex(_) => panic!("no vertex was asked for"),
        };
        matches.next(7, take).await.unwrap();
        token = matches.token();
        if token.is_none() {
            return [walked, read, listed];
        }
    }
}

/// Each source is listed once, in one order, whatever width its pointer was written at; removed edges and the removed hub leave no pointer.
#[tokio::test(start_paused = true)]
async fn a_hub_becomes_wider_and_lists_every_source_once() {
    let sweep = PointerSweep { hub_rows: 30, ..ALL };
    for store in [Store::memory(memory_options()), Store::hostile(HostileOptions::new(memory_options(), 6))] {
        let options = GraphOptions { buckets: BUCKETS, ..OPTIONS };
        let nodes = [store.clone(), store.beside()].map(|store| Graphs::new(store, options));
        let mut graphs = Vec::new();
        for node in &nodes {
            graphs.push(node.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap());
        }
        make_schema(&graphs[0]).await;
        let vertices = (HUB..300).map(|number| VertexOperation::Put(vertex(number, PERSON, 1))).collect();
        graphs[0].write_vertices(vertices, NOW).await.unwrap();
        let width = async |graph: &Graph| {
            let hubs = graph.state().await.unwrap().hubs.clone();
            crate::Hubs::width(hubs.as_ref(), &VertexId::Number(HUB).to_key())
        };
        let mut widths = BTreeSet::new();
        for (round, writer) in graphs.iter().cycle().take(10).enumerate() {
            let from = i64::try_from(round).unwrap() * 30;
            let edge = |from| graph::Edge {
                id: edge_to_hub(from),
                expires: None,
                properties: Properties::default(),
            };
            let puts = (from..from + 30).map(|from| EdgeOperation::Put(edge(from), None)).collect();
            writer.write_edges(puts, CheckVertices::Yes, NOW).await.unwrap();
            graphs[round / 2 % 2].sweep_pointers(sweep).await.unwrap();
            let reader = &graphs[(round + 1) % 2];
            widths.insert(width(reader).await);
            let [walked, read, listed] = sources(&reader.reader(NOW).await.unwrap(), reader).await;
            assert_eq!((&walked, &walked), (&read, &listed));
            let once: BTreeSet<i64> = walked.iter().copied().collect();
            assert_eq!((once.len(), walked.len()), ((round + 1) * 30, (round + 1) * 30));
        }
        assert_eq!(widths, BTreeSet::from([1, 2, 4]), "it never becomes wider than the graph");
        let removals = (0..150).map(|from| EdgeOperation::Remove(edge_to_hub(from))).collect();
        graphs[0].write_edges(removals, CheckVertices::No, NOW).await.unwrap();
        let [walked, ..] = sources(&graphs[1].reader(NOW).await.unwrap(), &graphs[1]).await;
        assert_eq!(walked.len(), 150);
        assert_eq!(graphs[1].remove_vertices(&[VertexId::Number(HUB)], NOW).await.unwrap(), [true]);
        for _ in 0..3 {
            graphs[0].sweep_pointers(sweep).await.unwrap();
        }
        assert_eq!(count(&graphs[0], keys::all_edges_range(EdgeDirection::Out)).await, 0);
        for bucket in 0..BUCKETS {
            let partition = keys::pointers_partition(graphs[0].part(), bucket);
            let page = store.scan(&partition, &Range::default(), Direction::Forward, 10).await.unwrap();
            assert!(page.is_empty());
        }
    }
}
