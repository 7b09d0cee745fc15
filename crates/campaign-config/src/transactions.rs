//! The family `config-transactions`: many small transactions of one client, one after the other, each of which adds one entry
//! to a list. Servers that copy or validate the whole tree for each of them take a time that grows with its square.
//!
//! Beside each row stands what a durable write takes at least: the synced append of a few bytes to a file of the same disk.

pub mod rows;
pub mod disk;
mod adder;
mod figures;
mod family;

#[cfg(test)]
mod tests;

pub use family::ConfigTransactions;
