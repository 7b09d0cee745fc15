//! A load, open: what [`crate::Store::load`] gives.

use std::sync::Arc;

use store_embedded::EmbeddedLoad;

use crate::hostile::HostileLoad;
use crate::memory::MemoryLoad;
use crate::{ChangeRecord, Error, LoadRows};

/// A load that is under way; clones share it, so that many tasks can add to it. What it promises is said at
/// [`crate::Store::load`]. One that is dropped unfinished leaves nothing where a store belongs to one process.
#[derive(Clone, Debug)]
pub struct Load(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Memory(Arc<MemoryLoad>),
    Embedded(Arc<EmbeddedLoad>),
    Hostile(Arc<HostileLoad>),
}

impl From<MemoryLoad> for Load {
    fn from(load: MemoryLoad) -> Self {
        Self(Inner::Memory(Arc::new(load)))
    }
}

impl From<EmbeddedLoad> for Load {
    fn from(load: EmbeddedLoad) -> Self {
        Self(Inner::Embedded(Arc::new(load)))
    }
}

impl From<HostileLoad> for Load {
    fn from(load: HostileLoad) -> Self {
        Self(Inner::Hostile(Arc::new(load)))
    }
}

impl Load {
    /// Adds rows, with keys in any order; waits while too many are in memory. Batches of some thousand rows are good.
    /// Cost: on the embedded engine none to speak of here; rows are sorted on other threads.
    ///
    /// # Errors
    ///
    /// `TooLarge` and `Misuse` change nothing of what was added before; after any other the load is over: `Fenced`,
    /// `TenantRemoved`, `NoSpace`, `Unavailable`, `Unknown`.
    pub async fn add(&self, rows: LoadRows) -> Result<(), Error> {
        match &self.0 {
            Inner::Memory(load) => load.add(rows),
            Inner::Embedded(load) => load.add(rows).await,
            Inner::Hostile(load) => load.add(rows).await,
        }
    }

    /// Makes all rows seen and durable, and has the feed tell `change`. Nothing can be added after; adds that are under way are the
    /// caller's to await before.
    ///
    /// # Errors
    ///
    /// `Fenced` if the epoch of the load is over, `TenantRemoved`, `NoSpace`, `Unavailable`, `Unknown`: nothing may be there, or
    /// all, or on some engines a part; it is to be loaded once more. `Misuse` if it was over before.
    pub async fn finish(&self, change: Option<ChangeRecord>) -> Result<(), Error> {
        match &self.0 {
            Inner::Memory(load) => load.finish(change),
            Inner::Embedded(load) => load.finish(change).await,
            Inner::Hostile(load) => load.finish(change).await,
        }
    }
}
