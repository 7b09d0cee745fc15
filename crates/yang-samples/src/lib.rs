//! YANG modules written for tests and load tests: of the shapes that published ones have, so that nobody needs files of others.
//! Texts alone: nothing here reads or compiles them.
//!
//! [`topology`] has eleven modules of a network, [`open_config`] a set of 218; [`DEVICES`], [`BOOKS`] and [`TABLE`] are one module each.

mod module;
mod topology;
mod open_config;

pub use module::Module;
pub use open_config::{MODULES, open_config};
pub use topology::topology;

/// The devices of the limits.
pub const DEVICES: &str = include_str!("../yang/campaign-devices.yang");
/// The books of the limits.
pub const BOOKS: &str = include_str!("../yang/campaign-books.yang");
/// One list that transactions add to.
pub const TABLE: &str = include_str!("../yang/campaign-table.yang");
