//! The algorithms that jobs run over a whole graph: their names, parameters and results in HugeGraph's words, and their tasks. What each
//! takes and gives is listed in `docs/graph/algorithms.md`.

mod parameters;
mod plan;
mod render;
mod compute;
mod watch;
mod walked;
mod write_back;
mod execute;
mod jobs;

pub use jobs::AlgorithmJobs;
pub(crate) use plan::plan;
pub use watch::AlgorithmOptions;
