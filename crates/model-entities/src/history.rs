//! The history of entities: every commit of an entity also says what it did to attribute instances.
//!
//! A commit puts one *head row* into the entity's partition: the instances it wrote, as they are stored, and those it
//! removed (`head.rs`, `record.rs`). In the background head rows are folded (`fold.rs`) into strands of `model-series`,
//! one for each attribute and datasetId: a point is an instance (`note.rs`). Readers (`read.rs`) take head rows first,
//! then strands, so that a fold in between shows nothing twice and misses nothing.
//!
//! An instance of the history is known by its time: the `modifiedAt` of the write, which is unlike that of any other write of
//! its entity.
//!
//! Invariants:
//! - an entity's writes have strictly ascending times, over its deletion and its return too;
//! - a head row and the write it tells of are one atom;
//! - what is in a strand up to its mark is no longer read from head rows;
//! - the history outlives the entity: only `delete_history` and its kin, and retention, remove any of it.

mod heads;
mod source;
mod select;
mod read;
mod aggregate;
mod fold;
mod edit;
mod query;
mod sweep;
mod trim;
mod recompress;

#[cfg(test)]
pub(crate) mod tests;

pub use query::HistoryPage;
