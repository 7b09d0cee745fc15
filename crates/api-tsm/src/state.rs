//! What all handlers share: the repositories, the clock and the limits.

use std::sync::Arc;
use std::time::Duration;

use model_series::{Clock, Repositories};

use crate::wire::ReadLimits;

/// Limits with names; handed in by the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Rows of a page where the client does not say.
    pub page_default: usize,
    /// The most rows of a page.
    pub page_max: usize,
    /// The most series of one request.
    pub request_series_max: usize,
    /// The most slots of one answer.
    pub answer_slots_max: u64,
    /// The most points of one body.
    pub write_points_max: usize,
    /// The deepest nesting of JSON in a body.
    pub depth_max: usize,
    /// The largest row, line or value of a body.
    pub item_bytes_max: usize,
    /// The largest Arrow message of a body.
    pub batch_bytes_max: usize,
    /// How long a client may take nothing of a streamed answer.
    pub stall_max: Duration,
    /// How many groups of series one bulk read evaluates at once.
    pub read_tasks: usize,
}

impl Limits {
    /// The most memory that one body of points takes while it is read; the budget must be at least as much.
    pub fn write_bytes_max(&self) -> usize {
        self.read().held_bytes_max()
    }

    /// Those of a body of points.
    pub(crate) fn read(&self) -> ReadLimits {
        ReadLimits {
            points_max: self.write_points_max,
            series_max: self.request_series_max,
            depth_max: self.depth_max,
            item_bytes_max: self.item_bytes_max,
            batch_bytes_max: self.batch_bytes_max,
        }
    }
}

/// The TSM front end's state; clones share.
#[derive(Clone, Debug)]
pub struct Api {
    pub(crate) shared: Arc<Shared>,
}

/// The state that the clones of an [`Api`] share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) repositories: Repositories,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
}

impl Api {
    /// An API over `repositories`.
    pub fn new(repositories: Repositories, clock: Clock, limits: Limits) -> Self {
        Self { shared: Arc::new(Shared { repositories, clock, limits }) }
    }
}
