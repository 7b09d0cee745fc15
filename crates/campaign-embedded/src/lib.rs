//! Load tests that measure models in process, as the published graph benchmarks do, and the Java API of CPS: the rows of `campaign-graphs` and
//! `campaign-config` without HTTP.
//!
//! [`stored`] has a graph in a store of this process, [`jobs`] what is timed; answers are compared by the checks of
//! `campaign-graphs`, which share nothing with either. [`config_store`] has configuration trees in such a store. [`ALL`] is what a program hands to `campaign::run` beside the other families.

mod in_process;
pub mod stored;
pub mod jobs;
mod family;
pub mod config_store;
mod flows;
mod limits;

pub use family::{GRAPHDB_EMBEDDED, GRAPHDB_EMBEDDED_LJ};
pub use flows::CpsEmbedded;
pub use limits::CpsLimitsEmbedded;

use campaign::apart::Apart;
use campaign::runner::AnyFamily;

/// The families of this crate: one line each. None has a server, so that their rows run apart.
pub const ALL: &[&dyn AnyFamily] =
    &[&Apart(GRAPHDB_EMBEDDED), &Apart(GRAPHDB_EMBEDDED_LJ), &Apart(CpsEmbedded), &Apart(CpsLimitsEmbedded)];

#[cfg(test)]
mod tests;
