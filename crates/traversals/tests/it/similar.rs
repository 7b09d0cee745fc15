//! What vertices have in common, against sets.

use std::collections::{BTreeMap, BTreeSet};

use ::graph::VertexId;
use traversals::*;

use crate::graph::{NAME, PlainStep, Random, each_graph, number, numbers, options};

/// A step that skips none for its edges.
fn step(random: &mut Random) -> PlainStep {
    let mut step = random.step();
    step.step.skip_degree = 0;
    step
}

fn jaccard(one: &BTreeSet<i64>, two: &BTreeSet<i64>) -> f64 {
    let all = one.union(two).count();
    if all == 0 { 0.0 } else { one.intersection(two).count() as f64 / all as f64 }
}

fn pair(one: i64, two: i64, step: &PlainStep) -> SameNeighbors {
    SameNeighbors {
        vertices: vec![VertexId::Number(one), VertexId::Number(two)],
        step: step.step.clone(),
        limit: NO_LIMIT,
    }
}

#[test]
fn two_vertices_have_neighbours_in_common() {
    each_graph(60, (10, 26), async |graph, reader, random| {
        let (one, two, three) = (random.vertex(10), random.vertex(10), random.vertex(10));
        let step = step(random);
        let (of_one, of_two) = (graph.next(one, &step), graph.next(two, &step));
        let common: BTreeSet<i64> = of_one.intersection(&of_two).copied().collect();
        let asked = pair(one, two, &step);
        let found = same_neighbors(reader, &options(), &asked).await.unwrap();
        assert_eq!(numbers(&found.known, &found.vertices).into_iter().collect::<BTreeSet<_>>(), common);
        let limited = same_neighbors(reader, &options(), &SameNeighbors { limit: 1, ..asked.clone() }).await;
        assert_eq!(limited.unwrap().vertices.len(), common.len().min(1));
        let mut three_of = asked.clone();
        three_of.vertices.push(VertexId::Number(three));
        let found = same_neighbors(reader, &options(), &three_of).await.unwrap();
        let of_all: BTreeSet<i64> = common.intersection(&graph.next(three, &step)).copied().collect();
        assert_eq!(numbers(&found.known, &found.vertices).into_iter().collect::<BTreeSet<_>>(), of_all);
        let similarity = jaccard_similarity(reader, &options(), &asked).await.unwrap();
        assert_eq!(similarity.score, jaccard(&of_one, &of_two));
        let (mut adar, mut resource) = (0.0, 0.0);
        let counting =
            PlainStep { step: step.step.clone().with_degree(defaults::MAX_DEGREE), ..step.clone() };
        for vertex in &common {
            let degree = graph.taken(*vertex, &counting).len() as f64;
            if degree > 1.0 {
                adar += 1.0 / degree.ln();
            }
            if degree > 0.0 {
                resource += 1.0 / degree;
            }
        }
        let given = adamic_adar(reader, &options(), &asked).await.unwrap().score;
        assert!((given - adar).abs() < 1e-9, "{given} {adar} {asked:?} {graph:?}");
        let given = resource_allocation(reader, &options(), &asked).await.unwrap().score;
        assert!((given - resource).abs() < 1e-9);
    });
}

#[test]
fn similar_vertices_are_up_to_two_steps_away() {
    each_graph(60, (10, 18), async |graph, reader, random| {
        let (source, step) = (random.vertex(10), random.step());
        let near = graph.next(source, &step);
        let mut reached = near.clone();
        near.iter()
            .filter(|vertex| **vertex != source)
            .for_each(|vertex| reached.extend(graph.next(*vertex, &step)));
        reached.remove(&source);
        let expected: BTreeMap<i64, f64> =
            reached.iter().map(|vertex| (*vertex, jaccard(&near, &graph.next(*vertex, &step)))).collect();
        let asked = JaccardSimilars {
            vertex: VertexId::Number(source),
            step: step.step.clone(),
            top: 0,
            capacity: NO_LIMIT,
        };
        let found = jaccard_similars(reader, &options(), &asked).await.unwrap();
        let given: BTreeMap<i64, f64> =
            found.scores.iter().map(|(vertex, score)| (number(&found.known, *vertex), *score)).collect();
        assert_eq!(given, expected, "{asked:?} {graph:?}");
        let mut far = BTreeSet::new();
        let passed: BTreeSet<i64> = near.iter().filter(|vertex| **vertex != source).copied().collect();
        passed.iter().for_each(|vertex| far.extend(graph.next(*vertex, &step)));
        let last = far.iter().filter(|vertex| **vertex != source && !near.contains(vertex));
        let widest = last.map(|vertex| graph.next(*vertex, &step).len()).max().unwrap_or(0);
        let visited = 1 + near.len() + far.len() + widest;
        let capacity = 1 + random.vertex(24);
        let within =
            jaccard_similars(reader, &options(), &JaccardSimilars { capacity, ..asked.clone() }).await;
        assert_eq!(within.is_err(), visited as i64 > capacity, "{visited} {capacity} {asked:?} {graph:?}");
        if let Err(error) = within {
            assert_eq!(error.to_string(), format!("Reach capacity '{capacity}'"));
        }
        let found = jaccard_similars(reader, &options(), &JaccardSimilars { top: 3, ..asked }).await.unwrap();
        assert!(
            found.scores.len() == expected.len().min(3)
                && found.scores.is_sorted_by(|one, two| one.1 >= two.1)
        );
    });
}

#[test]
fn fusiform_similars_share_neighbours() {
    each_graph(60, (9, 24), async |graph, reader, random| {
        let (source, step) = (random.vertex(9), step(random));
        let neighbours = graph.next(source, &step);
        let mut counts: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for neighbour in &neighbours {
            for similar in graph.next(*neighbour, &step.reversed()) {
                counts.entry(similar).or_default().insert(*neighbour);
            }
        }
        // Each beginning, neighbour and vertex that is reached counts, the beginning again if it is reached.
        let looked_at = 1 + neighbours.len() + counts.len();
        counts.remove(&source);
        for (min_neighbors, alpha, min_similars, groups) in [(1, 0.5, 1, 0), (2, 0.3, 2, 0), (1, 0.1, 1, 2)] {
            let mut expected = counts.clone();
            expected.retain(|_, over| over.len() as f64 / neighbours.len() as f64 >= alpha);
            let values: BTreeSet<bool> =
                expected.keys().chain([&source]).map(|vertex| vertex.rem_euclid(3) == 0).collect();
            if neighbours.len() < min_neighbors || expected.len() < min_similars || values.len() < groups {
                expected.clear();
            }
            let asked = FusiformSimilarity {
                sources: vec![VertexId::Number(source)],
                step: step.step.clone(),
                min_neighbors: min_neighbors as i64,
                alpha,
                min_similars: min_similars as i64,
                top: 0,
                group_property: (groups > 0).then_some(NAME),
                min_groups: groups as i64,
                capacity: NO_LIMIT,
                limit: 10,
                with_intermediary: true,
            };
            let found = fusiform_similarity(reader, &options(), &asked).await.unwrap();
            let given: BTreeMap<i64, BTreeSet<i64>> = found
                .similars
                .iter()
                .flat_map(|(_, similars)| similars)
                .map(|similar| {
                    assert_eq!(similar.score, similar.intermediaries.len() as f64 / neighbours.len() as f64);
                    let over = numbers(&found.known, &similar.intermediaries);
                    (number(&found.known, similar.vertex), over.into_iter().collect())
                })
                .collect();
            assert_eq!(given, expected, "{asked:?} {graph:?}");
            let capacity = 1 + random.vertex(20);
            let within =
                fusiform_similarity(reader, &options(), &FusiformSimilarity { capacity, ..asked }).await;
            let counted = if neighbours.len() < min_neighbors { 1 } else { looked_at };
            assert_eq!(within.is_err(), counted as i64 > capacity, "{counted} {capacity} {graph:?}");
        }
    });
}
