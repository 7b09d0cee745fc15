//! Doors for benchmarks and fuzzing, which try from outside what is private. Not part of the API.

use model_entities::{Timestamp, encode};
use tenant_contexts::{Names, RequestContext};

use crate::geoquery::parse_shape;
use crate::q::{QueryOptions, parse};
use crate::selection::{parse_scopes, parse_types};
use crate::wire::time::{parse_time, write_time};
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

    /// An entity as it is stored; `None` if it is refused.
    pub fn stored(&self, body: &str) -> Option<Vec<u8>> {
        let draft = parse_entity(body, &self.names, &Rules::create(64)).ok()?;
        Some(encode(&draft, Timestamp(1), Timestamp(2)))
    }

    /// Whether a selection of types is taken.
    pub fn types(&self, text: &str) -> bool {
        parse_types(text, &self.names).is_ok()
    }

    /// Whether a selection of scopes is taken.
    pub fn scopes(&self, text: &str) -> bool {
        parse_scopes(text).is_ok()
    }

    /// Whether a geometry of a geo-query is taken.
    pub fn shape(&self, kind: &str, coordinates: &str) -> bool {
        parse_shape("coordinates", kind, coordinates, 100).is_ok()
    }

    /// A moment as it is written; `None` if the text is none.
    pub fn time(&self, text: &str) -> Option<String> {
        let mut written = String::new();
        write_time(&mut written, parse_time(text)?);
        Some(written)
    }
}
