//! Edges in the order in which they come, until their lists are built.

use super::Adjacency;
use crate::Error;

/// Edges in the order in which they come, with a limit. An edge takes eight bytes, with a weight twelve.
#[derive(Debug)]
pub struct EdgeList {
    sources: Vec<u32>,
    targets: Vec<u32>,
    /// As long as the others, if edges have weights.
    weights: Option<Vec<f32>>,
    limit: u32,
}

impl EdgeList {
    /// No edges yet, at most `limit` of them, all without weights or all with.
    #[must_use]
    pub fn new(limit: u32, weighted: bool) -> EdgeList {
        let weights = weighted.then(Vec::new);
        EdgeList { sources: Vec::new(), targets: Vec::new(), weights, limit }
    }

    /// How many edges there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.sources.len() as u32
    }

    /// Whether there are no edges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Bytes of memory that the edges take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.sources.capacity()
            + self.targets.capacity()
            + self.weights.as_ref().map_or(0, Vec::capacity))
    }

    /// Adds an edge; `weight` counts if the list is of edges with weights.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyEdges`].
    #[inline]
    pub fn push(&mut self, source: u32, target: u32, weight: f32) -> Result<(), Error> {
        if self.len() >= self.limit {
            return Err(Error::TooManyEdges { limit: self.limit });
        }
        self.sources.push(source);
        self.targets.push(target);
        if let Some(weights) = &mut self.weights {
            weights.push(weight);
        }
        Ok(())
    }

    /// The lists of neighbours along the edges, of a graph of `vertices` vertices. The edges are freed thereafter: at the most, both are in
    /// memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchVertex`], [`Error::Weight`].
    pub fn into_adjacency(self, vertices: u32) -> Result<Adjacency, Error> {
        let pairs = || self.sources.iter().copied().zip(self.targets.iter().copied());
        match &self.weights {
            None => Adjacency::from_edges(vertices, pairs),
            Some(weights) => Adjacency::from_weighted_edges(vertices, || {
                pairs().zip(weights).map(|((source, target), &weight)| (source, target, weight))
            }),
        }
    }
}
