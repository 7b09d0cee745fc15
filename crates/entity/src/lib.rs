//! One entity as a value: its stored form, what an operation makes of it, the index rows that follow from it, whether a condition
//! holds of it, and its history as columns of points.
//!
//! Nothing here reads or writes a store, asks a clock or awaits: `model-entities` fetches, calls this crate to think, and commits.

mod term;
mod draft;
pub mod encode;
pub mod view;
mod scope;
pub mod expiry;
mod instance_id;
mod limit;
mod error;
pub mod geometry;
pub mod cells;
pub mod keys;
pub mod index;
pub mod query;
mod change;
pub mod apply;
pub mod feed;
pub mod history;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use apply::{
    ATTRIBUTES_MAX, ID_BYTES_MAX, INSTANCES_MAX, SCOPE_BYTES_MAX, SCOPES_MAX, SUB_ATTRIBUTES_MAX, TYPES_MAX,
};
pub use change::{Change, Fate, Instances, MergeOptions, NotUpdated, Operation, Precondition};
pub use draft::{Attribute, Draft, Extra, Field, Instance, Kind};
pub use encode::encode;
pub use error::Error;
pub use feed::{EntityChange, States, change_records};
pub use history::{
    AggregateHistory, AggregateMethod, AggregateValue, AttributeFilter, EntityHistory, HistoryRequest,
    InstanceHistory, Period, RecordedInstance, RecordedInstances, TimeProperty, TimeSpan,
};
pub use instance_id::{InstanceId, InstanceIdError};
pub use limit::{Limit, LimitName};
pub use query::{
    Collation, Comparison, Filter, GeoQuery, GeoRelation, LinkedPath, Meta, Operand, Order, OrderBy,
    OrderKey, Path, Query, Scalar, ScopeQuery, Selector, TypeQuery,
};
pub use scope::{scope_value, scopes_of_value};
pub use term::TermId;
pub use view::{AttributeView, EntityView, InstanceView, Malformed};
