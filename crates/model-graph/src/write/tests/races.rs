//! Writers side by side, on two nodes: no edge is seen from one side only, none without its ends, no index row is missing.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

/// With four buckets in three of them.
pub(super) const IDS: [&str; 3] = ["a", "b", "c"];

async fn write(node: Arc<Node>, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..12 {
        let mut id = || IDS[random.random_range(0..IDS.len())];
        let (one, two) = (id(), id());
        let age = Some(random.random_range(0..3));
        // What another has removed is refused; and who never gets a turn may try again.
        let done = match random.random_range(0..4) {
            0 => node
                .vertices(vec![VertexOperation::Put(vertex(one, PERSON, properties(Some(one), age)))])
                .await
                .map(drop),
            1 => node.remove(&[one.into()]).await.map(drop),
            _ => {
                let edge = edge(one, KNOWS, two, properties(None, age));
                node.edges(vec![EdgeOperation::Put(edge, None)], CheckVertices::Yes).await.map(drop)
            }
        };
        let is_known = matches!(done, Ok(()) | Err(Error::NoSuchVertex(_) | Error::Contention(_)));
        assert!(is_known, "{done:?}");
        tokio::task::yield_now().await;
    }
}

pub(super) async fn check(node: &Node) {
    node.writer.finish_removals(node).await.unwrap();
    let is_there = |id: &VertexId, found: &[(Vec<u8>, Vec<u8>)]| {
        let key = keys::vertex(id);
        found.iter().any(|(row, _)| *row == key)
    };
    let vertices = node.rows(b'v').await;
    let (mut out, mut into) = (Vec::new(), Vec::new());
    for id in IDS {
        out.extend(node.neighbours(id, EdgeDirection::Out).await);
        into.extend(node.neighbours(id, EdgeDirection::In).await);
    }
    out.sort();
    into.sort();
    assert_eq!(out, into, "edges are seen from both sides");
    for edge in &out {
        let edge: EdgeId = edge.parse().unwrap();
        assert!(is_there(&edge.source, &vertices) && is_there(&edge.target, &vertices), "{edge}");
    }
    assert!(node.rows(b'r').await.is_empty());
    check_index_rows(node).await;
}

#[test]
fn writers_side_by_side_leave_a_whole_graph() {
    for seed in store::testing::seeds(40) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            for (store, beside) in stores(seed) {
                let buckets = if seed % 2 == 0 { 1 } else { 4 };
                let node = |store| Arc::new(Node::new(store, buckets));
                let is_shared = store.may_lag();
                let first = node(store);
                // A store of one process has one writer of a graph.
                let nodes = [first.clone(), if is_shared { node(beside) } else { first }];
                let mut writers = tokio::task::JoinSet::new();
                for writer in 0..4 {
                    let node = Arc::clone(&nodes[writer % 2]);
                    writers.spawn(write(node, seed * 4 + writer as u64));
                }
                while let Some(done) = writers.join_next().await {
                    done.unwrap();
                }
                for node in &nodes {
                    check(node).await;
                }
            }
        });
    }
}
