//! What walks find. Vertices are given by their numbers, with the numbering that knows their ids.

use graph::EdgeId;

use crate::Numbering;
use crate::marks::VertexSet;

/// What a walk read.
///
/// An edge counts each time that it is taken in a step of a walk, thus behind direction, label, properties and `max_degree`; a vertex each
/// time that its edges are read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Measure {
    /// Edges that were taken.
    pub edges: u64,
    /// Vertices whose edges were read.
    pub vertices: u64,
}

/// Vertices in the order in which they are passed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// The vertices, at least one.
    pub vertices: Vec<u32>,
    /// Where the walk from one end met that from the other.
    pub crosspoint: Option<u32>,
    /// The weight of each edge, where paths are sorted by them.
    pub weights: Option<Vec<f64>>,
    /// The sum of the weights.
    pub weight: f64,
}

impl Path {
    /// A path without weights.
    pub fn of(vertices: Vec<u32>) -> Self {
        Self { vertices, ..Self::default() }
    }
}

/// Vertices that were reached, with the ways to them if they were asked for.
#[derive(Debug)]
pub struct Reached {
    /// The ids of the vertices.
    pub known: Numbering,
    /// Those that were reached.
    pub vertices: Vec<u32>,
    /// A way to each.
    pub paths: Vec<Path>,
    /// The edges of these ways.
    pub edges: Vec<EdgeId>,
    /// What was read.
    pub measure: Measure,
}

/// Paths that were found.
#[derive(Debug)]
pub struct FoundPaths {
    /// The ids of the vertices.
    pub known: Numbering,
    /// The paths.
    pub paths: Vec<Path>,
    /// Their edges, each once.
    pub edges: Vec<EdgeId>,
    /// What was read.
    pub measure: Measure,
}

/// Vertices with a number each.
#[derive(Debug)]
pub struct Scores {
    /// The ids of the vertices.
    pub known: Numbering,
    /// The vertices and their scores.
    pub scores: Vec<(u32, f64)>,
    /// What was read.
    pub measure: Measure,
}

impl FoundPaths {
    /// The vertices of all paths, each once.
    pub fn vertices(&self) -> Vec<u32> {
        distinct(self.paths.iter().flat_map(|path| path.vertices.iter().copied()))
    }
}

impl Reached {
    /// What was reached, and the vertices of all ways to it, each once.
    pub fn all_vertices(&self) -> Vec<u32> {
        let passed = self.paths.iter().flat_map(|path| path.vertices.iter().copied());
        distinct(self.vertices.iter().copied().chain(passed))
    }
}

/// Vertices, each at its first place alone.
pub(crate) fn distinct(vertices: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut seen = VertexSet::default();
    vertices.into_iter().filter(|vertex| seen.insert(*vertex)).collect()
}

/// The first of these scores: sorted from the highest on if asked for, else as they come.
pub(crate) fn top(mut scores: Vec<(u32, f64)>, sorted: bool, limit: usize) -> Vec<(u32, f64)> {
    if sorted {
        scores.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    }
    scores.truncate(limit);
    scores
}
