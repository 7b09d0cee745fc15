//! The family `hakom`: bulk and single writes and reads of many series, as one wall-clock job each, in three forms;
//! and the table that shows whether compression ever costs more than it saves.
//!
//! Points are functions of the seed ([`series`]); every answer is scanned as it arrives ([`scan`], [`arrow`]) into
//! counts and exact sums ([`tally`]), which must be those of the points sent.

pub mod tally;
pub mod rows;
pub mod series;
pub mod bodies;
pub mod arrow;
pub mod scan;
pub mod jobs;
mod figures;
mod paired;
mod runs;
mod compression;
mod family;

#[cfg(test)]
mod tests;

use crate::goals::{Goal, Measure};

pub use family::Hakom;

/// Where the repository of these tests lies.
pub const REPOSITORY: &str = "/tsm/v1/repositories/default";

/// What this server set out to reach on two cores, the generator included.
const GOALS: &[Goal] = &[
    Goal { row: "H-W1", measure: Measure::Rate, bound: 4e6 },
    Goal { row: "H-R1", measure: Measure::Rate, bound: 9e6 },
    Goal { row: "H-W1-arrow", measure: Measure::Rate, bound: 20e6 },
    Goal { row: "H-R1-arrow", measure: Measure::Rate, bound: 40e6 },
    Goal { row: "H-R1", measure: Measure::Memory, bound: 500.0 },
    Goal { row: "H-R1-arrow", measure: Measure::Memory, bound: 500.0 },
    Goal { row: "H-W1", measure: Measure::Disk, bound: 1.7 },
    Goal { row: "H-SW10", measure: Measure::ShareOf("H-BW-2"), bound: 0.6 },
    Goal { row: "H-SR10", measure: Measure::ShareOf("H-BR-2"), bound: 0.6 },
];
