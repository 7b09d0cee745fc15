//! The embedded engine of the store: RocksDB behind one committer thread and a cache of hot rows.
//!
//! Writes go down a bounded queue to the committer (`committer.rs`), which makes one engine write
//! and one sync of all that waits. Reads go to the cache (`cache.rs`), then to the engine on the
//! caller's thread as long as no disk is needed, then to a thread that may block (`read.rs`).
//! With [`Durability::Sync`] the engine shows a write only after its sync, so no reader ever sees
//! what a crash could take away.
//!
//! Models do not use this crate: they open a store with `store::Store::open`.
//!
//! ```
//! use store_contract::{Commit, Partition, Space, SpaceKind, Tenant, Write, WriteIds};
//! use store_embedded::{Embedded, EmbeddedOptions};
//!
//! const NOTES: Space = Space { id: 200, kind: SpaceKind::Commit, name: "notes" };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let options = EmbeddedOptions { ballast_bytes_max: 0, ..EmbeddedOptions::recommended() };
//! let partition = Partition { tenant: Tenant::default(), space: NOTES, bucket: 0 };
//! let engine = Embedded::open(folder.path(), options.clone())?;
//! engine
//!     .commit(Commit {
//!         partition: partition.clone(),
//!         write_id: WriteIds::new().next(),
//!         conditions: vec![],
//!         writes: vec![Write::PutStamped("note".into(), "text".into())],
//!         change: None,
//!         reclaims: false,
//!     })
//!     .await?;
//! // Acknowledged means durable: it is there when the folder is opened again.
//! engine.close().await?;
//! let engine = Embedded::open(folder.path(), options)?;
//! assert_eq!(engine.get(&partition, b"note").await?.unwrap().value, "text");
//! # Ok(())
//! # }
//! ```

mod options;
mod failure;
mod ranges;
mod cache;
mod format;
mod rows;
mod counted;
mod read_options;
mod directory;
mod disk;
mod feed_log;
mod folder;
mod incarnation;
mod load_folder;
mod loads;
mod log;
mod marks;
mod snapshots;
mod state;
mod tuning;
mod manifest;
mod shared;
mod read;
mod many;
mod snapshot;
mod erasure;
mod batch;
mod request;
mod reply;
mod monitor;
mod tidy;
mod warm;
mod committer;
mod feed;
mod skip;
mod sizes;
mod embedded;
mod load;
mod backup;
#[cfg(feature = "testing")]
pub mod testing;

pub use backup::restore;
pub use embedded::Embedded;
pub use load::EmbeddedLoad;
pub use options::{Durability, EmbeddedOptions};
pub use snapshot::EmbeddedSnapshot;
pub use snapshots::SNAPSHOT_AGE_MAX;

#[cfg(test)]
mod tests;
