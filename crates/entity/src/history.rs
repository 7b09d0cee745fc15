//! An entity's history as values: what one commit did (`head.rs`), what is known of an entity that is gone (`header.rs`), instances as
//! points of a strand (`note.rs`) and as an answer (`instances.rs`), which of them are asked for (`request.rs`, `select.rs`), and
//! aggregates of them.

mod request;
pub mod note;
pub mod header;
pub mod head;
mod instances;
pub mod merge;
pub mod select;
pub mod aggregate;

pub use aggregate::{AggregateHistory, AggregateMethod, AggregateValue, Period};
pub use instances::{EntityHistory, InstanceHistory, RecordedInstance, RecordedInstances};
pub use request::{AttributeFilter, HistoryRequest, TimeProperty, TimeSpan};
