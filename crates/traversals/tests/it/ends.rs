//! How walks end that may not go on: at their deadline, at their capacity, at their memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let (source, target) = (VertexId::Number(300), VertexId::Number(301));
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
    let reader = PlainGraph::random(&mut Random::new(1), 6_000, 30_000).reader().await;
    let options = options();
    let task = {
        let options = options.clone();
        tokio::spawn(async move { kneighbor(&reader, &options, &asked(20)).await.unwrap().vertices.len() })
    };
    assert!(task.await.unwrap() > 2_500);
    assert!(options.lane.taken() > 0);
}

/// A vertex that many are joined with, each of which is joined with many: few vertices, very many paths.
fn mesh(width: i64) -> PlainGraph {
    let mut edges = Vec::new();
    for layer in 0..4 {
        for (one, two) in (0..width).flat_map(|one| (0..width).map(move |two| (one, two))) {
            edges.push((1 + layer * width + one, 1 + (layer + 1) * width + two));
        }
    }
    edges.extend((0..width).map(|one| (0, 1 + one)));
    edges.extend((0..width).map(|one| (1 + 4 * width + one, 1_000)));
    PlainGraph::of_distinct(&edges)
}

/// What walks say that remember more than they may.
fn said<T>(found: Result<T, Error>) -> String {
    found.map_or_else(|error| error.to_string(), |_| "found".into())
}

const SMALL: usize = 150_000;

fn small() -> WalkOptions {
    WalkOptions { bytes_max: SMALL, ..options() }
}

fn assert_ends_at_memory(walks: impl IntoIterator<Item = (&'static str, String)>) {
    let expected = format!(
        "the walk needs more than walk_memory_bytes_max, {SMALL} bytes; lower its max_depth, max_degree or capacity"
    );
    for (walk, said) in walks {
        assert_eq!(said, expected, "{walk}");
    }
}

fn all_out() -> Step {
    Step::new(Direction::Out, None).with_degree(NO_LIMIT)
}

/// Walks over far more paths than their memory has room for end with the error that names it: what a list takes is counted while it grows.
#[tokio::test]
async fn walks_between_vertices_end_at_their_memory() {
    let reader = mesh(12).reader().await;
    let (source, target) = (VertexId::Number(0), VertexId::Number(1_000));
    let (capacity, limit, max_depth) = (NO_LIMIT, NO_LIMIT, 6);
    let many = CollectionPaths {
        sources: vec![source.clone()],
        targets: vec![target.clone()],
        step: all_out(),
        max_depth,
        nearest: false,
        capacity,
        limit,
    };
    let template = TemplatePaths {
        sources: vec![source.clone()],
        targets: vec![target.clone()],
        steps: vec![TemplateStep { step: all_out(), max_times: max_depth }],
        with_ring: false,
        capacity,
        limit,
    };
    let shortest = ShortestPath {
        source: source.clone(),
        target: target.clone(),
        step: all_out(),
        max_depth: 9,
        capacity,
    };
    let both = Paths { source, target, step: all_out(), max_depth, capacity, limit };
    assert_ends_at_memory([
        ("paths", said(paths(&reader, &small(), &both).await)),
        ("all shortest paths", said(all_shortest_paths(&reader, &small(), &shortest).await)),
        ("collection paths", said(collection_paths(&reader, &small(), &many).await)),
        ("template paths", said(template_paths(&reader, &small(), &template).await)),
    ]);
    assert_eq!(said(shortest_path(&reader, &small(), &shortest).await), "found");
}

#[tokio::test]
async fn walks_from_a_vertex_end_at_their_memory() {
    let reader = mesh(12).reader().await;
    let source = VertexId::Number(0);
    let (capacity, limit, step) = (NO_LIMIT, NO_LIMIT, all_out());
    let around = Rays { source: source.clone(), step: step.clone(), max_depth: 6, capacity, limit };
    let rings_around = Rays { step: Step { direction: Direction::Both, ..all_out() }, ..around.clone() };
    let weighed =
        CustomizedStep { step: step.clone(), weight_by: None, default_weight: 1.0, sample: NO_LIMIT };
    let sources = vec![source.clone()];
    let customized = CustomizedPaths {
        sources: sources.clone(),
        steps: vec![weighed; 5],
        sort_by: SortBy::Increasing,
        capacity,
        limit,
        seed: 1,
    };
    let path_patterns = vec![vec![step.clone(); 5]];
    let patterns = CustomizedCrosspoints { sources, path_patterns, capacity, limit };
    assert_ends_at_memory([
        ("rays", said(rays(&reader, &small(), &around).await)),
        ("rings", said(rings(&reader, &small(), &rings_around, false).await)),
        ("customized paths", said(customized_paths(&reader, &small(), &customized).await)),
        ("customized crosspoints", said(customized_crosspoints(&reader, &small(), &patterns).await)),
    ]);
    // What remembers vertices alone has room, however many paths there are.
    let steps = vec![step.clone(); 5];
    let counted = Count { source: source.clone(), steps, contains_traversed: true, dedup_size: 0 };
    assert_eq!(said(count(&reader, &small(), &counted).await), "found");
    let steps = vec![RankStep { step, top: 10 }; 5];
    let ranks = NeighborRank { source, steps, alpha: 0.9, capacity };
    assert_eq!(said(neighbor_rank(&reader, &small(), &ranks).await), "found");
}

/// The edges of one vertex are counted page by page.
#[tokio::test]
async fn a_hub_ends_at_the_memory() {
    let edges: Vec<_> = (1..20_000).map(|leaf| (0, leaf)).collect();
    let reader = PlainGraph::of_distinct(&edges).reader().await;
    let step = Step::new(Direction::Out, None).with_degree(NO_LIMIT);
    let hub = Kneighbor { step: step.clone(), ..asked(1) };
    let small = WalkOptions { bytes_max: 300_000, ..options() };
    assert!(
        said(kneighbor(&reader, &small, &hub).await)
            .starts_with("the walk needs more than walk_memory_bytes_max, 300000 bytes")
    );
    let counted =
        Count { source: VertexId::Number(0), steps: vec![step], contains_traversed: false, dedup_size: 0 };
    assert!(said(count(&reader, &small, &counted).await).starts_with("the walk needs more than"));
    let first = Kneighbor { limit: 10, step: Step::default().with_degree(100), ..asked(1) };
    assert_eq!(said(kneighbor(&reader, &small, &first).await), "found");
}

/// The most memory that this process had so far, in bytes; zero where the system does not say.
fn most_resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    most.map_or(0, |kilobytes| 1024 * kilobytes.trim().parse::<usize>().unwrap())
}

/// What is counted is what the process takes, within a small factor: lists double as they grow, and old and new are there for a moment.
#[tokio::test]
async fn the_process_grows_little_beyond_the_memory_of_a_walk() {
    let reader = mesh(24).reader().await;
    let bytes_max = 32 << 20;
    let bounded = WalkOptions { bytes_max, ..options() };
    let source = VertexId::Number(0);
    let (capacity, limit, step) = (NO_LIMIT, NO_LIMIT, all_out());
    let around = Rays { source: source.clone(), step: step.clone(), max_depth: 6, capacity, limit };
    let target = VertexId::Number(1_000);
    let both = Paths { source: source.clone(), target, step: step.clone(), max_depth: 6, capacity, limit };
    let path_patterns = vec![vec![step; 5]];
    let patterns = CustomizedCrosspoints { sources: vec![source], path_patterns, capacity, limit };
    let before = most_resident();
    for said in [
        said(rays(&reader, &bounded, &around).await),
        said(paths(&reader, &bounded, &both).await),
        said(customized_crosspoints(&reader, &bounded, &patterns).await),
    ] {
        assert!(said.starts_with("the walk needs more than"), "{said}");
    }
    let grown = most_resident() - before;
    assert!(grown < 4 * bytes_max, "{grown}");
}

/// Walks side by side share memory: one that finds none left ends, and says so.
#[tokio::test]
async fn a_walk_takes_of_the_memory_that_all_share() {
    let (taken, most) = (Arc::new(AtomicUsize::new(0)), 2 << 20);
    let asked = taken.clone();
    let memory = WalkMemory::new(move |bytes| {
        asked.fetch_max(bytes, Ordering::Relaxed);
        bytes <= most
    });
    let shared = WalkOptions { memory, ..options() };
    let reader = mesh(24).reader().await;
    let around = Rays {
        source: VertexId::Number(0),
        step: all_out(),
        max_depth: 6,
        capacity: NO_LIMIT,
        limit: NO_LIMIT,
    };
    let refused = rays(&reader, &shared, &around).await;
    assert!(matches!(refused, Err(Error::MemoryFull)), "the memory is full");
    assert!(taken.load(Ordering::Relaxed) > most);
}
