//! The language of NGSI-LD: texts in, values of the model out. What a body or a parameter says is here; what is done with it, and what
//! HTTP adds, is the front end's. Nothing here waits, reads a clock, or knows a tenant beyond its [`Names`](tenant_contexts::Names).
//!
//! - `body`: JSON of entities, fragments, attributes, their history, and batches;
//! - `q`: the query language, and the paths and patterns in it;
//! - `selection`: types and scopes;
//! - `geoquery`: relations to geometries.
//!
//! ```
//! use lang_ngsi_ld::{BodyError, Error, QueryOptions, Rules, parse_entity, parse_query};
//! use tenant_contexts::{Names, RequestContext};
//!
//! // Names as a test gives them; a server has those of a tenant.
//! let names = Names::of(&RequestContext::core(), &["pm10", "Station"]);
//! let body = r#"{"id": "urn:ngsi-ld:Station:1", "type": "Station", "pm10": {"type": "Property", "value": 41}}"#;
//! let entity = parse_entity(body, &names, &Rules::create(16)).expect("an entity");
//! assert_eq!(entity.attributes.len(), 1);
//!
//! // A name that is new to the tenant is to be interned first.
//! let unknown = vec!["https://uri.etsi.org/ngsi-ld/default-context/no2".to_owned()];
//! let parsed = parse_entity(&body.replace("pm10", "no2"), &names, &Rules::create(16));
//! assert_eq!(parsed.err(), Some(BodyError::Unknown(unknown)));
//!
//! let options = QueryOptions { names: &names, expand_values: &[], nodes_max: 10, values_max: 10 };
//! assert!(parse_query("pm10>40;name==\"North\"", &options).is_ok());
//! assert!(matches!(parse_query("pm10>", &options), Err(Error::Invalid(_))));
//! ```

mod error;
mod body;
mod q;
mod selection;
mod geoquery;

pub use body::{
    BatchId, BodyError, Nulls, Representation, Rules, check_json, check_name, check_uri, context_member,
    is_language_tag, is_uri, parse_attribute, parse_entity, parse_fragment, parse_history,
    parse_history_instance, parse_ids, refuse_nulls, split_batch, time,
};
pub use error::Error;
pub use geoquery::{GeoParts, parse_geo, parse_shape};
pub use q::{Cursor, QueryOptions, compile_pattern, parse_path, parse_query};
pub use selection::{parse_scopes, parse_types};
