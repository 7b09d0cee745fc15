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

mod term;
mod draft;
mod encode;
mod view;
mod error;
mod keys;
mod expiry;
mod index;
mod long_read;
mod layout;
mod retry_locks;
mod watch;
mod documents;
mod entities;
mod indexes;
mod tenant;
mod change;
mod query;
mod scope;
mod apply;
mod history;
mod consumers;
mod in_use;
mod discovery;
mod feed;
mod rebucket;
mod silent;
mod write;
#[cfg(test)]
mod model;
#[cfg(feature = "testing")]
pub mod testing;

pub use apply::{
    ATTRIBUTES_MAX, ID_BYTES_MAX, INSTANCES_MAX, SCOPE_BYTES_MAX, SCOPES_MAX, SUB_ATTRIBUTES_MAX, TYPES_MAX,
};
pub use change::{Change, Fate, Instances, MergeOptions, NotUpdated, Operation, Precondition};
pub use consumers::{CONSUMER_NAME_BYTES_MAX, CONSUMERS_MAX};
pub use discovery::{AttributeSummary, TypeSummary};
pub use documents::Documents;
pub use draft::{Attribute, Draft, Extra, Field, Instance, Kind};
pub use encode::encode;
pub use entities::{Entities, Options};
pub use error::Error;
pub use feed::{EntityChange, States, change_records};
pub use history::{
    AggregateHistory, AggregateMethod, AggregateValue, AttributeFilter, EntityHistory, HistoryJob,
    HistoryPage, HistoryPolicy, HistoryRequest, HistoryRule, InstanceHistory, InstanceId, InstanceIdError,
    PastInstance, PastInstances, Period, TimeProperty, TimeSpan,
};
pub use indexes::IndexPolicy;
pub use query::{
    Collation, Comparison, Filter, GeoQuery, GeoRelation, LinkedPath, Meta, Operand, Order, OrderBy,
    OrderKey, Path, Query, QueryResult, Scalar, ScopeQuery, Selector, Sweep, Swept, TypeQuery,
};
pub use rebucket::Rebucketing;
pub use scope::{scope_value, scopes_of_value};
pub use store::{
    Clock, Deadline, ErrorKind as StoreErrorKind, Fingerprint, Fingerprints, Lane, Pace, Slot,
    StateCondition, Tenant, TenantName, TenantNameError, TimedOut, Timestamp, rest,
};
pub use strands::{SkipLog, is_outage};
pub use tenant::{Entity, TenantEntities};
pub use term::{NAME_BYTES_MAX, TermId, Terms};
pub use view::{AttributeView, EntityView, InstanceView, Malformed};
