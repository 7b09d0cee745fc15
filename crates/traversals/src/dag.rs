//! One side of a search between two vertices: layers of vertices, each with all those from which it was reached.

use crate::layers::{NO_PARENT, place};
use crate::marks::PerVertex;

/// A vertex that is in no layer.
const NOWHERE: (u32, u32) = (u32::MAX, 0);

/// Layers of vertices, each of which knows all vertices of the layer before from which it was reached.
///
/// Invariant: a vertex lies in a layer once; a layer's parents lie in the layer before.
#[derive(Debug)]
pub(crate) struct Dag {
    nodes: Vec<Node>,
    links: Vec<Link>,
    /// Where each closed layer ends.
    ends: Vec<usize>,
    /// The last layer in which a vertex is, and where it lies.
    at: PerVertex<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    vertex: u32,
    /// Its last link to a parent.
    link: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    parent: u32,
    /// The link before it.
    next: u32,
}

impl Dag {
    pub(crate) fn of(source: u32) -> Self {
        let mut dag =
            Self { nodes: Vec::new(), links: Vec::new(), ends: Vec::new(), at: PerVertex::new(NOWHERE) };
        dag.add(source, None);
        dag.close();
        dag
    }

    /// Adds a vertex to the open layer, or another parent to it if it is there. What is reached from one parent is added before what is
    /// reached from the next. Cost: at most 28 bytes.
    #[inline]
    pub(crate) fn add(&mut self, vertex: u32, parent: Option<u32>) {
        let layer = place(self.ends.len());
        let (in_layer, mut at) = self.at.get(vertex);
        if in_layer != layer {
            at = place(self.nodes.len());
            self.nodes.push(Node { vertex, link: NO_PARENT });
            self.at.set(vertex, (layer, at));
        }
        if let Some(parent) = parent {
            let node = self.nodes.get_mut(at as usize).expect("a vertex knows where it lies");
            // Another edge from the same vertex.
            if self.links.get(node.link as usize).is_some_and(|link| link.parent == parent) {
                return;
            }
            let link = place(self.links.len());
            self.links.push(Link { parent, next: std::mem::replace(&mut node.link, link) });
        }
    }

    /// Ends the open layer; the next begins.
    pub(crate) fn close(&mut self) {
        self.ends.push(self.nodes.len());
    }

    /// How many closed layers there are.
    fn layers(&self) -> u32 {
        place(self.ends.len())
    }

    /// Whether a vertex is in any layer, open or closed.
    #[inline]
    pub(crate) fn has(&self, vertex: u32) -> bool {
        self.at.get(vertex) != NOWHERE
    }

    /// Whether a vertex is in the open layer.
    #[inline]
    pub(crate) fn has_in_open(&self, vertex: u32) -> bool {
        self.at.get(vertex).0 == self.layers()
    }

    /// Where a vertex lies in the last closed layer; asked of the side that is not at work, which has no open one.
    #[inline]
    pub(crate) fn find_in_last(&self, vertex: u32) -> Option<u32> {
        let (layer, at) = self.at.get(vertex);
        (layer != u32::MAX && layer + 1 == self.layers()).then_some(at)
    }

    /// The vertices of the last closed layer.
    pub(crate) fn last(&self) -> Vec<u32> {
        let range = self.last_start() as usize..self.ends.last().copied().unwrap_or(0);
        self.nodes.get(range).expect("a layer that was closed").iter().map(|node| node.vertex).collect()
    }

    /// Where the last closed layer begins.
    pub(crate) fn last_start(&self) -> u32 {
        let before = self.ends.len().checked_sub(2);
        place(before.map_or(0, |at| *self.ends.get(at).expect("an end before the last")))
    }

    /// How many vertices all layers have.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * (self.nodes.capacity() + self.links.capacity()) + self.at.bytes()
    }

    pub(crate) fn vertex(&self, node: u32) -> u32 {
        self.node(node).vertex
    }

    /// The ways from the beginning to a node, one by one.
    pub(crate) fn ways(&self, node: u32) -> Ways<'_> {
        Ways { dag: self, stack: vec![(node, self.node(node).link)], is_begun: false }
    }

    fn node(&self, at: u32) -> Node {
        *self.nodes.get(at as usize).expect("nodes are given by this side")
    }
}

/// The ways from the beginning of a side to a node; each is the nodes from that one back to the beginning.
///
/// A way is built one vertex at a time, so that one that is not wanted is left early ([`Ways::next`]).
pub(crate) struct Ways<'a> {
    dag: &'a Dag,
    /// Nodes, each with the link that is to be taken next.
    stack: Vec<(u32, u32)>,
    is_begun: bool,
}

impl Ways<'_> {
    /// The vertices of the next way, from its node back to the beginning, in `way`. A way of which `wanted` says no to a vertex, being shown it and those
    /// behind it, is passed over. Cost: a step for each vertex that is looked at; they are counted in `steps`.
    pub(crate) fn next(
        &mut self,
        way: &mut Vec<u32>,
        steps: &mut usize,
        mut wanted: impl FnMut(u32, &[u32]) -> bool,
    ) -> bool {
        if !self.is_begun {
            self.is_begun = true;
            way.clear();
            let (node, _) = *self.stack.first().expect("a way begins at its node");
            let vertex = self.dag.vertex(node);
            if !wanted(vertex, way) {
                self.stack.clear();
                return false;
            }
            way.push(vertex);
            if self.is_whole() {
                return true;
            }
        }
        while let Some((_, link)) = self.stack.last_mut() {
            *steps += 1;
            if *link == NO_PARENT {
                self.stack.pop();
                way.truncate(self.stack.len());
                continue;
            }
            let Link { parent, next } =
                *self.dag.links.get(*link as usize).expect("links are given by this side");
            *link = next;
            let vertex = self.dag.vertex(parent);
            way.truncate(self.stack.len());
            if wanted(vertex, way) {
                way.push(vertex);
                self.stack.push((parent, self.dag.node(parent).link));
                if self.is_whole() {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the last node is the beginning.
    fn is_whole(&self) -> bool {
        self.stack.last().is_some_and(|(node, _)| *node == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_are_found_and_unwanted_ones_left() {
        // 9 - {1, 2} - 3 - 1
        let mut dag = Dag::of(9);
        dag.add(1, Some(0));
        dag.add(2, Some(0));
        dag.close();
        dag.add(3, Some(1));
        dag.add(3, Some(2));
        dag.close();
        dag.add(1, Some(3));
        dag.close();
        let node = dag.find_in_last(1).unwrap();
        let all = |wanted: fn(u32, &[u32]) -> bool| {
            let (mut ways, mut way, mut steps, mut found) = (dag.ways(node), Vec::new(), 0, Vec::new());
            while ways.next(&mut way, &mut steps, wanted) {
                found.push(way.clone());
            }
            found
        };
        assert_eq!(all(|_, _| true), [[1, 3, 2, 9], [1, 3, 1, 9]]);
        assert_eq!(all(|vertex, way| !way.contains(&vertex)), [[1, 3, 2, 9]]);
        assert!(all(|vertex, _| vertex != 1).is_empty());
        assert_eq!((dag.has(2), dag.has(4), dag.find_in_last(2)), (true, false, None));
        let mut way = Vec::new();
        assert!(Dag::of(5).ways(0).next(&mut way, &mut 0, |_, _| true));
        assert_eq!(way, [5]);
    }
}
