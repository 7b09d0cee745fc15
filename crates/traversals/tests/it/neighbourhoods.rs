//! K-out and k-neighbour against layers worked out plainly.

use std::collections::BTreeSet;

use ::graph::{LabelId, VertexId};
use traversals::*;

use crate::graph::{PlainGraph, each_graph, numbers, options, plain_edges, plain_paths};

/// The vertices that are exactly so many steps away: each layer, without those of earlier ones if only the nearest count.
fn layers(
    graph: &PlainGraph,
    source: i64,
    (direction, label): (Direction, Option<u32>),
    depth: i64,
    nearest: bool,
) -> Vec<BTreeSet<i64>> {
    let (mut layers, mut seen) = (vec![BTreeSet::from([source])], BTreeSet::from([source]));
    for _ in 0..depth {
        let mut next = BTreeSet::new();
        for vertex in layers.last().unwrap() {
            next.extend(graph.neighbours(*vertex, direction, label));
        }
        next.remove(&source);
        if nearest {
            next = next.difference(&seen).copied().collect();
        }
        seen.extend(&next);
        layers.push(next);
    }
    layers
}

#[test]
fn kout_gives_the_last_layer() {
    each_graph(60, (12, 24), async |graph, reader, random| {
        let (source, direction) = (random.vertex(12), random.direction());
        let label = [None, Some(1)][usize::try_from(random.below(2)).unwrap()];
        for (depth, nearest) in [(1, true), (2, true), (3, true), (2, false), (4, false), (30, true)] {
            let expected = layers(graph, source, (direction, label), depth, nearest).pop().unwrap();
            for mode in [TraverseMode::Breadth, TraverseMode::Depth] {
                let asked = Kout {
                    source: VertexId::Number(source),
                    step: Step::new(direction, label.map(|label| LabelId(label).into())),
                    vertex_filters: Vec::new(),
                    max_depth: depth,
                    nearest,
                    capacity: NO_LIMIT,
                    limit: NO_LIMIT,
                    with_paths: true,
                    mode,
                    basic: false,
                };
                let reached = kout(reader, &options(), &asked).await.unwrap();
                let found = numbers(&reached.known, &reached.vertices);
                assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), expected, "{asked:?} {graph:?}");
                assert_eq!(found.len(), expected.len());
                let edges = plain_edges(&reached.edges);
                for (path, end) in plain_paths(&reached.known, &reached.paths).iter().zip(&found) {
                    assert_eq!((path[0], path.last(), path.len() as i64), (source, Some(end), depth + 1));
                    for pair in path.windows(2) {
                        assert!(graph.neighbours(pair[0], direction, label).contains(&pair[1]));
                        assert!(
                            edges.contains(&(pair[0], pair[1])) || edges.contains(&(pair[1], pair[0])),
                            "{path:?} {edges:?}"
                        );
                    }
                }
                let limited = kout(reader, &options(), &Kout { limit: 2, ..asked }).await.unwrap();
                assert_eq!(limited.vertices.len(), expected.len().min(2));
            }
        }
    });
}

#[test]
fn kneighbor_gives_all_layers() {
    each_graph(60, (14, 22), async |graph, reader, random| {
        let (source, direction) = (random.vertex(14), random.direction());
        for (depth, limit) in [(1, NO_LIMIT), (2, NO_LIMIT), (5, NO_LIMIT), (3, 4)] {
            let expected = layers(graph, source, (direction, None), depth, true);
            let asked = Kneighbor {
                source: VertexId::Number(source),
                step: Step::new(direction, None),
                vertex_filters: Vec::new(),
                max_depth: depth,
                limit,
                with_paths: true,
            };
            let reached = kneighbor(reader, &options(), &asked).await.unwrap();
            let found = numbers(&reached.known, &reached.vertices);
            let all: usize = expected.iter().skip(1).map(BTreeSet::len).sum();
            assert_eq!(
                found.len(),
                all.min(usize::try_from(limit).unwrap_or(usize::MAX)),
                "{asked:?} {graph:?}"
            );
            for (path, end) in plain_paths(&reached.known, &reached.paths).iter().zip(&found) {
                assert!(path.last() == Some(end) && expected[path.len() - 1].contains(end));
            }
            let read: usize = expected.iter().rev().skip(1).map(BTreeSet::len).sum();
            if limit == NO_LIMIT {
                assert_eq!(reached.measure.vertices, read as u64);
            }
        }
    });
}

#[test]
fn degrees_bound_edges_and_skip_hubs() {
    each_graph(40, (8, 40), async |graph, reader, random| {
        let (source, direction) = (random.vertex(8), random.direction());
        let neighbours = graph.neighbours(source, direction, None);
        for (max_degree, skip_degree) in [(3, 0), (3, 4), (3, 6), (1, 1), (100, 0), (NO_LIMIT, 0)] {
            let step = Step { max_degree, skip_degree, ..Step::new(direction, None) };
            let is_hub = skip_degree > 0 && neighbours.len() >= usize::try_from(skip_degree).unwrap();
            let taken = if is_hub { 0 } else { usize::try_from(max_degree).unwrap_or(usize::MAX) };
            let expected: BTreeSet<i64> =
                neighbours.iter().take(taken).filter(|vertex| **vertex != source).copied().collect();
            let asked = Kneighbor {
                source: VertexId::Number(source),
                step,
                vertex_filters: Vec::new(),
                max_depth: 1,
                limit: NO_LIMIT,
                with_paths: false,
            };
            let reached = kneighbor(reader, &options(), &asked).await.unwrap();
            let found: BTreeSet<i64> = numbers(&reached.known, &reached.vertices).into_iter().collect();
            assert_eq!(found, expected, "{asked:?} {graph:?}");
            assert_eq!(reached.measure.edges, neighbours.iter().take(taken).count() as u64);
        }
    });
}
