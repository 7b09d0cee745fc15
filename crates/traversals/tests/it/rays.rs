//! Rays and rings against a plain search for them.

use std::collections::BTreeSet;

use ::graph::VertexId;
use traversals::*;

use crate::graph::{PlainGraph, each_graph, options, plain_paths};

fn asked(source: i64, direction: Direction, max_depth: usize) -> Rays {
    Rays {
        source: VertexId::Number(source),
        step: Step::new(direction, None),
        max_depth: max_depth as i64,
        capacity: NO_LIMIT,
        limit: NO_LIMIT,
    }
}

fn plain_rays(graph: &PlainGraph, source: i64, direction: Direction, depth: usize) -> BTreeSet<Vec<i64>> {
    let mut paths = graph.simple_paths(source, direction, depth);
    paths.retain(|path| {
        let ways = graph.neighbours(*path.last().unwrap(), direction, None);
        let came = path.len().checked_sub(2).map(|at| path[at]);
        let only_back = direction == Direction::Both && ways.len() == 1 && came == Some(ways[0]);
        path.len() > depth || ways.is_empty() || only_back
    });
    paths.into_iter().collect()
}

fn plain_rings(
    graph: &PlainGraph,
    source: i64,
    direction: Direction,
    depth: usize,
    with_source: bool,
) -> BTreeSet<Vec<i64>> {
    let mut rings = BTreeSet::new();
    for path in graph.simple_paths(source, direction, depth - 1) {
        let last = *path.last().unwrap();
        let (out, into) =
            (graph.neighbours(last, Direction::Out, None), graph.neighbours(last, Direction::In, None));
        for vertex in graph.neighbours(last, direction, None) {
            let came = path.len().checked_sub(2).map(|at| path[at]);
            let over_same = direction == Direction::Both
                && came == Some(vertex)
                && !(out.contains(&vertex) && into.contains(&vertex));
            let is_ring = path.contains(&vertex) && (!with_source || vertex == source) && !over_same;
            if is_ring {
                let ring = [&path[..], &[vertex]].concat();
                let back: Vec<i64> = ring.iter().rev().copied().collect();
                rings.insert(ring.min(back));
            }
        }
    }
    rings
}

#[test]
fn rays_end_where_nothing_leads_on() {
    each_graph(80, (9, 13), async |graph, reader, random| {
        let (source, direction) = (random.vertex(9), random.direction());
        for depth in [1, 2, 4] {
            let expected = plain_rays(graph, source, direction, depth);
            let asked = asked(source, direction, depth);
            let found = rays(reader, &options(), &asked).await.unwrap();
            let given: BTreeSet<_> = plain_paths(&found.known, &found.paths).into_iter().collect();
            assert_eq!(given, expected, "{asked:?} {graph:?}");
            let some = rays(reader, &options(), &Rays { limit: 1, ..asked }).await.unwrap();
            assert_eq!(some.paths.len(), expected.len().min(1));
        }
    });
}

#[test]
fn rings_come_back() {
    each_graph(80, (8, 14), async |graph, reader, random| {
        let (source, direction) = (random.vertex(8), random.direction());
        for (depth, with_source) in [(1, true), (3, true), (4, true), (2, false), (4, false)] {
            let expected = plain_rings(graph, source, direction, depth, with_source);
            let asked = asked(source, direction, depth);
            let found = rings(reader, &options(), &asked, with_source).await.unwrap();
            let given: Vec<_> = plain_paths(&found.known, &found.paths);
            let sorted: BTreeSet<_> =
                given.iter().map(|ring| ring.clone().min(ring.iter().rev().copied().collect())).collect();
            assert_eq!(sorted.len(), given.len(), "{given:?}");
            assert_eq!(sorted, expected, "{asked:?} {with_source} {graph:?}");
        }
    });
    let over = Rays { capacity: 0, ..asked(0, Direction::Out, 1) };
    assert_eq!(
        over.check().unwrap_err().to_string(),
        "The capacity parameter must be > 0 or == -1, but got: 0"
    );
}
