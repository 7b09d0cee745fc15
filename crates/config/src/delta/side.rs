//! The two trees of a report, and what only one of them has.

use lang_yang::{Content, DataNode, Leaf, NodeId, Schema};

use super::{Action, DeltaFault, DeltaItem, Part};
use crate::{Fault, Tree};

/// Which of two trees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    /// What is compared with.
    Source,
    /// What is compared.
    Target,
}

/// Both trees.
pub(super) struct Trees<'a> {
    pub(super) source: Tree<'a>,
    pub(super) target: Tree<'a>,
}

impl<'a> Trees<'a> {
    pub(super) fn of(&self, side: Side) -> &Tree<'a> {
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }
}

impl Side {
    pub(super) fn fault(self, fault: Fault) -> DeltaFault {
        match self {
            Self::Source => DeltaFault::Source(fault),
            Self::Target => DeltaFault::Target(fault),
        }
    }
}

impl Part {
    /// One entry with these leaves and nothing below.
    pub(super) fn entry(schema: &Schema, node: NodeId, leaves: Vec<Leaf>) -> Self {
        let entry = DataNode { schema: node, content: Content { leaves, children: Vec::new() } };
        Self {
            parent: schema.node(node).parent,
            content: Content { leaves: Vec::new(), children: vec![entry] },
        }
    }
}

impl DeltaItem {
    /// What only one tree has.
    pub(super) fn of_side(side: Side, xpath: String, part: Part) -> Self {
        match side {
            Side::Source => Self { action: Action::Remove, xpath, source: Some(part), target: None },
            Side::Target => Self { action: Action::Create, xpath, source: None, target: Some(part) },
        }
    }
}
