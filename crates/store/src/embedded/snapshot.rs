//! Reads of the store as it was at one moment: from the cache and the engine where a row is as it was, else from a
//! snapshot of the engine.
//!
//! A row that is read live and was stamped by a commit which the snapshot certainly holds was not written since, so it is
//! the row of the snapshot: reads of what nobody changes cost what they always do, and warm the cache.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use rocksdb::{DB, ErrorKind as Cause, Snapshot};
use self_cell::self_cell;

use super::failure::engine_failed;
use super::format::{Stored, damaged};
use super::read::{ROWS_INLINE_MAX, TIER_DISK, TIER_MEMORY, read_options, scan_options};
use super::shared::Shared;
use crate::place::{PlaceBytes, bounds, place};
use crate::{Direction, Error, ErrorKind, Page, Partition, Range, Row};

/// How long a snapshot can be read: so long the engine keeps what is overwritten and removed meanwhile.
pub const SNAPSHOT_AGE_MAX: Duration = Duration::from_secs(3600);

self_cell! {
    /// The engine, and its snapshot.
    struct Pinned {
        owner: Arc<DB>,
        #[covariant]
        dependent: Snapshot,
    }
}

/// Snapshots that may still be read.
#[derive(Debug, Default)]
pub(crate) struct Snapshots(Mutex<Vec<Weak<EmbeddedSnapshot>>>);

impl Snapshots {
    fn add(&self, snapshot: &Arc<EmbeddedSnapshot>) {
        let mut held = self.0.lock();
        // Those that ended by themselves are forgotten whenever the list would grow.
        if held.len() == held.capacity() {
            held.retain(|snapshot| snapshot.strong_count() > 0);
        }
        held.push(Arc::downgrade(snapshot));
    }

    /// Ends all: the engine is free once reads that run are over.
    pub(crate) fn end(&self) {
        let held = std::mem::take(&mut *self.0.lock());
        for snapshot in held.iter().filter_map(Weak::upgrade) {
            snapshot.end();
        }
    }

    /// Ends those that are older than they may be.
    pub(crate) fn end_overdue(&self) {
        let held: Vec<_> = self.0.lock().iter().filter_map(Weak::upgrade).collect();
        for snapshot in held.iter().filter(|snapshot| snapshot.taken.elapsed() > SNAPSHOT_AGE_MAX) {
            snapshot.end();
        }
    }
}

/// The engine as it was at one moment.
pub(crate) struct EmbeddedSnapshot {
    shared: Arc<Shared>,
    /// `None` once it was ended.
    pinned: RwLock<Option<Pinned>>,
    taken: Instant,
    /// It holds all commits up to this one.
    holds: u64,
    /// It holds no commit behind this one.
    ends: u64,
}

impl std::fmt::Debug for EmbeddedSnapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = formatter.debug_struct("EmbeddedSnapshot");
        debug.field("holds", &self.holds).field("ends", &self.ends).finish_non_exhaustive()
    }
}

impl EmbeddedSnapshot {
    pub(crate) fn new(shared: &Arc<Shared>) -> Result<Arc<Self>, Error> {
        // Held until the snapshot is noted: who closes the engine then knows of it.
        let engine = shared.engine()?;
        let holds = shared.sequence.load(Ordering::SeqCst);
        let pinned = Pinned::new(engine.share(), |engine| engine.snapshot());
        let ends = shared.written.load(Ordering::SeqCst);
        let pinned = RwLock::new(Some(pinned));
        let taken = Instant::now();
        let snapshot = Arc::new(Self { shared: Arc::clone(shared), pinned, taken, holds, ends });
        shared.snapshots.add(&snapshot);
        Ok(snapshot)
    }

    fn end(&self) {
        drop(self.pinned.write().take());
    }

    /// The row if the cache has it as it was.
    pub(crate) fn get_cached(&self, partition: &Partition, key: &[u8]) -> Option<Option<Row>> {
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
        (1..=self.holds).contains(&row.stamp.sequence)
    }

    /// Many rows of one partition.
    pub(crate) async fn get_many(
        self: &Arc<Self>,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Vec<Option<Row>>, Error> {
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
        let snapshot = Arc::clone(self);
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

    /// A run of rows.
    pub(crate) async fn scan(
        self: &Arc<Self>,
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
        let (snapshot, partition) = (Arc::clone(self), partition.clone());
        let read = move || snapshot.scan_once(&partition, (&start, &end), direction, rows_max, TIER_DISK);
        let page = self.shared.block(read).await?;
        page.ok_or_else(|| Error::new(ErrorKind::Unavailable, "scan: the engine read no disk"))
    }

    fn scan_once(
        &self,
        partition: &Partition,
        bounds: (&PlaceBytes, &PlaceBytes),
        direction: Direction,
        rows_max: usize,
        disk: bool,
    ) -> Result<Option<Page>, Error> {
        self.with(|snapshot| {
            let rows = snapshot.raw_iterator_opt(scan_options(bounds, disk));
            self.shared.page_of(rows, partition, bounds, direction, rows_max)
        })
    }

    /// The row as it was; `None` if the tier is too low.
    fn read_row(&self, place: &PlaceBytes, disk: bool) -> Result<Option<Option<Row>>, Error> {
        self.with(|snapshot| match snapshot.get_pinned_opt(place, read_options(disk)) {
            Ok(None) => Ok(Some(None)),
            Ok(Some(bytes)) => Ok(Some(Some(
                Stored::parse(&bytes).ok_or_else(|| damaged("a row"))?.to_row(self.shared.incarnation),
            ))),
            Err(error) if error.kind() == Cause::Incomplete => Ok(None),
            Err(error) => Err(engine_failed(self.shared.path(), "read", error)),
        })
    }

    fn with<T>(&self, read: impl FnOnce(&Snapshot<'_>) -> Result<T, Error>) -> Result<T, Error> {
        match &*self.pinned.read() {
            Some(pinned) => read(pinned.borrow_dependent()),
            None => Err(ended()),
        }
    }
}

fn ended() -> Error {
    let hours = SNAPSHOT_AGE_MAX.as_secs() / 3600;
    let action = format!(
        "read what was: a read ends after {hours} h (SNAPSHOT_AGE_MAX), and when the store is closed or opened again"
    );
    Error::new(ErrorKind::Unavailable, action)
}
