//! Ranks: those that HugeGraph's own client expects, and plain sums.

use std::collections::BTreeMap;

use ::graph::{LabelId, Properties, VertexId};
use model_graph::Reader;
use store::{Clock, Timestamp};
use traversals::*;

use crate::graph::{edge_rows, options, stored, vertex_row};
use crate::modern::ids;

/// A graph of vertices with one letter: those of label 2 are listed, others have label 1.
async fn letters(of_second_label: &str, edges: &[(&str, &str, u32)]) -> Reader {
    let letters: std::collections::BTreeSet<&str> =
        edges.iter().flat_map(|(source, target, _)| [*source, *target]).collect();
    let mut rows = Vec::new();
    for letter in letters {
        let label = LabelId(if of_second_label.contains(letter) { 2 } else { 1 });
        rows.push(vertex_row(letter.into(), label, Properties::default(), 1));
    }
    for (source, target, label) in edges {
        let ends = ((*source).into(), (*target).into());
        rows.extend(edge_rows(ends, LabelId(*label), "", Properties::default(), 1));
    }
    stored(&store::testing::memory(Clock::manual(Timestamp(0))), rows, 1).await
}

fn given(known: &Numbering, ranks: &[(u32, f64)]) -> BTreeMap<String, f64> {
    ranks.iter().map(|(vertex, rank)| (ids(known, &[*vertex]).remove(0), *rank)).collect()
}

fn assert_ranks(given: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    let same = given.len() == expected.len()
        && expected.iter().all(|(id, rank)| given.get(*id).is_some_and(|given| (given - rank).abs() < 1e-9));
    assert!(same, "{given:?} {expected:?}");
}

fn liked() -> PersonalRank {
    PersonalRank {
        source: "A".into(),
        label: RankLabel {
            name: "like".into(),
            label: LabelId(1).into(),
            source: LabelId(1),
            target: LabelId(2),
        },
        alpha: 0.9,
        max_degree: 10_000,
        limit: 100,
        max_depth: 50,
        with_label: WithLabel::BothLabel,
        sorted: true,
    }
}

#[tokio::test]
async fn personal_ranks_of_films() {
    let edges =
        [("A", "a"), ("A", "c"), ("B", "a"), ("B", "b"), ("B", "c"), ("B", "d"), ("C", "c"), ("C", "d")];
    let reader = letters("abcd", &edges.map(|(person, film)| (person, film, 1))).await;
    let (b, c, film_d, film_b) = (
        ("B", 0.2065750574989044),
        ("C", 0.09839507219265439),
        ("d", 0.08959757100230095),
        ("b", 0.04589958822642998),
    );
    for (asked, expected) in [
        (liked(), &[b, c, film_d, film_b][..]),
        (PersonalRank { limit: 3, ..liked() }, &[b, c, film_d]),
        (PersonalRank { with_label: WithLabel::SameLabel, ..liked() }, &[b, c]),
        (PersonalRank { with_label: WithLabel::OtherLabel, ..liked() }, &[film_d, film_b]),
        (PersonalRank { max_degree: 1, max_depth: 2, ..liked() }, &[]),
        (PersonalRank { max_degree: 2, max_depth: 2, ..liked() }, &[("B", 0.405)]),
        (
            PersonalRank { max_depth: 20, ..liked() },
            &[
                ("B", 0.23414889646372697),
                ("C", 0.11218194186115384),
                ("d", 0.07581065434649958),
                ("b", 0.03900612828909826),
            ],
        ),
    ] {
        let found = personal_rank(&reader, &options(), &asked).await.unwrap();
        assert_ranks(&given(&found.known, &found.scores), expected);
        assert!(found.scores.is_sorted_by(|one, two| one.1 >= two.1));
    }
    let mut wrong = liked();
    wrong.label.target = LabelId(1);
    let error = personal_rank(&reader, &options(), &wrong).await.unwrap_err();
    assert_eq!(error.to_string(), "The edge label for personal rank must link different vertex labels");
    wrong.label.source = LabelId(7);
    wrong.label.target = LabelId(8);
    let error = personal_rank(&reader, &options(), &wrong).await.unwrap_err();
    assert_eq!(error.to_string(), "The vertex 'A' doesn't link with edge label 'like'");
}

/// Vertices and their ranks.
type Expected = &'static [(&'static str, f64)];

const FOLLOW: u32 = 1;
const LIKE: u32 = 2;
const DIRECTED: u32 = 3;

async fn films() -> Reader {
    letters(
        "EFGHIJ",
        &[
            ("O", "A", FOLLOW),
            ("O", "B", FOLLOW),
            ("O", "C", FOLLOW),
            ("D", "O", FOLLOW),
            ("A", "B", FOLLOW),
            ("A", "E", LIKE),
            ("A", "F", LIKE),
            ("B", "G", LIKE),
            ("B", "H", LIKE),
            ("C", "I", LIKE),
            ("C", "J", LIKE),
            ("E", "K", DIRECTED),
            ("F", "B", DIRECTED),
            ("F", "L", DIRECTED),
            ("G", "M", DIRECTED),
        ],
    )
    .await
}

fn neighbours_of_o(alpha: f64, steps: &[(Direction, Option<u32>, i64, i64)]) -> NeighborRank {
    let step = |(direction, label, max_degree, top): &(Direction, Option<u32>, i64, i64)| RankStep {
        step: Step::new(*direction, label.map(|label| LabelId(label).into())).with_degree(*max_degree),
        top: *top,
    };
    NeighborRank {
        source: VertexId::from("O"),
        steps: steps.iter().map(step).collect(),
        alpha,
        capacity: NO_LIMIT,
    }
}

#[tokio::test]
async fn neighbour_ranks_of_films() {
    use Direction::{Both, In, Out};
    let reader = films().await;
    let out = |top: i64| (Out, None, NO_LIMIT, top);
    let cases: [(NeighborRank, [Expected; 3]); 5] = [
        (
            neighbours_of_o(0.9, &[out(10), out(10), out(10)]),
            [
                &[("B", 0.4305), ("A", 0.3), ("C", 0.3)],
                &[("G", 0.1755), ("H", 0.1755), ("I", 0.135), ("J", 0.135), ("E", 0.09), ("F", 0.09)],
                &[("M", 0.15795), ("K", 0.081), ("L", 0.0405)],
            ],
        ),
        (
            neighbours_of_o(
                0.9,
                &[(Both, None, 10_000, 10), (In, None, 10_000, 10), (Out, None, 10_000, 10)],
            ),
            [
                &[("A", 0.32625), ("B", 0.2705625), ("C", 0.225), ("D", 0.225)],
                &[("F", 0.10125)],
                &[("L", 0.0455625)],
            ],
        ),
        (
            neighbours_of_o(
                0.9,
                &[
                    (Out, Some(FOLLOW), 10_000, 10),
                    (Out, Some(LIKE), 10_000, 10),
                    (Out, Some(DIRECTED), 10_000, 10),
                ],
            ),
            [
                &[("B", 0.36075), ("A", 0.3), ("C", 0.3)],
                &[("E", 0.135), ("F", 0.135), ("G", 0.135), ("H", 0.135), ("I", 0.135), ("J", 0.135)],
                &[("K", 0.1215), ("M", 0.1215), ("L", 0.06075)],
            ],
        ),
        (
            neighbours_of_o(0.9, &[out(2), out(3), out(2)]),
            [
                &[("B", 0.4305), ("A", 0.3)],
                &[("G", 0.1755), ("H", 0.1755), ("I", 0.135)],
                &[("M", 0.15795), ("K", 0.081)],
            ],
        ),
        (
            neighbours_of_o(0.9, &[(Out, None, 2, 10), (Out, None, 1, 10), (Out, None, 1, 10)]),
            [&[("B", 0.855), ("A", 0.45)], &[("G", 0.7695)], &[("M", 0.69255)]],
        ),
    ];
    for (asked, expected) in cases {
        let found = neighbor_rank(&reader, &options(), &asked).await.unwrap();
        assert_ranks(&given(&found.known, &found.layers[0]), &[("O", 1.0)]);
        for (layer, expected) in found.layers.iter().skip(1).zip(expected) {
            assert_ranks(&given(&found.known, layer), expected);
        }
    }
    let small = NeighborRank { capacity: 1, ..neighbours_of_o(0.9, &[out(10), out(10)]) };
    let error = neighbor_rank(&reader, &options(), &small).await.unwrap_err();
    assert_eq!(error.to_string(), "Exceed capacity '1' while finding neighbor rank");
}
