//! Paths as trees: each node is a vertex, and the end of one path from the root of its tree.

use crate::layers::{NO_PARENT, place};
use crate::marks::PerVertex;

/// Paths that share their beginnings. A vertex is in it once for each path that ends in it.
///
/// Invariant: the parent of a node was added before it.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    nodes: Vec<(u32, u32)>,
}

impl Forest {
    /// A new node; of a root the parent is [`NO_PARENT`]. Cost: eight bytes.
    #[inline]
    pub(crate) fn add(&mut self, vertex: u32, parent: u32) -> u32 {
        let node = place(self.nodes.len());
        self.nodes.push((vertex, parent));
        node
    }

    #[inline]
    pub(crate) fn vertex(&self, node: u32) -> u32 {
        self.node(node).0
    }

    /// The vertex before the last of a path.
    pub(crate) fn vertex_before(&self, node: u32) -> Option<u32> {
        let (_, parent) = self.node(node);
        (parent != NO_PARENT).then(|| self.vertex(parent))
    }

    /// Whether a vertex is on the path that ends here. Cost: its length.
    #[inline]
    pub(crate) fn contains(&self, node: u32, vertex: u32) -> bool {
        let mut at = node;
        while at != NO_PARENT {
            let (passed, parent) = self.node(at);
            if passed == vertex {
                return true;
            }
            at = parent;
        }
        false
    }

    /// The nodes of the path that ends here, from its root on.
    pub(crate) fn way(&self, node: u32) -> Vec<u32> {
        let (mut way, mut at) = (Vec::new(), node);
        while at != NO_PARENT {
            way.push(at);
            at = self.node(at).1;
        }
        way.reverse();
        way
    }

    /// The vertices of the path that ends here.
    pub(crate) fn path(&self, node: u32) -> Vec<u32> {
        self.way(node).into_iter().map(|node| self.vertex(node)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.nodes.capacity()
    }

    #[inline]
    fn node(&self, node: u32) -> (u32, u32) {
        *self.nodes.get(node as usize).expect("nodes are given by this forest")
    }
}

/// Nodes by their vertices: each vertex once, those that were met first before others.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) vertices: Vec<u32>,
    starts: Vec<usize>,
    nodes: Vec<u32>,
}

impl Groups {
    pub(crate) fn of(mut nodes: Vec<u32>, forest: &Forest) -> Self {
        nodes.sort_by_key(|node| forest.vertex(*node));
        let mut groups = Self::default();
        for (at, node) in nodes.iter().enumerate() {
            let vertex = forest.vertex(*node);
            if groups.vertices.last() != Some(&vertex) {
                groups.vertices.push(vertex);
                groups.starts.push(at);
            }
        }
        groups.starts.push(nodes.len());
        groups.nodes = nodes;
        groups
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * (self.vertices.capacity() + self.nodes.capacity()) + 8 * self.starts.capacity()
    }

    /// The nodes of the vertex at a place, those that were added first before others.
    #[inline]
    pub(crate) fn nodes(&self, place: u32) -> &[u32] {
        let bounds = self.starts.get(place as usize..place as usize + 2);
        let Some(&[start, end]) = bounds else { unreachable!("places are of the vertices") };
        self.nodes.get(start..end).expect("groups lie within the nodes")
    }
}

/// The nodes of each vertex, in a chain.
#[derive(Debug)]
pub(crate) struct Chains {
    heads: PerVertex<u32>,
    /// A node, and where the one before it is.
    links: Vec<(u32, u32)>,
}

impl Default for Chains {
    fn default() -> Self {
        Self { heads: PerVertex::new(NO_PARENT), links: Vec::new() }
    }
}

impl Chains {
    pub(crate) fn add(&mut self, vertex: u32, node: u32) {
        let link = place(self.links.len());
        let head = self.heads.slot(vertex);
        self.links.push((node, std::mem::replace(head, link)));
    }

    #[inline]
    pub(crate) fn has(&self, vertex: u32) -> bool {
        self.heads.get(vertex) != NO_PARENT
    }

    /// The nodes of a vertex, the last first.
    pub(crate) fn nodes(&self, vertex: u32) -> impl Iterator<Item = u32> {
        let mut at = self.heads.get(vertex);
        std::iter::from_fn(move || {
            let (node, next) = *self.links.get(at as usize)?;
            at = next;
            Some(node)
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.links.capacity() + self.heads.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_grouped_by_vertex_and_end_paths() {
        let mut forest = Forest::default();
        let root = forest.add(5, NO_PARENT);
        let one = forest.add(7, root);
        let two = forest.add(6, root);
        let three = forest.add(7, two);
        assert_eq!(forest.path(three), [5, 6, 7]);
        assert_eq!((forest.vertex_before(three), forest.vertex_before(root)), (Some(6), None));
        assert!(forest.contains(three, 5) && !forest.contains(one, 6));
        let groups = Groups::of(vec![one, two, three], &forest);
        assert_eq!(groups.vertices, [6, 7]);
        assert_eq!((groups.nodes(0), groups.nodes(1)), (&[two][..], &[one, three][..]));
        let mut chains = Chains::default();
        for node in [one, two, three] {
            chains.add(forest.vertex(node), node);
        }
        assert_eq!(chains.nodes(7).collect::<Vec<_>>(), [three, one]);
        assert!(chains.has(6) && !chains.has(5) && chains.nodes(5).next().is_none());
    }
}
