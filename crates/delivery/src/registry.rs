//! Whether the set of receivers is still the one that was read: a row that is written anew with each change of it.

use bytes::Bytes;
use store::{Commit, Error, Stamp, Store, Write, WriteIds};

use crate::keys;

/// The version of the set of receivers of one kind; clones share it.
///
/// A change of the set is written first, then [`Registry::note_change`], and acknowledged last. A reader of the feed asks for the
/// version after it has read a page: then no change of the set that was acknowledged before a change in the page is missed.
#[derive(Clone, Debug)]
pub struct Registry {
    store: Store,
    key: Bytes,
    write_ids: WriteIds,
}

impl Registry {
    /// The registry of this name.
    pub fn new(store: Store, name: &str) -> Self {
        Self { store, key: keys::version(name), write_ids: WriteIds::new() }
    }

    /// The version; `None` before the first change. Cost: a cached look-up, or a round to other nodes.
    ///
    /// # Errors
    ///
    /// Those of a read.
    pub async fn version(&self) -> Result<Option<Stamp>, Error> {
        Ok(self.store.get_linear(&keys::deliveries(), &self.key).await?.map(|row| row.stamp))
    }

    /// Begins a new version. Cost: a small commit.
    ///
    /// # Errors
    ///
    /// Those of a commit.
    pub async fn note_change(&self) -> Result<(), Error> {
        let commit = Commit {
            partition: keys::deliveries(),
            write_id: self.write_ids.next(),
            conditions: Vec::new(),
            writes: vec![Write::PutStamped(self.key.clone(), Bytes::new())],
            change: None,
            // Receivers are removed on a full disk, too.
            reclaims: true,
        };
        self.store.commit_known(commit).await.map(|_| ())
    }
}
