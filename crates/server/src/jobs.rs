//! What the server does by itself.

mod turns;
mod chill;
mod clock;
mod fold;
mod history;
mod hooks;
mod index;
mod purge;
mod rebucket;
mod removals;
mod trim;

pub(crate) use chill::Chill;
pub(crate) use clock::ClockWatch;
pub(crate) use fold::Fold;
pub(crate) use history::History;
pub(crate) use hooks::{Hooks, HooksPolicy};
pub(crate) use index::Index;
pub(crate) use purge::Purge;
pub(crate) use rebucket::Rebucket;
pub(crate) use removals::Removals;
pub(crate) use trim::Trim;
