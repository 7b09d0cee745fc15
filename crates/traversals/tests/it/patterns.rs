//! Paths between several vertices, paths that follow steps, and counts, against all that there are.

use std::collections::BTreeSet;

use ::graph::{LabelId, VertexId};
use traversals::*;

use crate::graph::{
    PlainGraph, PlainStep, Random, WEIGHT, each_graph, heavier_than, numbers, options, plain_edges,
    plain_paths,
};

fn ids(vertices: &BTreeSet<i64>) -> Vec<VertexId> {
    vertices.iter().map(|vertex| VertexId::Number(*vertex)).collect()
}

fn some(random: &mut Random, count: usize, vertices: u64) -> BTreeSet<i64> {
    (0..count).map(|_| random.vertex(vertices)).collect()
}

#[test]
fn paths_lead_from_each_source_to_each_target() {
    each_graph(60, (9, 14), async |graph, reader, random| {
        let (sources, targets, step) = (some(random, 2, 9), some(random, 2, 9), random.step());
        for depth in [1_usize, 2, 3, 4] {
            let mut expected = BTreeSet::new();
            for source in &sources {
                // A walk meets all that the other has passed.
                let is_split = |ahead, back| ahead <= depth.div_ceil(2) && back <= depth / 2;
                let mut paths = graph.paths_between(*source, &step, depth, is_split);
                paths.retain(|path| path.len() > 1 && targets.contains(path.last().unwrap()));
                expected.extend(paths);
            }
            let asked = CollectionPaths {
                sources: ids(&sources),
                targets: ids(&targets),
                step: step.step.clone(),
                max_depth: depth as i64,
                nearest: false,
                capacity: NO_LIMIT,
                limit: NO_LIMIT,
            };
            let found = collection_paths(reader, &options(), &asked).await.unwrap();
            let given: BTreeSet<_> = plain_paths(&found.known, &found.paths).into_iter().collect();
            assert_eq!(given.len(), found.paths.len());
            assert_eq!(given, expected, "{asked:?} {graph:?}");
            let limited = CollectionPaths { limit: 2, ..asked.clone() };
            let some = collection_paths(reader, &options(), &limited).await.unwrap();
            assert_eq!(some.paths.len(), expected.len().min(2));
            // What both walks remember before the last step counts.
            let remembered = |ends: &BTreeSet<i64>, step: &PlainStep, depth: usize| -> usize {
                ends.iter().map(|end| graph.simple_paths(*end, step, depth).len()).sum()
            };
            let counted = remembered(&sources, &step, depth / 2)
                + remembered(&targets, &step.reversed(), (depth - 1) / 2);
            let capacity = 1 + random.vertex(20);
            let within =
                collection_paths(reader, &options(), &CollectionPaths { capacity, ..asked.clone() }).await;
            assert_eq!(
                within.is_err(),
                counted as i64 > capacity,
                "{counted} {capacity} {asked:?} {graph:?}"
            );
            if let Err(error) = within {
                let expected = format!("Exceed capacity '{capacity}' while finding template paths");
                assert_eq!(error.to_string(), expected);
            }
            if step.step.max_degree != NO_LIMIT {
                continue;
            }
            let nearest = CollectionPaths { nearest: true, ..asked };
            let near = collection_paths(reader, &options(), &nearest).await.unwrap();
            let near: BTreeSet<_> = plain_paths(&near.known, &near.paths).into_iter().collect();
            assert!(near.is_subset(&expected));
            // The shortest of all is the nearest.
            let shortest = |paths: &BTreeSet<Vec<i64>>| paths.iter().map(Vec::len).min();
            assert_eq!(shortest(&near), shortest(&expected), "{nearest:?} {graph:?}");
        }
    });
}

/// The vertices that follow on a path that has taken so many of the times of a step, and how far it is then.
fn template_next(
    graph: &PlainGraph,
    steps: &[(PlainStep, i64)],
    (at, times): (usize, i64),
    vertex: i64,
) -> Vec<(i64, (usize, i64))> {
    let mut next = Vec::new();
    let mut take = |to: usize, times: i64| {
        if let Some((step, _)) = steps.get(to).filter(|(_, max_times)| times <= *max_times) {
            next.extend(graph.next(vertex, step).into_iter().map(|other| (other, (to, times))));
        }
    };
    if times > 0 {
        take(at, times + 1);
        take(at + 1, 1);
    } else {
        take(0, 1);
    }
    next
}

fn template_all(
    graph: &PlainGraph,
    (steps, with_ring): (&[(PlainStep, i64)], bool),
    sources: &BTreeSet<i64>,
    targets: &BTreeSet<i64>,
) -> BTreeSet<Vec<i64>> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<(Vec<i64>, (usize, i64))> =
        sources.iter().map(|source| (vec![*source], (0, 0))).collect();
    while let Some((path, at)) = pending.pop() {
        let last = *path.last().unwrap();
        if at.1 > 0 && at.0 + 1 == steps.len() && targets.contains(&last) {
            found.insert(path.clone());
        }
        for (vertex, at) in template_next(graph, steps, at, last) {
            if with_ring || !path.contains(&vertex) {
                pending.push(([&path[..], &[vertex]].concat(), at));
            }
        }
    }
    found
}

#[test]
fn templates_are_followed() {
    each_graph(60, (7, 11), async |graph, reader, random| {
        let (sources, targets) = (some(random, 2, 7), some(random, 2, 7));
        for with_ring in [false, true] {
            let steps: Vec<_> =
                (0..=random.below(3)).map(|_| (random.all_edges(), 1 + random.vertex(2))).collect();
            let step = |(step, max_times): &(PlainStep, i64)| TemplateStep {
                step: step.step.clone(),
                max_times: *max_times,
            };
            let asked = TemplatePaths {
                sources: ids(&sources),
                targets: ids(&targets),
                steps: steps.iter().map(step).collect(),
                with_ring,
                capacity: NO_LIMIT,
                limit: NO_LIMIT,
            };
            let expected = template_all(graph, (&steps, with_ring), &sources, &targets);
            let found = template_paths(reader, &options(), &asked).await.unwrap();
            let given: BTreeSet<_> = plain_paths(&found.known, &found.paths).into_iter().collect();
            assert_eq!(given.len(), found.paths.len());
            assert_eq!(given, expected, "{asked:?} {graph:?}");
            let some =
                template_paths(reader, &options(), &TemplatePaths { limit: 3, ..asked }).await.unwrap();
            assert_eq!(some.paths.len(), expected.len().min(3));
        }
    });
}

/// The graph and the templates of HugeGraph's own client.
#[tokio::test]
async fn templates_with_rings() {
    let mut graph = PlainGraph::of(&[
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 6),
        (6, 7),
        (8, 7),
        (9, 8),
        (10, 9),
        (1, 11),
        (11, 12),
        (12, 13),
        (13, 14),
        (10, 15),
        (15, 14),
        (1, 16),
        (16, 17),
        (10, 17),
    ]);
    for (source, target, weight) in [(1, 16, 0.8), (16, 17, 0.5), (10, 17, 0.6), (17, 16, 0.3)] {
        graph.add(source, target, 2, Some(weight));
    }
    let reader = graph.reader().await;
    let long = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let near = vec![1, 16, 17, 10];
    let rings = [
        near.clone(),
        vec![1, 16, 17, 16, 17, 10],
        vec![1, 16, 17, 16, 17, 16, 17, 10],
        vec![1, 16, 17, 16, 17, 16, 17, 16, 17, 10],
    ];
    let heavy = heavier_than(0.4);
    for (label, conditions, with_ring, expected) in [
        (None, vec![], false, vec![near.clone(), vec![1, 11, 12, 13, 14, 15, 10], long.clone()]),
        (Some(1), vec![], false, vec![near.clone(), vec![1, 11, 12, 13, 14, 15, 10], long]),
        (Some(2), vec![], false, vec![near.clone()]),
        (Some(2), vec![], true, rings.to_vec()),
        (Some(2), vec![heavy], true, vec![near]),
    ] {
        let step = |direction| TemplateStep {
            step: Step::new(direction, label.map(|label| LabelId(label).into()))
                .with_conditions(conditions.clone()),
            max_times: 3,
        };
        let asked = TemplatePaths {
            sources: vec![VertexId::Number(1)],
            targets: vec![VertexId::Number(10)],
            steps: vec![step(Direction::Out), step(Direction::Out), step(Direction::In)],
            with_ring,
            capacity: defaults::CAPACITY,
            limit: defaults::PATHS_LIMIT,
        };
        let found = template_paths(&reader, &options(), &asked).await.unwrap();
        assert_eq!(plain_paths(&found.known, &found.paths), expected);
        let edges: BTreeSet<_> = plain_edges(&found.edges).into_iter().collect();
        assert!(edges.contains(&(1, 16)) && edges.contains(&(10, 17)));
    }
}

/// The paths that take steps, with what their edges weigh.
fn customized_all(
    graph: &PlainGraph,
    sources: &BTreeSet<i64>,
    steps: &[PlainStep],
) -> Vec<(Vec<i64>, Vec<f64>)> {
    let mut paths: Vec<(Vec<i64>, Vec<f64>)> = sources.iter().map(|source| (vec![*source], vec![])).collect();
    for step in steps {
        let mut next = Vec::new();
        for (path, weights) in &paths {
            for hop in graph.taken(*path.last().unwrap(), step) {
                if !path.contains(&hop.target) {
                    next.push(([&path[..], &[hop.target]].concat(), [&weights[..], &[hop.weight]].concat()));
                }
            }
        }
        paths = next;
    }
    paths
}

#[test]
fn customized_paths_take_their_steps() {
    each_graph(60, (8, 14), async |graph, reader, random| {
        let sources = some(random, 2, 8);
        let steps: Vec<_> = (0..=random.below(3)).map(|_| random.step()).collect();
        let mut expected = customized_all(graph, &sources, &steps);
        let step = |step: &PlainStep| CustomizedStep {
            step: step.step.clone(),
            weight_by: Some(WEIGHT),
            default_weight: 1.0,
            sample: NO_LIMIT,
        };
        let asked = CustomizedPaths {
            sources: ids(&sources),
            steps: steps.iter().map(step).collect(),
            sort_by: SortBy::Increasing,
            capacity: NO_LIMIT,
            limit: NO_LIMIT,
            seed: 1,
        };
        let found = customized_paths(reader, &options(), &asked).await.unwrap();
        assert!(found.paths.is_sorted_by(|one, two| one.weight <= two.weight));
        let weights = found.paths.iter().map(|path| path.weights.clone().unwrap());
        let mut given: Vec<_> = plain_paths(&found.known, &found.paths).into_iter().zip(weights).collect();
        let order = |one: &(Vec<i64>, Vec<f64>), two: &(Vec<i64>, Vec<f64>)| one.partial_cmp(two).unwrap();
        given.sort_by(order);
        expected.sort_by(order);
        assert_eq!(given, expected, "{asked:?} {graph:?}");
        for sort_by in [SortBy::None, SortBy::Decreasing] {
            let limited = CustomizedPaths { sort_by, limit: 2, ..asked.clone() };
            let some = customized_paths(reader, &options(), &limited).await.unwrap();
            assert_eq!(some.paths.len(), expected.len().min(2));
            if sort_by == SortBy::Decreasing && !expected.is_empty() {
                let heaviest =
                    expected.iter().map(|(_, weights)| weights.iter().sum::<f64>()).fold(0.0, f64::max);
                assert_eq!(some.paths[0].weight, heaviest);
            }
        }
        let begun =
            (1..=steps.len()).map(|to| customized_all(graph, &sources, &steps[..to]).len()).sum::<usize>();
        let capacity = 1 + random.vertex(20);
        let within =
            customized_paths(reader, &options(), &CustomizedPaths { capacity, ..asked.clone() }).await;
        assert_eq!(within.is_err(), begun as i64 > capacity, "{begun} {capacity} {asked:?} {graph:?}");
        if let Err(error) = within {
            let expected = format!("Exceed capacity '{capacity}' while finding customized paths");
            assert_eq!(error.to_string(), expected);
        }
        let mut sampled = asked.clone();
        sampled.steps.iter_mut().for_each(|step| step.sample = 1);
        let some = customized_paths(reader, &options(), &sampled).await.unwrap();
        let all: BTreeSet<_> = expected.iter().map(|(path, _)| path.clone()).collect();
        assert!(plain_paths(&some.known, &some.paths).iter().all(|path| all.contains(path)));
    });
}

#[test]
fn crosspoints_are_where_paths_from_all_sources_end() {
    each_graph(60, (8, 14), async |graph, reader, random| {
        let sources = some(random, 2, 8);
        let patterns: Vec<Vec<PlainStep>> =
            (0..2).map(|_| (0..=random.below(2)).map(|_| random.step()).collect()).collect();
        let mut expected = Vec::new();
        for steps in &patterns {
            expected.extend(customized_all(graph, &sources, steps).into_iter().map(|(path, _)| path));
        }
        let ends_of = |source: &i64| -> BTreeSet<i64> {
            expected.iter().filter(|path| path[0] == *source).map(|path| *path.last().unwrap()).collect()
        };
        let common =
            sources.iter().map(ends_of).reduce(|one, two| one.intersection(&two).copied().collect()).unwrap();
        expected.retain(|path| common.contains(path.last().unwrap()));
        let step = |step: &PlainStep| step.step.clone();
        let asked = CustomizedCrosspoints {
            sources: ids(&sources),
            path_patterns: patterns.iter().map(|pattern| pattern.iter().map(step).collect()).collect(),
            capacity: NO_LIMIT,
            limit: NO_LIMIT,
        };
        let crosspoints = customized_crosspoints(reader, &options(), &asked).await.unwrap();
        let found = &crosspoints.found;
        let given: BTreeSet<_> = numbers(&found.known, &crosspoints.crosspoints).into_iter().collect();
        assert_eq!(given, common, "{asked:?} {graph:?}");
        let mut paths = plain_paths(&found.known, &found.paths);
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected);
    });
}

/// A count by depth, as the page says.
fn count_plainly(
    graph: &PlainGraph,
    vertex: i64,
    steps: &[PlainStep],
    (traversed, size): (bool, usize),
    passed: &mut BTreeSet<i64>,
) -> u64 {
    let (step, rest) = steps.split_first().unwrap();
    if passed.contains(&vertex) {
        return 0;
    }
    if passed.len() < size {
        passed.insert(vertex);
    }
    let hops = graph.taken(vertex, step);
    if rest.is_empty() {
        return hops.len() as u64;
    }
    let counted = if traversed { hops.len() as u64 } else { 0 };
    let below = hops.iter().map(|hop| count_plainly(graph, hop.target, rest, (traversed, size), passed));
    counted + below.sum::<u64>()
}

#[test]
fn counts_are_those_of_a_plain_walk() {
    each_graph(60, (8, 20), async |graph, reader, random| {
        let source = random.vertex(8);
        let steps: Vec<_> = (0..=random.below(3)).map(|_| random.step()).collect();
        for (contains_traversed, dedup_size) in [(false, 1_000_000), (true, NO_LIMIT), (false, 0), (true, 2)]
        {
            let size = usize::try_from(dedup_size).unwrap_or(usize::MAX);
            let mut passed = BTreeSet::new();
            // A single step counts whatever is remembered.
            let plain = count_plainly(graph, source, &steps, (contains_traversed, size), &mut passed);
            let asked = Count {
                source: VertexId::Number(source),
                steps: steps.iter().map(|step| step.step.clone()).collect(),
                contains_traversed,
                dedup_size,
            };
            let counted = count(reader, &options(), &asked).await.unwrap();
            assert_eq!(counted.count, plain + u64::from(contains_traversed), "{asked:?} {graph:?}");
        }
    });
}
