//! Whether the set of receivers is still the one that was read: a row that is written anew with each change of it. And which
//! receivers are to be removed, so that nothing of them is left whenever the process ends.

use bytes::Bytes;
use store::rows::Pages;
use store::{Commit, Error, Stamp, Store, Tenant, Write, WriteIds};

use crate::keys;
use crate::status::{damaged, forget};

/// Rows that are read at once.
const PAGE_ROWS: usize = 1_000;

/// The version of the set of receivers of one kind; clones share it.
///
/// A change of the set is written first, then [`Registry::note_change`], and acknowledged last. A reader of the feed asks for the
/// version after it has read a page: then no change of the set that was acknowledged before a change in the page is missed.
#[derive(Clone, Debug)]
pub struct Registry {
    store: Store,
    name: Box<str>,
    write_ids: WriteIds,
}

/// A receiver that is to be removed, or was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Removal {
    /// Which.
    pub receiver: u128,
    /// The number of its tenant.
    pub tenant: u32,
}

impl Registry {
    /// The registry of this name.
    pub fn new(store: Store, name: &str) -> Self {
        Self { store, name: name.into(), write_ids: WriteIds::new() }
    }

    /// The version; `None` before the first change. Cost: a cached look-up, or a round to other nodes.
    ///
    /// # Errors
    ///
    /// Those of a read.
    pub async fn version(&self) -> Result<Option<Stamp>, Error> {
        let row = self.store.get_linear(&keys::deliveries(), &keys::version(&self.name)).await?;
        Ok(row.map(|row| row.stamp))
    }

    /// Begins a new version. Cost: a small commit.
    ///
    /// # Errors
    ///
    /// Those of a commit.
    pub async fn note_change(&self) -> Result<(), Error> {
        self.write(Write::PutStamped(keys::version(&self.name), Bytes::new())).await
    }

    /// Notes that a receiver is about to be removed: before it is, so that its rows are found wherever the process ends. Cost: a small commit.
    ///
    /// # Errors
    ///
    /// Those of a commit.
    pub async fn note_removal(&self, tenant: &Tenant, receiver: u128) -> Result<(), Error> {
        let value = Bytes::copy_from_slice(&tenant.number().to_be_bytes());
        self.write(Write::Put(keys::removal(&self.name, receiver), value)).await
    }

    /// Removals that were noted and not finished. One whose receiver is in a set that is read afterwards is under way, or did not come
    /// about. Cost: a scan.
    ///
    /// # Errors
    ///
    /// Those of a scan; `Corrupt`.
    pub async fn removals(&self) -> Result<Vec<Removal>, Error> {
        let (partition, mut removals) = (keys::deliveries(), Vec::new());
        let mut pages = Pages::new(&self.store, &partition, keys::removals(&self.name), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            for (key, value) in page.rows() {
                let receiver = keys::receiver_of_removal(key).ok_or_else(damaged)?;
                let tenant = value.try_into().map(u32::from_be_bytes).map_err(|_| damaged())?;
                removals.push(Removal { receiver, tenant });
            }
        }
        Ok(removals)
    }

    /// Removes all rows of a receiver that is gone, and the note. To be called once no follower of this process has the receiver any more.
    /// `tenant`: that of the removal, or `None` if that is gone too, and the rows with it. Cost: two look-ups, and up to two commits.
    ///
    /// # Errors
    ///
    /// Those of reads and commits; `TenantRemoved`.
    pub async fn finish_removal(&self, removal: Removal, tenant: Option<&Tenant>) -> Result<(), Error> {
        if let Some(tenant) = tenant {
            forget(&self.store, tenant, removal.receiver).await?;
        }
        self.write(Write::Delete(keys::removal(&self.name, removal.receiver))).await
    }

    async fn write(&self, write: Write) -> Result<(), Error> {
        let commit = Commit {
            partition: keys::deliveries(),
            write_id: self.write_ids.next(),
            conditions: Vec::new(),
            writes: vec![write],
            change: None,
            // Receivers are removed on a full disk, too.
            reclaims: true,
        };
        self.store.commit_known(commit).await.map(|_| ())
    }
}
