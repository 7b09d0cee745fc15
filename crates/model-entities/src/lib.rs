//! The entities of tenants: their current state and their history. One model under NGSI-LD and NGSIv2.
//!
//! [`Entities`] is all tenants of a store, [`TenantEntities`] one of them. An operation is fetch, think, commit: one read, one pure
//! decision in the crate `entity`, one atomic commit, and again where another writer came first.
//!
//! ```
//! use model_entities::{
//!     Attribute, Clock, Draft, Entities, HistoryPolicy, IndexPolicy, Instance, Kind, Operation, Options, Query, TenantName,
//!     Timestamp, TypeQuery,
//! };
//! use store::{FeedOptions, MemoryOptions, Store};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! let store = Store::memory(MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() });
//! let options = Options {
//!     buckets: 1,
//!     tenants_max: 100,
//!     terms_max: 10_000,
//!     index: IndexPolicy::ByUse,
//!     entity_bytes_max: 1 << 20,
//!     scan_entities_max: 100_000,
//!     sort_entities_max: 10_000,
//!     history: HistoryPolicy::default(),
//! };
//! let city = Entities::new(store, options).tenant_or_create(&TenantName::new("city").unwrap()).await?;
//! let terms = city.intern(&["https://example.org/Station", "https://example.org/pm10"]).await?;
//! let [station, pm10] = terms[..] else { unreachable!("a term for each name") };
//!
//! // Create.
//! let value = |text: &str| Attribute { name: pm10, instances: [Instance::new(Kind::Property, text)].into() };
//! let draft = Draft { types: [station].into(), attributes: vec![value("17.5")], ..Draft::default() };
//! city.apply("urn:station:1", Operation::Create(draft), Timestamp(1_000_000)).await?;
//!
//! // Patch an attribute.
//! city.apply("urn:station:1", Operation::PatchAttribute(value("42")), Timestamp(2_000_000)).await?;
//! let stored = city.get("urn:station:1", Timestamp(3_000_000)).await?.expect("it was created");
//! let attribute = stored.view()?.attribute(pm10).expect("it has the attribute");
//! assert_eq!(attribute.instance(None).expect("the default instance").value(), "42");
//!
//! // Query.
//! let types = Some(TypeQuery::Is(Some(station)));
//! let query = Query { types, limit: 10, now: Timestamp(3_000_000), ..Query::default() };
//! assert_eq!(city.query(&query).await?.entities.len(), 1);
//! # Ok::<(), model_entities::Error>(())
//! # }).unwrap();
//! ```
//!
//! A tour, from the ground up; each module uses only those above it:
//! - names as numbers (`term`), documents of front ends (`documents`), which history is recorded (`policy`), over how many buckets
//!   entities are spread (`layout`), what writers know under a fence (`watch`), which attributes are indexed (`indexes`);
//! - `tenant`: the state of one tenant, and its rows wherever they are; `entities`: all tenants;
//! - who wants change records with states (`consumers`), which attributes are in use (`in_use`), index rows for entities that are there
//!   (`index_build`);
//! - `query`, `write` and `history`: the three things that front ends ask for;
//! - `rebucket` moves entities to other buckets while they are read and written, `discovery` lists types and attributes.
//!
//! Names of types and attributes are IRIs, interned per tenant as [`TermId`]s ([`Terms`]). A stored entity is a compact binary that is
//! read in place through [`EntityView`]; its values are canonical JSON text (`lang_json`), so that a renderer copies bytes.
//!
//! Invariants:
//! - an entity, its index rows and its change record are one atom in one partition;
//! - index rows of indexed attributes, and of all else, are exactly those that `index_rows` derives from the stored entity;
//! - while a tenant has a consumer, its change records say what entities were and became;
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
    Path, Period, Precondition, Query, RecordedInstance, RecordedInstances, SCOPE_BYTES_MAX, SCOPES_MAX,
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
