//! Reads of rows, one, many or a page, and of the store as it is at one moment.

use bytes::Bytes;

use super::{Engine, Store};
use crate::memory::MemorySnapshot;
use crate::{Direction, Error, Page, Partition, Range, Row, Skipped, Snapshot};

impl Store {
    /// The row with this key, as this process knows it: as new as its own commits and what it has read before, while one that another
    /// process wrote may be seen late ([`Store::may_lag`]). After a commit that was refused, or whose outcome is unknown, the
    /// rows that it names and writes are read anew. Scans and snapshots see every acknowledged commit.
    /// Cost: one cache look-up, or one engine read.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.get(partition, key),
            Engine::Embedded(embedded) => embedded.get(partition, key).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.get(partition, key)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// The row with this key, not older than any acknowledged commit: for what is acknowledged, or refused, by what it says alone.
    /// Cost: where reads do not lag that of [`Store::get`], else a round to other nodes.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_linear(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let read = match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => return self.get(partition, key).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.get_linear(partition, key)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Many rows of one partition, in the order of `keys`, as [`Store::get_linear`] reads one.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_many_linear(
        &self,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Vec<Option<Row>>, Error> {
        let read: Result<_, Error> = match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => return self.get_many(partition, keys).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                keys.iter().map(|key| hostile.get_linear(partition, key)).collect()
            }
        };
        partition.tenant.check()?;
        read
    }

    /// The row with this key if it is in the cache of hot rows: never blocks, costs one look-up.
    /// `None` says nothing of the store (the row may exist); `Some(None)` says it is absent.
    pub fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.get(partition, key).ok(),
            Engine::Embedded(embedded) => embedded.get_cached(partition, key),
            Engine::Hostile(_) => None,
        };
        read.filter(|_| !partition.tenant.is_ended())
    }

    /// Many rows of one partition, in the order of `keys`, each as [`Store::get`] reads it.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_many(&self, partition: &Partition, keys: &[Bytes]) -> Result<Vec<Option<Row>>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => keys.iter().map(|key| memory.get(partition, key)).collect(),
            Engine::Embedded(embedded) => embedded.get_many(partition, keys).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.get_many(partition, keys)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Up to `rows_max` rows of a range (fewer at the page's byte limit; see [`Page::more`]).
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn scan(
        &self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.scan(partition, range, direction, rows_max),
            Engine::Embedded(embedded) => embedded.scan(partition, range, direction, rows_max).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.memory().scan(partition, range, direction, rows_max)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Passes over up to `rows_max` rows of a range, from a key of it on, without reading them; fewer if that takes long: then
    /// it is to be called again from [`Skipped::next`] on. `usize::MAX` counts what is left of the range.
    ///
    /// Cost: on the embedded engine some microseconds where the range was passed over before and is not written since, else
    /// a walk of some 100 ns a row; elsewhere that of a scan.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn skip(
        &self,
        partition: &Partition,
        range: &Range,
        from: &[u8],
        rows_max: usize,
    ) -> Result<Skipped, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.skip(partition, range, from, rows_max),
            Engine::Embedded(embedded) => embedded.skip(partition, range, from, rows_max).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.memory().skip(partition, range, from, rows_max)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// How many bytes ranges of one partition take, in their order: estimates, for who divides work. What was written lately may be missing.
    ///
    /// Cost: on the embedded engine some microseconds a range; in memory a walk over their rows.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub async fn sizes(&self, partition: &Partition, ranges: &[Range]) -> Result<Vec<u64>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.sizes(partition, ranges),
            Engine::Embedded(embedded) => embedded.sizes(partition, ranges).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.memory().sizes(partition, ranges)
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// The store as it is: for reads of several pages that are to see one state. An engine that cannot keep what is
    /// overwritten meanwhile ends such a read with `Changed` instead; [`crate::ReadAttempts`] says how often to begin anew. Cost: some 100 ns; rows that are
    /// removed or overwritten meanwhile stay on disk until the snapshot ends.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the store is closed.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        match &self.engine {
            Engine::Memory(memory) => Ok(MemorySnapshot::new(memory)?.into()),
            Engine::Embedded(embedded) => Ok(embedded.snapshot()?.into()),
            Engine::Hostile(hostile) => {
                Ok(Snapshot::hostile(hostile, MemorySnapshot::new(hostile.memory())?))
            }
        }
    }
}
