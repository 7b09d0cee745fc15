//! The families `graphdb` and `graphdb-lj`: the graph benchmarks that HugeGraph published, over HTTP. The crate
//! `campaign-embedded` runs the same rows in process, as the originals were.
//!
//! Graphs are grown from the seed ([`network`]); what must come out is found by plain walks over their edges ([`walk`]).

pub mod network;
pub mod walk;
pub mod rows;
pub mod checks;
pub mod figures;
mod jobs;
mod family;

#[cfg(test)]
mod tests;

pub use family::{GRAPHDB, GRAPHDB_LJ};
