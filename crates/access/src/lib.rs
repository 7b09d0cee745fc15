//! Users of a tenant: who they are, and what they may do.
//!
//! [`Users`] says who asks ([`Users::identify`]), gives tokens and takes them back, and has users, groups, targets and what ties them made
//! and changed ([`Users::of`]). What is stored are objects of `model-graph`; a [`Role`] decides without reading anything.
//!
//! Invariant: nobody gives what he has not: who may put users into groups, or grant groups something, may do so within his own role.
//! Invariant: no password is stored, logged or shown; what is cached of one is a hash under a key of this process.

mod error;
mod permission;
mod resource;
mod role;
mod records;
mod passwords;
mod tokens;
mod directory;
mod identify;
mod manage;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(test)]
mod tests;

pub use directory::ADMIN;
pub use error::Error;
pub use identify::{AccessOptions, Proof, Users};
pub use manage::{Managed, UserDraft};
pub use passwords::PASSWORD_BYTES_MAX;
pub use permission::{Action, ResourceType};
pub use records::{
    Access, Belong, Group, Manager, ManagerKind, Origin, Project, Record, Target, User, group_id, target_id,
    user_id,
};
pub use resource::Resource;
pub use role::{Allowed, Caller, Labels, Role};
