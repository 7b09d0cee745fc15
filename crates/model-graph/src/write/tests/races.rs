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

/// A number that is in use is passed over.
#[tokio::test(start_paused = true)]
async fn a_vertex_whose_number_is_in_use_gets_the_next() {
    for (store, _) in stores(7) {
        let node = Node::new(store, 1);
        let numbered = |number: i64| Vertex {
            id: VertexId::Number(number),
            label: THING,
            expires: None,
            properties: Properties::default(),
        };
        let first = node.writer.next_number(Timestamp(0));
        let taken = (0..3).map(|step| VertexOperation::Put(numbered(first + step)));
        node.vertices(taken.collect()).await.unwrap();
        let made = node.vertices(vec![VertexOperation::Create(numbered(first))]).await.unwrap();
        let ids: Vec<VertexId> = made.into_iter().map(|it| it.stored().unwrap().id).collect();
        assert_eq!(ids.len(), 1);
        assert!(!(0..3).any(|step| ids.contains(&VertexId::Number(first + step))), "{ids:?}");
        assert_eq!(node.rows(b'v').await.len(), 4);
    }
}

/// The edges of a vertex that has expired, or whose removal was cut short, are not those of the next one of its id.
#[tokio::test(start_paused = true)]
async fn edges_of_a_vertex_of_before_are_not_those_of_the_next() {
    for (store, _) in stores(8) {
        for buckets in [1, 4] {
            let mut node = Node::new(store.clone(), buckets);
            let mut now = Timestamp(0);
            let mut schema = Schema::clone(&node.schema);
            let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
            let draft = VertexLabelDraft {
                label: LabelDraft { ttl_ms: 10, ..label("mayfly", &["name", "age"]) },
                id_strategy: IdStrategy::CustomizeString,
                primary_keys: Vec::new(),
            };
            if schema.vertex_label_named("mayfly").is_none() {
                schema = schema.create_vertex_label(&draft, &new).unwrap().change.unwrap().schema;
            }
            node.schema = Arc::new(schema);
            let mayfly =
                |expires| Vertex { expires: Some(expires), ..vertex("m", LabelId(3), Properties::default()) };
            node.vertices(vec![
                VertexOperation::Put(mayfly(10)),
                VertexOperation::Put(vertex("a", THING, Properties::default())),
            ])
            .await
            .unwrap();
            let edges = [
                edge("m", KNOWS, "a", properties(None, Some(1))),
                edge("a", HAS, "m", Properties::default()),
            ];
            let puts = edges.map(|edge| EdgeOperation::Put(edge, None)).to_vec();
            node.edges(puts.clone(), CheckVertices::Yes).await.unwrap();
            now.0 = 11_000;
            node.now = now;
            node.vertices(vec![VertexOperation::Put(mayfly(30))]).await.unwrap();
            for (id, direction) in
                [("m", EdgeDirection::Out), ("m", EdgeDirection::In), ("a", EdgeDirection::In)]
            {
                assert!(node.neighbours(id, direction).await.is_empty(), "{id} {direction:?}");
            }
            // A removal that a crash cut short behind its first commit.
            node.edges(puts, CheckVertices::Yes).await.unwrap();
            node.cut_removal("m").await;
            node.vertices(vec![VertexOperation::Put(mayfly(40))]).await.unwrap();
            assert!(node.neighbours("m", EdgeDirection::Out).await.is_empty());
            assert!(node.rows(b'r').await.is_empty());
            node.remove(&["m".into(), "a".into()]).await.unwrap();
            assert!(node.rows(b'X').await.is_empty());
        }
    }
}

/// Who changes edges while their vertex is removed leaves no row that finds them.
#[test]
fn edges_that_are_changed_while_they_are_swept_leave_no_rows() {
    for seed in store::testing::seeds(24) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            for paused in [300, 900] {
                let clock = Clock::manual(Timestamp(0));
                let memory = store::MemoryOptions { clock, feed: store::FeedOptions::recommended() };
                let options = store::HostileOptions { paused, ..store::HostileOptions::new(memory, seed) };
                let node = Node::new(Store::hostile(options), if seed % 4 == 0 { 4 } else { 1 });
                let things = ["hub", "b", "c", "d"]
                    .map(|id| VertexOperation::Put(vertex(id, THING, Properties::default())));
                node.vertices(things.to_vec()).await.unwrap();
                let edges = ["b", "c", "d"]
                    .map(|to| EdgeOperation::Put(edge("hub", KNOWS, to, properties(None, Some(1))), None));
                node.edges(edges.to_vec(), CheckVertices::Yes).await.unwrap();
                let changes = async {
                    for age in 2..8 {
                        for to in ["b", "c", "d"] {
                            let change = Change::Append(properties(None, Some(age)));
                            let change = EdgeOperation::Change(edge_id("hub", KNOWS, to), change);
                            node.edges(vec![change], CheckVertices::No).await.ok();
                            tokio::task::yield_now().await;
                        }
                    }
                };
                let removal = async {
                    tokio::task::yield_now().await;
                    node.remove(&["hub".into()]).await.unwrap();
                };
                tokio::join!(changes, removal);
                node.writer.finish_removals(&node).await.unwrap();
                assert!(node.rows(b'e').await.is_empty(), "seed {seed}");
                check_index_rows(&node).await;
            }
        });
    }
}
