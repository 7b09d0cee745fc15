//! The binary from outside: a process of its own on a free port and a temporary folder.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "all of it is test: a panic is how it fails"
)]

mod harness;

mod auth;
mod backup;
mod clients;
mod config_events;
mod config_kills;
mod faults;
mod formats;
mod graphs;
mod hooks;
mod http;
mod limits;
mod lives;
mod load;
mod series;
mod settings;
mod tenants;
mod tls;
mod writes;
