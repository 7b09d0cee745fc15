//! How entities are stored; handed in by the server.

use crate::indexes::IndexPolicy;
use crate::policy::HistoryPolicy;

/// How entities are stored; handed in by the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Buckets a tenant's entities are spread over: a power of two. Where they are spread over another number, `Entities::rebucketing`
    /// moves them.
    pub buckets: u32,
    /// The most tenants beside the default one.
    pub tenants_max: usize,
    /// The most types and attribute names a tenant can have.
    pub terms_max: usize,
    /// Which attributes are indexed from the beginning.
    pub index: IndexPolicy,
    /// The largest stored entity in bytes.
    pub entity_bytes_max: usize,
    /// The most entities a query may look at before it is refused.
    pub scan_entities_max: usize,
    /// The most matches that can be sorted for `orderBy`.
    pub sort_entities_max: usize,
    /// What is recorded of changes, and how long it is kept.
    pub history: HistoryPolicy,
}
