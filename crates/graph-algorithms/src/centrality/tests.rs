//! Centralities against known figures, and against all paths of small graphs.

use proptest::prelude::*;

use super::*;
use crate::testing::{close, edges, karate, on_two_threads, out_lists, run};

const FAR: u32 = u32::MAX;

fn all(graph: &Adjacency) -> Vec<u32> {
    (0..graph.vertices()).collect()
}

#[test]
fn figures_of_the_karate_club_are_known() {
    let karate = karate();
    let graph = karate.lists();
    let between = betweenness(graph, &all(graph), FAR, &on_two_threads()).unwrap();
    close(between[0] / (33.0 * 32.0), 0.437_635_281_385_281_46);
    close(between[33] / (33.0 * 32.0), 0.304_074_975_949_975_94);
    close(between[11], 0.0);
    let near = closeness(graph, &all(graph), FAR, Closeness::Classic, &on_two_threads()).unwrap();
    close(near[0], 33.0 / 58.0);
    close(near[33], 0.55);
}

#[test]
fn a_path_of_four_has_all_its_betweenness_inside() {
    let path = out_lists(4, &[(0, 1), (1, 2), (2, 3)]);
    assert_eq!(betweenness(&path, &all(&path), FAR, &run()).unwrap(), [0.0, 2.0, 2.0, 0.0]);
    assert_eq!(betweenness(&path, &all(&path), 2, &run()).unwrap(), [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(stress(&path, &[0], FAR, &run()).unwrap(), [0.0, 2.0, 1.0, 0.0]);
    let near = closeness(&path, &[0, 3], FAR, Closeness::Harmonic, &run()).unwrap();
    close(near[0], 1.0 + 0.5 + 1.0 / 3.0);
    assert_eq!(near[1].to_bits(), 0.0_f64.to_bits(), "not -0");
    assert_eq!(closeness(&path, &[0], 1, Closeness::Harmonic, &run()).unwrap(), [1.0]);
}

#[test]
fn a_sample_of_all_is_exact_and_a_seed_repeats_it() {
    let karate = karate();
    let graph = karate.lists();
    let exact = betweenness(graph, &all(graph), FAR, &run()).unwrap();
    assert_eq!(betweenness_sampled(graph, 99, 1, FAR, &run()).unwrap(), exact);
    let near = closeness(graph, &all(graph), FAR, Closeness::Harmonic, &run()).unwrap();
    let sampled = closeness_sampled(graph, 34, 1, FAR, &on_two_threads()).unwrap();
    near.iter().zip(sampled).for_each(|(&exact, estimate)| close(estimate, exact));
    assert_eq!(sample_vertices(34, 7, 5), sample_vertices(34, 7, 5));
    assert_ne!(sample_vertices(34, 7, 5), sample_vertices(34, 7, 6));
    assert_eq!(sample_vertices(34, 7, 5).len(), 7);
    assert_eq!(sample_vertices(0, 7, 5), [] as [u32; 0]);
    let half = betweenness_sampled(graph, 17, 3, FAR, &run()).unwrap();
    assert!(half[0] > 0.5 * exact[0] && half[0] < 2.0 * exact[0], "{} of {}", half[0], exact[0]);
}

#[test]
fn threads_change_no_bit() {
    let edges: Vec<(u32, u32)> = (0..900).map(|it| (it % 301, it * it % 299)).collect();
    let graph = out_lists(301, &edges);
    let one = betweenness(&graph, &all(&graph), FAR, &run()).unwrap();
    assert_eq!(one, betweenness(&graph, &all(&graph), FAR, &on_two_threads()).unwrap());
}

/// Counts of shortest paths and distances of all pairs, by walks of growing length.
fn pairs(graph: &Adjacency) -> Vec<Vec<Option<(u32, f64)>>> {
    let count = graph.vertices() as usize;
    let from = |source: usize| {
        let mut found = vec![None; count];
        let mut level = vec![0.0; count];
        level[source] = 1.0;
        for distance in 0..count as u32 {
            let mut next = vec![0.0; count];
            for vertex in (0..count).filter(|&it| level[it] > 0.0) {
                found[vertex] = Some((distance, level[vertex]));
            }
            for (vertex, to) in graph.iter().filter(|&(vertex, _)| level[vertex as usize] > 0.0) {
                if found[to as usize].is_none() {
                    next[to as usize] += level[vertex as usize];
                }
            }
            level = next;
        }
        found
    };
    (0..count).map(from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn centralities_are_those_of_all_pairs((vertices, edges) in edges(14, 40)) {
        let graph = out_lists(vertices, &edges);
        let pairs = pairs(&graph);
        let between = betweenness(&graph, &all(&graph), FAR, &on_two_threads()).unwrap();
        let stressed = stress(&graph, &all(&graph), FAR, &run()).unwrap();
        let near = closeness(&graph, &all(&graph), FAR, Closeness::Harmonic, &run()).unwrap();
        let count = vertices as usize;
        for vertex in 0..count {
            let (mut share, mut number) = (0.0, 0.0);
            for source in (0..count).filter(|&it| it != vertex) {
                for target in (0..count).filter(|&it| it != vertex && it != source) {
                    let legs = (pairs[source][vertex], pairs[vertex][target], pairs[source][target]);
                    if let (Some((one, first)), Some((two, second)), Some((whole, all))) = legs
                        && one + two == whole
                    {
                        share += first * second / all;
                        number += first * second;
                    }
                }
            }
            close(between[vertex], share);
            close(stressed[vertex], number);
            let others = (0..count).filter(|&it| it != vertex).filter_map(|it| pairs[vertex][it]);
            close(near[vertex], others.map(|(distance, _)| 1.0 / f64::from(distance)).sum());
        }
    }
}
