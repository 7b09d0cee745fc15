//! Vertices in the order of their distance, each with the one from which it was reached.

/// Of what begins: it was reached from nothing.
pub(crate) const NO_PARENT: u32 = u32::MAX;

/// A walk in layers: the vertices of one step lie one behind another, and each knows where the one lies from which it was reached.
///
/// Invariant: a parent lies in an earlier layer, or is [`NO_PARENT`].
#[derive(Debug, Default)]
pub(crate) struct Layers {
    vertices: Vec<u32>,
    parents: Vec<u32>,
    /// Where each closed layer ends.
    ends: Vec<usize>,
}

impl Layers {
    /// Layers of which the first is this vertex.
    pub(crate) fn of(source: u32) -> Self {
        let mut layers = Self::default();
        layers.push(source, NO_PARENT);
        layers.close();
        layers
    }

    /// Adds a vertex to the layer that is open. Cost: eight bytes.
    #[inline]
    pub(crate) fn push(&mut self, vertex: u32, parent: u32) {
        self.vertices.push(vertex);
        self.parents.push(parent);
    }

    /// Ends the open layer; the next begins.
    pub(crate) fn close(&mut self) {
        self.ends.push(self.vertices.len());
    }

    /// How many vertices there are in all layers.
    pub(crate) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Where the last closed layer begins.
    pub(crate) fn last_start(&self) -> usize {
        let before = self.ends.len().checked_sub(2);
        before.map_or(0, |at| *self.ends.get(at).expect("an end before the last"))
    }

    /// Where the last closed layer ends.
    pub(crate) fn last_end(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The vertices of the last closed layer.
    pub(crate) fn last(&self) -> &[u32] {
        self.vertices.get(self.last_start()..self.last_end()).expect("a layer that was closed")
    }

    /// The vertex at a place.
    pub(crate) fn vertex(&self, place: usize) -> u32 {
        *self.vertices.get(place).expect("places are of vertices")
    }

    /// The vertices of all layers.
    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The vertices on the way to the one at a place, that one last. Cost: one step for each.
    pub(crate) fn path(&self, place: usize) -> Vec<u32> {
        let (mut path, mut at) = (Vec::new(), place);
        loop {
            path.push(*self.vertices.get(at).expect("places are of vertices"));
            let parent = *self.parents.get(at).expect("each vertex has a parent");
            if parent == NO_PARENT {
                path.reverse();
                return path;
            }
            at = parent as usize;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.vertices.capacity()
    }
}

/// A place as a parent.
#[inline]
pub(crate) fn place(at: usize) -> u32 {
    u32::try_from(at).expect("fewer vertices than a walk has bytes of memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_parents() {
        let mut layers = Layers::of(7);
        layers.push(3, 0);
        layers.push(4, 0);
        layers.close();
        layers.push(9, 2);
        layers.close();
        assert_eq!((layers.last(), layers.last_start(), layers.len()), (&[9][..], 3, 4));
        assert_eq!(layers.path(3), [7, 4, 9]);
        layers.close();
        assert!(layers.last().is_empty());
    }
}
