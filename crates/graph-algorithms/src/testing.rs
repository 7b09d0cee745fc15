//! Graphs for tests: small random ones, and one with known answers.

use std::num::NonZeroUsize;

use petgraph::graph::DiGraph;
use proptest::prelude::*;

use crate::{Adjacency, Run, Simple, Undirected};

pub(crate) fn run() -> Run<'static> {
    Run::unwatched(NonZeroUsize::MIN)
}

pub(crate) fn on_two_threads() -> Run<'static> {
    Run::unwatched(NonZeroUsize::new(2).unwrap())
}

pub(crate) fn out_lists(vertices: u32, edges: &[(u32, u32)]) -> Adjacency {
    Adjacency::from_edges(vertices, || edges.iter().copied()).unwrap()
}

pub(crate) fn undirected(vertices: u32, edges: &[(u32, u32)]) -> Undirected {
    Undirected::of(&out_lists(vertices, edges)).unwrap()
}

pub(crate) fn simple(vertices: u32, edges: &[(u32, u32)]) -> Simple {
    undirected(vertices, edges).into_simple()
}

pub(crate) fn petgraph_of(vertices: u32, edges: &[(u32, u32)]) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    (0..vertices).for_each(|_| _ = graph.add_node(()));
    graph.extend_with_edges(edges.iter().copied());
    graph
}

/// A count of vertices from 1 up to below `vertices`, and up to `edges` edges, with loops and doubles.
pub(crate) fn edges(vertices: u32, edges: usize) -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (1..vertices)
        .prop_flat_map(move |count| (Just(count), prop::collection::vec((0..count, 0..count), 0..edges)))
}

#[track_caller]
pub(crate) fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{got} is not {expected}");
}

/// The friendships of a karate club (Zachary, 1977): 34 vertices, 78 edges.
pub(crate) fn karate() -> Undirected {
    const FRIENDS: [&[u32]; 34] = [
        &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
        &[2, 3, 7, 13, 17, 19, 21, 30],
        &[3, 7, 8, 9, 13, 27, 28, 32],
        &[7, 12, 13],
        &[6, 10],
        &[6, 10, 16],
        &[16],
        &[],
        &[30, 32, 33],
        &[33],
        &[],
        &[],
        &[],
        &[33],
        &[32, 33],
        &[32, 33],
        &[],
        &[],
        &[32, 33],
        &[33],
        &[32, 33],
        &[],
        &[32, 33],
        &[25, 27, 29, 32, 33],
        &[25, 27, 31],
        &[31],
        &[29, 33],
        &[33],
        &[31, 33],
        &[32, 33],
        &[32, 33],
        &[32, 33],
        &[33],
        &[],
    ];
    let edges: Vec<(u32, u32)> = FRIENDS
        .iter()
        .zip(0..)
        .flat_map(|(friends, member)| friends.iter().map(move |&friend| (member, friend)))
        .collect();
    assert_eq!(edges.len(), 78);
    undirected(34, &edges)
}
