//! Where edits change a tree, for the change record: the topmost nodes that they name, as paths.

use config::{Edit, Fault, Label, Place, Step, StepAt, Tree};
use lang_yang::{DataNode, NodeId, NodeKind, Schema};

use crate::changes::{Action, Places};

/// The places of edits, as many as a record takes. Cost: O(places), and a look-up for each edit that names a label.
pub(crate) fn places_of(tree: &Tree<'_>, edits: &[Edit]) -> Result<Places, Fault> {
    let mut places = Places::default();
    for edit in edits {
        if places.is_cut {
            break;
        }
        add(tree, edit, &mut places)?;
    }
    Ok(places)
}

fn add(tree: &Tree<'_>, edit: &Edit, places: &mut Places) -> Result<(), Fault> {
    let schema = tree.schema();
    let mut below = |parent: &Place, nodes: &[DataNode], action: Action| -> Result<(), Fault> {
        let parent = path_of(tree, parent)?;
        for node in nodes {
            if places.is_cut {
                break;
            }
            places.add(action, path_of_node(schema, &parent, node));
        }
        Ok(())
    };
    match edit {
        Edit::Create { parent, nodes, .. } => below(parent, nodes, Action::Create)?,
        Edit::Merge { parent, nodes, .. } | Edit::Replace { parent, nodes, .. } => {
            below(parent, nodes, Action::Replace)?;
        }
        Edit::ReplaceList { parent, list, .. } => {
            places.add(Action::Replace, child(schema, &path_of(tree, parent)?, *list));
        }
        Edit::ReplaceContent { entry, .. }
        | Edit::SetLeaves { parent: entry, .. }
        | Edit::Move { entry, .. } => {
            places.add(Action::Replace, path_of(tree, entry)?);
        }
        Edit::RemoveLeaf { parent, node, .. } => {
            places.add(Action::Remove, child(schema, &path_of(tree, parent)?, *node));
        }
        Edit::Delete { entry } => places.add(Action::Remove, path_of(tree, entry)?),
        Edit::DeleteList { parent, list } => {
            places.add(Action::Remove, child(schema, &path_of(tree, parent)?, *list));
        }
    }
    Ok(())
}

fn path_of(tree: &Tree<'_>, place: &Place) -> Result<String, Fault> {
    match place {
        Place::Label(label) => tree.path(label),
        Place::Steps(steps) | Place::Made(steps) => {
            let mut path = String::new();
            for (index, step) in steps.iter().enumerate() {
                if !spell(tree.schema(), step, &mut path) {
                    return found(tree, steps, index);
                }
            }
            Ok(if path.is_empty() { "/".to_owned() } else { path })
        }
    }
}

/// The path of steps of which one cannot be spelt: it names an entry otherwise than by all its keys.
fn found(tree: &Tree<'_>, steps: &[Step], index: usize) -> Result<String, Fault> {
    let reached = match tree.find(steps)? {
        Some(label) => Some(label),
        None => tree.find(steps.get(..index).unwrap_or(&[]))?,
    };
    tree.path(&reached.unwrap_or_else(Label::top))
}

/// Appends a step; `false` if it does not say which entry it is by itself.
fn spell(schema: &Schema, step: &Step, path: &mut String) -> bool {
    let node = schema.node(step.node);
    let NodeKind::List { keys, .. } = &node.kind else {
        push_name(schema, step.node, path);
        return true;
    };
    let StepAt::Keys(values) = &step.at else { return false };
    let value = |key: &NodeId| values.iter().find(|(leaf, _)| leaf == key).map(|(_, text)| (*key, &**text));
    match keys.iter().map(value).collect::<Option<Vec<_>>>() {
        Some(all) if all.len() == values.len() && !all.is_empty() => {
            push_name(schema, step.node, path);
            push_keys(schema, &all, path);
            true
        }
        _ => false,
    }
}

/// The path of a node that is given below another: a list entry with its keys.
fn path_of_node(schema: &Schema, parent: &str, node: &DataNode) -> String {
    let mut path = child(schema, parent, node.schema);
    if let NodeKind::List { keys, .. } = &schema.node(node.schema).kind {
        let value = |key: &NodeId| {
            let leaf = node.content.leaves.iter().find(|leaf| leaf.schema == *key)?;
            Some((*key, &*leaf.values.first()?.text))
        };
        let keys: Vec<(NodeId, &str)> = keys.iter().filter_map(value).collect();
        push_keys(schema, &keys, &mut path);
    }
    path
}

fn child(schema: &Schema, parent: &str, node: NodeId) -> String {
    let mut path = if parent == "/" { String::new() } else { parent.to_owned() };
    push_name(schema, node, &mut path);
    path
}

fn push_name(schema: &Schema, node: NodeId, path: &mut String) {
    path.push('/');
    path.push_str(&schema.node(node).name);
}

fn push_keys(schema: &Schema, keys: &[(NodeId, &str)], path: &mut String) {
    for (index, (key, value)) in keys.iter().enumerate() {
        path.push_str(if index == 0 { "[@" } else { " and @" });
        path.push_str(&schema.node(*key).name);
        path.push_str("='");
        path.push_str(&value.replace('\'', "''"));
        path.push('\'');
    }
    if !keys.is_empty() {
        path.push(']');
    }
}
