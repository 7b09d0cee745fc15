//! Paths that name one entry, or one whole list, from the top on: where data is read or written.

use lang_cps_path::{CpsPath, LeafCondition};
use lang_yang::{NodeId, NodeKind, Schema};

use super::condition::{self, Test};
use crate::find::Step;

/// What a path names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Address {
    /// `/`.
    Top,
    /// A container, or the entry of a list with these keys, as [`crate::Tree::find`] takes it.
    Entry(Vec<Step>),
    /// All entries of a list below an entry.
    List {
        /// Where it lies; none: at the top.
        parent: Vec<Step>,
        /// Which list.
        list: NodeId,
    },
}

/// Why a path names nothing that is read or written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AddressError {
    /// It searches.
    #[error(
        "{0} searches for nodes, and one is to be named here: a path from the top, with the keys of lists, as in /a/b[@key='x']"
    )]
    Search(Box<str>),
    /// The schema has no such container or list.
    #[error("the schema has no container or list {0}")]
    Unknown(Box<str>),
    /// A list is passed without its keys, or with other conditions.
    #[error("list {list} is stepped through by its keys, joined by `and`: {keys}")]
    Keys {
        /// The list, with the names of modules.
        list: Box<str>,
        /// The names of its keys.
        keys: Box<str>,
    },
}

impl Address {
    /// What a path names under a schema. Names may have the prefix or name of their module. Cost: O(length).
    ///
    /// # Errors
    ///
    /// [`AddressError`] if it names nothing.
    pub fn new(schema: &Schema, path: &CpsPath) -> Result<Self, AddressError> {
        if !path.is_address() {
            return Err(AddressError::Search(path.to_string().into()));
        }
        let mut steps: Vec<Step> = Vec::with_capacity(path.steps.len());
        let mut left = path.steps.iter();
        while let Some(step) = left.next() {
            let parent = steps.last().map(|step| step.node);
            let named = schema.children_named(parent, &step.name.local).iter().copied();
            let mut meant =
                named.filter(|id| schema.is_entry(*id) && condition::is_of_module(schema, *id, &step.name));
            let node = meant.next().ok_or_else(|| {
                let parent = parent.map_or_else(String::new, |parent| schema.path(parent));
                AddressError::Unknown(format!("{parent}/{}", step.name).into())
            })?;
            let is_list = matches!(schema.node(node).kind, NodeKind::List { .. });
            let conditions = step.predicate.equalities().ok_or_else(|| keys_error(schema, node))?;
            match (is_list, conditions) {
                (true, []) if left.len() == 0 => return Ok(Self::List { parent: steps, list: node }),
                (false, []) => steps.push(Step::container(node)),
                (true, keys) => steps.push(Step::entry(node, key_values(schema, node, keys)?)),
                (false, _) => return Err(AddressError::Search(path.to_string().into())),
            }
        }
        Ok(if steps.is_empty() { Self::Top } else { Self::Entry(steps) })
    }
}

/// The values of all keys of a list, in canonical form.
fn key_values(
    schema: &Schema,
    list: NodeId,
    conditions: &[LeafCondition],
) -> Result<Vec<(NodeId, Box<str>)>, AddressError> {
    let keys = schema.keys(list);
    let value = |key: &NodeId| {
        let is_meant = |condition: &&LeafCondition| {
            *condition.leaf.local == *schema.node(*key).name
                && condition::is_of_module(schema, *key, &condition.leaf)
        };
        let text = conditions.iter().find(is_meant)?.value.text();
        match condition::equal(schema, &[*key], &text) {
            // The last form is the canonical one.
            Test::OneOf(texts) | Test::Identity(_, texts) => Some((*key, texts.last()?.clone())),
            Test::Compared(..) | Test::Contains(_) => None,
        }
    };
    let values: Option<Vec<(NodeId, Box<str>)>> = keys.iter().map(value).collect();
    values
        .filter(|values| !values.is_empty() && values.len() == conditions.len())
        .ok_or_else(|| keys_error(schema, list))
}

fn keys_error(schema: &Schema, list: NodeId) -> AddressError {
    let names: Vec<String> =
        schema.keys(list).iter().map(|key| format!("@{}='...'", schema.node(*key).name)).collect();
    let keys = if names.is_empty() { "it has none".to_owned() } else { names.join(" and ") };
    AddressError::Keys { list: schema.path(list).into(), keys: keys.into() }
}
