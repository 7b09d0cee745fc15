//! Paths between two vertices against all that there are.

use std::collections::BTreeSet;

use ::graph::VertexId;
use traversals::*;

use crate::graph::{PlainGraph, PlainStep, each_graph, number, options, plain_paths};

fn asked(source: i64, target: i64, step: &PlainStep, max_depth: i64) -> Paths {
    Paths {
        source: VertexId::Number(source),
        target: VertexId::Number(target),
        step: step.step.clone(),
        max_depth,
        capacity: NO_LIMIT,
        limit: NO_LIMIT,
    }
}

/// The vertices of the layers of a walk, up to so many steps from one end on; from the other end it does not go on.
fn passed(graph: &PlainGraph, (from, end): (i64, i64), step: &PlainStep, steps: usize) -> usize {
    let (mut layer, mut count) = (BTreeSet::from([from]), 1);
    for _ in 0..steps {
        let goes_on = layer.iter().filter(|vertex| **vertex != end);
        layer = goes_on.flat_map(|vertex| graph.next(*vertex, step)).collect();
        count += layer.len();
    }
    count
}

#[test]
fn paths_are_all_that_there_are() {
    each_graph(60, (9, 16), async |graph, reader, random| {
        let (source, target, mut step) = (random.vertex(9), random.vertex(9), random.step());
        step.step.skip_degree = 0;
        for depth in [1, 2, 3, 5] {
            // The walks take turns, the one from the source first.
            let mut expected = graph.paths_between(source, &step, depth, |ahead, back| {
                ahead - ahead.min(back) <= 1 && ahead >= back
            });
            expected.retain(|path| path.len() > 1 && path.last() == Some(&target));
            let asked = asked(source, target, &step, depth as i64);
            let found = paths(reader, &options(), &asked).await.unwrap();
            let given = plain_paths(&found.known, &found.paths);
            assert!(given.is_sorted_by_key(Vec::len));
            let sorted: BTreeSet<_> = given.iter().cloned().collect();
            assert_eq!(sorted.len(), given.len());
            assert_eq!(sorted, expected.iter().cloned().collect(), "{asked:?} {graph:?}");
            let limited = paths(reader, &options(), &Paths { limit: 2, ..asked.clone() }).await.unwrap();
            assert_eq!(limited.paths.len(), expected.len().min(2));
            // The layers of both walks before the last step count.
            let counted = passed(graph, (source, target), &step, depth / 2)
                + passed(graph, (target, source), &step.reversed(), (depth - 1) / 2);
            let capacity = 1 + random.vertex(20);
            let within = paths(reader, &options(), &Paths { capacity, ..asked.clone() }).await;
            let is_over = source != target && counted as i64 > capacity;
            assert_eq!(within.is_err(), is_over, "{counted} {capacity} {asked:?} {graph:?}");
        }
    });
}

#[test]
fn crosspoints_are_where_two_walks_meet() {
    each_graph(60, (9, 16), async |graph, reader, random| {
        let (source, target, mut step) = (random.vertex(9), random.vertex(9), random.step());
        step.step.skip_degree = 0;
        if source == target {
            return;
        }
        for depth in [1, 2, 3, 4] {
            let mut expected = BTreeSet::new();
            for length in 1..=depth {
                let (ahead, back) = (length - length / 2, length / 2);
                let ends = |from, steps| {
                    let mut paths = graph.simple_paths(from, &step, steps);
                    paths.retain(|path| path.len() == steps + 1);
                    paths
                };
                for one in ends(source, ahead) {
                    for two in ends(target, back).iter().filter(|two| two.last() == one.last()) {
                        let path: Vec<i64> = one.iter().chain(two.iter().rev().skip(1)).copied().collect();
                        if path.iter().collect::<BTreeSet<_>>().len() == path.len() {
                            expected.insert((*one.last().unwrap(), path));
                        }
                    }
                }
            }
            let asked = asked(source, target, &step, depth as i64);
            let found = crosspoints(reader, &options(), &asked).await.unwrap();
            let points = found.paths.iter().map(|path| number(&found.known, path.crosspoint.unwrap()));
            let given: BTreeSet<_> = points.zip(plain_paths(&found.known, &found.paths)).collect();
            assert_eq!(given, expected, "{asked:?} {graph:?}");
        }
    });
}
