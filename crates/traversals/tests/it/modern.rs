//! The six people and programs of the documents of HugeGraph, and what it answers of them.

use ::graph::condition::{Condition, Test};
use ::graph::{LabelId, PropertiesBuilder, ScalarRef, VertexId};
use model_graph::Reader;
use store::{Clock, Timestamp};
use traversals::*;

use crate::graph::{NAME, WEIGHT, edge_rows, heavier_than, options, stored, vertex_row};

const KNOWS: LabelId = LabelId(1);
const CREATED: LabelId = LabelId(2);

/// The graph; people have label 1, programs label 2.
pub(crate) async fn modern() -> Reader {
    let mut rows = Vec::new();
    for (id, label) in
        [("1:marko", 1), ("1:vadas", 1), ("2:lop", 2), ("1:josh", 1), ("2:ripple", 2), ("1:peter", 1)]
    {
        let mut properties = PropertiesBuilder::default();
        properties.put_one(NAME, ScalarRef::Text(&id[2..]));
        rows.push(vertex_row(id.into(), LabelId(label), properties.finish(), 1));
    }
    for (source, label, sort_values, target, weight) in [
        ("1:marko", KNOWS, "20160110", "1:vadas", 0.5),
        ("1:marko", KNOWS, "20130220", "1:josh", 1.0),
        ("1:marko", CREATED, "", "2:lop", 0.4),
        ("1:josh", CREATED, "", "2:lop", 0.4),
        ("1:josh", CREATED, "", "2:ripple", 1.0),
        ("1:peter", CREATED, "", "2:lop", 0.2),
    ] {
        let mut properties = PropertiesBuilder::default();
        properties.put_one(WEIGHT, ScalarRef::Double(weight));
        rows.extend(edge_rows((source.into(), target.into()), label, sort_values, properties.finish(), 1));
    }
    stored(&store::testing::memory(Clock::manual(Timestamp(0))), rows, 1).await
}

pub(crate) fn ids(known: &Numbering, vertices: &[u32]) -> Vec<String> {
    vertices.iter().map(|vertex| known.id(*vertex).to_string()).collect()
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

fn marko_out(max_depth: i64) -> Kout {
    Kout {
        source: "1:marko".into(),
        step: Step::default(),
        vertex_filters: Vec::new(),
        max_depth,
        nearest: true,
        capacity: defaults::CAPACITY,
        limit: defaults::ELEMENTS_LIMIT,
        with_paths: false,
        mode: TraverseMode::Breadth,
        basic: true,
    }
}

#[tokio::test]
async fn two_steps_from_marko() {
    let reader = modern().await;
    for mode in [TraverseMode::Breadth, TraverseMode::Depth] {
        let asked = Kout { mode, with_paths: true, ..marko_out(2) };
        asked.check().unwrap();
        let reached = kout(&reader, &options(), &asked).await.unwrap();
        assert_eq!(sorted(ids(&reached.known, &reached.vertices)), ["1:peter", "2:ripple"]);
        let mut paths: Vec<_> =
            reached.paths.iter().map(|path| ids(&reached.known, &path.vertices)).collect();
        paths.sort();
        assert_eq!(paths, [["1:marko", "1:josh", "2:ripple"], ["1:marko", "2:lop", "1:peter"]]);
        let mut edges: Vec<_> = reached.edges.iter().map(ToString::to_string).collect();
        edges.sort();
        assert_eq!(
            edges,
            [
                "S1:josh>2>2>>S2:ripple",
                "S1:marko>1>1>20130220>S1:josh",
                "S1:marko>2>2>>S2:lop",
                "S1:peter>2>2>>S2:lop"
            ]
        );
        // Marko has three edges; lop has three, josh three, vadas one; four vertices were expanded.
        assert_eq!(reached.measure, Measure { edges: 10, vertices: 4 });
    }
}

#[tokio::test]
async fn steps_with_filters() {
    let reader = modern().await;
    let heavy = |label| LabelFilter { label: Some(label), conditions: vec![heavier_than(0.4)] };
    let step = Step {
        labels: vec![KNOWS.into(), CREATED.into()],
        filters: vec![heavy(KNOWS), heavy(CREATED)],
        ..Step::default()
    };
    let people = LabelFilter { label: Some(LabelId(1)), conditions: Vec::new() };
    let other_than_vadas = LabelFilter {
        label: Some(LabelId(1)),
        conditions: vec![Condition {
            key: NAME,
            test: Test::NotEqual(::graph::Scalar::Text("vadas".into())),
        }],
    };
    for (vertex_filters, expected) in [
        (vec![], &["1:josh", "1:vadas", "2:ripple"][..]),
        (vec![people], &["1:josh", "1:vadas"]),
        (vec![other_than_vadas], &["1:josh"]),
    ] {
        let (source, limit) = ("1:marko".into(), NO_LIMIT);
        let asked =
            Kneighbor { source, step: step.clone(), vertex_filters, max_depth: 3, limit, with_paths: false };
        let reached = kneighbor(&reader, &options(), &asked).await.unwrap();
        assert_eq!(sorted(ids(&reached.known, &reached.vertices)), expected);
    }
}

#[tokio::test]
async fn refusals_are_worded_as_clients_know_them() {
    let reader = modern().await;
    let said = async |asked: Kout| {
        let answer = match asked.check() {
            Ok(()) => kout(&reader, &options(), &asked).await,
            Err(error) => Err(error),
        };
        answer.unwrap_err().to_string()
    };
    assert_eq!(said(marko_out(0)).await, "The k-out max_depth parameter must be > 0, but got 0");
    assert_eq!(
        said(Kout { capacity: 5, limit: 6, ..marko_out(2) }).await,
        "Capacity can't be less than limit, but got capacity '5' and limit '6'"
    );
    assert_eq!(
        said(Kout { capacity: 3, limit: 3, ..marko_out(2) }).await,
        "Reach capacity '3' while remaining depth '1'"
    );
    assert_eq!(
        said(Kout { source: "1:nobody".into(), ..marko_out(2) }).await,
        "The source vertex with id '1:nobody' does not exist"
    );
    let step = Step { max_degree: 0, ..Step::default() };
    assert_eq!(
        said(Kout { step, ..marko_out(2) }).await,
        "The max degree parameter must be > 0 or == -1, but got: 0"
    );
}

#[tokio::test]
async fn shortest_and_lightest_paths() {
    let reader = modern().await;
    let (source, target): (VertexId, VertexId) = ("1:marko".into(), "2:ripple".into());
    let step = Step::default();
    let asked = ShortestPath {
        source: source.clone(),
        target,
        step: step.clone(),
        max_depth: 4,
        capacity: 10_000_000,
    };
    let found = shortest_path(&reader, &options(), &asked).await.unwrap();
    assert_eq!(ids(&found.known, &found.paths[0].vertices), ["1:marko", "1:josh", "2:ripple"]);
    let edges: Vec<_> = found.edges.iter().map(ToString::to_string).collect();
    assert_eq!(edges, ["S1:marko>1>1>20130220>S1:josh", "S1:josh>2>2>>S2:ripple"]);
    let asked = WeightedShortestPath {
        source: "1:vadas".into(),
        target: "1:peter".into(),
        step: step.clone(),
        weight: WEIGHT,
        capacity: 10_000_000,
    };
    let found = weighted_shortest_path(&reader, &options(), &asked).await.unwrap();
    assert_eq!(ids(&found.known, &found.paths[0].vertices), ["1:vadas", "1:marko", "2:lop", "1:peter"]);
    assert!((found.paths[0].weight - 1.1).abs() < 1e-9);
    let asked = SingleSourceShortestPath {
        source,
        step,
        weight: Some(WEIGHT),
        capacity: 10_000_000,
        limit: NO_LIMIT,
    };
    let found = single_source_shortest_paths(&reader, &options(), &asked).await.unwrap();
    let last: Vec<_> = found
        .paths
        .iter()
        .map(|path| (ids(&found.known, &path.vertices).pop().unwrap(), (path.weight * 10.0).round() as i64))
        .collect();
    let expected = [("2:lop", 4), ("1:vadas", 5), ("1:peter", 6), ("1:josh", 8), ("2:ripple", 18)];
    assert_eq!(last, expected.map(|(id, weight)| (id.to_owned(), weight)));
}
