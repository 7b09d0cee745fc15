//! What all handlers share: the graphs, and the limits.

use std::sync::Arc;

/// Limits with names; handed in by the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The deepest nesting of JSON in a body.
    pub depth_max: usize,
}

/// The HugeGraph front end's state; clones share.
#[derive(Clone, Debug)]
pub struct Api {
    pub(crate) shared: Arc<Shared>,
}

/// The state that the clones of an [`Api`] share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: Limits,
}

impl Api {
    /// An API within these limits.
    pub fn new(limits: Limits) -> Self {
        Self { shared: Arc::new(Shared { limits }) }
    }
}
