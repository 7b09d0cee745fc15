//! The plain model: a tree as nested vectors, and edits done on it without cleverness.

use lang_yang::{Content, DataNode, Leaf, NodeId, NodeKind, Schema};

use crate::Step;
use crate::find::StepAt;

pub(crate) fn keys<'n>(schema: &Schema, node: &'n DataNode) -> Vec<&'n str> {
    let leaf = |key: &NodeId| node.content.leaves.iter().find(|leaf| leaf.schema == *key).unwrap();
    schema.keys(node.schema).iter().map(|key| &*leaf(key).values[0].text).collect()
}

pub(crate) fn is_list(schema: &Schema, node: NodeId) -> bool {
    matches!(schema.node(node).kind, NodeKind::List { .. })
}

/// Whether two nodes below one parent are the same entry.
pub(crate) fn is_same(schema: &Schema, one: &DataNode, other: &DataNode) -> bool {
    one.schema == other.schema
        && (!is_list(schema, one.schema)
            || (!schema.keys(one.schema).is_empty() && keys(schema, one) == keys(schema, other)))
}

pub(crate) fn position(schema: &Schema, content: &Content, step: &Step) -> Option<usize> {
    let mut nth = 0;
    content.children.iter().position(|child| {
        if child.schema != step.node {
            return false;
        }
        nth += 1;
        match &step.at {
            StepAt::Only => true,
            StepAt::Position(position) => nth == position + 1,
            StepAt::Keys(given) => {
                let held = keys(schema, child);
                schema
                    .keys(step.node)
                    .iter()
                    .zip(held)
                    .all(|(key, held)| given.iter().any(|(leaf, text)| leaf == key && &**text == held))
            }
        }
    })
}

pub(crate) fn find<'m>(schema: &Schema, top: &'m mut Content, steps: &[Step]) -> Option<&'m mut Content> {
    let mut content = top;
    for step in steps {
        let at = position(schema, content, step)?;
        content = &mut content.children[at].content;
    }
    Some(content)
}

/// Adds a node behind those of its kind, in the order of the schema.
pub(crate) fn append(schema: &Schema, content: &mut Content, node: DataNode) {
    let slot = |node: &DataNode| schema.node(node.schema).slot;
    let at = content.children.partition_point(|child| slot(child) <= slot(&node));
    content.children.insert(at, node);
}

pub(crate) fn set_leaves(schema: &Schema, content: &mut Content, leaves: &[Leaf]) {
    for leaf in leaves {
        content.leaves.retain(|held| held.schema != leaf.schema);
        content.leaves.push(leaf.clone());
    }
    content.leaves.sort_by_key(|leaf| schema.node(leaf.schema).slot);
}

/// `None`: one of the nodes is there.
pub(crate) fn create(schema: &Schema, content: &mut Content, nodes: &[DataNode]) -> Option<()> {
    let is_there = |node: &DataNode| content.children.iter().any(|child| is_same(schema, child, node));
    if nodes.iter().any(is_there) {
        return None;
    }
    nodes.iter().for_each(|node| append(schema, content, node.clone()));
    Some(())
}

/// `None`: one of the nodes is not there, though all must be.
pub(crate) fn merge(schema: &Schema, content: &mut Content, node: &DataNode, must_exist: bool) -> Option<()> {
    let Some(there) = content.children.iter_mut().find(|child| is_same(schema, child, node)) else {
        if must_exist {
            return None;
        }
        append(schema, content, node.clone());
        return Some(());
    };
    set_leaves(schema, &mut there.content, &node.content.leaves);
    for child in &node.content.children {
        merge(schema, &mut there.content, child, must_exist)?;
    }
    Some(())
}

pub(crate) fn replace(schema: &Schema, content: &mut Content, node: &DataNode) {
    match content.children.iter_mut().find(|child| is_same(schema, child, node)) {
        Some(there) => there.content = node.content.clone(),
        None => append(schema, content, node.clone()),
    }
}

pub(crate) fn replace_list(schema: &Schema, content: &mut Content, list: NodeId, nodes: &[DataNode]) {
    content.children.retain(|child| child.schema != list);
    nodes.iter().for_each(|node| append(schema, content, node.clone()));
}

/// How many records a tree has.
pub(crate) fn count(content: &Content) -> u64 {
    content.children.iter().map(|child| 1 + count(&child.content)).sum()
}
