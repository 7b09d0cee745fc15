//! The store as it was at one moment, for reads that take more than one page.

use std::sync::Arc;

use bytes::Bytes;
use store_contract::limits::check_ranges;
use store_embedded::EmbeddedSnapshot;

use crate::hostile::Hostile;
use crate::memory::{MemorySnapshot, scan_many};
use crate::{Direction, Error, Page, Partition, Range, RangeList, RangePages, Row, ScanLimits};

/// The store as it was at one moment: reads see every commit that was acknowledged before, and no part of one that came
/// later. Clones share it; it ends with the last of them.
///
/// It keeps what is overwritten or removed meanwhile from being given back, so the embedded engine lets go of it after
/// [`crate::SNAPSHOT_AGE_MAX`]: reads then answer `Unavailable`. So they do once the store is closed. An engine that keeps
/// nothing answers `Changed` as soon as a partition was written of which something was read; rows
/// of append spaces it tells as they are: they are reached through others, whose change is seen.
#[derive(Clone, Debug)]
pub struct Snapshot {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Memory(Arc<MemorySnapshot>),
    Embedded(EmbeddedSnapshot),
    Hostile(Arc<Hostile>, Arc<MemorySnapshot>),
}

impl From<MemorySnapshot> for Snapshot {
    fn from(snapshot: MemorySnapshot) -> Self {
        Self { engine: Engine::Memory(Arc::new(snapshot)) }
    }
}

impl From<EmbeddedSnapshot> for Snapshot {
    fn from(snapshot: EmbeddedSnapshot) -> Self {
        Self { engine: Engine::Embedded(snapshot) }
    }
}

impl Snapshot {
    /// Reads of it pause as all do of the worst store.
    pub(crate) fn hostile(hostile: &Arc<Hostile>, snapshot: MemorySnapshot) -> Self {
        Self { engine: Engine::Hostile(Arc::clone(hostile), Arc::new(snapshot)) }
    }

    /// The row with this key if the cache of hot rows has it as it was: never blocks, costs one look-up. `None` says
    /// nothing (the row may have been there).
    pub fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.get(partition, key).ok(),
            Engine::Hostile(_, memory) => memory.get(partition, key).ok(),
            Engine::Embedded(embedded) => embedded.get_cached(partition, key),
        };
        read.filter(|_| !partition.tenant.is_ended())
    }

    /// The row with this key. Cost: that of [`crate::Store::get`]; for a row that was changed since, or is not stamped,
    /// an engine read.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`, `Changed`.
    pub async fn get(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.get(partition, key),
            Engine::Hostile(hostile, memory) => {
                hostile.pause().await;
                memory.get(partition, key)
            }
            Engine::Embedded(embedded) => {
                let keys = [Bytes::copy_from_slice(key)];
                Ok(embedded.get_many(partition, &keys).await?.pop().flatten())
            }
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Many rows of one partition, in the order of `keys`. Cost: as [`Snapshot::get`].
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`, `Changed`.
    pub async fn get_many(&self, partition: &Partition, keys: &[Bytes]) -> Result<Vec<Option<Row>>, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => keys.iter().map(|key| memory.get(partition, key)).collect(),
            Engine::Hostile(hostile, memory) => {
                hostile.pause().await;
                keys.iter().map(|key| memory.get(partition, key)).collect()
            }
            Engine::Embedded(embedded) => embedded.get_many(partition, keys).await,
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// Up to `rows_max` rows of a range, as [`crate::Store::scan`] gives them.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`, `Changed`.
    pub async fn scan(
        &self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let read = match &self.engine {
            Engine::Memory(memory) => memory.scan(partition, range, direction, rows_max),
            Engine::Hostile(hostile, memory) => {
                hostile.pause().await;
                memory.scan(partition, range, direction, rows_max)
            }
            Engine::Embedded(embedded) => embedded.scan(partition, range, direction, rows_max).await,
        }?;
        partition.tenant.check()?;
        Ok(read)
    }

    /// The first rows of many ranges, each as [`Snapshot::scan`] gives them forward: of those that `pages` says are unread. A call
    /// reads about as much as the limits say, at least one range, in an order of its own; what is left is read by further calls, until
    /// [`RangePages::unread`] is zero or the bytes of all are reached. A range that has rows has one at least once it was read.
    ///
    /// Cost: on the embedded engine one iterator for all ranges; for a range that begins where the one before ended nothing but its
    /// rows, else a seek of some 1 us; and some 150 ns a row. On a cluster, the partitions would be asked side by side.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`, `Changed`; `TooLarge` beyond [`SCAN_RANGES_MAX`](store_contract::limits::SCAN_RANGES_MAX) ranges. Then `pages` must begin anew.
    pub async fn scan_many(
        &self,
        ranges: &RangeList,
        limits: ScanLimits,
        pages: &mut RangePages,
    ) -> Result<(), Error> {
        check_ranges(ranges.len())?;
        match &self.engine {
            Engine::Memory(memory) => scan_many(memory, ranges, limits, pages, || false),
            Engine::Hostile(hostile, memory) => {
                hostile.pause().await;
                scan_many(memory, ranges, limits, pages, || hostile.leaves_ranges())
            }
            Engine::Embedded(embedded) => embedded.scan_many(ranges, limits, pages).await,
        }?;
        ranges.partitions().iter().try_for_each(|partition| partition.tenant.check())
    }
}
