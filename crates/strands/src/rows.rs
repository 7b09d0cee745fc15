//! Where rows are read from: the store as it is, or as it was at one moment.

use bytes::Bytes;
use store::{Direction, Error, Page, Partition, Range, Row, Snapshot, Store};

/// The store as it is, or as it was.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    Live(&'a Store),
    Past(&'a Snapshot),
}

impl Rows<'_> {
    /// See [`Store::get_cached`].
    pub(crate) fn get_cached(self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        match self {
            Self::Live(store) => store.get_cached(partition, key),
            Self::Past(snapshot) => snapshot.get_cached(partition, key),
        }
    }

    /// See [`Store::get_linear`].
    pub(crate) async fn get_linear(self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        match self {
            Self::Live(store) => store.get_linear(partition, key).await,
            Self::Past(snapshot) => snapshot.get(partition, key).await,
        }
    }

    /// See [`Store::get_many_linear`]: a strand that was erased begins again under keys that it had.
    pub(crate) async fn get_many_linear(
        self,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Vec<Option<Row>>, Error> {
        match self {
            Self::Live(store) => store.get_many_linear(partition, keys).await,
            Self::Past(snapshot) => snapshot.get_many(partition, keys).await,
        }
    }

    /// See [`Store::scan`].
    pub(crate) async fn scan(
        self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        match self {
            Self::Live(store) => store.scan(partition, range, direction, rows_max).await,
            Self::Past(snapshot) => snapshot.scan(partition, range, direction, rows_max).await,
        }
    }
}
