//! Which node of one schema is which of another.

use lang_yang::{NodeId, NodeKind, Schema};

/// The nodes of a schema, by those of another: the same name of the same module below the same node.
#[derive(Clone, Debug)]
pub(super) enum NodeMap {
    /// Both are the same schema.
    Same,
    /// By number.
    Table(Box<[Option<NodeId>]>),
}

impl NodeMap {
    /// From the nodes of one schema to those of another. Cost: O(nodes × log nodes), or O(1) if they are the same.
    pub(super) fn new(from: &Schema, to: &Schema) -> Self {
        if std::ptr::eq(from, to) || from.hash == to.hash {
            return Self::Same;
        }
        let mut table: Vec<Option<NodeId>> = Vec::with_capacity(from.nodes.len());
        for (id, node) in (0..).map(NodeId).zip(&from.nodes) {
            // Parents come before their children.
            let parent = match node.parent {
                None => Some(None),
                Some(parent) => table.get(parent.0 as usize).copied().flatten().map(Some),
            };
            let other = parent.and_then(|parent| to.child(parent, Some(from.module_name(id)), &node.name));
            table.push(other.filter(|other| is_alike(from, id, to, *other)));
        }
        Self::Table(table.into())
    }

    /// The node of the other schema.
    pub(super) fn get(&self, node: NodeId) -> Option<NodeId> {
        match self {
            Self::Same => Some(node),
            Self::Table(table) => table.get(node.0 as usize).copied().flatten(),
        }
    }

    /// Whether both are the same schema.
    pub(super) fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }
}

/// Whether entries of two nodes can be the same: lists by keys of the same names, containers, or what holds values.
fn is_alike(from: &Schema, one: NodeId, to: &Schema, other: NodeId) -> bool {
    let names = |schema: &Schema, list| -> Vec<Box<str>> {
        schema.keys(list).iter().map(|key| schema.node(*key).name.clone()).collect()
    };
    match (&from.node(one).kind, &to.node(other).kind) {
        (NodeKind::List { .. }, NodeKind::List { .. }) => names(from, one) == names(to, other),
        (NodeKind::Container { .. }, NodeKind::Container { .. }) => true,
        _ => !from.is_entry(one) && !to.is_entry(other),
    }
}
