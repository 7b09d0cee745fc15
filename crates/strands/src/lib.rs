//! Strands: sorted runs of points in the store. The engine of history under TSM and under the temporal side of NGSI-LD: an
//! attribute's history is a strand, a series is one (with quotations: one for each issue time).
//!
//! Three floors, each using only those below it:
//! - columns: [`Points`], [`Flag`];
//! - blocks: points to bytes and back, each with a [`Summary`] ([`encode_block`], [`Block`]). Pure;
//! - strands: [`Strands`] writes, reads and folds them.
//!
//! A strand is an LSM tree of two levels: its state in one partition, sealed blocks as fresh rows in partitions by window of
//! time. Below lie sealed blocks, which never overlap; above them overlays: points put late or in part, and deleted ranges.
//! A read lays one over the other, newest wins ([one walk](walk) under all reads); a fold makes blocks of both. `keys` lists the
//! rows, `state` what a writer must know, `index` where blocks lie, `layer` what overlays mean, `plan` what a write becomes.
//!
//! Invariants:
//! - a write is one atom: its blocks go ahead, and count once its state is committed; and writes of one strand have an order: each
//!   commits on the version of the state that it was planned on;
//! - no row but the state is ever overwritten, so a reader sees the strand as one state left it, or starts again; reads of
//!   several pages see one state if they are made [at one moment](Strands::at_one_moment);
//! - a partial overwrite costs in proportion to its points: no block is read to write.
//!
//! ```
//! use store::{Clock, FeedOptions, MemoryOptions, Partition, Space, SpaceKind, Store, Tenant, Timestamp};
//! use strands::{Edit, Encoding, Flag, Points, Strand, StrandOptions, StrandWrite, Strands, TimeRange};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let store = Store::memory(MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() });
//! let strands = Strands::new(store, StrandOptions::recommended());
//! let space = Space { id: 200, kind: SpaceKind::Commit, name: "sensors" };
//! let partition = Partition { tenant: Tenant::default(), space, bucket: 0 };
//! let strand = Strand { partition, name: "pm10".into() };
//!
//! let mut points = Points::default();
//! points.push(60, 17.5, Flag::Valid.number());
//! points.push(120, 18.0, Flag::Estimated.number());
//! let write = StrandWrite {
//!     strand: strand.clone(),
//!     edits: vec![Edit::Put(points.clone())],
//!     encoding: Encoding::Hot,
//!     written: Timestamp(1),
//!     audited: false,
//!     mark: None,
//!     beside: Vec::new(),
//!     change: None,
//!     expects: None,
//! };
//! strands.write_all(vec![write]).await.remove(0)?;
//!
//! let mut page = Points::default();
//! let next = strands.read_page(&strand, TimeRange::ALL, None, 1_000, &mut page).await?;
//! assert_eq!((page, next), (points, None));
//! # Ok::<(), strands::Error>(())
//! # }).unwrap();
//! ```

mod flags;
mod points;
mod codec;
mod error;
mod strand;
mod keys;
mod fields;
mod index;
mod state;
mod layer;
mod fresh;
mod blocks;
mod pending;
mod audit_rows;
mod plan;
mod strands;
mod fetch;
mod walk;
mod read;
mod as_of;
mod commit;
mod sweep;
mod fold;
mod write;
mod together;
mod erase;
mod expire;
mod recompress;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(test)]
mod tests;

pub use codec::{Block, Encoding, Malformed, Summary, encode_block};
pub use error::Error;
pub use flags::{ABSENT, Flag, is_absent, overflown, worse};
pub use points::{ColumnSet, Columns, Notes, Points, TimeRange, UNOBSERVED};
pub use read::Part;
pub use store::{LimitExceeded, SkipLog};
pub use strand::{Edit, Modification, Strand, StrandOptions, StrandVersion, StrandWrite};
pub use strands::Strands;
pub use walk::Wanted;
