//! What must come out, by plain walks over the edges as they were generated: nothing here is shared with the server.

use std::collections::VecDeque;

use super::network::Network;

/// The neighbours of each vertex, in either direction.
#[derive(Debug, Clone)]
pub struct Walk {
    neighbours: Vec<Vec<u32>>,
}

impl Walk {
    /// Of the edges of `network`.
    pub fn new(network: &Network) -> Self {
        let mut neighbours = vec![Vec::new(); index(network.vertices)];
        for (source, target) in &network.edges {
            for (one, other) in [(source, target), (target, source)] {
                let list = neighbours.get_mut(index(*one)).expect("an end of an edge is a vertex");
                list.push(*other);
            }
        }
        Self { neighbours }
    }

    /// The neighbours of `vertex`.
    pub fn of(&self, vertex: u32) -> &[u32] {
        self.neighbours.get(index(vertex)).map_or(&[], Vec::as_slice)
    }

    /// The distance of every vertex from `source`, at most `depth`; `None`: farther, or there is no way.
    pub fn distances(&self, source: u32, depth: u32) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.neighbours.len()];
        let mut waiting = VecDeque::from([(source, 0)]);
        if let Some(first) = distances.get_mut(index(source)) {
            *first = Some(0);
        }
        while let Some((vertex, distance)) = waiting.pop_front() {
            if distance == depth {
                continue;
            }
            for other in self.of(vertex) {
                let seen = distances.get_mut(index(*other)).expect("a neighbour is a vertex");
                if seen.is_none() {
                    *seen = Some(distance + 1);
                    waiting.push_back((*other, distance + 1));
                }
            }
        }
        distances
    }
}

/// How much more of the edges lie within communities than would by chance, -0.5 to 1 (Newman and Girvan).
pub fn modularity(network: &Network, communities: &[u32]) -> f64 {
    let count = communities.iter().copied().max().map_or(0, |most| index(most) + 1);
    let (mut within, mut ends) = (vec![0_u64; count], vec![0_u64; count]);
    let of = |vertex: u32| communities.get(index(vertex)).map(|community| index(*community));
    for (one, other) in &network.edges {
        let (Some(first), Some(second)) = (of(*one), of(*other)) else { continue };
        for community in [first, second] {
            if let Some(ends) = ends.get_mut(community) {
                *ends += 1;
            }
        }
        if let Some(within) = within.get_mut(first).filter(|_| first == second) {
            *within += 1;
        }
    }
    let edges = network.edges.len().max(1) as f64;
    let terms = within.iter().zip(&ends);
    terms.map(|(within, ends)| *within as f64 / edges - (*ends as f64 / (2.0 * edges)).powi(2)).sum()
}

fn index(vertex: u32) -> usize {
    usize::try_from(vertex).expect("a u32 fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_triangles() -> Network {
        let edges = vec![(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)];
        Network { vertices: 7, edges, communities: Vec::new() }
    }

    #[test]
    fn distances_are_those_of_the_shortest_ways() {
        let walk = Walk::new(&two_triangles());
        let all = [Some(0), Some(1), Some(1), Some(2), Some(3), Some(3), None];
        assert_eq!(walk.distances(0, 9), all);
        assert_eq!(walk.distances(0, 1), [Some(0), Some(1), Some(1), None, None, None, None]);
        assert_eq!(walk.of(2).len(), 3);
    }

    #[test]
    fn modularity_is_that_of_the_definition() {
        let network = two_triangles();
        // 6 of 7 edges lie within; each community has 7 of 14 ends.
        let found = modularity(&network, &[0, 0, 0, 1, 1, 1, 0]);
        assert!((found - (6.0 / 7.0 - 0.5)).abs() < 1e-12, "{found}");
        assert!(modularity(&network, &[0; 7]).abs() < 1e-12);
    }
}
