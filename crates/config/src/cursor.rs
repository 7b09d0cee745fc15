//! Cursors: containers and list entries in document order, whole or only some.

use std::sync::Arc;

use lang_yang::{NodeId, Schema};
use smallvec::SmallVec;

use crate::cache::Fault;
use crate::label::{Label, LabelPath};
use crate::page::{Summary, ValueDemand};
use crate::record::Record;
use crate::scan::Scan;
use crate::tree::Tree;

/// Goes over the entries of a tree in document order. After a [`Fault`] was served, it goes on where it was.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    scan: Scan<'a>,
    /// The entry that it is at.
    path: LabelPath,
    /// Whether the scan is at an entry that was not given yet.
    is_ahead: bool,
    only: Option<Only>,
}

/// Which entries a cursor gives.
#[derive(Clone, Debug)]
struct Only {
    wanted: SmallVec<[NodeId; 4]>,
    /// Those that may have wanted ones below.
    above: SmallVec<[NodeId; 8]>,
    /// Nodes that were met, and whether the schema has any below them.
    known: SmallVec<[(Option<NodeId>, bool); 8]>,
}

impl<'a> Tree<'a> {
    /// Goes over an entry and everything below it, in document order; over the whole tree from the top. Cost: O(1).
    pub fn cursor(&self, within: &Label) -> Cursor<'a> {
        Cursor::new(Scan::new(*self, within.as_bytes(), within.above().0))
    }

    /// Goes over the entries of one list, or the one of a container, below a parent, without what lies below them. Cost: O(1).
    pub fn entries(&self, parent: &Label, node: NodeId) -> Cursor<'a> {
        self.branch(parent, node).only(&[node])
    }

    /// Goes over the entries of one list, or the one of a container, below a parent, and everything below them, in document order.
    /// Cost: O(1).
    pub fn branch(&self, parent: &Label, node: NodeId) -> Cursor<'a> {
        let start = parent.container(self.schema().node(node).slot);
        let end = start.above();
        Cursor::new(Scan::new(*self, start.as_bytes(), end.0))
    }
}

impl<'a> Cursor<'a> {
    fn new(scan: Scan<'a>) -> Self {
        Self { scan, path: LabelPath::default(), is_ahead: false, only: None }
    }

    /// Gives only entries of these containers and lists, and passes over pages and subtrees that have none of them.
    #[must_use]
    pub fn only(mut self, nodes: &[NodeId]) -> Self {
        let schema = self.scan.tree().schema();
        let mut summary = Summary::default();
        nodes.iter().for_each(|node| summary.add(Summary::of(*node)));
        self.scan.only(summary);
        self.only = Some(Only::new(schema, nodes));
        self
    }

    /// Passes also over pages none of whose entries can meet this.
    pub(crate) fn demand(mut self, demand: Arc<ValueDemand>) -> Self {
        self.scan.demand(demand);
        self
    }

    /// Pages that were passed over for what is demanded since this was last asked.
    pub(crate) fn take_passed(&mut self) -> u64 {
        self.scan.take_passed()
    }

    /// The next entry; `None` at the end. Cost: O(1), O(log pages) from page to page.
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing; called again when it is there, it goes on.
    #[expect(clippy::should_implement_trait, reason = "it may fail, and goes on then: no iterator does")]
    pub fn next(&mut self) -> Result<Option<(Label, Record<'a>)>, Fault> {
        let Some(node) = self.advance()? else { return Ok(None) };
        let bytes = self.scan.value()?;
        self.is_ahead = false;
        Ok(Some((self.path.label().clone(), Record::new(self.scan.tree().schema(), node, bytes))))
    }

    /// The label of the next entry, without its record: as [`Cursor::next`].
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing.
    pub fn next_label(&mut self) -> Result<Option<Label>, Fault> {
        let is_at_one = self.advance()?.is_some();
        self.is_ahead = false;
        Ok(is_at_one.then(|| self.path.label().clone()))
    }

    /// Passes over what lies below the entry that was given last. Cost: O(log entries), when the next is asked for.
    pub fn skip_below(&mut self) {
        if !self.is_ahead {
            self.scan.skip_to(&self.path.label().above().0);
        }
    }

    /// Goes on with the first entry that is not before `label`. Cost: O(log entries), when the next is asked for.
    pub fn seek(&mut self, label: &Label) {
        self.scan.skip_to(label.as_bytes());
        self.is_ahead = false;
    }

    /// Goes over an entry and everything below it instead, as a new one from [`Tree::cursor`]; quicker if it lies soon after where it
    /// is. Cost: O(1).
    pub(crate) fn turn_to(&mut self, within: &Label) {
        self.scan.turn_to(within.as_bytes(), within.above().0);
        self.is_ahead = false;
    }

    /// Goes to the next entry that is wanted; `Some` of its schema node, which is `None` for the top.
    #[expect(clippy::option_option, reason = "the top has no schema node")]
    fn advance(&mut self) -> Result<Option<Option<NodeId>>, Fault> {
        while !self.is_ahead {
            if !self.scan.next()? {
                return Ok(None);
            }
            self.path.go(self.scan.tree().schema(), self.scan.key());
            let node = self.path.node();
            let (is_wanted, has_below) = self.only.as_ref().map_or((true, true), |only| only.of(node));
            let schema = self.scan.tree().schema();
            if !has_below && self.only.as_mut().is_none_or(|only| only.can_have_below(schema, node)) {
                self.scan.skip_to(&self.path.label().above().0);
            }
            self.is_ahead = is_wanted;
        }
        Ok(Some(self.path.node()))
    }
}

impl Only {
    fn new(schema: &Schema, nodes: &[NodeId]) -> Self {
        let mut above: SmallVec<[NodeId; 8]> = SmallVec::new();
        for node in nodes {
            let parents = std::iter::successors(schema.node(*node).parent, |node| schema.node(*node).parent);
            above.extend(parents);
        }
        above.sort_unstable();
        above.dedup();
        let mut wanted: SmallVec<[NodeId; 4]> = nodes.into();
        wanted.sort_unstable();
        Self { wanted, above, known: SmallVec::new() }
    }

    /// Whether the schema has containers or lists below a node at all. Cost: O(1) for the nodes that it was first asked of.
    fn can_have_below(&mut self, schema: &Schema, node: Option<NodeId>) -> bool {
        if let Some((_, can)) = self.known.iter().find(|(other, _)| *other == node) {
            return *can;
        }
        let can = schema.children(node).iter().any(|child| schema.is_entry(*child));
        if self.known.len() < self.known.inline_size() {
            self.known.push((node, can));
        }
        can
    }

    /// Whether an entry of this node is wanted, and whether one below it may be.
    fn of(&self, node: Option<NodeId>) -> (bool, bool) {
        let has = |nodes: &[NodeId], node| nodes.binary_search(&node).is_ok();
        node.map_or((false, true), |node| (has(&self.wanted, node), has(&self.above, node)))
    }
}
