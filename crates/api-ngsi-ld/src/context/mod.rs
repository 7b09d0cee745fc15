//! JSON-LD `@context`s: the core context's facts, the processing of users' contexts, the names of
//! a tenant as a context spells them, and the cache in front of all of it. No entities, no HTTP
//! other than the fetching of remote contexts.
//!
//! Invariants:
//! - a [`Context`] never changes, and the core context's terms win over every user's;
//! - `expand(compact(iri)) == iri` for every IRI that a context's term stands for.

mod active;
mod append;
mod bounded;
mod catalogue;
mod contexts;
mod core;
mod core_terms;
mod documents;
mod fetch;
mod fiware;
mod folder;
mod hosted;
mod names;
mod parse;
mod pool;
mod references;
#[cfg(test)]
pub(crate) mod testing;
mod weight;

pub(crate) use active::{Context, LOCAL_PATH};
pub(crate) use catalogue::{ContextEntry, ContextKind};
pub(crate) use contexts::TenantContexts;
pub use contexts::{ContextOptions, Contexts};
pub use fetch::FetchPolicy;
pub use folder::ContextError;
pub(crate) use names::{Names, SCOPE_IRI};
