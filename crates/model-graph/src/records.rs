//! The rows of one graph beside its elements, or of one tenant: read at one moment, and committed together.

use bytes::Bytes;
use store::retry::{RetryBackoff, unless_lost};
use store::rows::Pages;
use store::{
    Commit, Condition, ErrorKind, Partition, Range, ReadAttempts, Row, Snapshot, Stamp, Store, Tenant, Write,
    WriteIds,
};

use crate::{Error, keys};

/// How often a change starts again because another came first.
pub(crate) const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Rows that are read at once.
const PAGE_ROWS: usize = 1_000;

/// One partition of the space `graph-schema`; clones share its numbers of writes.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    store: Store,
    partition: Partition,
    write_ids: WriteIds,
}

/// Conditions and writes of one commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) writes: Vec<Write>,
}

impl Records {
    pub(crate) fn new(store: Store, tenant: &Tenant) -> Self {
        Self { store, partition: keys::partition(tenant), write_ids: WriteIds::new() }
    }

    /// The newest row. Cost: a cached look-up, or a round to other nodes.
    pub(crate) async fn get(&self, key: &[u8]) -> Result<Option<Row>, Error> {
        Ok(self.store.get_linear(&self.partition, key).await?)
    }

    /// Reads at one moment; begins again where the store kept nothing of it.
    pub(crate) async fn at_one_moment<T, R>(&self, read: impl Fn(Snapshot) -> R) -> Result<T, Error>
    where
        R: Future<Output = Result<T, Error>>,
    {
        let mut attempts = ReadAttempts::default();
        loop {
            match read(self.store.snapshot()?).await {
                Err(Error::Store(error)) if attempts.again(&error) => {}
                outcome => return outcome,
            }
        }
    }

    /// The store as it is now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, Error> {
        Ok(self.store.snapshot()?)
    }

    /// All rows of a range.
    pub(crate) async fn all(&self, snapshot: &Snapshot, range: Range) -> Result<Vec<(Bytes, Bytes)>, Error> {
        let (mut rows, mut pages) = (Vec::new(), Pages::new(snapshot, &self.partition, range, PAGE_ROWS));
        while let Some(page) = pages.next().await? {
            let copied = |(key, value)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
            rows.extend(page.rows().map(copied));
        }
        Ok(rows)
    }

    /// One row at the moment of a snapshot.
    pub(crate) async fn get_in(&self, snapshot: &Snapshot, key: &[u8]) -> Result<Option<Row>, Error> {
        Ok(snapshot.get(&self.partition, key).await?)
    }

    /// The version of what was written; `None` if another writer came first.
    pub(crate) async fn commit(&self, pending: Pending) -> Result<Option<Stamp>, Error> {
        let commit = Commit {
            partition: self.partition.clone(),
            write_id: self.write_ids.next(),
            conditions: pending.conditions,
            writes: pending.writes,
            change: None,
            reclaims: false,
        };
        Ok(unless_lost(self.store.commit_known(commit).await)?)
    }

    /// Where the rows are.
    pub(crate) fn place(&self) -> (&Store, &Partition) {
        (&self.store, &self.partition)
    }
}

/// What must still hold of a row that was read.
pub(crate) fn unchanged(key: &Bytes, row: Option<&Row>) -> Condition {
    match row {
        None => Condition::Absent(key.clone()),
        Some(row) => Condition::Version(key.clone(), row.stamp),
    }
}

/// An error for stored bytes that make no sense.
pub(crate) fn damaged(what: &str) -> Error {
    store::Error::new(ErrorKind::Corrupt, format!("read {what}: its bytes make no sense")).into()
}
