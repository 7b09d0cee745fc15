//! The two trees of a report, and what only one of them has.

use lang_yang::{Content, DataNode, Leaf, NodeId, Schema};

use super::{Action, DeltaFault, DeltaItem, Part};
use crate::label::Label;
use crate::{Cursor, Fault, Tree};

/// Which of two trees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    /// What is compared with.
    Source,
    /// What is compared.
    Target,
}

/// Both trees, with a cursor of each that goes from part to part: those of a report follow one another.
pub(super) struct Trees<'a> {
    pub(super) source: Tree<'a>,
    pub(super) target: Tree<'a>,
    source_cursor: Cursor<'a>,
    target_cursor: Cursor<'a>,
}

impl<'a> Trees<'a> {
    pub(super) fn new(source: Tree<'a>, target: Tree<'a>) -> Self {
        let (source_cursor, target_cursor) = (source.cursor(&Label::top()), target.cursor(&Label::top()));
        Self { source, target, source_cursor, target_cursor }
    }

    /// The cursor of a tree, wherever it was left.
    pub(super) fn cursor(&mut self, side: Side) -> &mut Cursor<'a> {
        match side {
            Side::Source => &mut self.source_cursor,
            Side::Target => &mut self.target_cursor,
        }
    }

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
