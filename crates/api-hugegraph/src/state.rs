//! What all handlers share: the graphs, and the limits.

use std::sync::Arc;

use access::Users;
use model_graph::{Clock, Graphs};
use traversals::Lane;

use crate::algorithms::AlgorithmJobs;

/// Limits with names; handed in by the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The deepest nesting of JSON in a body.
    pub depth_max: usize,
    /// The most elements of one body.
    pub batch_elements_max: usize,
    /// The most bytes that one walk remembers.
    pub walk_memory_bytes_max: usize,
}

/// The HugeGraph front end's state; clones share.
#[derive(Clone, Debug)]
pub struct Api {
    pub(crate) shared: Arc<Shared>,
}

/// The state that the clones of an [`Api`] share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) graphs: Graphs,
    /// Who asks, and who may.
    pub(crate) users: Users,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) algorithms: AlgorithmJobs,
    /// Where long walks go on.
    pub(crate) lane: Lane,
}

impl Api {
    /// An API over these graphs, for these users; somebody runs the tasks of `algorithms`, and long walks go on in the lane.
    pub fn new(
        (graphs, users): (Graphs, Users),
        clock: Clock,
        limits: Limits,
        algorithms: AlgorithmJobs,
        lane: Lane,
    ) -> Self {
        Self { shared: Arc::new(Shared { graphs, users, clock, limits, algorithms, lane }) }
    }
}
