//! A graph in memory as lists of neighbours in one array (compressed sparse rows), and how it is built.

mod edges;
mod undirected;

pub use edges::EdgeList;
pub use undirected::{Simple, Undirected};

use crate::Error;

/// The neighbours of each vertex in one direction, in one array. An edge takes four bytes, with a weight eight; a vertex four.
///
/// Invariant: every neighbour is below the count of vertices, and all edges are counted in 32 bits.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjacency {
    /// Where the list of each vertex begins in `targets`; one more for the end of the last.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// As long as `targets`, if edges have weights.
    weights: Option<Vec<f32>>,
}

impl Adjacency {
    /// The graph of `vertices` vertices and of the edges (source, target) that `edges` gives, which is called twice. Lists keep the order
    /// of the edges. Takes no memory besides the result but four bytes a vertex while it builds.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchVertex`], [`Error::TooManyEdges`].
    ///
    /// # Panics
    ///
    /// If the two calls of `edges` give different edges.
    pub fn from_edges<I>(vertices: u32, edges: impl Fn() -> I) -> Result<Adjacency, Error>
    where
        I: Iterator<Item = (u32, u32)>,
    {
        let starts = starts(vertices, edges())?;
        let mut targets = vec![0; total(&starts)];
        fill(&starts, edges(), |at, target| targets[at] = target);
        Ok(Adjacency { starts, targets, weights: None })
    }

    /// As [`Adjacency::from_edges`], of edges with weights.
    ///
    /// # Errors
    ///
    /// Also [`Error::Weight`].
    ///
    /// # Panics
    ///
    /// If the two calls of `edges` give different edges.
    pub fn from_weighted_edges<I>(vertices: u32, edges: impl Fn() -> I) -> Result<Adjacency, Error>
    where
        I: Iterator<Item = (u32, u32, f32)>,
    {
        let starts = starts(vertices, edges().map(|(source, target, _)| (source, target)))?;
        if let Some((.., weight)) = edges().find(|(.., weight)| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(Error::Weight(weight));
        }
        let mut targets = vec![0; total(&starts)];
        let mut weights = vec![0.0; total(&starts)];
        fill(
            &starts,
            edges().map(|(source, target, weight)| (source, (target, weight))),
            |at, (target, weight)| {
                targets[at] = target;
                weights[at] = weight;
            },
        );
        Ok(Adjacency { starts, targets, weights: Some(weights) })
    }

    /// How many vertices there are: they are the numbers below.
    #[must_use]
    #[inline]
    pub fn vertices(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// How many edges there are, each counted in each list that has it.
    #[must_use]
    pub fn edges(&self) -> u32 {
        self.targets.len() as u32
    }

    /// The neighbours of a vertex.
    ///
    /// # Panics
    ///
    /// If the graph has no such vertex; so do all functions that take one.
    #[must_use]
    #[inline]
    pub fn neighbors(&self, vertex: u32) -> &[u32] {
        &self.targets[self.range(vertex)]
    }

    /// The weights of the edges to the neighbours of a vertex, if edges have weights.
    #[must_use]
    #[inline]
    pub fn weights(&self, vertex: u32) -> Option<&[f32]> {
        self.weights.as_ref().map(|weights| &weights[self.range(vertex)])
    }

    /// How many edges a vertex has.
    #[must_use]
    #[inline]
    pub fn degree(&self, vertex: u32) -> u32 {
        self.range(vertex).len() as u32
    }

    /// All edges as (vertex, neighbour), in the order of the vertices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.vertices()).flat_map(|from| self.neighbors(from).iter().map(move |&to| (from, to)))
    }

    /// Bytes of memory that the lists take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.starts.capacity()
            + self.targets.capacity()
            + self.weights.as_ref().map_or(0, Vec::capacity))
    }

    /// The same edges, each from its target to its source.
    #[must_use]
    pub fn reversed(&self) -> Adjacency {
        let turned = || self.iter().map(|(from, to)| (to, from));
        let built = match &self.weights {
            None => Adjacency::from_edges(self.vertices(), turned),
            Some(weights) => Adjacency::from_weighted_edges(self.vertices(), || {
                turned().zip(weights).map(|((from, to), &weight)| (from, to, weight))
            }),
        };
        built.expect("the edges of a graph are edges of the reversed one")
    }

    /// The first `degree` neighbours of each vertex.
    #[must_use]
    pub fn truncated(&self, degree: u32) -> Adjacency {
        let mut shorter = self.clone();
        shorter.retain(|position, _| position < degree);
        shorter
    }

    /// The parts of the lists: where each begins, neighbours, weights.
    pub(crate) fn parts(&self) -> (&[u32], &[u32], Option<&[f32]>) {
        (&self.starts, &self.targets, self.weights.as_deref())
    }

    #[inline]
    fn range(&self, vertex: u32) -> std::ops::Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }

    /// Removes edges by their positions in the lists and their neighbours, in the memory that they have.
    fn retain(&mut self, keep: impl Fn(u32, u32) -> bool) {
        let mut end = 0;
        for vertex in 0..self.vertices() {
            let range = self.range(vertex);
            self.starts[vertex as usize] = end;
            for (position, from) in range.enumerate() {
                if keep(position as u32, self.targets[from]) {
                    self.targets[end as usize] = self.targets[from];
                    if let Some(weights) = &mut self.weights {
                        weights[end as usize] = weights[from];
                    }
                    end += 1;
                }
            }
        }
        *self.starts.last_mut().expect("a start more than vertices") = end;
        self.targets.truncate(end as usize);
        if let Some(weights) = &mut self.weights {
            weights.truncate(end as usize);
        }
    }
}

/// Where the list of each vertex begins, by a first pass over the edges.
fn starts(vertices: u32, edges: impl Iterator<Item = (u32, u32)>) -> Result<Vec<u32>, Error> {
    let mut starts = vec![0_u32; vertices as usize + 1];
    let mut count = 0_u32;
    for (source, target) in edges {
        let vertex = source.max(target);
        if vertex >= vertices {
            return Err(Error::NoSuchVertex { vertex, vertices });
        }
        count = count.checked_add(1).ok_or(Error::TooManyEdges { limit: u32::MAX })?;
        starts[source as usize + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    Ok(starts)
}

fn total(starts: &[u32]) -> usize {
    *starts.last().expect("a start more than vertices") as usize
}

/// Calls `put` with each edge and its slot, by a second pass over the edges.
fn fill<T>(starts: &[u32], edges: impl Iterator<Item = (u32, T)>, mut put: impl FnMut(usize, T)) {
    let (_, firsts) = starts.split_last().expect("a start more than vertices");
    let mut next = firsts.to_vec();
    for (source, edge) in edges {
        let slot = &mut next[source as usize];
        assert!(*slot < starts[source as usize + 1], "both passes give the same edges");
        put(*slot as usize, edge);
        *slot += 1;
    }
    assert!(next == starts[1..], "both passes give the same edges");
}

#[cfg(test)]
mod tests;
