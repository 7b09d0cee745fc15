//! Core numbers: how deep in the dense parts of a graph a vertex lies.

use crate::{Error, Run, Simple};

/// The core number of each vertex: the largest k such that it belongs to a subgraph in which each vertex has k neighbours (Batagelj and
/// Zaveršnik).
///
/// Cost: one look at each edge; 16 bytes a vertex.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn core_numbers(graph: &Simple, run: &Run<'_>) -> Result<Vec<u32>, Error> {
    let lists = graph.lists();
    let mut pace = run.pace();
    let mut degrees: Vec<u32> = (0..lists.vertices()).map(|vertex| lists.degree(vertex)).collect();
    let mut queue = Queue::new(&degrees);
    for position in 0..degrees.len() {
        let vertex = queue.vertices[position];
        let neighbors = lists.neighbors(vertex);
        pace.step(neighbors.len() + 1)?;
        for &neighbor in neighbors {
            if degrees[neighbor as usize] > degrees[vertex as usize] {
                queue.move_down(neighbor, degrees[neighbor as usize]);
                degrees[neighbor as usize] -= 1;
            }
        }
    }
    pace.report()?;
    Ok(degrees)
}

/// Vertices sorted by degree, where a degree falls by one in constant time.
struct Queue {
    vertices: Vec<u32>,
    /// Where each vertex is in `vertices`.
    positions: Vec<u32>,
    /// Where the vertices of each degree begin.
    firsts: Vec<u32>,
}

impl Queue {
    fn new(degrees: &[u32]) -> Queue {
        let largest = degrees.iter().copied().max().unwrap_or(0) as usize;
        let mut firsts = vec![0; largest + 2];
        for &degree in degrees {
            firsts[degree as usize + 1] += 1;
        }
        for degree in 1..firsts.len() {
            firsts[degree] += firsts[degree - 1];
        }
        let mut next = firsts.clone();
        let mut queue = Queue { vertices: vec![0; degrees.len()], positions: vec![0; degrees.len()], firsts };
        for (vertex, &degree) in degrees.iter().enumerate() {
            let position = &mut next[degree as usize];
            queue.vertices[*position as usize] = vertex as u32;
            queue.positions[vertex] = *position;
            *position += 1;
        }
        queue
    }

    /// Moves a vertex of `degree` among those of one less: it changes places with the first of its degree, which then begins behind it.
    fn move_down(&mut self, vertex: u32, degree: u32) {
        let first = self.firsts[degree as usize];
        let position = self.positions[vertex as usize];
        let other = self.vertices[first as usize];
        self.vertices.swap(first as usize, position as usize);
        self.positions[vertex as usize] = first;
        self.positions[other as usize] = position;
        self.firsts[degree as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{edges, karate, run, simple};

    #[test]
    fn the_inner_core_of_the_karate_club_is_known() {
        let cores = core_numbers(&karate().into_simple(), &run()).unwrap();
        let inner: Vec<usize> = (0..34).filter(|&vertex| cores[vertex] == 4).collect();
        assert_eq!(inner, [0, 1, 2, 3, 7, 8, 13, 30, 32, 33]);
        assert_eq!(cores[11], 1);
    }

    /// Removes vertices of fewer than k neighbours until none is left, for each k.
    fn by_removal(graph: &Simple) -> Vec<u32> {
        let lists = graph.lists();
        let mut cores = vec![0; lists.vertices() as usize];
        for k in 1.. {
            let mut alive: Vec<bool> = cores.iter().map(|&core| core == k - 1).collect();
            loop {
                let removed: Vec<usize> = (0..alive.len())
                    .filter(|&vertex| {
                        let degree = lists.neighbors(vertex as u32).iter().filter(|&&it| alive[it as usize]);
                        alive[vertex] && (degree.count() as u32) < k
                    })
                    .collect();
                if removed.is_empty() {
                    break;
                }
                removed.into_iter().for_each(|vertex| alive[vertex] = false);
            }
            (0..alive.len()).filter(|&vertex| alive[vertex]).for_each(|vertex| cores[vertex] = k);
            if !alive.contains(&true) {
                break;
            }
        }
        cores
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((128 * ProptestConfig::default().cases).div_ceil(256)))]

        #[test]
        fn cores_are_what_removal_leaves((vertices, edges) in edges(20, 90)) {
            let graph = simple(vertices, &edges);
            prop_assert_eq!(core_numbers(&graph, &run()).unwrap(), by_removal(&graph));
        }
    }
}
