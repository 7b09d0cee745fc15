//! Which elements are seen: those of labels that the schema has.

use graph::LabelId;

/// The labels whose elements are seen. Labels are numbered from 1, so that a bit for each number does.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VisibleLabels {
    vertices: Vec<bool>,
    edges: Vec<bool>,
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

    /// Whether vertices of this label are seen. Cost: an index.
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

fn index(label: LabelId) -> usize {
    usize::try_from(label.0).expect("a number of 32 bits")
}

fn set(bits: &mut Vec<bool>, label: LabelId) {
    let index = index(label);
    if bits.len() <= index {
        bits.resize(index + 1, false);
    }
    *bits.get_mut(index).expect("as long as it must be") = true;
}

#[inline]
fn has(bits: &[bool], label: LabelId) -> bool {
    bits.get(index(label)).copied() == Some(true)
}
