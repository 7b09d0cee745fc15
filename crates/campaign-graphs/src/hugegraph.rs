//! The family `hugegraph`: the six REST rows that HugeGraph published (batches of vertices and of edges, single ones,
//! reads by id), by the arrival rate that a server bears, in a closed loop, and with the published numbers of open
//! connections.
//!
//! People and whom they know are functions of the seed and a number ([`people`]), so that every answer, and every
//! neighbourhood read back, can be compared with what must be there ([`checks`]).

pub mod people;
pub mod rows;
pub mod stock;
pub mod requests;
pub mod checks;
mod figures;
mod family;

#[cfg(test)]
mod tests;

use campaign::goals::{Goal, Measure};

pub use family::HugeGraph;

/// What this server set out to reach on two cores, the generator included, every write durable.
const GOALS: &[Goal] = &[
    Goal { row: "HG-VB-32", measure: Measure::Items, bound: 250_000.0 },
    Goal { row: "HG-VB-32", measure: Measure::Cpu, bound: 800.0 },
    Goal { row: "HG-EB-32", measure: Measure::Items, bound: 150_000.0 },
    Goal { row: "HG-EB-32", measure: Measure::Cpu, bound: 2_500.0 },
    Goal { row: "HG-V1-128", measure: Measure::Rate, bound: 20_000.0 },
    Goal { row: "HG-V1-128", measure: Measure::Cpu, bound: 45.0 },
    Goal { row: "HG-VG-128", measure: Measure::Rate, bound: 90_000.0 },
    Goal { row: "HG-VG-128", measure: Measure::FloorShare, bound: 0.5 },
    Goal { row: "HG-VG-128", measure: Measure::Cpu, bound: 12.0 },
];
