//! Doors for benchmarks, which measure from outside what is private. Not part of the API.

use crate::context::{Names, RequestContext};
use crate::q::{QueryOptions, parse};
use crate::wire::{Rules, parse_attribute, parse_entity, parse_fragment};

/// Reads bodies and queries under the core context, as a server does whose names are all in use.
#[derive(Debug)]
pub struct Bench {
    names: Names,
}

impl Bench {
    /// A bench for a tenant that uses these names.
    pub fn new(names: &[&str]) -> Self {
        Self { names: Names::of(&RequestContext::core(), names) }
    }

    /// How many attributes an entity has; `None` if it is refused.
    pub fn entity(&self, body: &str) -> Option<usize> {
        parse_entity(body, &self.names, &Rules::create(64)).ok().map(|draft| draft.attributes.len())
    }

    /// How many attributes a fragment has; `None` if it is refused.
    pub fn fragment(&self, body: &str) -> Option<usize> {
        parse_fragment(body, &self.names, &Rules::update(64)).ok().map(|draft| draft.attributes.len())
    }

    /// How many instances an attribute has; `None` if it is refused.
    pub fn attribute(&self, body: &str, name: &str) -> Option<usize> {
        let parsed = parse_attribute(body, name, &self.names, &Rules::merge(64));
        parsed.ok().map(|attribute| attribute.instances.len())
    }

    /// Whether a query is taken.
    pub fn query(&self, text: &str) -> bool {
        let options =
            QueryOptions { names: &self.names, expand_values: &[], nodes_max: 100, values_max: 100 };
        parse(text, &options).is_ok()
    }
}
