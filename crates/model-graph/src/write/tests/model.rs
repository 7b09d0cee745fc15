//! Random operations, one after the other, against a plain model.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

const IDS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// What should be there.
#[derive(Default)]
struct Model {
    vertices: BTreeMap<String, Vertex>,
    edges: BTreeMap<String, Edge>,
}

impl Model {
    fn neighbours(&self, of: &str, direction: EdgeDirection) -> Vec<String> {
        let end = |edge: &Edge| match direction {
            EdgeDirection::Out => edge.id.source == of.into(),
            EdgeDirection::In => edge.id.target == of.into(),
        };
        let mut found: Vec<_> =
            self.edges.values().filter(|edge| end(edge)).map(|edge| edge.id.to_string()).collect();
        found.sort();
        found
    }
}

fn given(random: &mut StdRng) -> Properties {
    // Names are unique: as good as none is taken twice.
    let name = format!("{}", random.random::<u64>());
    properties(Some(&name), Some(random.random_range(0..3)))
}

async fn step(random: &mut StdRng, node: &Node, model: &mut Model) {
    let mut id = || IDS[random.random_range(0..IDS.len())];
    let (one, two) = (id(), id());
    let label = if random.random() { PERSON } else { THING };
    let edge_label = if random.random() { KNOWS } else { HAS };
    match random.random_range(0..10) {
        0..=2 => {
            let puts: Vec<_> = [one, two, one].map(|id| vertex(id, label, given(random))).into();
            node.vertices(puts.iter().cloned().map(VertexOperation::Put).collect()).await.unwrap();
            model.vertices.extend(puts.into_iter().map(|it| (it.id.to_string(), it)));
        }
        3..=6 => {
            let puts: Vec<_> =
                [(one, two), (two, one)].map(|(one, two)| edge(one, edge_label, two, given(random))).into();
            let operations = puts.iter().cloned().map(|edge| EdgeOperation::Put(edge, None)).collect();
            let done = node.edges(operations, CheckVertices::Yes).await;
            let both = model.vertices.contains_key(one) && model.vertices.contains_key(two);
            assert_eq!(done.is_ok(), both, "{done:?}");
            if both {
                model.edges.extend(puts.into_iter().map(|it| (it.id.to_string(), it)));
            }
        }
        7 => {
            let id = edge_id(one, edge_label, two);
            let was = model.edges.remove(&id.to_string()).is_some();
            let removed = node.edges(vec![EdgeOperation::Remove(id)], CheckVertices::No).await.unwrap();
            assert_eq!(removed, [Written::Removed(was)]);
        }
        8 => {
            let change = Change::Append(properties(None, Some(7)));
            let done = node.vertices(vec![VertexOperation::Change(one.into(), change)]).await;
            match model.vertices.get_mut(one) {
                None => assert!(matches!(done, Err(Error::NoSuchVertex(_)))),
                Some(vertex) => {
                    let name = vertex.properties.as_ref().get(NAME).unwrap().map(graph::ValueRef::to_value);
                    let name = match name {
                        Some(graph::Value::One(graph::Scalar::Text(name))) => Some(name),
                        _ => None,
                    };
                    vertex.properties = properties(name.as_deref(), Some(7));
                    assert_eq!(done.unwrap(), [Written::Stored(vertex.clone())]);
                }
            }
        }
        _ => {
            let removed = node.remove(&[one.into()]).await.unwrap();
            assert_eq!(removed, [model.vertices.remove(one).is_some()]);
            let touches = |edge: &Edge| edge.id.source == one.into() || edge.id.target == one.into();
            model.edges.retain(|_, edge| !touches(edge));
        }
    }
}

async fn check(node: &Node, model: &Model) {
    let ids: Vec<VertexId> = IDS.map(VertexId::from).into();
    let found = node.reader().vertices(&ids).await.unwrap();
    for (id, found) in IDS.iter().zip(found) {
        let expected = model.vertices.get(*id);
        assert_eq!(found.is_some(), expected.is_some(), "{id}");
        if let (Some(found), Some(expected)) = (found, expected) {
            let view = found.view().unwrap();
            assert_eq!(
                (view.label, Properties::of_bytes(view.properties.as_bytes())),
                (expected.label, expected.properties.clone())
            );
        }
        for direction in [EdgeDirection::Out, EdgeDirection::In] {
            assert_eq!(
                node.neighbours(id, direction).await,
                model.neighbours(id, direction),
                "{id} {direction:?}"
            );
        }
    }
    check_index_rows(node).await;
}

#[test]
fn random_writes_leave_what_a_plain_model_has() {
    for seed in store::testing::seeds(24) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            for (store, beside) in stores(seed) {
                let buckets = if seed % 2 == 0 { 1 } else { 4 };
                let nodes = [Node::new(store, buckets), Node::new(beside, buckets)];
                let (mut random, mut model) = (StdRng::seed_from_u64(seed), Model::default());
                for _ in 0..40 {
                    let writes = random.random_range(0..2);
                    step(&mut random, &nodes[writes], &mut model).await;
                    check(&nodes[random.random_range(0..2)], &model).await;
                }
            }
        });
    }
}
