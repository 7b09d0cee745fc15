//! Ranks, and edges between two vertices, worked out plainly over random graphs.

use std::collections::{BTreeMap, BTreeSet};

use ::graph::{LabelId, VertexId};
use traversals::*;

use crate::graph::{PlainGraph, PlainStep, each_graph, number, options};

type Ranks = BTreeMap<i64, f64>;

/// A layer under way: paths to its vertices, and what its vertices give on.
struct Layer {
    paths: Vec<Vec<i64>>,
    begun: usize,
}

impl Layer {
    /// One step: each path is remembered.
    fn advance(&mut self, graph: &PlainGraph, step: &PlainStep, alpha: f64, ranks: &mut Vec<Ranks>) {
        let (last, paths) = (ranks.len() - 1, std::mem::take(&mut self.paths));
        let ends: BTreeSet<i64> = paths.iter().map(|path| *path.last().unwrap()).collect();
        let (mut within, mut gifts) = (Vec::new(), Vec::new());
        for vertex in ends {
            let (mut known, mut new) = (BTreeMap::new(), Vec::new());
            for hop in graph.taken(vertex, step) {
                let layer = (1..=last).chain((last == 0).then_some(0));
                match layer.rev().find(|layer| ranks[*layer].contains_key(&hop.target)) {
                    Some(layer) => _ = known.insert(hop.target, layer),
                    None => {
                        let ways = paths.iter().filter(|path| path.last() == Some(&vertex));
                        let ways = ways.filter(|path| !path.contains(&hop.target));
                        new.extend(ways.map(|path| [&path[..], &[hop.target]].concat()));
                    }
                }
            }
            self.begun += new.len();
            let parts = (known.len() + new.len()) as f64;
            let part = ranks[last][&vertex] * alpha / parts;
            for (target, layer) in known {
                match layer == last {
                    true => within.push((target, part)),
                    false => *ranks[layer].get_mut(&target).unwrap() += part,
                }
            }
            gifts.push((vertex, parts, new));
        }
        for (target, part) in within {
            *ranks[last].get_mut(&target).unwrap() += part;
        }
        let mut next = Ranks::new();
        for (vertex, parts, new) in gifts {
            for path in new {
                *next.entry(*path.last().unwrap()).or_default() += ranks[last][&vertex] * alpha / parts;
                self.paths.push(path);
            }
        }
        ranks.push(next);
    }
}

fn assert_close(given: &Ranks, expected: &Ranks, asked: &dyn std::fmt::Debug) {
    let close = |(one, two): ((&i64, &f64), (&i64, &f64))| one.0 == two.0 && (one.1 - two.1).abs() < 1e-9;
    let same = given.len() == expected.len() && given.iter().zip(expected).all(close);
    assert!(same, "{given:?} {expected:?} {asked:?}");
}

#[test]
fn neighbour_ranks_go_over_paths() {
    each_graph(80, (9, 16), async |graph, reader, random| {
        let source = random.vertex(9);
        let steps: Vec<_> = (0..=random.below(4)).map(|_| random.step()).collect();
        let mut layer = Layer { paths: vec![vec![source]], begun: 0 };
        let mut expected = vec![Ranks::from([(source, 1.0)])];
        for step in &steps {
            layer.advance(graph, step, 0.8, &mut expected);
        }
        let asked = NeighborRank {
            source: VertexId::Number(source),
            steps: steps.iter().map(|step| RankStep { step: step.step.clone(), top: 1_000 }).collect(),
            alpha: 0.8,
            capacity: NO_LIMIT,
        };
        let found = neighbor_rank(reader, &options(), &asked).await.unwrap();
        assert_eq!(found.layers.len(), expected.len());
        for (given, expected) in found.layers.iter().zip(&expected) {
            assert!(given.is_sorted_by(|one, two| one.1 >= two.1));
            let given = given.iter().map(|(vertex, rank)| (number(&found.known, *vertex), *rank)).collect();
            assert_close(&given, expected, &(&asked, graph));
        }
        let capacity = 1 + random.vertex(12);
        let within = neighbor_rank(reader, &options(), &NeighborRank { capacity, ..asked }).await;
        assert_eq!(within.is_err(), layer.begun as i64 > capacity, "{} {capacity} {graph:?}", layer.begun);
    });
}

/// The ranks of all vertices for one, round by round; the first round tells who is near.
fn personal_ranks(graph: &PlainGraph, source: i64, step: &PlainStep, (alpha, rounds): (f64, i64)) -> Ranks {
    let is_source_label = |vertex: i64| vertex % 2 == source % 2;
    let (mut ranks, mut near) = (Ranks::from([(source, 1.0)]), BTreeSet::new());
    for round in 0..rounds {
        let mut next = Ranks::new();
        for (vertex, rank) in &ranks {
            let step = if is_source_label(*vertex) { step.clone() } else { step.reversed() };
            let hops = graph.taken(*vertex, &step);
            match hops.is_empty() {
                true => *next.entry(*vertex).or_default() += rank,
                false => hops.iter().for_each(|hop| {
                    *next.entry(hop.target).or_default() += rank * alpha / hops.len() as f64;
                }),
            }
        }
        *next.entry(source).or_default() += 1.0 - alpha;
        ranks = next;
        if round == 0 {
            near = ranks.keys().copied().collect();
        }
    }
    ranks.retain(|vertex, _| !near.contains(vertex));
    ranks
}

#[test]
fn personal_ranks_go_back_and_forth() {
    each_graph(60, (12, 40), async |graph, _, random| {
        // Edges of a label lead from even vertices, of label 1, to odd ones.
        let mut films = PlainGraph { vertices: graph.vertices.clone(), edges: Vec::new() };
        let is_like = |(source, target): (i64, i64)| source % 2 == 0 && target % 2 == 1;
        films.edges.extend(graph.edges.iter().filter(|edge| is_like((edge.source, edge.target))).cloned());
        let reader = films.reader().await;
        let (source, rounds) = (random.vertex(12), 2 + random.vertex(4));
        let direction = if source % 2 == 0 { Direction::Out } else { Direction::In };
        let step = PlainStep::of(Step::new(direction, Some(LabelId(1).into())));
        let expected = personal_ranks(&films, source, &step, (0.85, rounds));
        for (with_label, parity) in [
            (WithLabel::BothLabel, None),
            (WithLabel::SameLabel, Some(source % 2)),
            (WithLabel::OtherLabel, Some(1 - source % 2)),
        ] {
            let asked = PersonalRank {
                source: VertexId::Number(source),
                label: RankLabel {
                    name: "like".into(),
                    label: LabelId(1).into(),
                    source: LabelId(1),
                    target: LabelId(2),
                },
                alpha: 0.85,
                max_degree: NO_LIMIT,
                limit: NO_LIMIT,
                max_depth: rounds,
                with_label,
                sorted: true,
            };
            let found = personal_rank(&reader, &options(), &asked).await.unwrap();
            assert!(found.scores.is_sorted_by(|one, two| one.1 >= two.1));
            let given = found.scores.iter().map(|(vertex, rank)| (number(&found.known, *vertex), *rank));
            let mut expected = expected.clone();
            expected.retain(|vertex, _| parity.is_none_or(|parity| vertex % 2 == parity));
            assert_close(&given.collect(), &expected, &(&asked, &films));
            let limited = personal_rank(&reader, &options(), &PersonalRank { limit: 2, ..asked }).await;
            assert_eq!(limited.unwrap().scores.len(), expected.len().min(2));
        }
    });
}

#[test]
fn edges_exist_between_two_vertices() {
    each_graph(60, (5, 30), async |graph, reader, random| {
        let (source, target) = (random.vertex(5), random.vertex(5));
        for (label, sort_values) in [(None, None), (Some(1), None), (Some(2), Some("")), (Some(1), Some("b"))]
        {
            let mut expected: Vec<String> = graph
                .edges
                .iter()
                .filter(|edge| (edge.source, edge.target) == (source, target))
                .filter(|edge| label.is_none_or(|label| label == edge.label))
                .filter(|edge| sort_values.is_none_or(|values| values == edge.sort_values))
                .map(|edge| format!("L{source}>{0}>{0}>{1}>L{target}", edge.label, edge.sort_values))
                .collect();
            expected.sort();
            let asked = EdgeExist {
                source: VertexId::Number(source),
                target: VertexId::Number(target),
                label: label.map(|label| LabelId(label).into()),
                sort_values: sort_values.map(Into::into),
                limit: NO_LIMIT,
            };
            let given = async |asked: &EdgeExist| {
                let found = edge_exist(reader, &options(), asked).await.unwrap();
                found.iter().map(ToString::to_string).collect::<Vec<_>>()
            };
            assert_eq!(given(&asked).await, expected, "{asked:?} {graph:?}");
            let limited = EdgeExist { limit: 1, ..asked };
            assert_eq!(given(&limited).await, expected.into_iter().take(1).collect::<Vec<_>>());
        }
    });
}
