//! Reads of the store as it was at one moment: from the cache and the engine where a row is as it was, else from a
//! snapshot of the engine.
//!
//! A row that is read live and was stamped by a commit or load which the snapshot certainly holds was not written since, so it is
//! the row of the snapshot: reads of what nobody changes cost what they always do, and warm the cache.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use rocksdb::ErrorKind as Cause;
use store_contract::incarnation::number_of_stamp;
use store_contract::place::{PlaceBytes, bounds, place};
use store_contract::{
    Direction, Error, ErrorKind, Page, Partition, Range, RangeList, RangePages, Row, ScanLimits,
};

use super::failure::engine_failed;
use super::format::{Stored, damaged};
use super::many::read_ranges;
use super::read::ROWS_INLINE_MAX;
use super::read_options::{TIER_DISK, TIER_MEMORY, read_options, scan_options};
use super::shared::Shared;
use super::snapshots::EngineSnapshot;

/// More ranges are read on a thread that may block, however warm they are.
const RANGES_INLINE_MAX: usize = 1_024;

/// The engine as it was at one moment; clones share it.
#[derive(Clone, Debug)]
pub struct EmbeddedSnapshot {
    shared: Arc<Shared>,
    engine: Arc<EngineSnapshot>,
    /// It holds all commits up to this one.
    holds: u64,
    /// It holds no commit behind this one.
    ends: u64,
    /// The numbers of loads that it may not hold, though they may be lower.
    loads: Box<[u64]>,
}

impl EmbeddedSnapshot {
    pub(crate) fn new(shared: &Arc<Shared>) -> Result<Self, Error> {
        // Held until the snapshot is noted: who closes the engine then knows of it.
        let engine = shared.engine()?;
        let holds = shared.sequence.load(Ordering::SeqCst);
        // Before the engine is pinned: a load that is over by now is held.
        let loads = shared.loads.numbers();
        let pinned = Arc::new(EngineSnapshot::new(engine.share()));
        let ends = shared.written.load(Ordering::SeqCst);
        shared.snapshots.add(&pinned);
        Ok(Self { shared: Arc::clone(shared), engine: pinned, holds, ends, loads })
    }

    /// The row if the cache has it as it was.
    #[inline]
    pub fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        if !self.is_published() {
            return None;
        }
        let row = self.shared.get_cached(partition, key)?;
        row.filter(|row| self.is_unchanged(row)).map(Some)
    }

    /// Whether everything that the snapshot holds is shown by the cache, too: it may lag by one batch.
    fn is_published(&self) -> bool {
        self.shared.sequence.load(Ordering::SeqCst) >= self.ends
    }

    /// Whether a row that was read live is as it was. What has no stamp does not tell.
    fn is_unchanged(&self, row: &Row) -> bool {
        let number = number_of_stamp(row.stamp);
        (1..=self.holds).contains(&number) && !self.loads.contains(&number)
    }

    /// Many rows of one partition, in the order of `keys`.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`.
    pub async fn get_many(&self, partition: &Partition, keys: &[Bytes]) -> Result<Vec<Option<Row>>, Error> {
        let mut rows = match self.is_published() {
            true => self.shared.get_many(partition, keys).await?,
            false => vec![None; keys.len()],
        };
        let mut missing = Vec::new();
        for (index, (row, key)) in rows.iter_mut().zip(keys).enumerate() {
            if row.as_ref().is_some_and(|row| self.is_unchanged(row)) {
                continue;
            }
            let place = place(partition, key);
            match self.read_row(&place, TIER_MEMORY)? {
                Some(was) => *row = was,
                None => missing.push((index, place)),
            }
        }
        if missing.is_empty() {
            return Ok(rows);
        }
        let snapshot = self.clone();
        let read = move || {
            let read =
                missing.into_iter().map(|(index, place)| Ok((index, snapshot.read_row(&place, TIER_DISK)?)));
            read.collect::<Result<Vec<_>, Error>>()
        };
        for (index, was) in self.shared.block(read).await? {
            let was =
                was.ok_or_else(|| Error::new(ErrorKind::Unavailable, "get: the engine read no disk"))?;
            if let Some(row) = rows.get_mut(index) {
                *row = was;
            }
        }
        Ok(rows)
    }

    /// A run of rows, at most `rows_max`.
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
        let Some((start, end)) = bounds(partition, range) else {
            return self.shared.engine().map(|_| Page::default());
        };
        if rows_max <= ROWS_INLINE_MAX
            && let Some(page) = self.scan_once(partition, (&start, &end), direction, rows_max, TIER_MEMORY)?
        {
            return Ok(page);
        }
        let (snapshot, partition) = (self.clone(), partition.clone());
        let read = move || snapshot.scan_once(&partition, (&start, &end), direction, rows_max, TIER_DISK);
        let page = self.shared.block(read).await?;
        page.ok_or_else(|| Error::new(ErrorKind::Unavailable, "scan: the engine read no disk"))
    }

    /// The first rows of ranges that were not read yet, within limits.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Corrupt`; then what was read is lost.
    pub async fn scan_many(
        &self,
        ranges: &RangeList,
        limits: ScanLimits,
        pages: &mut RangePages,
    ) -> Result<(), Error> {
        let order = ranges.in_order();
        if limits.rows <= ROWS_INLINE_MAX
            && ranges.len() <= RANGES_INLINE_MAX
            && self.read_ranges((ranges, &order), limits, pages, TIER_MEMORY)?
        {
            return Ok(());
        }
        let (snapshot, ranges, mut read) = (self.clone(), ranges.clone(), std::mem::take(pages));
        let read = move || {
            let is_read = snapshot.read_ranges((&ranges, &order), limits, &mut read, TIER_DISK)?;
            if is_read {
                Ok(read)
            } else {
                Err(Error::new(ErrorKind::Unavailable, "scan: the engine read no disk"))
            }
        };
        *pages = self.shared.block(read).await?;
        Ok(())
    }

    fn read_ranges(
        &self,
        ranges: (&RangeList, &[u32]),
        limits: ScanLimits,
        pages: &mut RangePages,
        disk: bool,
    ) -> Result<bool, Error> {
        self.engine.with(|snapshot| read_ranges(&self.shared, snapshot, ranges, limits, pages, disk))
    }

    fn scan_once(
        &self,
        partition: &Partition,
        bounds: (&PlaceBytes, &PlaceBytes),
        direction: Direction,
        rows_max: usize,
        disk: bool,
    ) -> Result<Option<Page>, Error> {
        self.engine.with(|snapshot| {
            let rows = snapshot.raw_iterator_opt(scan_options(bounds, disk));
            self.shared.page_of(rows, partition, bounds, direction, rows_max)
        })
    }

    /// The row as it was; `None` if the tier is too low.
    fn read_row(&self, place: &PlaceBytes, disk: bool) -> Result<Option<Option<Row>>, Error> {
        self.engine.with(|snapshot| match snapshot.get_pinned_opt(place, read_options(disk)) {
            Ok(None) => Ok(Some(None)),
            Ok(Some(bytes)) => Ok(Some(Some(
                Stored::parse(&bytes).ok_or_else(|| damaged("a row"))?.to_row(self.shared.incarnation),
            ))),
            Err(error) if error.kind() == Cause::Incomplete => Ok(None),
            Err(error) => Err(engine_failed(self.shared.path(), "read", error)),
        })
    }
}
