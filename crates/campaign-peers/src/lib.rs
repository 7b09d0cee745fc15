//! Other databases with the same points in the same run: found on this machine, started on loopback with a fresh
//! folder, ended and removed afterwards.
//!
//! Each stores what it can: QuestDB and PostgreSQL the values and flags, VictoriaMetrics the values alone. What was
//! read is tallied as ours is. [`ALL`] is what a program hands to `campaign::run`.

pub mod database;
pub mod process;
mod web;
pub mod postgres;
pub mod questdb;
pub mod victoriametrics;
mod points;

#[cfg(test)]
mod tests;

use campaign::peer::Peer;

/// The databases that can be set beside ours: one line each.
pub const ALL: &[&dyn Peer] = &[
    &points::Beside(&postgres::Kind),
    &points::Beside(&questdb::Kind),
    &points::Beside(&victoriametrics::Kind),
];
