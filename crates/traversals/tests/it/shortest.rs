//! Shortest paths against those of petgraph, and against all paths that there are.

use std::collections::BTreeSet;

use ::graph::{EdgeId, VertexId};
use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};
use traversals::*;

use crate::graph::{
    PlainEdge, PlainGraph, PlainStep, WEIGHT, each_graph, numbers, options, plain_edges, plain_paths,
};

/// The graph as others have it, with an edge each way that may be taken.
fn others(graph: &PlainGraph, step: &PlainStep, weighted: bool) -> DiGraph<(), f64> {
    let mut other = DiGraph::new();
    for _ in &graph.vertices {
        other.add_node(());
    }
    for vertex in &graph.vertices {
        for hop in graph.taken(*vertex, step) {
            other.add_edge(node(*vertex), node(hop.target), if weighted { hop.weight } else { 1.0 });
        }
    }
    other
}

fn node(vertex: i64) -> NodeIndex {
    NodeIndex::new(usize::try_from(vertex).unwrap())
}

fn asked(source: i64, target: i64, step: &PlainStep, max_depth: i64) -> ShortestPath {
    ShortestPath {
        source: VertexId::Number(source),
        target: VertexId::Number(target),
        step: step.step.clone(),
        max_depth,
        capacity: NO_LIMIT,
    }
}

#[test]
fn shortest_paths_are_as_long_as_those_of_others() {
    each_graph(60, (14, 24), async |graph, reader, random| {
        let step = random.all_edges();
        let other = others(graph, &step, false);
        for _ in 0..6 {
            let (source, target) = (random.vertex(14), random.vertex(14));
            let length = dijkstra(&other, node(source), Some(node(target)), |edge| *edge.weight());
            let length = length.get(&node(target)).map(|length| *length as i64);
            for max_depth in [1, 2, 3, 20] {
                let asked = asked(source, target, &step, max_depth);
                let found = shortest_path(reader, &options(), &asked).await.unwrap();
                let expected = length.filter(|length| *length <= max_depth);
                assert_eq!(
                    found.paths.first().map(|path| path.vertices.len() as i64 - 1),
                    expected,
                    "{asked:?} {graph:?}"
                );
                let all = all_shortest_paths(reader, &options(), &asked).await.unwrap();
                let mut every = graph.simple_paths(source, &step, usize::try_from(max_depth.min(6)).unwrap());
                every.retain(|path| {
                    path.last() == Some(&target) && path.len() as i64 == expected.unwrap_or(-1) + 1
                });
                let mut given = plain_paths(&all.known, &all.paths);
                given.sort();
                every.sort();
                if expected.is_none_or(|expected| expected <= 6) {
                    assert_eq!(given, every, "{asked:?} {graph:?}");
                }
                let edges = plain_edges(&found.edges);
                assert_eq!(edges.len() as i64, expected.unwrap_or(0));
            }
        }
    });
}

/// What the edges of paths weigh together: of those between two vertices that are shown, each is shown for itself.
fn weight_of(graph: &PlainGraph, edges: &[EdgeId]) -> f64 {
    let weight = |id: &EdgeId| {
        let ends = plain_edges(std::slice::from_ref(id))[0];
        let is_it = |edge: &&PlainEdge| {
            (edge.source, edge.target) == ends
                && edge.label == id.label.0
                && edge.sort_values == &*id.sort_values
        };
        graph.edges.iter().find(is_it).unwrap().weight.unwrap_or(1.0)
    };
    edges.iter().map(weight).sum()
}

#[test]
fn lightest_paths_weigh_what_those_of_others_weigh() {
    each_graph(80, (14, 34), async |graph, reader, random| {
        let (source, step) = (random.vertex(14), random.step());
        let other = others(graph, &step, true);
        let weights = dijkstra(&other, node(source), None, |edge| *edge.weight());
        let single = SingleSourceShortestPath {
            source: VertexId::Number(source),
            step: step.step.clone(),
            weight: Some(WEIGHT),
            capacity: NO_LIMIT,
            limit: NO_LIMIT,
        };
        let found = single_source_shortest_paths(reader, &options(), &single).await.unwrap();
        assert_eq!(found.paths.len(), weights.len() - 1, "{single:?} {graph:?}");
        assert!(found.paths.is_sorted_by(|one, two| one.weight <= two.weight));
        for path in &found.paths {
            let vertices = numbers(&found.known, &path.vertices);
            let target = *vertices.last().unwrap();
            assert_eq!(path.weight, weights[&node(target)], "{vertices:?} {graph:?}");
            let asked = WeightedShortestPath {
                source: VertexId::Number(source),
                target: VertexId::Number(target),
                step: step.step.clone(),
                weight: WEIGHT,
                capacity: NO_LIMIT,
            };
            let one = weighted_shortest_path(reader, &options(), &asked).await.unwrap();
            assert_eq!(one.paths[0].weight, path.weight);
            // Of parallel edges the lightest is shown.
            assert_eq!(one.edges.len(), one.paths[0].vertices.len() - 1, "{asked:?} {graph:?}");
            assert_eq!(weight_of(graph, &one.edges), path.weight, "{asked:?} {graph:?}");
        }
        let limited = SingleSourceShortestPath { limit: 3, ..single };
        let some = single_source_shortest_paths(reader, &options(), &limited).await.unwrap();
        assert_eq!(
            plain_paths(&some.known, &some.paths),
            plain_paths(&found.known, &found.paths).into_iter().take(3).collect::<Vec<_>>()
        );
    });
}

#[tokio::test]
async fn hubs_are_on_no_path() {
    // 0 - 1 - 2, where 1 has many neighbours; and the long way 0 - 10 - 11 - 2.
    let mut edges = vec![(0, 1), (1, 2), (0, 10), (10, 11), (11, 2)];
    edges.extend((20..40).map(|leaf| (1, leaf)));
    let reader = PlainGraph::of(&edges).reader().await;
    let (near, far) = (vec![0, 1, 2], vec![0, 10, 11, 2]);
    for (skip_degree, direction, expected) in [
        (0, Direction::Both, &near),
        (100, Direction::Both, &near),
        (20, Direction::Both, &far),
        // The walk from the end meets the other in 1, which one edge enters.
        (20, Direction::Out, &near),
        (20, Direction::In, &Vec::new()),
    ] {
        let step = Step { max_degree: 20, skip_degree, ..Step::new(direction, None) };
        let asked = asked(0, 2, &PlainStep::of(step), 5);
        let found = shortest_path(&reader, &options(), &asked).await.unwrap();
        assert_eq!(
            plain_paths(&found.known, &found.paths).first().unwrap_or(&Vec::new()),
            expected,
            "{asked:?}"
        );
    }
}

#[test]
fn each_two_of_some_vertices_are_joined() {
    each_graph(20, (10, 16), async |graph, reader, random| {
        let vertices: BTreeSet<i64> = (0..4).map(|_| random.vertex(10)).collect();
        if vertices.len() < 2 {
            return;
        }
        let asked = MultiNodeShortestPath {
            vertices: vertices.iter().map(|vertex| VertexId::Number(*vertex)).collect(),
            step: Step::default(),
            max_depth: 9,
            capacity: defaults::CAPACITY,
        };
        let found = multi_node_shortest_path(reader, &options(), &asked).await.unwrap();
        let other = others(graph, &PlainStep::of(Step::default()), false);
        let mut expected = Vec::new();
        for (at, source) in vertices.iter().enumerate() {
            let lengths = dijkstra(&other, node(*source), None, |edge| *edge.weight());
            for target in vertices.iter().skip(at + 1) {
                if let Some(length) = lengths.get(&node(*target)) {
                    expected.push((*source, *target, *length as usize));
                }
            }
        }
        let given: Vec<_> = plain_paths(&found.known, &found.paths)
            .iter()
            .map(|path| (path[0], *path.last().unwrap(), path.len() - 1))
            .collect();
        assert_eq!(given, expected);
    });
    let one = MultiNodeShortestPath {
        vertices: vec![VertexId::Number(1)],
        step: Step::default(),
        max_depth: 1,
        capacity: -1,
    };
    assert!(one.check().is_err());
}
