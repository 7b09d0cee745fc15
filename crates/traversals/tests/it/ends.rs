//! How walks end that may not go on: at their deadline, at their capacity, at their memory.

use ::graph::VertexId;
use store::{Deadline, Lane};
use traversals::*;

use crate::graph::{PlainGraph, Random, options};

fn asked(max_depth: i64) -> Kneighbor {
    Kneighbor {
        source: VertexId::Number(0),
        step: Step::default(),
        vertex_filters: Vec::new(),
        max_depth,
        limit: NO_LIMIT,
        with_paths: false,
    }
}

#[tokio::test]
async fn a_walk_ends_at_its_deadline() {
    let reader = PlainGraph::random(&mut Random::new(1), 500, 2_000).reader().await;
    let late = WalkOptions::new(Lane::new(1), Deadline::after_looks(2));
    let error = kneighbor(&reader, &late, &asked(9)).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error}");
    let small = WalkOptions { bytes_max: 4_000, ..options() };
    let error = kneighbor(&reader, &small, &asked(9)).await.unwrap_err();
    assert!(matches!(error, Error::Memory { bytes_max: 4_000 }), "{error}");
}

#[tokio::test]
async fn a_search_ends_at_its_capacity() {
    let reader = PlainGraph::random(&mut Random::new(1), 500, 1_000).reader().await;
    let (source, target) = (VertexId::Number(0), VertexId::Number(1));
    let step = Step::new(Direction::Both, None).with_degree(2);
    let shortest =
        ShortestPath { source: source.clone(), target: target.clone(), step, max_depth: 20, capacity: 8 };
    let error = shortest_path(&reader, &options(), &shortest).await.unwrap_err();
    assert_eq!(error.to_string(), "Exceed capacity '8' while finding shortest path");
    let many = Paths { source, target, step: Step::default(), max_depth: 9, capacity: 8, limit: NO_LIMIT };
    let error = paths(&reader, &options(), &many).await.unwrap_err();
    assert_eq!(error.to_string(), "Exceed capacity '8' while finding paths");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_walk_goes_on_in_the_lane() {
    let reader = PlainGraph::random(&mut Random::new(1), 3_000, 12_000).reader().await;
    let options = options();
    let task = {
        let options = options.clone();
        tokio::spawn(async move { kneighbor(&reader, &options, &asked(20)).await.unwrap().vertices.len() })
    };
    assert!(task.await.unwrap() > 2_500);
    assert!(options.lane.taken() > 0);
}
