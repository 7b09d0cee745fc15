//! Which elements are seen: those of labels that the schema has.

use std::collections::BTreeSet;

use graph::LabelId;

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
