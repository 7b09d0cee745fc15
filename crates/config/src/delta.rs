//! Delta reports: how the data of one tree differ from those of another, item by item as CPS reports it, and the edits that make
//! one like the other.
//!
//! Entries are the same if their paths are: names, modules and keys; entries of lists without keys by their position. The trees may
//! be of different schemas. The order of entries and leaves is no difference.
//!
//! *Flat* reports have one item for each entry: those that were removed or changed in the order of the source, then those that were
//! created in the order of the target. *Grouped* reports have one item for all entries that one parent lost, then one for each of its
//! entries that changed, with what changed below it, then one for all entries that it gained; such an item has everything below.

mod side;
mod schemas;
mod siblings;
mod changed;
mod paths;
mod spread;
mod gather;
mod report;
mod edits;
#[cfg(test)]
mod tests;

use lang_yang::{Content, NodeId};

use crate::Fault;

pub use edits::{Change, ChangeError, Subject, edits};
pub use report::{Batch, Delta, DeltaOptions, DeltaProgress};

/// What happened to entries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// The target has them, the source has not.
    Create,
    /// The source has them, the target has not.
    Remove,
    /// Both have them, with different leaves.
    Replace,
}

/// One item of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaItem {
    /// What happened.
    pub action: Action,
    /// Of a flat report and of what was replaced the path of the entry; of a group that of its parent, or at the top that of its first
    /// entry; `/` of leaves of the top.
    pub xpath: String,
    /// What the source has: all that was removed, or the leaves that the target has not or has otherwise, with keys.
    pub source: Option<Part>,
    /// What the target has: all that was created, or the leaves that the source has not or has otherwise, with keys.
    pub target: Option<Part>,
}

/// Entries below one parent, in the schema of their own tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Of the parent; `None` at the top.
    pub parent: Option<NodeId>,
    /// The entries; leaves only of the top itself.
    pub content: Content,
}

/// Pages that are missing, and of which tree.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DeltaFault {
    /// Of the source.
    #[error("of the source, {0}")]
    Source(Fault),
    /// Of the target.
    #[error("of the target, {0}")]
    Target(Fault),
}
