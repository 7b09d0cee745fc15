//! What all handlers share: the configuration, and the limits.

use std::sync::Arc;
use std::time::Duration;

use model_config::Configs;

/// Limits with names; handed in by the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The deepest nesting of a body, and of an answer.
    pub depth_max: usize,
    /// The most nodes and values of one body.
    pub body_nodes_max: usize,
    /// How long a client may take nothing of a streamed answer.
    pub stall_max: Duration,
}

/// The anchor whose data `/restconf/data` is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DefaultAnchor {
    /// Its dataspace.
    pub dataspace: String,
    /// Its name.
    pub anchor: String,
}

/// The RESTCONF front end's state; clones share.
#[derive(Clone, Debug)]
pub struct Api {
    pub(crate) shared: Arc<Shared>,
}

/// The state that the clones of an [`Api`] share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) configs: Configs,
    pub(crate) limits: Limits,
    pub(crate) default_anchor: Option<DefaultAnchor>,
}

impl Api {
    /// An API over `configs`; without a default anchor `/restconf` itself has no data.
    pub fn new(configs: Configs, limits: Limits, default_anchor: Option<DefaultAnchor>) -> Self {
        Self { shared: Arc::new(Shared { configs, limits, default_anchor }) }
    }
}
