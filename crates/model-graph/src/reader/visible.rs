//! Which elements are seen: those of labels that the schema has; of the edges not those of vertices whose removal is not finished.

use std::collections::{BTreeSet, HashSet};

use graph::{EdgeId, EdgeKey, LabelId, VertexId};

/// Labels of numbers below this are seen by a bit each; those beyond, which only a backup brings, are searched for.
const NEAR_MAX: usize = 1 << 16;

/// The labels whose elements are seen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VisibleLabels {
    vertices: Labels,
    edges: Labels,
}

impl VisibleLabels {
    /// Those of the vertex labels and edge labels of these numbers.
    pub fn new(
        vertices: impl IntoIterator<Item = LabelId>,
        edges: impl IntoIterator<Item = LabelId>,
    ) -> Self {
        let mut visible = Self::default();
        vertices.into_iter().for_each(|label| set(&mut visible.vertices, label));
        edges.into_iter().for_each(|label| set(&mut visible.edges, label));
        visible
    }

    /// Whether vertices of this label are seen. Cost: an index into an array.
    #[inline]
    pub fn has_vertices(&self, label: LabelId) -> bool {
        has(&self.vertices, label)
    }

    /// Whether edges of this label are seen. Cost: an index.
    #[inline]
    pub fn has_edges(&self, label: LabelId) -> bool {
        has(&self.edges, label)
    }
}

/// Vertices whose removal a process that ended has cut short. They are gone, and their edges are not seen until somebody has removed them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct CutRemovals(HashSet<Box<[u8]>>);

impl CutRemovals {
    /// Those of these ids.
    pub(crate) fn new(ids: impl IntoIterator<Item = VertexId>) -> Self {
        Self(ids.into_iter().map(|id| id.to_key().into()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them has no edges any more.
    pub(crate) fn finish(&mut self, id: &VertexId) {
        self.0.remove(&id.to_key()[..]);
    }

    /// Whether an edge is of one of them.
    pub(crate) fn has(&self, edge: &EdgeKey<'_>) -> bool {
        self.0.contains(edge.vertex) || self.0.contains(edge.other)
    }

    /// The same by its id.
    pub(crate) fn has_id(&self, edge: &EdgeId) -> bool {
        [&edge.source, &edge.target].into_iter().any(|id| self.0.contains(&id.to_key()[..]))
    }
}

/// Some labels of one kind.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Labels {
    near: Vec<bool>,
    far: BTreeSet<LabelId>,
}

fn index(label: LabelId) -> usize {
    usize::try_from(label.0).expect("a number of 32 bits")
}

fn set(labels: &mut Labels, label: LabelId) {
    let index = index(label);
    if index >= NEAR_MAX {
        labels.far.insert(label);
        return;
    }
    if labels.near.len() <= index {
        labels.near.resize(index + 1, false);
    }
    *labels.near.get_mut(index).expect("as long as it must be") = true;
}

#[inline]
fn has(labels: &Labels, label: LabelId) -> bool {
    match labels.near.get(index(label)) {
        Some(is_seen) => *is_seen,
        None => !labels.far.is_empty() && labels.far.contains(&label),
    }
}
