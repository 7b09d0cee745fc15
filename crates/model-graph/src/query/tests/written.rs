//! The same on what writers leave: elements put before their indexes and after, changed, and removed.

use store::MemoryOptions;

use super::*;
use crate::write::{CheckVertices, EdgeOperation, VertexOperation};
use crate::{DEFAULT_GRAPH, DEFAULT_SPACE, Graph, GraphOptions, Graphs};

const NOW: Timestamp = Timestamp(NOW_MS * 1_000);

async fn graph(store: Store, buckets: u32) -> Arc<Graph> {
    let options = GraphOptions { tenants_max: 4, graphs_max: 4, buckets };
    let graph = Graphs::new(store, options).get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
    make(&graph, labels()).await;
    graph
}

/// Makes what the rules of schemas allow.
async fn make(graph: &Graph, drafts: Vec<Draft>) {
    for draft in drafts {
        let made = graph.change_schema(("\"now\"", NOW), |schema, creation| draft.apply(schema, creation));
        match made.await {
            Ok(_) | Err(Error::Schema(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Puts elements, in the store and in the model of it.
async fn put(graph: &Graph, model: &mut Elements, given: &Elements) {
    remove_expired(graph, model).await;
    let given = admitted(&graph.state().await.unwrap().schema, given);
    let vertices: Vec<_> = given.vertices.into_iter().filter(|it| it.label.0 < 5).collect();
    let operations = vertices.iter().cloned().map(VertexOperation::Put).collect();
    graph.write_vertices(operations, NOW).await.unwrap();
    let operations = given.edges.iter().cloned().map(|edge| EdgeOperation::Put(edge, None)).collect();
    graph.write_edges(operations, CheckVertices::No, NOW).await.unwrap();
    model.vertices.retain(|it| vertices.iter().all(|put| put.id != it.id));
    model.vertices.extend(vertices);
    model.edges.retain(|it| given.edges.iter().all(|put| put.id != it.id));
    model.edges.extend(given.edges);
}

/// Removes what has expired: edges of such a vertex would go once another is put in its place, or not, by what is read of it.
async fn remove_expired(graph: &Graph, model: &mut Elements) {
    graph.remove_expired(NOW, usize::MAX).await.unwrap();
    let goes_on = |expires: Option<i64>| expires.is_none_or(|moment| moment > NOW_MS);
    let (left, expired): (Vec<_>, Vec<_>) = model.vertices.drain(..).partition(|it| goes_on(it.expires));
    let is_of_expired = |id: &graph::VertexId| expired.iter().any(|it| it.id == *id);
    model
        .edges
        .retain(|it| goes_on(it.expires) && !is_of_expired(&it.id.source) && !is_of_expired(&it.id.target));
    model.vertices = left;
}

/// Removes a vertex with its edges, and an edge.
async fn remove(graph: &Graph, model: &mut Elements) {
    if let Some(edge) = model.edges.pop() {
        let remove = vec![EdgeOperation::Remove(edge.id)];
        graph.write_edges(remove, CheckVertices::No, NOW).await.unwrap();
    }
    if let Some(vertex) = model.vertices.pop() {
        graph.remove_vertices(std::slice::from_ref(&vertex.id), NOW).await.unwrap();
        model.edges.retain(|edge| edge.id.source != vertex.id && edge.id.target != vertex.id);
    }
}

async fn check_written(
    store: Store,
    (indexes, elements): (&[DraftedIndex], &[Elements]),
    queries: &[(u32, Vec<Condition>)],
    (buckets, max): (u32, usize),
) {
    let graph = graph(store, buckets).await;
    let mut model = Elements { vertices: Vec::new(), edges: Vec::new() };
    for (given, indexes) in elements.iter().zip([indexes, &[]]) {
        put(&graph, &mut model, given).await;
        remove(&graph, &mut model).await;
        make(&graph, index_drafts(indexes)).await;
        while graph.run_tasks(&Clock::manual(NOW)).await.unwrap().is_left {}
        let (state, reader) = graph.reader_with_state(NOW).await.unwrap();
        compare(&reader, &state.schema, &model, queries, max).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((32 * ProptestConfig::default().cases).div_ceil(256)))]
    #[test]
    fn what_was_written_is_found(
        indexes in proptest::collection::vec(any_index(), 2..9),
        elements in [any_elements(), any_elements()],
        queries in proptest::collection::vec((0..5_u32, any_conditions()), 4..10),
        buckets in proptest::sample::select(vec![1_u32, 4]),
        max in 1..4_usize,
        hostile in proptest::option::of(any::<u64>()),
    ) {
        let clock = Clock::manual(NOW);
        let store = match hostile {
            Some(seed) => store::testing::hostile(clock, seed),
            None => Store::memory(MemoryOptions { clock, feed: store::FeedOptions::recommended() }),
        };
        wait(check_written(store, (&indexes, &elements), &queries, (buckets, max)));
    }
}
