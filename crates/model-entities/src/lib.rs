//! Entities: a thing's current state. One model under NGSI-LD and NGSIv2.
//!
//! Front door: `Entities` (the store's tenants) and `TenantEntities` (one tenant: write with
//! `TenantEntities::apply` and `TenantEntities::apply_all`, read with
//! `TenantEntities::get`, ask with `TenantEntities::query`). A write is fetch, think, commit:
//! the thinking is `apply`, pure and synchronous.
//!
//! Names of types and attributes are IRIs, interned per tenant as [`TermId`]s (`Terms`).
//! A stored entity is a compact binary read in place through [`EntityView`]; its values are
//! canonical JSON text (see `lang_json`), so that a renderer copies bytes.
//!
//! Invariants:
//! - an entity, its index rows and its change record are one atom in one partition;
//! - index rows of indexed attributes, and of all else, are exactly those that `index_rows` derives from the stored entity;
//! - while a tenant has a consumer, its change records tell what entities were and became;
//! - a term, once stored, keeps its id for ever, and is durable before any entity that uses it;
//! - instances of one attribute differ in datasetId; at most one has none.

mod low_water;
mod long_read;
mod term;
mod documents;
mod policy;
mod fold_queue;
mod histories;
mod layout;
mod watch;
mod indexes;
mod options;
mod tenant;
mod consumers;
mod entities;
mod in_use;
mod index_build;
mod query;
mod write;
mod history;
mod rebucket;
mod discovery;

pub use consumers::{CONSUMER_NAME_BYTES_MAX, CONSUMERS_MAX};
pub use discovery::{AttributeSummary, TypeSummary};
pub use documents::Documents;
pub use entities::Entities;
pub use entity::{
    ATTRIBUTES_MAX, AggregateHistory, AggregateMethod, AggregateValue, Attribute, AttributeFilter,
    AttributeView, Change, Collation, Comparison, Draft, EntityChange, EntityHistory, EntityView, Error,
    Extra, Fate, Field, Filter, GeoQuery, GeoRelation, HistoryRequest, ID_BYTES_MAX, INSTANCES_MAX, Instance,
    InstanceHistory, InstanceId, InstanceIdError, InstanceView, Instances, Kind, Limit, LimitName,
    LinkedPath, Malformed, MergeOptions, Meta, NotUpdated, Operand, Operation, Order, OrderBy, OrderKey,
    PastInstance, PastInstances, Path, Period, Precondition, Query, SCOPE_BYTES_MAX, SCOPES_MAX,
    SUB_ATTRIBUTES_MAX, Scalar, ScopeQuery, Selector, States, TYPES_MAX, TermId, TimeProperty, TimeSpan,
    TypeQuery, change_records, encode, scope_value, scopes_of_value,
};
pub use fold_queue::HistoryJob;
pub use history::HistoryPage;
pub use indexes::IndexPolicy;
pub use options::Options;
pub use policy::{HistoryPolicy, HistoryRule};
pub use query::{QueryResult, Sweep, Swept};
pub use rebucket::Rebucketing;
pub use store::{
    Clock, Deadline, ErrorKind as StoreErrorKind, Fingerprint, Fingerprints, Lane, Pace, Slot,
    StateCondition, Tenant, TenantName, TenantNameError, TimedOut, Timestamp, rest,
};
pub use strands::SkipLog;
pub use tenant::{Entity, TenantEntities};
pub use term::{NAME_BYTES_MAX, Terms};
