//! A report made true: its items as edits of a tree.
//!
//! Items of flat and of grouped reports are taken alike, which item is which shows from what its data can lie below. Since an item
//! of what was replaced has only the leaves that differ, these are set and removed, and all else stays.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lang_cps_path::CpsPath;
use lang_yang::{Content, DataNode, Leaf, NodeId, NodeKind, Schema};
use smallvec::SmallVec;

use super::Action;
use crate::edit::{Edit, LeafLists, MergeOptions, Place, Position};
use crate::find::Step;
use crate::query::{Address, AddressError};

/// Below which entry the data of an item lie.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Subject {
    /// The way to it; none: the top.
    pub parent: Vec<Step>,
}

/// An item of a report that is applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happened.
    pub action: Action,
    /// Where.
    pub subject: Subject,
    /// What the source had, read against [`Subject::node`].
    pub source: Option<Content>,
    /// What the target had, read against [`Subject::node`].
    pub target: Option<Content>,
}

/// Why an item cannot be applied.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// Its path names no entry.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Its data are of another place.
    #[error(
        "the data of an item lie below its xpath {xpath}, or are the entry of that xpath: \"{name}\" is neither"
    )]
    Misplaced {
        /// The path.
        xpath: Box<str>,
        /// A name in the data.
        name: Box<str>,
    },
    /// It has no data.
    #[error("an item with action \"{0}\" has {1}")]
    NoData(&'static str, &'static str),
    /// It removes an entry of a list that has no keys.
    #[error("entries of list {0} have no keys: they cannot be named, and so not be removed")]
    NoKeys(Box<str>),
}

impl Subject {
    /// Where the data of an item lie, whose members have these names (a prefix and `:` before them is passed over).
    /// Cost: O(path + names).
    ///
    /// # Errors
    ///
    /// [`ChangeError`] if the path names no entry, or a name is of another place.
    pub fn new(schema: &Schema, path: &CpsPath, action: Action, names: &[&str]) -> Result<Self, ChangeError> {
        let steps = match Address::new(schema, path)? {
            Address::Top => Vec::new(),
            Address::Entry(steps) => steps,
            Address::List { parent, .. } => parent,
        };
        let local = |name: &str| name.rsplit_once(':').map_or(name, |(_, local)| local).to_owned();
        let fits = |parent: Option<NodeId>| {
            let below = |name: &&&str| schema.children_named(parent, &local(name)).is_empty();
            names.iter().find(below).copied()
        };
        let below = fits(steps.last().map(|step| step.node));
        if below.is_none() && action != Action::Replace {
            return Ok(Self { parent: steps });
        }
        let (last, before) = match steps.split_last() {
            Some((last, before)) => (Some(last), before),
            None => (None, &[][..]),
        };
        let stray = match last {
            // At the top, a group has the path of its first entry, and may have others beside it.
            Some(_) if before.is_empty() && action != Action::Replace => fits(None),
            Some(last) => names.iter().find(|name| *local(name) != *schema.node(last.node).name).copied(),
            None => below,
        };
        match stray {
            None => Ok(Self { parent: before.to_vec() }),
            Some(name) => Err(ChangeError::Misplaced { xpath: path.to_string().into(), name: name.into() }),
        }
    }

    /// The container or list that data are read below; `None`: the top.
    pub fn node(&self) -> Option<NodeId> {
        self.parent.last().map(|step| step.node)
    }
}

/// The edits that make a tree like the target of a report, if it is like the source. Cost: O(changes), and a hash of the way to each removed entry
/// from each of its steps.
///
/// # Errors
///
/// [`ChangeError`] if an item lacks what its action needs.
pub fn edits(schema: &Schema, changes: Vec<Change>) -> Result<Vec<Edit>, ChangeError> {
    let mut edits = Vec::new();
    let mut removed: HashSet<Vec<Step>> = HashSet::new();
    for change in changes {
        let Change { action, subject, source, target } = change;
        match action {
            Action::Create => {
                let content = target.ok_or(ChangeError::NoData("create", "no targetData"))?;
                create(subject.parent, content, &mut edits);
            }
            Action::Remove => {
                let content = source.ok_or(ChangeError::NoData("remove", "no sourceData"))?;
                edits.extend(content.leaves.iter().map(|leaf| remove_leaf(&subject.parent, leaf)));
                for node in &content.children {
                    let entry = entry_steps(schema, &subject.parent, node)?;
                    // A flat report goes on with what was below it.
                    let mut above = (1..=entry.len()).filter_map(|steps| entry.get(..steps));
                    if !above.any(|above| removed.contains(above)) {
                        edits.push(Edit::Delete { entry: Place::Steps(entry.clone()) });
                        removed.insert(entry);
                    }
                }
            }
            Action::Replace => {
                if source.is_none() && target.is_none() {
                    return Err(ChangeError::NoData("replace", "neither sourceData nor targetData"));
                }
                // What is not there has nothing.
                let has_nothing = Content::default;
                let (source, target) =
                    (source.unwrap_or_else(has_nothing), target.unwrap_or_else(has_nothing));
                replace_leaves(&subject.parent, &source.leaves, target.leaves, &mut edits);
                let nodes = (&*source.children, target.children.into());
                replace(schema, &subject.parent, nodes, &mut edits)?;
            }
        }
    }
    Ok(edits)
}

fn create(parent: Vec<Step>, content: Content, edits: &mut Vec<Edit>) {
    let Content { leaves, children } = content;
    if !leaves.is_empty() {
        edits.push(Edit::SetLeaves { parent: Place::Steps(parent.clone()), leaves: leaves.into() });
    }
    if !children.is_empty() {
        edits.push(Edit::Create { parent: Place::Steps(parent), nodes: children.into(), at: Position::Last });
    }
}

/// Sets leaves of the parent itself, which is the top, and removes those that only the source had.
fn replace_leaves(parent: &[Step], source: &[Leaf], target: Vec<Leaf>, edits: &mut Vec<Edit>) {
    let is_gone = |leaf: &&Leaf| target.iter().all(|other| other.schema != leaf.schema);
    edits.extend(source.iter().filter(is_gone).map(|leaf| remove_leaf(parent, leaf)));
    if !target.is_empty() {
        edits.push(Edit::SetLeaves { parent: Place::Steps(parent.to_vec()), leaves: target.into() });
    }
}

fn remove_leaf(parent: &[Step], leaf: &Leaf) -> Edit {
    Edit::RemoveLeaf { parent: Place::Steps(parent.to_vec()), node: leaf.schema, value: None }
}

/// Sets the leaves of the target, and removes those that only the source had.
fn replace(
    schema: &Schema,
    parent: &[Step],
    (source, target): (&[DataNode], Arc<[DataNode]>),
    edits: &mut Vec<Edit>,
) -> Result<(), ChangeError> {
    if !target.is_empty() {
        let options = MergeOptions { must_exist: true, leaf_lists: LeafLists::Replace };
        let nodes = Arc::clone(&target);
        edits.push(Edit::Merge { parent: Place::Steps(parent.to_vec()), nodes, options });
    }
    let mut of_target = HashMap::with_capacity(target.len());
    for node in target.iter() {
        of_target.entry(identity(schema, node)).or_insert(node);
    }
    for node in source {
        let keys = schema.keys(node.schema);
        let after = of_target.get(&identity(schema, node));
        let is_gone = |leaf: &&Leaf| {
            !keys.contains(&leaf.schema)
                && !after
                    .is_some_and(|after| after.content.leaves.iter().any(|other| other.schema == leaf.schema))
        };
        for leaf in node.content.leaves.iter().filter(is_gone) {
            let entry = entry_steps(schema, parent, node)?;
            edits.push(Edit::RemoveLeaf { parent: Place::Steps(entry), node: leaf.schema, value: None });
        }
    }
    Ok(())
}

/// What tells an entry from others below its parent: its node, and its keys if it has some.
fn identity<'n>(schema: &Schema, node: &'n DataNode) -> (NodeId, SmallVec<[Option<&'n str>; 4]>) {
    (node.schema, schema.keys(node.schema).iter().map(|key| value(node, *key)).collect())
}

fn value(node: &DataNode, leaf: NodeId) -> Option<&str> {
    let leaf = node.content.leaves.iter().find(|other| other.schema == leaf)?;
    leaf.values.first().map(|value| &*value.text)
}

/// The way to an entry below a parent.
fn entry_steps(schema: &Schema, parent: &[Step], node: &DataNode) -> Result<Vec<Step>, ChangeError> {
    let step = match &schema.node(node.schema).kind {
        NodeKind::List { keys, .. } => {
            let key = |key: &NodeId| value(node, *key).map(|value| (*key, value.into()));
            let values = keys.iter().map(key).collect::<Option<Vec<_>>>().filter(|values| !values.is_empty());
            Step::entry(
                node.schema,
                values.ok_or_else(|| ChangeError::NoKeys(schema.path(node.schema).into()))?,
            )
        }
        _ => Step::container(node.schema),
    };
    Ok(parent.iter().cloned().chain([step]).collect())
}
