//! Load tests from outside, over HTTP only: the published workloads, and the floor beside them.
//!
//! A [`workloads::Family`] is data: rows with users, iterations, sets and published figures. A [`course::Course`]
//! brings up a server ([`target`]), creates the set a row runs on, has the [`executors`] send what the users of a
//! [`scenario::Scenario`] draft through a cheap [`client`], looks at a sample of the answers, and measures the
//! [`floor`] with the same requests. [`report`] writes what came out.
//!
//! Invariants: nothing here knows our server but by HTTP, its command line and its output; latencies are of
//! successes only; a profile never changes the number of users; one seed gives the same requests everywhere.

pub mod target;
pub mod floor;
pub mod client;
pub mod process;
pub mod record;
pub mod scenario;
pub mod executors;
pub mod probe;
pub mod progress;
pub mod machine;
pub mod report;
pub mod draws;
pub mod workloads;
pub mod stellio;
pub mod hakom;
pub mod profile;
pub mod course;
pub mod peer;
pub mod args;
pub mod compare;
mod cli;
#[cfg(test)]
mod toy;

pub use args::Args;
pub use cli::run;
