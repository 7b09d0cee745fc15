//! Queries carried out: `lookup.rs` asks the index what a plan must know, `run.rs` reads the rows of the plan's access path through
//! `stream.rs`, looks the entities up and fills the page; `skip.rs` passes over what an offset skips, `sweep.rs` carries an operation
//! out on all matches. What a query means, and how it is planned, is in the crate `entity`.

pub(crate) mod stream;
mod lookup;
pub(crate) mod run;
mod skip;
mod sweep;

use entity::query::{eval, order, plan};
use entity::{Filter, Query};
use store::Slot;

pub(crate) use sweep::Matching;
pub use sweep::{Sweep, Swept};

/// What a query gives.
#[derive(Debug, Default)]
pub struct QueryResult {
    /// The stored entities of the page, in order; read them with [`entity::EntityView::parse`].
    pub entities: Vec<bytes::Bytes>,
    /// How many entities match in all, where it was asked.
    pub count: Option<usize>,
    /// Whether matches follow behind the page.
    pub more: bool,
    /// The slot that a long query took, for what is left to be done with a large page.
    pub slot: Option<Slot>,
}
