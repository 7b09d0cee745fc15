//! The algorithms that jobs run over a whole graph: their names, parameters and results in HugeGraph's words. What each takes and gives is
//! listed in `docs/hugegraph-algorithms.md`.

mod parameters;
mod plan;
mod render;
mod compute;

pub(crate) use compute::{Outcome, compute};
pub(crate) use plan::{Plan, Work, plan};
