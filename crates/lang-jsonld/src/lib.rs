//! JSON-LD contexts (JSON-LD 1.1, as NGSI-LD uses them): expansion of names to IRIs, and compaction of IRIs to names.
//! Text in, tree out: this crate fetches, stores and caches no documents.
//!
//! [`parse`] makes a [`Context`] of the value of an `@context` member and of the [`Documents`] it refers to, which the
//! caller got by [`references`] and [`document_references`]. The core context of NGSI-LD and the context of the FIWARE
//! data models are built in. A [`NameCache`] remembers both directions for the names of one context.
//!
//! Invariants:
//! - a [`Context`] never changes, and the core context's terms win over every user's;
//! - `expand(compact(iri)) == iri` for every IRI.
//!
//! ```
//! use lang_jsonld::{Documents, parse, read};
//!
//! let mut documents = Documents::new();
//! let vocabulary = read(r#"{"@context": {"city": "https://example.org/city#"}}"#)?;
//! documents.insert("https://example.org/context.jsonld".into(), vocabulary.into());
//! let member = read(r#"["https://example.org/context.jsonld", {"Tram": "city:Tram"}]"#)?;
//!
//! let context = parse(&member, &documents)?;
//! assert_eq!(context.expand("Tram"), "https://example.org/city#Tram");
//! assert_eq!(context.expand("location"), "https://uri.etsi.org/ngsi-ld/location");
//! assert_eq!(context.compact("https://example.org/city#Tram"), "Tram");
//! assert_eq!(context.compact("https://example.org/city#Stop"), "city:Stop");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod memory;
mod append_only;
mod core_terms;
mod core_context;
pub mod fiware;
mod context;
mod name_cache;
mod references;
mod parse;
#[cfg(test)]
mod published;

pub use context::Context;
pub use core_context::{CORE_URL, DEFAULT_VOCABULARY};
pub use core_terms::Edition;
pub use memory::{MemoryTotal, MemoryUse, text_bytes};
pub use name_cache::{NameCache, Spelling};
pub use parse::{Documents, ParseError, REFERENCES_MAX, parse, read};
pub use references::{document_references, references};
pub use url::Url;
