//! K-out and k-neighbour against layers worked out plainly.

use std::collections::BTreeSet;

use ::graph::VertexId;
use traversals::*;

use crate::graph::{PlainGraph, PlainStep, each_graph, numbers, options, plain_edges, plain_paths};

/// The vertices that are exactly so many steps away: each layer, without those of earlier ones if only the nearest count.
fn layers(
    graph: &PlainGraph,
    source: i64,
    step: &PlainStep,
    depth: i64,
    nearest: bool,
) -> Vec<BTreeSet<i64>> {
    let (mut layers, mut seen) = (vec![BTreeSet::from([source])], BTreeSet::from([source]));
    for _ in 0..depth {
        let mut next = BTreeSet::new();
        for vertex in layers.last().unwrap() {
            next.extend(graph.next(*vertex, step));
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

fn kout_of(source: i64, step: &PlainStep, max_depth: i64, nearest: bool) -> Kout {
    Kout {
        source: VertexId::Number(source),
        step: step.step.clone(),
        vertex_filters: Vec::new(),
        max_depth,
        nearest,
        capacity: NO_LIMIT,
        limit: NO_LIMIT,
        with_paths: true,
        mode: TraverseMode::Breadth,
        basic: false,
    }
}

#[test]
fn kout_gives_the_last_layer() {
    each_graph(80, (12, 24), async |graph, reader, random| {
        let (source, step) = (random.vertex(12), random.step());
        for (depth, nearest) in [(1, true), (2, true), (3, true), (2, false), (4, false), (30, true)] {
            let expected = layers(graph, source, &step, depth, nearest).pop().unwrap();
            for mode in [TraverseMode::Breadth, TraverseMode::Depth] {
                let asked = Kout { mode, ..kout_of(source, &step, depth, nearest) };
                let reached = kout(reader, &options(), &asked).await.unwrap();
                let found = numbers(&reached.known, &reached.vertices);
                assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), expected, "{asked:?} {graph:?}");
                assert_eq!(found.len(), expected.len());
                let edges = plain_edges(&reached.edges);
                for (path, end) in plain_paths(&reached.known, &reached.paths).iter().zip(&found) {
                    assert_eq!((path[0], path.last(), path.len() as i64), (source, Some(end), depth + 1));
                    for pair in path.windows(2) {
                        assert!(graph.next(pair[0], &step).contains(&pair[1]));
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

/// What the capacity says of a k-out: how many vertices the last layer has, or at which depth it is reached.
fn within(asked: &Kout, layers: &[BTreeSet<i64>]) -> Result<usize, String> {
    let (Ok(capacity), Ok(limit)) = (usize::try_from(asked.capacity), usize::try_from(asked.limit)) else {
        unreachable!("both are given")
    };
    let (mut visited, mut seen) = (usize::from(asked.basic), BTreeSet::new());
    let (last, before) = layers[1..].split_last().unwrap();
    for (layer, left) in before.iter().zip((1..=before.len()).rev()) {
        let new = layer.iter().filter(|vertex| seen.insert(**vertex)).count();
        visited += if asked.basic { layer.len() } else { new };
        if visited >= capacity {
            return Err(format!("Reach capacity '{capacity}' while remaining depth '{left}'"));
        }
    }
    Ok(last.len().min(limit).min(if asked.basic { capacity - visited } else { usize::MAX }))
}

#[test]
fn kout_ends_at_its_capacity() {
    each_graph(80, (12, 30), async |graph, reader, random| {
        let (source, step) = (random.vertex(12), random.step());
        let (basic, nearest) = (random.below(2) == 0, random.below(2) == 0);
        let depth = 1 + random.vertex(4);
        let capacity = 1 + random.vertex(14);
        let limit = 1 + random.vertex(if basic { capacity.unsigned_abs() } else { 14 });
        let asked = Kout { capacity, limit, basic, ..kout_of(source, &step, depth, nearest) };
        let expected = within(&asked, &layers(graph, source, &step, depth, nearest));
        let found = kout(reader, &options(), &asked).await;
        let found = found.map(|found| found.vertices.len()).map_err(|error| error.to_string());
        assert_eq!(found, expected, "{asked:?} {graph:?}");
    });
}

#[test]
fn kneighbor_gives_all_layers() {
    each_graph(80, (14, 22), async |graph, reader, random| {
        let (source, step) = (random.vertex(14), random.step());
        for (depth, limit) in [(1, NO_LIMIT), (2, NO_LIMIT), (5, NO_LIMIT), (3, 4)] {
            let expected = layers(graph, source, &step, depth, true);
            let asked = Kneighbor {
                source: VertexId::Number(source),
                step: step.step.clone(),
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
                let taken = |vertex: &i64| graph.taken(*vertex, &step).len();
                let edges: usize = expected.iter().rev().skip(1).flatten().map(taken).sum();
                assert_eq!(reached.measure.edges, edges as u64);
            }
        }
    });
}
