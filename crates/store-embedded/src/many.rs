//! Many ranges of a snapshot, read with one iterator of the engine: making and dropping one costs more than the rows of a short range.
//!
//! The ranges are read in the order of their places. The iterator has the bounds of all of them together; where a range ends is seen by
//! its rows' keys. It often stands at the first row of a range already, or a few rows before; else it is moved by a seek.

use rocksdb::{DBRawIterator, ErrorKind as Cause, Snapshot};
use store_contract::place::{PlaceBytes, bounds_of, head_bytes};
use store_contract::{Error, RangeList, RangePages, ScanLimits};

use super::failure::engine_failed;
use super::format::{Stored, damaged};
use super::read_options::{many_options, scan_options};
use super::shared::Shared;

/// A seek costs about as much as so many rows.
const SEEK_ROWS: usize = 6;

/// What became of a range.
enum Found {
    Whole,
    /// There are rows behind.
    More,
    /// What comes next is not in memory, or lies behind too many removed rows.
    Stopped,
}

/// A range in places.
struct Bounds {
    start: PlaceBytes,
    end: PlaceBytes,
    head: usize,
}

/// Reads ranges that were not read yet, in the order of their first keys, until the limits are reached; false if the tier is too low
/// for one of them.
pub(super) fn read_ranges(
    shared: &Shared,
    snapshot: &Snapshot<'_>,
    (ranges, order): (&RangeList, &[u32]),
    limits: ScanLimits,
    pages: &mut RangePages,
    disk: bool,
) -> Result<bool, Error> {
    let mut unread = order.iter().map(|index| *index as usize).filter(|index| !pages.is_read(*index));
    let bounds = |index: usize| bounds_of(ranges.range(index));
    let last = unread.clone().rev().find_map(bounds);
    let Some(((first, _), (_, end))) = unread.find_map(bounds).zip(last) else {
        mark_empty(order, pages);
        return Ok(true);
    };
    let rows = snapshot.raw_iterator_opt(many_options((&first, &end), disk));
    let mut reading = Reading { rows, passed: None, left: limits.rows.max(1), limits, shared };
    for index in order.iter().map(|index| *index as usize) {
        if pages.is_read(index) {
            continue;
        }
        if reading.left == 0 || pages.bytes() >= limits.bytes {
            break;
        }
        pages.begin_range(index);
        let range = ranges.range(index);
        let found = match bounds_of(range) {
            None => Found::Whole,
            Some((start, last)) => {
                let bounds = Bounds { start, end: last, head: head_bytes(range.partition) };
                reading.read_within(snapshot, &end, &bounds, (pages, index), disk)?
            }
        };
        match found {
            Found::Whole => pages.end_range(index, false),
            Found::More => pages.end_range(index, true),
            Found::Stopped => {
                pages.undo_range(index);
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Ends ranges that hold nothing.
fn mark_empty(order: &[u32], pages: &mut RangePages) {
    for index in order.iter().map(|index| *index as usize) {
        if !pages.is_read(index) {
            pages.begin_range(index);
            pages.end_range(index, false);
        }
    }
}

struct Reading<'a> {
    rows: DBRawIterator<'a>,
    /// The end of the range that was read last: no row from there on was passed. `None`: the iterator must be moved by a seek.
    passed: Option<PlaceBytes>,
    /// So many rows may still be read.
    left: usize,
    limits: ScanLimits,
    shared: &'a Shared,
}

impl Reading<'_> {
    /// Reads the first rows of a range; by itself if it goes beyond the bound of the iterator, or if too many removed rows lie behind it.
    fn read_within(
        &mut self,
        snapshot: &Snapshot<'_>,
        bound: &PlaceBytes,
        bounds: &Bounds,
        (pages, index): (&mut RangePages, usize),
        disk: bool,
    ) -> Result<Found, Error> {
        if bounds.end > *bound {
            return self.read_alone(snapshot, bounds, pages, disk);
        }
        let found = self.read(bounds, pages)?;
        if disk && matches!(found, Found::Stopped) {
            pages.undo_range(index);
            return self.read_alone(snapshot, bounds, pages, disk);
        }
        Ok(found)
    }

    /// Reads the first rows of a range.
    fn read(&mut self, bounds: &Bounds, pages: &mut RangePages) -> Result<Found, Error> {
        self.move_to(&bounds.start);
        let found = self.take(bounds, pages)?;
        self.passed = match found {
            Found::Whole | Found::More => Some(bounds.end.clone()),
            Found::Stopped => None,
        };
        Ok(found)
    }

    /// Moves the iterator to the first row from a place on. Ranges come in the order of their starts: where this one does not begin in the
    /// one before, none of its rows was passed.
    fn move_to(&mut self, start: &PlaceBytes) {
        let is_behind = |place: &[u8]| place >= start.as_slice();
        if self.passed.as_ref().is_none_or(|end| start < end) {
            self.rows.seek(start);
            return;
        }
        for _ in 0..SEEK_ROWS {
            if self.rows.key().is_none_or(is_behind) {
                return;
            }
            self.rows.next();
        }
        if !self.rows.key().is_none_or(is_behind) {
            self.rows.seek(start);
        }
    }

    /// Copies rows up to the end of a range, or a limit.
    fn take(&mut self, bounds: &Bounds, pages: &mut RangePages) -> Result<Found, Error> {
        let (mut count, begun) = (0, pages.bytes());
        while let Some((place, value)) = self.rows.item() {
            if place >= bounds.end.as_slice() {
                return Ok(Found::Whole);
            }
            let is_full = count >= self.limits.rows_each || pages.bytes() - begun >= self.limits.bytes_each;
            if count > 0 && (is_full || self.left == 0) {
                return Ok(Found::More);
            }
            let key = place.get(bounds.head..).ok_or_else(|| damaged("a row"))?;
            let stored = Stored::parse(value).ok_or_else(|| damaged("a row"))?;
            pages.push(key, stored.value);
            count += 1;
            self.left = self.left.saturating_sub(1);
            self.rows.next();
        }
        match self.rows.status() {
            Ok(()) => Ok(Found::Whole),
            Err(error) if error.kind() == Cause::Incomplete => Ok(Found::Stopped),
            Err(error) => Err(engine_failed(self.shared.path(), "scan", error)),
        }
    }

    /// Reads the first rows of a range with an iterator that ends with it, so that nothing behind it is skipped.
    fn read_alone(
        &mut self,
        snapshot: &Snapshot<'_>,
        bounds: &Bounds,
        pages: &mut RangePages,
        disk: bool,
    ) -> Result<Found, Error> {
        let rows = snapshot.raw_iterator_opt(scan_options((&bounds.start, &bounds.end), disk));
        let mut alone =
            Reading { rows, passed: None, left: self.left, limits: self.limits, shared: self.shared };
        let found = alone.read(bounds, pages);
        self.left = alone.left;
        found
    }
}
