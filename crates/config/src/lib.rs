//! One tree of YANG data as a value: labels that sort in document order, records of containers and list entries, pages that
//! versions share, reading, edits and differences. Pure and synchronous: what misses a page says so ([`Fault`]), and is called
//! again when the page is there. Nothing here knows stores, tenants or HTTP.
//!
//! ```text
//! tree   = sorted map: label -> record;  key index: parent, list, key values -> order of the entry
//! record = one container or list entry with its leaves;  label = its place, which never changes while it lives
//! ```
//!
//! The map is a B+tree whose pages are written once: an edit writes anew the path to what it changes, and shares all other pages
//! with the version before. A small tree has no pages: it lies in its [`Root`].

pub mod limits;
mod depth;
mod order;
pub mod label;
mod record;
mod page;
mod fits;
mod cache;
mod root;
mod keys;
mod tree;
mod scan;
mod cursor;
mod find;
mod content;
pub mod edit;
mod run;
mod rewrite;
mod draft;
mod apply;
mod restore;
mod diff;
pub mod query;
pub mod delta;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod shop;

pub use apply::{apply, apply_with};
pub use cache::{Fault, PageCache, Pages};
pub use cursor::Cursor;
pub use depth::Depth;
pub use diff::{Diff, DiffFault, Difference, Walked, diff};
pub use edit::{Applied, ApplyError, Changes, Edit, LeafLists, MergeOptions, Place, Position};
pub use find::{Step, StepAt};
pub use label::{Label, LabelStep};
pub use limits::PageLimits;
pub use page::{Attempt, PageId};
pub use record::{Record, ValueRef, Values};
pub use restore::{Restored, missing_pages, pages_of, restore};
pub use root::Root;
pub use store::wire::Malformed;
pub use tree::Tree;
