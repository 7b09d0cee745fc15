//! What all handlers share: the entities, the contexts, the clock and the limits.

use std::sync::Arc;

use model_entities::{Clock, Entities, Timestamp};
use tenant_contexts::Contexts;

/// Limits with names; handed in by the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Entities of a page where the client does not say.
    pub page_default: usize,
    /// The most entities of a page.
    pub page_max: usize,
    /// The most entities of a batch operation.
    pub batch_entities_max: usize,
    /// The deepest nesting of JSON in a body.
    pub depth_max: usize,
    /// How far `join` may follow relationships.
    pub join_level_max: usize,
    /// The most linked entities that one answer may contain.
    pub join_entities_max: usize,
    /// The most instances of attributes, or periods of aggregates, in an answer about history.
    pub temporal_instances_max: usize,
    /// The most terms of a `q`.
    pub q_nodes_max: usize,
    /// The most values in the lists of a `q`.
    pub q_values_max: usize,
    /// The most positions of a geometry to query with.
    pub geo_positions_max: usize,
    /// A page ends with the entity that makes it so large, as they are stored.
    pub page_bytes_max: usize,
}

/// The NGSI-LD front end's state; clones share.
#[derive(Clone, Debug)]
pub struct Api {
    pub(crate) shared: Arc<Shared>,
}

/// What clones of an [`Api`] share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) entities: Entities,
    pub(crate) contexts: Contexts,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    /// Names this broker to others (`contextSourceAlias`).
    pub(crate) alias: String,
    pub(crate) started: Timestamp,
}

impl Api {
    /// An API over `entities`. `alias` names this broker to others.
    pub fn new(
        entities: Entities,
        contexts: Contexts,
        clock: Clock,
        limits: Limits,
        alias: impl Into<String>,
    ) -> Self {
        let started = clock.now();
        let alias = alias.into();
        Self { shared: Arc::new(Shared { entities, contexts, clock, limits, alias, started }) }
    }
}
