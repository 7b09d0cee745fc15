//! The leaves of one entry in both trees, and which of them differ.

use lang_yang::{Leaf, NodeId};

use super::schemas::NodeMap;
use crate::record::{Record, Values};
use crate::{Tree, ValueRef};

/// What an entry has in one tree that it has not, or has otherwise, in the other.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) source: Vec<Leaf>,
    pub(super) target: Vec<Leaf>,
}

/// The two ways between the schemas of the trees.
#[derive(Clone, Debug)]
pub(super) struct Maps {
    pub(super) to_target: NodeMap,
    pub(super) to_source: NodeMap,
}

/// How the leaves of an entry differ; `None` if they do not. Keys are added to each side that has something.
/// Cost: O(leaves), or a comparison of bytes if both are the same.
pub(super) fn changed(
    source: (&Tree<'_>, &Record<'_>),
    target: (&Tree<'_>, &Record<'_>),
    maps: &Maps,
) -> Option<Changed> {
    let ((source_tree, source), (target_tree, target)) = (source, target);
    if maps.to_target.is_same() && source.bytes() == target.bytes() {
        return None;
    }
    let mut changed = Changed::default();
    for (leaf, values) in source.leaves() {
        let other = maps.to_target.get(leaf).and_then(|leaf| target.leaf(leaf).map(|values| (leaf, values)));
        match other {
            Some((_, other)) if other.eq(values) => {}
            Some((other_leaf, other)) => {
                changed.source.push(owned(leaf, values));
                changed.target.push(owned(other_leaf, other));
            }
            None => changed.source.push(owned(leaf, values)),
        }
    }
    let is_new = |leaf: NodeId| maps.to_source.get(leaf).is_none_or(|leaf| source.leaf(leaf).is_none());
    changed
        .target
        .extend(target.leaves().filter(|(leaf, _)| is_new(*leaf)).map(|(leaf, values)| owned(leaf, values)));
    if changed.source.is_empty() && changed.target.is_empty() {
        return None;
    }
    add_keys(source_tree, source, &mut changed.source);
    add_keys(target_tree, target, &mut changed.target);
    Some(changed)
}

fn add_keys(tree: &Tree<'_>, record: &Record<'_>, leaves: &mut Vec<Leaf>) {
    let keys = record.node().map_or(&[][..], |node| tree.schema().keys(node));
    if leaves.is_empty() {
        return;
    }
    let keys = keys.iter().filter_map(|key| record.leaf(*key).map(|values| owned(*key, values)));
    leaves.extend(keys.collect::<Vec<_>>());
    leaves.sort_by_key(|leaf| tree.schema().node(leaf.schema).slot);
}

/// All leaves of an entry.
pub(super) fn all(record: &Record<'_>) -> Vec<Leaf> {
    record.leaves().map(|(leaf, values)| owned(leaf, values)).collect()
}

fn owned(schema: NodeId, values: Values<'_>) -> Leaf {
    Leaf { schema, values: values.map(ValueRef::to_value).collect() }
}
