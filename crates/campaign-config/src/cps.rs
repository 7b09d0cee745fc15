//! The family `cps`: the load test CPS-307, a flow of four operations (create an anchor, create its 52 nodes, update one of
//! them, delete the anchor) by 2 to 50 threads without a pause.
//!
//! Rows of the mode `embedded` are run by the crate `campaign-embedded`, with the inputs, tallies and figures from here.

pub mod inputs;
pub mod rows;
pub mod tally;
pub mod figures;
mod flows;
mod checks;
mod family;

#[cfg(test)]
mod tests;

use campaign::goals::{Goal, Measure};

pub use family::Cps307;

/// What this server set out to reach on two cores, the generator included, every write durable.
const GOALS: &[Goal] = &[
    Goal { row: "CPS-R10", measure: Measure::Rate, bound: 1_500.0 },
    Goal { row: "CPS-R2", measure: Measure::Cpu, bound: 1_000.0 },
    Goal { row: "CPS-R10", measure: Measure::Cpu, bound: 1_000.0 },
    Goal { row: "CPS-R20", measure: Measure::Cpu, bound: 1_000.0 },
    Goal { row: "CPS-R50", measure: Measure::Cpu, bound: 1_000.0 },
];
