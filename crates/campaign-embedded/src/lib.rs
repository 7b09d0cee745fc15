//! Load tests that measure models in process, as the published graph benchmarks do: the rows of `campaign-graphs` without HTTP.
//!
//! [`stored`] has a graph in a store of this process, [`jobs`] what is timed; answers are compared by the checks of
//! `campaign-graphs`, which share nothing with either. [`ALL`] is what a program hands to `campaign::run` beside the other families.

pub mod stored;
pub mod jobs;
mod family;

pub use family::{GRAPHDB_EMBEDDED, GRAPHDB_EMBEDDED_LJ};

use campaign::runner::AnyFamily;

/// The families of this crate: one line each.
pub const ALL: &[&dyn AnyFamily] = &[&GRAPHDB_EMBEDDED, &GRAPHDB_EMBEDDED_LJ];

#[cfg(test)]
mod tests;
