//! Deliveries against a plain model: random matches, answers, failures, crashes and take-overs.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests panic")]

mod world;

mod cost;
mod limits;
mod model;
