//! What all handlers share: the configuration, and the limits.

use std::sync::Arc;
use std::time::Duration;

use model_config::Configs;

/// Limits with names; handed in by the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The deepest nesting of JSON and XML in a body.
    pub depth_max: usize,
    /// The most nodes and leaves of one body.
    pub body_nodes_max: usize,
    /// The largest upload of a schema set, as it is sent.
    pub upload_bytes_max: usize,
    /// The most bytes of all files of a schema set, unpacked.
    pub unpacked_bytes_max: usize,
    /// The most nodes that a query may find.
    pub query_nodes_max: usize,
    /// The most anchors that a query across anchors may look at.
    pub query_anchors_max: usize,
    /// How long a client may take nothing of a streamed answer.
    pub stall_max: Duration,
}

/// The CPS front end's state; clones share.
#[derive(Clone, Debug)]
pub struct Api {
    pub(crate) shared: Arc<Shared>,
}

/// The state that the clones of an [`Api`] share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) configs: Configs,
    pub(crate) limits: Limits,
}

impl Api {
    /// An API over `configs`.
    pub fn new(configs: Configs, limits: Limits) -> Self {
        Self { shared: Arc::new(Shared { configs, limits }) }
    }
}
