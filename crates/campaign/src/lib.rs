//! Load tests from outside, over HTTP only: the published workloads, and the floor beside them.
//!
//! A [`family::Family`] says what its rows are, how the set they run on is prepared, how they load a server and how
//! answers are checked. The [`runner`] runs them without knowing them: it brings up a server ([`target`]), has
//! the [`executors`] send what the users of a [`scenario::Scenario`] draft through a cheap [`client`], and measures the
//! [`floor`] with the same requests. [`report`] writes what came out.
//!
//! Families whose rows need no server of the frame run them themselves ([`apart`]).
//!
//! The modules below are listed from the ground up; those of the families, and [`families`] with a line for each of them,
//! come last, because families know the frame, never the other way.
//!
//! Invariants: nothing here knows our server but by HTTP, its command line and its output; latencies are of
//! successes only; a profile never changes the number of users; one seed gives the same requests everywhere.

pub mod draws;
pub mod process;
pub mod usage;
pub mod record;
pub mod scenario;
pub mod client;
#[cfg(any(test, feature = "testing"))]
pub mod toy;
pub mod executors;
pub mod probe;
pub mod progress;
pub mod profile;
pub mod target;
pub mod floor;
pub mod machine;
pub mod report;
pub mod compare;
pub mod findings;
pub mod workloads;
pub mod course;
pub mod family;
pub mod goals;
pub mod peer;
pub mod runner;
pub mod apart;
pub mod args;
mod cli;
pub mod stellio;
pub mod hakom;
pub mod families;

pub use args::Args;
pub use cli::{Known, main, run};
