//! Which nodes of a schema have a name: below one parent, and anywhere. Sorted tables, made once with the schema.

use super::NodeId;

/// Says the names of nodes.
pub(crate) trait Named {
    /// The name of a node.
    fn name(&self, id: NodeId) -> &str;
}

/// The nodes of a schema by their names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct NameIndex {
    /// The children of the top, then those of each node; of one parent sorted by name, of one name in the order of the schema.
    children: Box<[NodeId]>,
    /// Where the children of each parent end, that of the top first.
    ends: Box<[u32]>,
    /// All nodes by name, of one name in the order of the schema.
    all: Box<[NodeId]>,
}

impl NameIndex {
    /// Of the children of the top and then of each node. Cost: O(nodes × log nodes).
    pub(crate) fn new<'a>(children: impl Iterator<Item = &'a [NodeId]>, names: &impl Named) -> Self {
        let (mut sorted, mut ends) = (Vec::new(), Vec::new());
        for below in children {
            let from = sorted.len();
            sorted.extend_from_slice(below);
            // A stable sort: what has one name stays in the order of the schema.
            sorted.get_mut(from..).expect("it ends behind").sort_by_key(|id| names.name(*id));
            ends.push(u32::try_from(sorted.len()).expect("numbers of nodes have 32 bits"));
        }
        let mut all = sorted.clone();
        all.sort_by_key(|id| (names.name(*id), *id));
        Self { children: sorted.into(), ends: ends.into(), all: all.into() }
    }

    /// Those of `name` below `parent` (`None`: at the top), in the order of the schema. Cost: O(log children).
    pub(crate) fn below(&self, parent: Option<NodeId>, name: &str, names: &impl Named) -> &[NodeId] {
        let at = parent.map_or(0, |parent| parent.0 as usize + 1);
        let end = |at: usize| self.ends.get(at).map(|end| *end as usize);
        let from = at.checked_sub(1).map_or(Some(0), end);
        let of_parent = from.zip(end(at)).and_then(|(from, end)| self.children.get(from..end));
        of_name(of_parent.expect("the number of a node is of its schema"), name, names)
    }

    /// Those of `name`, in the order of the schema. Cost: O(log nodes).
    pub(crate) fn anywhere(&self, name: &str, names: &impl Named) -> &[NodeId] {
        of_name(&self.all, name, names)
    }
}

/// Those of `name` among nodes that are sorted by name.
fn of_name<'a>(sorted: &'a [NodeId], name: &str, names: &impl Named) -> &'a [NodeId] {
    let from = sorted.partition_point(|id| names.name(*id) < name);
    let rest = sorted.get(from..).expect("a partition point is in the slice");
    let count = rest.iter().take_while(|id| names.name(**id) == name).count();
    rest.get(..count).expect("they were counted")
}
