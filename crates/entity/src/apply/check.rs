//! What no entity may hold, whoever writes it: too many of anything, the same thing twice, attributes without a value.
//!
//! Cost: linear in what is given. What must differ is compared pair by pair while it is little, and by hash beyond.

use std::collections::HashSet;
use std::hash::Hash;

use super::given::FEW;
use crate::{Attribute, Draft, Error, Instance, Limit, LimitName, Operation};

/// The longest entity id in bytes: it must fit into keys beside a scope.
pub const ID_BYTES_MAX: usize = 1024;
/// The longest scope in bytes.
pub const SCOPE_BYTES_MAX: usize = 1024;
/// The most types of an entity.
pub const TYPES_MAX: usize = 100;
/// The most scopes of an entity.
pub const SCOPES_MAX: usize = 1000;
/// The most attributes of an entity.
pub const ATTRIBUTES_MAX: usize = 5000;
/// The most instances of an attribute, distinguished by their datasetIds.
pub const INSTANCES_MAX: usize = 5000;
/// The most sub-attributes of one instance of an attribute.
pub const SUB_ATTRIBUTES_MAX: usize = 1000;

/// Checks what an operation gives, whatever it is given to.
pub(super) fn check_operation(id: &str, operation: &Operation) -> Result<(), Error> {
    match operation {
        Operation::Create(draft)
        | Operation::Replace(draft)
        | Operation::Merge(draft, _)
        | Operation::Append { draft, .. }
        | Operation::Update(draft)
        | Operation::UpsertReplace(draft)
        | Operation::UpsertUpdate(draft) => check_draft(id, draft),
        Operation::PatchAttribute(attribute) | Operation::ReplaceAttribute(attribute) => {
            check_attributes(std::slice::from_ref(attribute), 0)
        }
        Operation::DeleteAttribute { .. }
        | Operation::DeleteScopes
        | Operation::Delete
        | Operation::Retain { .. } => Ok(()),
    }
}

fn check_draft(id: &str, draft: &Draft) -> Result<(), Error> {
    check_header(id, draft)?;
    check_attributes(&draft.attributes, 0)
}

/// Refuses an id or a scope that is too long, and too many types or scopes.
pub(super) fn check_header(id: &str, draft: &Draft) -> Result<(), Error> {
    Limit::check(LimitName::IdBytes, ID_BYTES_MAX, id.len())?;
    let scopes = draft.scopes();
    for scope in scopes {
        Limit::check(LimitName::ScopeBytes, SCOPE_BYTES_MAX, scope.len())?;
    }
    check_types_count(draft.types.len())?;
    check_scopes_count(scopes.len())
}

pub(super) fn check_types_count(count: usize) -> Result<(), Error> {
    Limit::check(LimitName::Types, TYPES_MAX, count)
}

pub(super) fn check_scopes_count(count: usize) -> Result<(), Error> {
    Limit::check(LimitName::Scopes, SCOPES_MAX, count)
}

/// Refuses more attributes than an entity (at depth 0) or an instance may have.
pub(super) fn check_attributes_count(count: usize, depth: usize) -> Result<(), Error> {
    match depth {
        0 => Limit::check(LimitName::Attributes, ATTRIBUTES_MAX, count),
        _ => Limit::check(LimitName::SubAttributes, SUB_ATTRIBUTES_MAX, count),
    }
}

pub(super) fn check_instances_count(count: usize) -> Result<(), Error> {
    Limit::check(LimitName::Instances, INSTANCES_MAX, count)
}

/// Refuses attributes or instances given twice, and too many of them, at any depth.
fn check_attributes(given: &[Attribute], depth: usize) -> Result<(), Error> {
    check_attributes_count(given.len(), depth)?;
    if first_twice(given, |attribute| attribute.name).is_some() {
        return Err(Error::Invalid("an attribute is given twice".into()));
    }
    given.iter().try_for_each(|attribute| check_instances(&attribute.instances, depth))
}

fn check_instances(given: &[Instance], depth: usize) -> Result<(), Error> {
    check_instances_count(given.len())?;
    if let Some(twice) = first_twice(given, |instance| instance.dataset.as_deref()) {
        return Err(Error::Invalid(match &twice.dataset {
            Some(dataset) => format!("an attribute has two instances with datasetId {dataset:?}"),
            None => "an attribute has two instances without datasetId".into(),
        }));
    }
    given.iter().try_for_each(|instance| check_members(instance, depth))
}

fn check_members(given: &Instance, depth: usize) -> Result<(), Error> {
    check_attributes_count(given.remove_members.len(), depth + 1)?;
    check_attributes(&given.members, depth + 1)
}

/// The first of `given` whose key is that of one before.
fn first_twice<'g, T, K: Eq + Hash>(given: &'g [T], key: impl Fn(&'g T) -> K) -> Option<&'g T> {
    if given.len() <= FEW {
        let before = |index: usize, one: &K| given.iter().take(index).any(|other| key(other) == *one);
        return given.iter().enumerate().find(|(index, one)| before(*index, &key(one))).map(|(_, one)| one);
    }
    let mut seen = HashSet::with_capacity(given.len());
    given.iter().find(|one| !seen.insert(key(one)))
}

/// Refuses what cannot be written into the history: instances without a value, at any depth. Instances of one dataset may
/// be many; their members' may not. An instance may be a removal.
///
/// # Errors
///
/// [`Error::Invalid`], [`Error::Limit`].
pub fn check_history(id: &str, draft: &Draft) -> Result<(), Error> {
    check_header(id, draft)?;
    check_attributes_count(draft.attributes.len(), 0)?;
    for attribute in &draft.attributes {
        let mut datasets = HashSet::new();
        for instance in &attribute.instances {
            if datasets.insert(instance.dataset.as_deref()) {
                check_instances_count(datasets.len())?;
            }
            if !instance.remove {
                check_instance(instance)?;
            }
            check_members(instance, 0)?;
        }
    }
    Ok(())
}

/// Refuses what cannot be created, at any depth.
pub(super) fn check_new(given: &[Attribute]) -> Result<(), Error> {
    for attribute in given {
        if attribute.instances.is_empty() {
            return Err(Error::Invalid("an attribute has no value".into()));
        }
        attribute.instances.iter().try_for_each(check_instance)?;
    }
    Ok(())
}

pub(super) fn check_instance(given: &Instance) -> Result<(), Error> {
    if given.remove {
        return Err(Error::Invalid("an attribute that is not there cannot be removed".into()));
    }
    if given.value.is_none() {
        return Err(Error::Invalid("an attribute has no value".into()));
    }
    check_new(&given.members)
}
