//! The family `hakom`: bulk and single writes and reads of many series, as one wall-clock job each, in three forms;
//! and the table that shows whether compression ever costs more than it saves.
//!
//! Points are functions of the seed ([`series`]); every answer is scanned as it arrives ([`scan`], [`arrow`]) into
//! counts and exact sums ([`tally`]), which must be those of the points sent.

pub mod rows;
pub mod tally;
pub mod series;
pub mod arrow;
pub mod bodies;
pub mod scan;
pub mod jobs;
mod goals;
mod figures;
pub mod course;
mod paired;
pub mod compression;

/// Where the repository of these tests lies.
pub const REPOSITORY: &str = "/tsm/v1/repositories/default";
