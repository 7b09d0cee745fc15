//! JSON-LD `@context`s: the core context's facts, the processing of users' contexts, the names of
//! a tenant as a context spells them, and the cache in front of all of it. No entities, no HTTP
//! other than the fetching of remote contexts.
//!
//! Invariants:
//! - a [`Context`] never changes, and the core context's terms win over every user's;
//! - `expand(compact(iri)) == iri` for every IRI that a context's term stands for.

mod core_terms;
mod core;
mod weight;
mod active;
mod append;
mod bounded;
mod fetch;
mod fiware;
mod hosted;
mod parse;
mod names;
mod pool;
mod references;
mod documents;
mod folder;
mod contexts;
mod catalogue;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use active::{Context, LOCAL_PATH};
pub(crate) use catalogue::{ContextEntry, ContextKind};
pub(crate) use contexts::TenantContexts;
pub use contexts::{ContextOptions, Contexts};
pub use fetch::FetchPolicy;
pub use folder::ContextError;
pub(crate) use names::{Names, SCOPE_IRI};
