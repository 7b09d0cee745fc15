//! Doing edits: what each means for records and keys. One pass over a draft, then one over the pages.

mod merge;
mod replace;
#[cfg(test)]
pub(crate) mod tests;

use lang_yang::{DataNode, Leaf, NodeId, NodeKind};

use crate::cache::Fault;
use crate::draft::Draft;
use crate::edit::{Applied, ApplyError, Edit, LeafLists, Position};
use crate::label::Label;
use crate::limits::PageLimits;
use crate::order::Order;
use crate::page::{Attempt, PageId};
use crate::record;
use crate::tree::Tree;

pub(crate) use replace::ascending;

/// Pages that one attempt asks for at most: the others show when these are there.
const FAULT_PAGES_MAX: usize = 4_096;

/// Does edits, all or none, and makes the pages of the next version. Cost: what changes, and the paths to it; a change of one leaf
/// writes a page of each level.
///
/// # Errors
///
/// [`ApplyError::Fault`] if pages are missing: load them, and call again. Otherwise why the edits cannot be done.
pub fn apply(tree: &Tree<'_>, edits: &[Edit], attempt: Attempt) -> Result<Applied, ApplyError> {
    apply_with(tree, edits, attempt, PageLimits::STANDARD)
}

/// The same with other limits of pages.
///
/// # Errors
///
/// As [`apply`].
pub fn apply_with(
    tree: &Tree<'_>,
    edits: &[Edit],
    attempt: Attempt,
    limits: PageLimits,
) -> Result<Applied, ApplyError> {
    let mut editor = Editor { draft: Draft::new(*tree), missing: Vec::new(), record: Vec::new() };
    editor.each(edits, |editor, edit| editor.edit(edit))?;
    Ok(editor.draft.finish(limits, attempt)?)
}

/// Does one edit after the other.
struct Editor<'a> {
    draft: Draft<'a>,
    missing: Vec<PageId>,
    /// Room for one record.
    record: Vec<u8>,
}

impl Editor<'_> {
    fn edit(&mut self, edit: &Edit) -> Result<(), ApplyError> {
        match edit {
            Edit::Create { parent, nodes, at } => {
                let parent = self.draft.resolve(parent)?;
                self.create(&parent, nodes, at)
            }
            Edit::Merge { parent, nodes, options } => {
                let parent = self.draft.resolve(parent)?;
                self.merge(&parent, nodes, *options)
            }
            Edit::Replace { parent, nodes, at } => {
                let parent = self.draft.resolve(parent)?;
                self.replace(&parent, nodes, at.as_ref())
            }
            Edit::ReplaceList { parent, list, nodes } => {
                let parent = self.draft.resolve(parent)?;
                self.check_child(&parent, *list)?;
                let nodes: Vec<&DataNode> = nodes.iter().collect();
                self.replace_list(&parent, *list, &nodes)
            }
            Edit::ReplaceContent { entry, content } => {
                let entry = self.draft.resolve(entry)?;
                self.replace_content(&entry, content)
            }
            Edit::SetLeaves { parent, leaves } => {
                let parent = self.draft.resolve(parent)?;
                self.drop_other_cases(&parent, leaves.iter().map(|leaf| leaf.schema))?;
                self.set_leaves(&parent, leaves, LeafLists::Replace)
            }
            Edit::RemoveLeaf { parent, node, value } => {
                let parent = self.draft.resolve(parent)?;
                self.remove_leaf(&parent, *node, value.as_deref())
            }
            Edit::Move { entry, to } => {
                let entry = self.draft.resolve(entry)?;
                self.relocate(&entry, to)
            }
            Edit::Delete { entry } => {
                let entry = self.draft.resolve(entry)?;
                self.draft.remove(&entry)
            }
            Edit::DeleteList { parent, list } => {
                let parent = self.draft.resolve(parent)?;
                self.delete_list(&parent, *list)
            }
        }
    }

    /// Does the same with each of some things, and goes on after a missing page, so that all that are missing are known at once.
    fn each<T>(
        &mut self,
        things: impl IntoIterator<Item = T>,
        mut run: impl FnMut(&mut Self, T) -> Result<(), ApplyError>,
    ) -> Result<(), ApplyError> {
        for thing in things {
            match run(self, thing) {
                Ok(()) => {}
                Err(ApplyError::Fault(fault)) if fault.is_damage() => return Err(fault.into()),
                Err(ApplyError::Fault(Fault(pages))) => self.missing.extend(pages),
                // What follows from missing pages is no error yet.
                Err(_) if !self.missing.is_empty() => break,
                Err(error) => return Err(error),
            }
            if self.missing.len() > FAULT_PAGES_MAX {
                break;
            }
        }
        if self.missing.is_empty() {
            return Ok(());
        }
        let mut missing = std::mem::take(&mut self.missing);
        missing.sort_unstable();
        missing.dedup();
        Err(ApplyError::Fault(Fault(missing)))
    }

    /// The entry that is there of a container or list entry that is given.
    fn locate(&mut self, parent: &Label, node: &DataNode) -> Result<Option<Label>, ApplyError> {
        self.check_child(parent, node.schema)?;
        let schema = self.draft.schema();
        match &schema.node(node.schema).kind {
            NodeKind::List { keys, .. } if keys.is_empty() => Ok(None),
            NodeKind::List { .. } => {
                let keys = self.draft.keys_of(parent, node)?;
                Ok(self.draft.find_entry(parent, node.schema, &keys)?)
            }
            _ => {
                let label = parent.container(schema.node(node.schema).slot);
                Ok(self.draft.is_there(&label)?.then_some(label))
            }
        }
    }

    fn check_child(&self, parent: &Label, node: NodeId) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        if schema.is_entry(node) && schema.node(node).parent == parent.node(schema) {
            return Ok(());
        }
        self.misplaced(parent, node)
    }

    fn misplaced<T>(&self, parent: &Label, node: NodeId) -> Result<T, ApplyError> {
        Err(ApplyError::Misplaced { node: self.draft.schema().path(node), parent: self.draft.path(parent)? })
    }

    fn create(&mut self, parent: &Label, nodes: &[DataNode], at: &Position) -> Result<(), ApplyError> {
        let mut there = Vec::new();
        self.each(nodes, |editor, node| {
            if let Some(label) = editor.locate(parent, node)? {
                there.push(editor.draft.path(&label)?);
            }
            Ok(())
        })?;
        if !there.is_empty() {
            return Err(ApplyError::Exists(there));
        }
        self.drop_other_cases(parent, nodes.iter().map(|node| node.schema))?;
        let mut gap = None;
        self.each(nodes, |editor, node| {
            let is_list = matches!(editor.draft.schema().node(node.schema).kind, NodeKind::List { .. });
            if !is_list {
                return editor.add(parent, node, &[], false);
            }
            if gap.as_ref().is_none_or(|(list, _)| *list != node.schema) {
                gap = Some((node.schema, editor.draft.gap(parent, node.schema, at)?));
            }
            let (_, gap) = gap.as_mut().expect("it was just set");
            editor.add(parent, node, gap.next().as_bytes(), false)
        })
    }

    /// Adds a container or list entry with all below, that is not there. `is_new`: what it lies in was added, too.
    fn add(&mut self, parent: &Label, node: &DataNode, order: &[u8], is_new: bool) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let mut label = parent.container(schema.node(node.schema).slot);
        if let NodeKind::List { .. } = schema.node(node.schema).kind {
            label.0.extend_from_slice(order);
            self.draft.claim((parent, node), order, is_new)?;
        } else if self.draft.is_set(&label) {
            return Err(ApplyError::Duplicate(self.draft.path_of_node(parent, node)?));
        }
        self.check_leaves(&label, Some(node.schema), &node.content.leaves)?;
        self.record.clear();
        record::encode_into(&mut self.record, schema, &node.content.leaves);
        self.draft.put(&label, &self.record)?;
        self.add_below(&label, Some(node.schema), &node.content.children)
    }

    /// Adds what lies below an entry that was just added.
    fn add_below(
        &mut self,
        label: &Label,
        node: Option<NodeId>,
        children: &[DataNode],
    ) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let mut orders: Vec<(NodeId, Order)> = Vec::new();
        for child in children {
            if !schema.is_entry(child.schema) || schema.node(child.schema).parent != node {
                return self.misplaced(label, child.schema);
            }
            if !matches!(schema.node(child.schema).kind, NodeKind::List { .. }) {
                self.add(label, child, &[], true)?;
                continue;
            }
            let last = orders.iter_mut().rfind(|(list, _)| *list == child.schema);
            let order = match last {
                Some((_, order)) => {
                    *order = order.after();
                    order.clone()
                }
                None => {
                    orders.push((child.schema, Order::first()));
                    Order::first()
                }
            };
            self.add(label, child, order.as_bytes(), true)?;
        }
        Ok(())
    }

    /// Checks that leaves lie in an entry of this node, each once.
    fn check_leaves(&self, label: &Label, node: Option<NodeId>, leaves: &[Leaf]) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        for (at, leaf) in leaves.iter().enumerate() {
            if schema.is_entry(leaf.schema) || schema.node(leaf.schema).parent != node {
                return self.misplaced(label, leaf.schema);
            }
            let is_first = leaves.iter().take(at).all(|other| other.schema != leaf.schema);
            let is_list = matches!(schema.node(leaf.schema).kind, NodeKind::LeafList { .. });
            if !is_first || (!is_list && leaf.values.len() != 1) {
                return Err(ApplyError::Duplicate(self.leaf_path(label, leaf.schema)?));
            }
        }
        Ok(())
    }

    fn leaf_path(&self, label: &Label, leaf: NodeId) -> Result<String, Fault> {
        Ok(format!("{}{}", self.draft.base(label)?, self.draft.schema().node(leaf).name))
    }

    fn relocate(&mut self, entry: &Label, to: &Position) -> Result<(), ApplyError> {
        let schema = self.draft.schema();
        let (Some(parent), Some(list)) = (entry.parent(schema), entry.node(schema)) else {
            return self.misplaced(entry, NodeId(0));
        };
        if !matches!(schema.node(list).kind, NodeKind::List { .. }) {
            return self.misplaced(&parent, list);
        }
        let mut entry = entry.clone();
        let order = self.draft.gap_following(&parent, list, to, &mut entry)?.next();
        self.draft.relocate(&entry, &parent.entry(schema.node(list).slot, order.as_bytes()))
    }

    fn delete_list(&mut self, parent: &Label, list: NodeId) -> Result<(), ApplyError> {
        self.check_child(parent, list)?;
        if self.draft.list(parent, list).next_entry()?.is_none() {
            let path = format!("{}{}", self.draft.base(parent)?, self.draft.schema().node(list).name);
            return Err(ApplyError::NotFound(vec![path]));
        }
        self.draft.remove_list(parent, list);
        Ok(())
    }
}
