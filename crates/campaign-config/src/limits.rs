//! The family `cps-limits`: the performance tests of CPS, each a job of one user beside the seconds that it is expected to
//! take: devices of 86 data nodes, a thousand to an anchor, and books.
//!
//! Rows that only the Java API of the original has (batches of paths, the parser) are run by `campaign-embedded`.

pub mod devices;
pub mod rows;
pub mod figures;
mod checks;
mod jobs;
mod family;

#[cfg(test)]
mod tests;

pub use family::CpsLimits;
