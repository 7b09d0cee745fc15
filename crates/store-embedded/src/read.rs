//! Reads: from the cache, from the engine as far as it has the bytes in memory, else on a thread
//! that may block on the disk.

use std::sync::Arc;

use bytes::Bytes;
use rocksdb::{DBRawIterator, ErrorKind as Cause};

use super::cache::{Found, Ticket};
use super::failure::engine_failed;
use super::format::{Stored, damaged, row_key};
use super::read_options::{TIER_DISK, TIER_MEMORY, read_options, scan_options};
use super::shared::Shared;
use store_contract::incarnation::number_of_stamp;
use store_contract::place::{PlaceBytes, bounds, is_point, place};
use store_contract::{Direction, Error, ErrorKind, PAGE_BYTES_MAX, Page, Partition, Range, Row};

/// A page of more rows is read on a thread that may block, however warm it is.
pub(super) const ROWS_INLINE_MAX: usize = 4_096;

impl Shared {
    /// The row if the cache knows it.
    pub(crate) fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
        if self.is_closed() {
            return None;
        }
        self.look_up(&place(partition, key)).ok()
    }

    /// The row if the cache knows it, else what inserts it once it was read. A row in flight is known as long as the engine
    /// does not show the batch, which is when its bytes were synced; then a reader goes to the engine, which has it in memory.
    fn look_up(&self, place: &PlaceBytes) -> Result<Option<Row>, Option<Ticket>> {
        match self.cache.look_up(place) {
            Found::Known(row) => Ok(row),
            Found::InFlight(row, before) => {
                let is_before = self.engine().is_ok_and(|engine| engine.latest_sequence_number() == before);
                if is_before { Ok(row) } else { Err(None) }
            }
            Found::Unknown(ticket) => Err(ticket),
        }
    }

    /// One row.
    pub(crate) async fn get(
        self: &Arc<Self>,
        partition: &Partition,
        key: &[u8],
    ) -> Result<Option<Row>, Error> {
        let place = place(partition, key);
        match self.get_in_memory(&place)? {
            Some(row) => Ok(row),
            None => {
                let shared = Arc::clone(self);
                self.block(move || shared.get_from_disk(&place)).await
            }
        }
    }

    /// Many rows of one partition; what needs the disk is read by one thread that may block.
    pub(crate) async fn get_many(
        self: &Arc<Self>,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Vec<Option<Row>>, Error> {
        let mut rows = Vec::with_capacity(keys.len());
        let mut missing = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let place = place(partition, key);
            let row = self.get_in_memory(&place)?;
            if row.is_none() {
                missing.push((index, place));
            }
            rows.push(row.flatten());
        }
        if missing.is_empty() {
            return Ok(rows);
        }
        let shared = Arc::clone(self);
        let read = move || {
            let read = missing.into_iter().map(|(index, place)| Ok((index, shared.get_from_disk(&place)?)));
            read.collect::<Result<Vec<_>, Error>>()
        };
        for (index, row) in self.block(read).await? {
            if let Some(slot) = rows.get_mut(index) {
                *slot = row;
            }
        }
        Ok(rows)
    }

    /// A run of rows.
    pub(crate) async fn scan(
        self: &Arc<Self>,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let Some((start, end)) = bounds(partition, range) else {
            return self.engine().map(|_| Page::default());
        };
        if rows_max <= ROWS_INLINE_MAX
            && let Some(page) = self.scan_once(partition, (&start, &end), direction, rows_max, TIER_MEMORY)?
        {
            return Ok(page);
        }
        let (shared, partition) = (Arc::clone(self), partition.clone());
        let read = move || shared.scan_once(&partition, (&start, &end), direction, rows_max, TIER_DISK);
        let page = self.block(read).await?;
        page.ok_or_else(|| Error::new(ErrorKind::Unavailable, "scan: the engine read no disk"))
    }

    /// The row if no disk is needed; `None` if it is.
    pub(super) fn get_in_memory(&self, place: &PlaceBytes) -> Result<Option<Option<Row>>, Error> {
        if self.is_closed() {
            return self.engine().map(|_| None);
        }
        match self.look_up(place) {
            Ok(row) => Ok(Some(row)),
            Err(ticket) => self.read_row(place, ticket, TIER_MEMORY),
        }
    }

    pub(super) fn get_from_disk(&self, place: &PlaceBytes) -> Result<Option<Row>, Error> {
        match self.look_up(place) {
            Ok(row) => Ok(row),
            Err(ticket) => {
                let row = self.read_row(place, ticket, TIER_DISK)?;
                row.ok_or_else(|| Error::new(ErrorKind::Unavailable, "get: the engine read no disk"))
            }
        }
    }

    /// Reads from the engine and settles in the cache what it found; `None` if the tier is too low.
    fn read_row(
        &self,
        place: &PlaceBytes,
        ticket: Option<Ticket>,
        disk: bool,
    ) -> Result<Option<Option<Row>>, Error> {
        let options = read_options(disk);
        let engine = self.engine()?;
        let row = match engine.get_pinned_opt(place, &options) {
            Ok(None) => None,
            Ok(Some(bytes)) => {
                Some(Stored::parse(&bytes).ok_or_else(|| damaged("a row"))?.to_row(self.incarnation))
            }
            Err(error) if error.kind() == Cause::Incomplete => return Ok(None),
            Err(error) => return Err(engine_failed(self.path(), "read", error)),
        };
        // Plain rows are not cached, nor what is found by scans (in append spaces that is stamped, too).
        let is_stamped = |row: &Row| number_of_stamp(row.stamp) != 0;
        if let Some(ticket) = ticket.filter(|_| row.as_ref().is_none_or(is_stamped) && is_point(place)) {
            self.cache.insert(ticket, place, row.as_ref());
        }
        Ok(Some(row))
    }

    /// One page, or `None` if the tier is too low for it.
    pub(super) fn scan_once(
        &self,
        partition: &Partition,
        (start, end): (&PlaceBytes, &PlaceBytes),
        direction: Direction,
        rows_max: usize,
        disk: bool,
    ) -> Result<Option<Page>, Error> {
        let engine = self.engine()?;
        let rows = engine.raw_iterator_opt(scan_options((start, end), disk));
        self.page_of(rows, partition, (start, end), direction, rows_max)
    }

    /// The page that an iterator within the bounds gives; `None` if its tier is too low.
    pub(super) fn page_of(
        &self,
        mut rows: DBRawIterator<'_>,
        partition: &Partition,
        (start, end): (&PlaceBytes, &PlaceBytes),
        direction: Direction,
        rows_max: usize,
    ) -> Result<Option<Page>, Error> {
        match direction {
            Direction::Forward => rows.seek(start),
            Direction::Backward => rows.seek_for_prev(end),
        }
        let mut page = Page::default();
        fill(&mut page, &mut rows, partition, direction, rows_max)?;
        match rows.status() {
            Ok(()) => Ok(Some(page)),
            Err(error) if error.kind() == Cause::Incomplete => Ok(None),
            Err(error) => Err(engine_failed(self.path(), "scan", error)),
        }
    }

    /// Runs what may wait for the disk where that harms nobody.
    pub(crate) async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(Error::new(ErrorKind::Unavailable, "read").with_source(error)))
    }
}

fn fill(
    page: &mut Page,
    rows: &mut DBRawIterator<'_>,
    partition: &Partition,
    direction: Direction,
    rows_max: usize,
) -> Result<(), Error> {
    while let Some((place, value)) = rows.item() {
        if page.len() >= rows_max || page.bytes() >= PAGE_BYTES_MAX {
            page.set_more(true);
            return Ok(());
        }
        let key = row_key(place, partition).ok_or_else(|| damaged("a row"))?;
        let stored = Stored::parse(value).ok_or_else(|| damaged("a row"))?;
        page.push(key, stored.value);
        match direction {
            Direction::Forward => rows.next(),
            Direction::Backward => rows.prev(),
        }
    }
    Ok(())
}
