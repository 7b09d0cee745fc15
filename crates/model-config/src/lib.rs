//! YANG-modelled configuration of tenants: dataspaces with schema sets and anchors, the data of each anchor as a tree, and its versions.
//!
//! The [`Configs`] of a tenant have *dataspaces*. A dataspace has *schema sets* (YANG modules that were compiled together) and *anchors*, each of
//! which holds one tree of data under one schema set. A change of a tree is one atom and makes a new *version*; older versions stay for
//! a while, and can be read, compared and taken up again.
//!
//! This is what the CPS and RESTCONF front ends stand on, and what a program uses that has the store in its own process
//! (`examples/config-embedded` is a whole one).
//!
//! ```
//! use std::sync::Arc;
//!
//! use config::query::{Answer, Query};
//! use config::{Edit, Label, MergeOptions, LeafLists, Place, Position};
//! use lang_yang::{Features, ReadOptions, YangFile, read_json};
//! use model_config::{Clock, ConfigOptions, Configs, Deadline, Mode, SchemaSetOptions, WriteOptions};
//! use store::{FeedOptions, MemoryOptions, Store};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::memory(MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() });
//! let configs = Configs::new(store, Clock::System, ConfigOptions::recommended());
//!
//! // A dataspace, a schema set of one module, and an anchor of it.
//! let module = "module lamps { namespace 'urn:lamps'; prefix l;
//!     list lamp { key id; leaf id { type string; } leaf watts { type uint16; } } }";
//! let files = [YangFile { name: "lamps.yang".into(), text: module.into() }];
//! configs.create_dataspace("city").await?;
//! let options = SchemaSetOptions { mode: Mode::Strict, features: Features::All };
//! configs.create_schema_set("city", "lamps", &files, options).await?;
//! let anchor = configs.create_anchor("city", "lamps", "old-town").await?;
//!
//! // JSON becomes a value that is checked against the schema; an edit puts it into the tree.
//! let read = |json: &str| read_json(anchor.schema(), None, json.as_bytes(), &ReadOptions::RFC7951);
//! let lamps = read(r#"{"lamps:lamp": [{"id": "a", "watts": 60}, {"id": "b", "watts": 40}]}"#)?;
//! let top = || Place::Label(Label::top());
//! let create = Edit::Create { parent: top(), nodes: lamps.children.into(), at: Position::Last };
//! let first = anchor.write_edits(&[create], WriteOptions::default()).await?.version;
//!
//! let brighter = read(r#"{"lamps:lamp": [{"id": "b", "watts": 100}]}"#)?;
//! let options = MergeOptions { must_exist: true, leaf_lists: LeafLists::Replace };
//! let merge = Edit::Merge { parent: top(), nodes: brighter.children.into(), options };
//! anchor.write_edits(&[merge], WriteOptions::default()).await?;
//!
//! // A query of the newest version, and of the one before.
//! let path = lang_cps_path::parse("/lamp[@watts>50]/@id")?;
//! let query = Arc::new(Query::new(anchor.schema(), &path)?);
//! for (version, expected) in [(None, &["a", "b"][..]), (Some(first), &["a"])] {
//!     let reading = anchor.read(version).await?;
//!     let Answer::Values(ids) = reading.query(query.clone(), 100, Deadline::default()).await? else { unreachable!() };
//!     assert_eq!(ids.iter().map(|id| &*id.text).collect::<Vec<_>>(), expected);
//! }
//! # Ok(())
//! # }
//! ```

mod version;
mod error;
mod options;
mod keys;
mod rows;
mod changes;
mod subscriptions;
mod places;
mod blobs;
mod schemas;
mod configs;
mod effort;
mod schema_sets;
mod anchor;
mod anchors;
mod reading;
mod query;
mod comparison;
mod strict;
mod write;
mod versions;
mod work;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use anchor::Anchor;
pub use anchors::AnchorInfo;
pub use changes::{Action, ConfigChange};
pub use comparison::VersionDifference;
pub use configs::{Configs, DataspaceInfo};
pub use effort::{NODE_BYTES_HELD, TEXT_BYTES_AT_ONCE};
pub use error::{Error, Kind};
pub use options::{ConfigOptions, NAME_BYTES_MAX};
pub use reading::{Reading, Step, load_both, run_both};
pub use rows::{Mode, ModuleReference};
pub use schema_sets::{SchemaSetInfo, SchemaSetOptions};
pub use store::{
    Clock, Deadline, ErrorKind as StoreErrorKind, Lane, Pace, Tenant, TenantName, TimedOut, Timestamp,
};
pub use subscriptions::{
    AnchorSubscription, DataspaceSubscription, Interest, Interests, SUBSCRIPTIONS_BYTES_MAX, Subscriptions,
};
pub use version::VersionId;
pub use versions::VersionInfo;
pub use work::Tidied;
pub use write::{Refusal, WriteOptions, Written};
