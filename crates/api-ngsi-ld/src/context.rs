//! The contexts of requests: which there are for a tenant, where their documents come from, the names of a tenant as a
//! context spells them, and the cache of all of it. What a context means is `lang-jsonld`'s.

mod source;
mod request_context;
mod names;
mod bounded;
mod fetch;
mod folder;
mod hosted;
mod pool;
mod fetches;
mod contexts;
mod documents;
mod resolve;
mod catalogue;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use catalogue::{ContextEntry, ContextKind};
pub(crate) use contexts::TenantContexts;
pub use contexts::{ContextOptions, Contexts};
pub use fetch::FetchPolicy;
pub use folder::ContextError;
pub(crate) use names::{Names, SCOPE_IRI};
pub(crate) use request_context::RequestContext;
pub(crate) use source::LOCAL_PATH;
