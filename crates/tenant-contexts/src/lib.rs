//! The JSON-LD contexts of tenants: which there are, where their documents come from, the names of a tenant as a context
//! spells them, and the cache of all of it. What a context means is `lang-jsonld`'s; what a request says of its context, and how
//! an answer names it, is its front end's.
//!
//! [`Contexts`] has them all, [`Contexts::of`] those of one tenant. [`TenantContexts::by_link`] and
//! [`TenantContexts::by_member`] find a [`RequestContext`], by its URL or by its text; [`TenantContexts::names`] finds the
//! [`Names`] of the tenant in it, which turn names to terms and back. Documents that are not built in come, in this order, from the
//! operator's folder, from the store (hosted there by a user, or fetched earlier), and from elsewhere, by `egress`.
//!
//! Invariants:
//! - what was hosted, fetched or made for one tenant is seen by no other, nor by a later tenant of its name;
//! - a parsed context never changes; what everything takes in memory has one limit.
//!
//! ```
//! use std::time::Duration;
//!
//! use tenant_contexts::{ContextOptions, Contexts, Error, FetchPolicy};
//! use model_entities::TenantName;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fetch = FetchPolicy {
//!     allowed: false,
//!     timeout: Duration::from_secs(1),
//!     bytes_max: 1 << 20,
//!     redirects_max: 0,
//!     private_addresses: false,
//! };
//! let contexts = Contexts::new(ContextOptions { folder: None, fetch, cache_entries: 100 })?;
//! let tenant = TenantName::new("city")?;
//!
//! let context = contexts.of(&tenant).by_member(r#"{"Tram": "https://example.org/Tram"}"#).await?;
//! assert_eq!(context.expand("Tram"), "https://example.org/Tram");
//! assert_eq!(context.compact("https://uri.etsi.org/ngsi-ld/location"), "location");
//!
//! let refused = contexts.of(&tenant).by_link("https://example.org/context.jsonld").await;
//! assert!(matches!(refused, Err(Error::NotAllowed(_))), "nothing is fetched: {refused:?}");
//! # Ok(())
//! # }
//! ```

mod error;
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
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use catalogue::{ContextEntry, ContextKind, FoundContext};
pub use contexts::{ContextOptions, Contexts, TenantContexts};
pub use error::Error;
pub use fetch::FetchPolicy;
pub use folder::FolderError;
pub use names::{Names, SCOPE_IRI};
pub use request_context::RequestContext;
pub use source::LOCAL_PATH;
