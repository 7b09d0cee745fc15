//! One entity as a value: its stored form, what an operation makes of it, the index rows that follow from it, whether a condition
//! holds of it, and its history as columns of points.
//!
//! Nothing here reads or writes a store, asks a clock or awaits: `model-entities` fetches, calls this crate to think, and commits.
//!
//! ```
//! use entity::apply::{WriteRules, apply};
//! use entity::index::Indexed;
//! use entity::query::eval::{Links, Matcher};
//! use entity::query::plan::Plan;
//! use entity::{Attribute, Draft, EntityView, Instance, Kind, Operation, Query, TermId, TypeQuery};
//! use store::{Deadline, Pace, Timestamp};
//!
//! // Names of types and attributes are numbers.
//! let (station, pm10) = (TermId(0), TermId(1));
//! let value = |text: &str| Attribute { name: pm10, instances: [Instance::new(Kind::Property, text)].into() };
//! let rules = WriteRules { entity_bytes_max: 1 << 20, indexed: &Indexed::All };
//!
//! // An operation gives the new stored form, the index rows that come and go, and what it changed.
//! let draft = Draft { types: [station].into(), attributes: vec![value("17.5")], ..Draft::default() };
//! let created = apply(None, "urn:station:1", &Operation::Create(draft), Timestamp(1_000_000), rules)?;
//! let stored = created.bytes.expect("it was created");
//! let patch = Operation::PatchAttribute(value("42"));
//! let patched = apply(Some(&EntityView::parse(&stored)?), "urn:station:1", &patch, Timestamp(2_000_000), rules)?;
//! assert_eq!(patched.change.updated[..], [pm10]);
//! let stored = patched.bytes.expect("it was changed");
//!
//! // The stored form is read in place.
//! let view = EntityView::parse(&stored)?;
//! let attribute = view.attribute(pm10).expect("it has the attribute");
//! assert_eq!(attribute.instance(None).expect("the default instance").value(), "42");
//!
//! // A query is planned, and decided of each entity that the plan leads to.
//! let query = Query { types: Some(TypeQuery::Is(Some(station))), ..Query::default() };
//! assert_eq!(Plan::new(&query, None, &Indexed::All).to_string(), "type (1 ranges)");
//! let mut pace = Pace::new(Deadline::default());
//! assert!(Matcher::new(&query).matches(&view, &mut Links::default(), &mut pace));
//! # Ok::<(), entity::Error>(())
//! ```

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
