//! How much work it is to read a text, and to carry edits out: what is long is done in a slot for long work, so that other requests do
//! not wait for it.

use config::{Cursor, Edit, Fault, Label, Place, Step, Tree};
use lang_yang::{DataNode, NodeId};

use crate::configs::Configs;

/// A longer text is read in a slot for long work. Reading costs some nanoseconds a byte.
pub const TEXT_BYTES_AT_ONCE: usize = 64 << 10;
/// Edits that give more containers and list entries, or replace more of them, are carried out in a slot for long work.
pub(crate) const NODES_AT_ONCE: usize = 1_000;

/// Bytes of memory that a container, entry or value of a body takes from when it is read until its change is stored: as data, as keys and
/// records of the change, and in pages (`cargo bench -p config --bench body`).
pub const NODE_BYTES_HELD: usize = 320;

impl Configs {
    /// Does work of which so many bytes of text say how long it is, as reading them: in a slot for long work if they are more than
    /// [`TEXT_BYTES_AT_ONCE`]. Cost: of short texts that of the work alone.
    pub async fn work_on_text<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        if bytes > TEXT_BYTES_AT_ONCE { self.lane().run(work).await } else { work() }
    }
}

/// Whether edits of a tree are long work: by what they give, and by what is there of what they replace or move.
/// What they delete is not looked at, but for the pages that name it. Cost: O([`NODES_AT_ONCE`]).
pub(crate) fn is_long(tree: &Tree<'_>, edits: &[Edit]) -> bool {
    let mut left = NODES_AT_ONCE;
    // What is not in memory is loaded first, and then looked at again.
    edits.iter().any(|edit| given(edit, &mut left) || replaced(tree, edit, &mut left).unwrap_or(false))
}

/// Whether an edit gives more than what is left.
fn given(edit: &Edit, left: &mut usize) -> bool {
    match edit {
        Edit::Create { nodes, .. }
        | Edit::Merge { nodes, .. }
        | Edit::Replace { nodes, .. }
        | Edit::ReplaceList { nodes, .. } => given_below(nodes, left),
        Edit::ReplaceContent { content, .. } => given_below(&content.children, left),
        Edit::SetLeaves { .. }
        | Edit::RemoveLeaf { .. }
        | Edit::Move { .. }
        | Edit::Delete { .. }
        | Edit::DeleteList { .. } => is_spent(left),
    }
}

fn given_below(nodes: &[DataNode], left: &mut usize) -> bool {
    nodes.iter().any(|node| is_spent(left) || given_below(&node.content.children, left))
}

/// Counts one more.
fn is_spent(left: &mut usize) -> bool {
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            false
        }
        None => true,
    }
}

/// Whether more is there of what an edit replaces, or moves with all below, than what is left.
fn replaced(tree: &Tree<'_>, edit: &Edit, left: &mut usize) -> Result<bool, Fault> {
    let (place, list) = match edit {
        Edit::ReplaceContent { entry, .. } | Edit::Move { entry, .. } => (entry, None),
        Edit::ReplaceList { parent, list, .. } => (parent, Some(*list)),
        Edit::Replace { parent, nodes, .. } => return replaced_entries(tree, parent, nodes, left),
        _ => return Ok(false),
    };
    let Some(label) = find(tree, place)? else { return Ok(false) };
    are_more(list.map_or_else(|| tree.cursor(&label), |list| tree.branch(&label, list)), left)
}

fn replaced_entries(
    tree: &Tree<'_>,
    parent: &Place,
    nodes: &[DataNode],
    left: &mut usize,
) -> Result<bool, Fault> {
    let Some(parent) = find(tree, parent)? else { return Ok(false) };
    for node in nodes {
        let Some(label) = tree.find_below(&parent, &[step_to(tree, node)])? else { continue };
        if are_more(tree.cursor(&label), left)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a cursor gives more entries than what is left.
fn are_more(mut there: Cursor<'_>, left: &mut usize) -> Result<bool, Fault> {
    while there.next_label()?.is_some() {
        if is_spent(left) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn find(tree: &Tree<'_>, place: &Place) -> Result<Option<Label>, Fault> {
    match place {
        Place::Label(label) => Ok(Some(label.clone())),
        Place::Steps(steps) | Place::Made(steps) => tree.find(steps),
    }
}

/// The step to an entry as an edit gives it. One of a list without keys is another than those that are there.
fn step_to(tree: &Tree<'_>, node: &DataNode) -> Step {
    let value = |key: &NodeId| {
        let leaf = node.content.leaves.iter().find(|leaf| leaf.schema == *key)?;
        Some((*key, leaf.values.first()?.text.clone()))
    };
    match tree.schema().keys(node.schema) {
        [] => Step::container(node.schema),
        keys => Step::entry(node.schema, keys.iter().filter_map(value).collect()),
    }
}
