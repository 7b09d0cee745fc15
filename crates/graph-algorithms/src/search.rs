//! Breadth-first walks from one vertex: what is at, or within, some steps, and a shortest path.

use crate::Adjacency;

/// Breadth-first walks over one graph, one after the other. The marks of visited vertices take four bytes a vertex, and are reused.
pub struct Search<'g> {
    graph: &'g Adjacency,
    /// The walk that visited a vertex last.
    visited: Vec<u32>,
    walk: u32,
}

impl<'g> Search<'g> {
    /// Walks over `graph`.
    #[must_use]
    pub fn new(graph: &'g Adjacency) -> Search<'g> {
        Search { graph, visited: vec![0; graph.vertices() as usize], walk: 0 }
    }

    /// The vertices whose shortest path from `source` has exactly `depth` steps, in the order in which they are found.
    pub fn k_out(&mut self, source: u32, depth: u32) -> Vec<u32> {
        self.begin(source);
        let mut level = vec![source];
        for _ in 0..depth {
            level = self.next_level(&level);
        }
        level
    }

    /// The vertices to which some walk from `source` of exactly `depth` steps leads; walks do not come back to `source`.
    pub fn k_walk(&mut self, source: u32, depth: u32) -> Vec<u32> {
        let mut level = vec![source];
        for _ in 0..depth {
            self.begin(source);
            level = self.next_level(&level);
        }
        level
    }

    /// The vertices within `depth` steps of `source`, without it, nearest first.
    pub fn k_neighbor(&mut self, source: u32, depth: u32) -> Vec<u32> {
        self.begin(source);
        let mut found = if depth == 0 { Vec::new() } else { self.next_level(&[source]) };
        let mut level = 0;
        for _ in 1..depth {
            let next = self.next_level(&found[level..]);
            level = found.len();
            if next.is_empty() {
                break;
            }
            found.extend(next);
        }
        found
    }

    /// A shortest path from `source` to `target` of at most `depth` steps, with both; of several, that of the neighbours that come first.
    pub fn shortest_path(&mut self, source: u32, target: u32, depth: u32) -> Option<Vec<u32>> {
        self.begin(source);
        // Of each vertex found: itself, and where in this list it was found from.
        let mut found = vec![(source, 0)];
        let mut level = 0..1;
        for _ in 0..depth {
            if source == target || level.is_empty() {
                break;
            }
            for from in level.clone() {
                for &vertex in self.graph.neighbors(found[from].0) {
                    if self.visit(vertex) {
                        found.push((vertex, from));
                        if vertex == target {
                            return Some(path(&found));
                        }
                    }
                }
            }
            level = level.end..found.len();
        }
        (source == target).then(|| vec![source])
    }

    /// The steps from `source` to each vertex that it reaches.
    pub fn distances(&mut self, source: u32) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.visited.len()];
        self.begin(source);
        let mut level = vec![source];
        let mut depth = 0;
        while !level.is_empty() {
            for &vertex in &level {
                distances[vertex as usize] = Some(depth);
            }
            level = self.next_level(&level);
            depth += 1;
        }
        distances
    }

    fn begin(&mut self, source: u32) {
        if self.walk == u32::MAX {
            self.visited.fill(0);
            self.walk = 0;
        }
        self.walk += 1;
        self.visit(source);
    }

    /// Whether this walk visits `vertex` for the first time.
    #[inline]
    fn visit(&mut self, vertex: u32) -> bool {
        std::mem::replace(&mut self.visited[vertex as usize], self.walk) != self.walk
    }

    fn next_level(&mut self, level: &[u32]) -> Vec<u32> {
        let graph = self.graph;
        let mut next = Vec::new();
        for &from in level {
            next.extend(graph.neighbors(from).iter().copied().filter(|&vertex| self.visit(vertex)));
        }
        next
    }
}

/// The path to what was found last.
fn path(found: &[(u32, usize)]) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = found.len() - 1;
    loop {
        let (vertex, from) = found[at];
        path.push(vertex);
        if at == 0 {
            break;
        }
        at = from;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use petgraph::algo::dijkstra;
    use petgraph::graph::NodeIndex;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{edges, karate, out_lists, petgraph_of};

    #[test]
    fn a_ring_is_walked_level_by_level() {
        let ring = out_lists(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
        let mut search = Search::new(&ring);
        assert_eq!(search.k_out(0, 2), [2]);
        assert_eq!(search.k_out(0, 5), [] as [u32; 0]);
        assert_eq!(search.k_neighbor(1, 3), [2, 3, 4]);
        assert_eq!(search.k_neighbor(1, 0), [] as [u32; 0]);
        assert_eq!(search.shortest_path(3, 1, 9), Some(vec![3, 4, 0, 1]));
        assert_eq!(search.shortest_path(3, 1, 2), None);
        assert_eq!(search.shortest_path(3, 3, 0), Some(vec![3]));
    }

    #[test]
    fn walks_may_pass_a_vertex_again_but_not_the_source() {
        let graph = out_lists(3, &[(0, 1), (1, 2), (2, 1), (1, 0)]);
        let mut search = Search::new(&graph);
        assert_eq!(search.k_out(0, 3), [] as [u32; 0]);
        assert_eq!(search.k_walk(0, 3), [1]);
        assert_eq!(search.k_walk(0, 4), [2]);
    }

    #[test]
    fn marks_of_walks_are_reused() {
        let karate = karate();
        let mut search = Search::new(karate.lists());
        search.walk = u32::MAX - 1;
        for _ in 0..3 {
            assert_eq!(search.k_neighbor(0, 9).len(), 33);
            assert_eq!(search.k_out(0, 3).len(), 8);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

        #[test]
        fn distances_are_those_of_petgraph((vertices, edges) in edges(24, 60)) {
            let graph = out_lists(vertices, &edges);
            let expected = dijkstra(&petgraph_of(vertices, &edges), NodeIndex::new(0), None, |_| 1_u32);
            let mut search = Search::new(&graph);
            let distances = search.distances(0);
            for vertex in 0..vertices {
                let distance = expected.get(&NodeIndex::new(vertex as usize)).copied();
                prop_assert_eq!(distances[vertex as usize], distance);
                let path = search.shortest_path(0, vertex, vertices);
                prop_assert_eq!(path.as_ref().map(|path| path.len() as u32 - 1), distance);
                for step in path.unwrap_or_default().windows(2) {
                    prop_assert!(graph.neighbors(step[0]).contains(&step[1]));
                }
                if let Some(distance) = distance {
                    prop_assert!(search.k_out(0, distance).contains(&vertex));
                    prop_assert!(search.k_neighbor(0, distance).contains(&vertex) || distance == 0);
                }
            }
        }
    }
}
