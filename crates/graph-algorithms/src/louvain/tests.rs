//! Louvain on graphs with known communities, and its modularity against the definition.

use proptest::prelude::*;

use super::*;
use crate::testing::{close, edges, karate, run, undirected};

const OPTIONS: LouvainOptions = LouvainOptions { resolution: 1.0, passes: 20, tolerance: 0.0, seed: 1 };

/// Modularity as it is defined, over all pairs of ends.
fn modularity(graph: &Undirected, groups: &Groups) -> f64 {
    let lists = graph.lists();
    let weight =
        |vertex: u32, position: usize| lists.weights(vertex).map_or(1.0, |all| f64::from(all[position]));
    let strength = |vertex: u32| (0..lists.neighbors(vertex).len()).map(|at| weight(vertex, at)).sum::<f64>();
    let strengths: Vec<f64> = (0..lists.vertices()).map(strength).collect();
    let total: f64 = strengths.iter().sum();
    if total == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for vertex in 0..lists.vertices() {
        for (at, &neighbor) in lists.neighbors(vertex).iter().enumerate() {
            if groups.of(vertex) == groups.of(neighbor) {
                sum += weight(vertex, at) / total;
            }
        }
        for other in (0..lists.vertices()).filter(|&other| groups.of(vertex) == groups.of(other)) {
            sum -= strengths[vertex as usize] / total * strengths[other as usize] / total;
        }
    }
    sum
}

#[test]
fn communities_of_the_karate_club_are_the_best_known() {
    let karate = karate();
    let found = louvain(&karate, OPTIONS, &run()).unwrap();
    assert!(found.modularity > 0.415 && found.modularity < 0.419_8, "{}", found.modularity);
    assert_eq!(found.groups(34).count(), 4);
}

#[test]
fn a_ring_of_cliques_falls_into_its_cliques() {
    let (cliques, size) = (20, 6);
    let mut edges = Vec::new();
    for clique in 0..cliques {
        let base = clique * size;
        edges.extend((0..size).flat_map(|one| (0..one).map(move |other| (base + one, base + other))));
        edges.push((base, (base + size + 1) % (cliques * size)));
    }
    let graph = undirected(cliques * size + 2, &edges);
    let found = louvain(&graph, OPTIONS, &run()).unwrap();
    let groups = found.groups(cliques * size + 2);
    assert_eq!(groups.count(), cliques + 2, "two vertices have no edges");
    assert!(groups.sizes()[..cliques as usize].iter().all(|&it| it == size));
    let coarse = louvain(&graph, LouvainOptions { resolution: 0.05, ..OPTIONS }, &run()).unwrap();
    assert!(coarse.groups(cliques * size + 2).count() < cliques);
}

#[test]
fn weights_move_vertices() {
    let weighted = |weight: f32| {
        let edges = [(0, 1, 3.0), (2, 3, 3.0), (1, 2, weight), (0, 3, weight)];
        let out = crate::Adjacency::from_weighted_edges(4, || edges.into_iter()).unwrap();
        let graph = Undirected::of(&out).unwrap();
        let found = louvain(&graph, OPTIONS, &run()).unwrap();
        close(found.modularity, modularity(&graph, &found.groups(4)));
        found.groups(4).by_vertex().to_vec()
    };
    assert_eq!(weighted(0.5), [0, 0, 1, 1]);
    assert_eq!(weighted(30.0), [0, 1, 1, 0]);
    assert_eq!(weighted(0.0), [0, 0, 1, 1]);
}

#[test]
fn a_graph_without_edges_stays_as_it_is() {
    let found = louvain(&undirected(3, &[]), OPTIONS, &run()).unwrap();
    assert_eq!((found.passes.len(), found.modularity, found.sweeps), (0, 0.0, 0));
    assert_eq!(found.groups(3).count(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((128 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn communities_of_the_karate_club_are_near_the_best_known(seed in any::<u64>()) {
        let karate = karate();
        let options = LouvainOptions { seed, ..OPTIONS };
        let found = louvain(&karate, options, &run()).unwrap();
        let groups = found.groups(34);
        close(found.modularity, modularity(&karate, &groups));
        prop_assert!(found.modularity > 0.37 && found.modularity < 0.419_8, "{}", found.modularity);
        prop_assert!((3..=6).contains(&groups.count()));
        prop_assert_eq!(found, louvain(&karate, options, &run()).unwrap());
    }

    #[test]
    fn modularity_is_that_of_the_definition((vertices, edges) in edges(24, 80), seed in 0_u64..9) {
        let graph = undirected(vertices, &edges);
        let found = louvain(&graph, LouvainOptions { seed, ..OPTIONS }, &run()).unwrap();
        close(found.modularity, modularity(&graph, &found.groups(vertices)));
        let alone = Groups::from_labels((0..vertices).collect());
        prop_assert!(found.modularity >= modularity(&graph, &alone) - 1e-9);
        let first = LouvainOptions { passes: 1, seed, ..OPTIONS };
        let first = louvain(&graph, first, &run()).unwrap();
        prop_assert!(found.modularity >= first.modularity - 1e-9);
    }
}
