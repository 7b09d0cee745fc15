//! JSON in, model types out: entities, fragments, attributes, batches and queries in bodies.
//!
//! Bodies are read in one pass, without a tree. Normalized and concise representations are told
//! apart attribute by attribute and may be mixed; the simplified one must be asked for. A name that
//! no entity of the tenant ever used stops nothing: all of them are collected, so that the caller
//! interns them once and parses again ([`BodyError::Unknown`]).
//!
//! Decisions where the standard leaves room or clients go beyond it: JSON `null` is refused as a
//! value (in merges it removes, as `urn:ngsi-ld:null` does) but stored inside of arrays and objects;
//! output-only members of a kind (`createdAt`, a Property's `previousValue`, `instanceId`, …) are ignored; names
//! may hold `-` and `.`, and begin with `_`; scopes are stored with a leading `/`; a geometry that is sent as JSON text is stored as the
//! object it denotes; the content of a JsonProperty is not looked into.

mod rules;
mod slot;
mod name;
mod fault;
mod geometry;
pub mod time;
mod parser;
mod value;
mod entity;
mod attribute;
mod batch;
mod instance;
mod history;
mod scope;

pub use batch::{BatchId, check_json, context_member, parse_ids, refuse_nulls, split_batch};
pub use fault::BodyError;
pub(crate) use geometry::read_shape;
pub use name::{check_name, check_uri, is_language_tag, is_uri};
pub(crate) use name::{is_attribute_member, is_scope_level};
pub use rules::{Nulls, Representation, Rules};

use model_entities::{Attribute, Draft, Instance};
use tenant_contexts::Names;

use crate::error::Error;
use parser::Parser;

/// Reads a whole entity. Cost: one pass over the body; allocations for what is stored of it.
///
/// # Errors
///
/// What is wrong with the body, naming the member; or names to intern first.
pub fn parse_entity(body: &str, names: &Names, rules: &Rules) -> Result<Draft, BodyError> {
    let mut parser = Parser::new(body, names, rules);
    let draft = parser.entity();
    parser.finish(draft)
}

/// Reads a fragment of an entity, whose id is then that of the URL (empty in the draft unless the
/// body repeats it). Cost: as [`parse_entity`].
///
/// # Errors
///
/// What is wrong with the body, naming the member; or names to intern first.
pub fn parse_fragment(body: &str, names: &Names, rules: &Rules) -> Result<Draft, BodyError> {
    parse_entity(body, names, &Rules { id_required: false, type_required: false, ..*rules })
}

/// Reads one attribute, whose name is in the URL. Cost: as [`parse_entity`].
///
/// # Errors
///
/// What is wrong with the body, naming the member; or names to intern first.
pub fn parse_attribute(body: &str, name: &str, names: &Names, rules: &Rules) -> Result<Attribute, BodyError> {
    let mut parser = Parser::new(body, names, rules);
    let attribute = parser.whole_attribute(name);
    parser.finish(attribute)
}

/// Reads the history of an entity (5.2.20), or a fragment of it: attributes with any number of instances, or series of
/// values and times. Cost: as [`parse_entity`].
///
/// # Errors
///
/// What is wrong with the body, naming the member; or names to intern first.
pub fn parse_history(body: &str, names: &Names, rules: &Rules) -> Result<Draft, BodyError> {
    let mut draft = parse_entity(body, names, rules)?;
    draft.attributes.retain(|attribute| !attribute.instances.is_empty());
    Ok(draft)
}

/// Reads what is to change of one instance of the attribute that the URL names: a fragment of an entity with this attribute
/// alone, or the instance itself. Cost: as [`parse_entity`].
///
/// # Errors
///
/// What is wrong with the body, naming the member; or names to intern first.
pub fn parse_history_instance(
    body: &str,
    name: &str,
    names: &Names,
    rules: &Rules,
) -> Result<Instance, BodyError> {
    let of_scopes = names.is_scope(name);
    let rules = &Rules { temporal: rules.temporal || of_scopes, ..*rules };
    let attribute = if history::is_fragment(body, name, names) {
        let mut attributes = parse_fragment(body, names, rules)?.attributes;
        match (attributes.pop(), attributes.is_empty()) {
            (Some(attribute), true) => attribute,
            _ => return Err(history::one_instance(name).into()),
        }
    } else if of_scopes {
        scope::parse_instance(body, names, rules)?
    } else {
        parse_attribute(body, name, names, rules)?
    };
    match attribute.instances.into_inner() {
        Ok([instance]) if instance.remove => {
            let detail = "an instance of the past is removed by DELETE, not by urn:ngsi-ld:null";
            Err(Error::invalid(detail).into())
        }
        Ok([instance]) => Ok(instance),
        Err(_) => Err(history::one_instance(name).into()),
    }
}

#[cfg(test)]
mod tests;
