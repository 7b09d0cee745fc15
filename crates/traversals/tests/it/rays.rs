//! Rays and rings against a plain search for them.

use std::collections::BTreeSet;

use ::graph::VertexId;
use traversals::*;

use crate::graph::{PlainGraph, PlainStep, each_graph, options, plain_paths};

fn asked(source: i64, step: &PlainStep, max_depth: usize) -> Rays {
    Rays {
        source: VertexId::Number(source),
        step: step.step.clone(),
        max_depth: max_depth as i64,
        capacity: NO_LIMIT,
        limit: NO_LIMIT,
    }
}

fn plain_rays(graph: &PlainGraph, source: i64, step: &PlainStep, depth: usize) -> BTreeSet<Vec<i64>> {
    let mut paths = graph.simple_paths(source, step, depth);
    paths.retain(|path| {
        let ways = graph.taken(*path.last().unwrap(), step);
        let came = path.len().checked_sub(2).map(|at| path[at]);
        let both = step.step.direction == Direction::Both;
        let only_back = both && ways.len() == 1 && came == Some(ways[0].target);
        path.len() > depth || ways.is_empty() || only_back
    });
    paths.into_iter().collect()
}

fn plain_rings(
    graph: &PlainGraph,
    source: i64,
    step: &PlainStep,
    depth: usize,
    with_source: bool,
) -> BTreeSet<Vec<i64>> {
    let mut rings = BTreeSet::new();
    for path in graph.simple_paths(source, step, depth - 1) {
        let hops = graph.taken(*path.last().unwrap(), step);
        for vertex in hops.iter().map(|hop| hop.target) {
            let came = path.len().checked_sub(2).map(|at| path[at]);
            let has = |is_out: bool| hops.iter().any(|hop| hop.target == vertex && hop.is_out == is_out);
            let both = step.step.direction == Direction::Both;
            let over_same = both && came == Some(vertex) && !(has(true) && has(false));
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
        let (source, mut step) = (random.vertex(9), random.step());
        step.step.skip_degree = 0;
        for depth in [1, 2, 4] {
            let expected = plain_rays(graph, source, &step, depth);
            let asked = asked(source, &step, depth);
            let found = rays(reader, &options(), &asked).await.unwrap();
            let given: BTreeSet<_> = plain_paths(&found.known, &found.paths).into_iter().collect();
            assert_eq!(given, expected, "{asked:?} {graph:?}");
            let some = rays(reader, &options(), &Rays { limit: 1, ..asked.clone() }).await.unwrap();
            assert_eq!(some.paths.len(), expected.len().min(1));
            // Vertices that are reached before the last step count, and all with the last ray.
            let reached = |depth: usize| {
                let paths = graph.simple_paths(source, &step, depth);
                paths.into_iter().flatten().collect::<BTreeSet<_>>().len()
            };
            let capacity = 1 + random.vertex(9);
            let within = rays(reader, &options(), &Rays { capacity, ..asked }).await;
            if reached(depth - 1) as i64 > capacity {
                let error = within.unwrap_err().to_string();
                assert_eq!(error, format!("Exceed capacity '{capacity}' while finding rays"));
            } else if reached(depth) as i64 <= capacity {
                assert_eq!(within.unwrap().paths.len(), expected.len());
            }
        }
    });
}

#[test]
fn rings_come_back() {
    each_graph(80, (8, 14), async |graph, reader, random| {
        let (source, mut step) = (random.vertex(8), random.step());
        step.step.skip_degree = 0;
        for (depth, with_source) in [(1, true), (3, true), (4, true), (2, false), (4, false)] {
            let expected = plain_rings(graph, source, &step, depth, with_source);
            let asked = asked(source, &step, depth);
            let found = rings(reader, &options(), &asked, with_source).await.unwrap();
            let given: Vec<_> = plain_paths(&found.known, &found.paths);
            let sorted: BTreeSet<_> =
                given.iter().map(|ring| ring.clone().min(ring.iter().rev().copied().collect())).collect();
            assert_eq!(sorted.len(), given.len(), "{given:?}");
            assert_eq!(sorted, expected, "{asked:?} {with_source} {graph:?}");
        }
    });
    let over = Rays { capacity: 0, ..asked(0, &PlainStep::of(Step::default()), 1) };
    assert_eq!(
        over.check().unwrap_err().to_string(),
        "The capacity parameter must be > 0 or == -1, but got: 0"
    );
}
