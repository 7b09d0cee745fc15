//! Connected components: weak ones, in which directions do not count, and strong ones.

use crate::{Adjacency, Error, Groups, Run};

/// The components of a graph whose edges are walked in both directions. It is enough that each edge is in one list.
///
/// Cost: one look at each edge; four bytes a vertex.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn weak_components(graph: &Adjacency, run: &Run<'_>) -> Result<Groups, Error> {
    let mut pace = run.pace();
    // Of each vertex one that is not above it and in the same component; the smallest of a component points at itself.
    let mut parents: Vec<u32> = (0..graph.vertices()).collect();
    for vertex in 0..graph.vertices() {
        let neighbors = graph.neighbors(vertex);
        pace.step(neighbors.len() + 1)?;
        for &neighbor in neighbors {
            let (one, other) = (root(&mut parents, vertex), root(&mut parents, neighbor));
            parents[one.max(other) as usize] = one.min(other);
        }
    }
    let labels = (0..graph.vertices()).map(|vertex| root(&mut parents, vertex)).collect();
    pace.report()?;
    Ok(Groups::from_labels(labels))
}

fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    loop {
        let parent = parents[vertex as usize];
        if parent == vertex {
            return vertex;
        }
        let above = parents[parent as usize];
        parents[vertex as usize] = above;
        vertex = above;
    }
}

/// The strongly connected components: of two vertices of one, each reaches the other along edges (Tarjan, without recursion).
///
/// Cost: one look at each edge; up to 20 bytes a vertex.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn strong_components(out: &Adjacency, run: &Run<'_>) -> Result<Groups, Error> {
    let mut pace = run.pace();
    let mut tarjan = Tarjan::new(out.vertices());
    for root in 0..out.vertices() {
        if tarjan.number[root as usize] != 0 {
            continue;
        }
        tarjan.enter(root);
        while let Some((vertex, position)) = tarjan.calls.last_mut() {
            let vertex = *vertex;
            if let Some(&neighbor) = out.neighbors(vertex).get(*position as usize) {
                *position += 1;
                pace.step(1)?;
                tarjan.look(vertex, neighbor);
            } else {
                tarjan.leave(vertex);
            }
        }
    }
    pace.report()?;
    Ok(Groups::from_labels(tarjan.labels))
}

struct Tarjan {
    /// When a vertex was entered, from 1; 0: not yet.
    number: Vec<u32>,
    /// The lowest number that a vertex is known to reach among those without a component.
    low: Vec<u32>,
    /// A vertex of the component; `u32::MAX`: not known yet.
    labels: Vec<u32>,
    /// Vertices entered, whose components are not known yet.
    open: Vec<u32>,
    /// Vertices whose neighbours are being walked, and the next of them.
    calls: Vec<(u32, u32)>,
    entered: u32,
}

impl Tarjan {
    fn new(vertices: u32) -> Tarjan {
        let count = vertices as usize;
        let (number, low, labels) = (vec![0; count], vec![0; count], vec![u32::MAX; count]);
        Tarjan { number, low, labels, open: Vec::new(), calls: Vec::new(), entered: 0 }
    }

    fn enter(&mut self, vertex: u32) {
        self.entered += 1;
        self.number[vertex as usize] = self.entered;
        self.low[vertex as usize] = self.entered;
        self.open.push(vertex);
        self.calls.push((vertex, 0));
    }

    fn look(&mut self, vertex: u32, neighbor: u32) {
        if self.number[neighbor as usize] == 0 {
            self.enter(neighbor);
        } else if self.labels[neighbor as usize] == u32::MAX {
            let low = &mut self.low[vertex as usize];
            *low = (*low).min(self.number[neighbor as usize]);
        }
    }

    fn leave(&mut self, vertex: u32) {
        self.calls.pop();
        let low = self.low[vertex as usize];
        if let Some(&(caller, _)) = self.calls.last() {
            let above = &mut self.low[caller as usize];
            *above = (*above).min(low);
        }
        if low != self.number[vertex as usize] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.labels[member as usize] = vertex;
            if member == vertex {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use petgraph::algo::{connected_components, kosaraju_scc};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{edges, out_lists, petgraph_of, run};

    #[test]
    fn components_are_numbered_by_their_smallest_vertices() {
        let graph = out_lists(6, &[(5, 0), (3, 1), (1, 3)]);
        let weak = weak_components(&graph, &run()).unwrap();
        assert_eq!(weak.by_vertex(), [0, 1, 2, 1, 3, 0]);
        assert_eq!((weak.count(), weak.sizes()), (4, vec![2, 2, 1, 1]));
        assert_eq!(weak.members()[1], [1, 3]);
        let strong = strong_components(&graph, &run()).unwrap();
        assert_eq!(strong.by_vertex(), [0, 1, 2, 1, 3, 4]);
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let vertices = 200_000;
        let graph = Adjacency::from_edges(vertices, || (1..vertices).map(|to| (to - 1, to))).unwrap();
        assert_eq!(strong_components(&graph, &run()).unwrap().count(), vertices);
        assert_eq!(weak_components(&graph, &run()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_that_is_stopped_says_so() {
        let vertices = 200_000;
        let graph = Adjacency::from_edges(vertices, || (1..vertices).map(|to| (to - 1, to))).unwrap();
        let stop = |steps| steps < 100_000;
        let run = Run::new(std::num::NonZeroUsize::MIN, &stop);
        assert_eq!(weak_components(&graph, &run), Err(Error::Stopped));
        assert!(run.steps() < 150_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((192 * ProptestConfig::default().cases).div_ceil(256)))]

        #[test]
        fn components_are_those_of_petgraph((vertices, edges) in edges(30, 40)) {
            let graph = out_lists(vertices, &edges);
            let theirs = petgraph_of(vertices, &edges);
            let weak = weak_components(&graph, &run()).unwrap();
            prop_assert_eq!(weak.count() as usize, connected_components(&theirs));
            for &(source, target) in &edges {
                prop_assert_eq!(weak.of(source), weak.of(target));
            }
            let strong = strong_components(&graph, &run()).unwrap();
            let mut expected: Vec<Vec<u32>> = kosaraju_scc(&theirs)
                .into_iter()
                .map(|members| members.into_iter().map(|it| it.index() as u32).collect())
                .collect();
            expected.iter_mut().for_each(|members| members.sort_unstable());
            expected.sort_unstable();
            prop_assert_eq!(strong.members(), expected);
        }
    }
}
