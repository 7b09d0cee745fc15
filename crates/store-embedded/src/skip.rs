//! Passing over rows: by what is remembered of their number (`counted.rs`), else by a walk over their keys.

use std::sync::Arc;

use bytes::Bytes;
use rocksdb::ErrorKind as Cause;

use super::counted::Ahead;
use super::failure::engine_failed;
use super::read_options::{TIER_DISK, TIER_MEMORY, scan_options};
use super::shared::{Engine, Shared};
use store_contract::limits::SKIP_ROWS_MAX;
use store_contract::place::{PlaceBytes, bounds, head_bytes, place};
use store_contract::{Error, ErrorKind, Partition, Range, Skipped};

/// So many rows are walked here; more on a thread that may block.
pub(super) const ROWS_INLINE_MAX: usize = 2_048;
/// What a seek costs, in rows: a run has one even if it holds nothing.
const SEEK_ROWS: usize = 64;

/// Rows that were passed over, and the place behind them; `None`: nothing of the range is left.
type Passed = (usize, Option<PlaceBytes>);

impl Shared {
    /// Passes over rows of a range from a key on.
    pub(crate) async fn skip(
        self: &Arc<Self>,
        partition: &Partition,
        range: &Range,
        from: &[u8],
        rows_max: usize,
    ) -> Result<Skipped, Error> {
        let Some((start, end)) = bounds(partition, range) else {
            return self.engine().map(|_| Skipped::default());
        };
        let at = place(partition, from).max(start.clone());
        let inline = self.pass((&start, &end), at.clone(), rows_max, (ROWS_INLINE_MAX, TIER_MEMORY))?;
        let (done, at) = match inline {
            Some((rows, Some(next))) if rows < rows_max => (rows, next),
            Some((rows, next)) => return Ok(skipped(partition, (rows, next))),
            None => (0, at),
        };
        let shared = Arc::clone(self);
        let walk = move || shared.pass((&start, &end), at, rows_max - done, (SKIP_ROWS_MAX, TIER_DISK));
        let passed = self.block(walk).await?;
        let (rows, next) =
            passed.ok_or_else(|| Error::new(ErrorKind::Unavailable, "skip: the engine read no disk"))?;
        Ok(skipped(partition, (done + rows, next)))
    }

    /// Passes over rows until a part of them was walked; `None` if the tier is too low.
    pub(super) fn pass(
        &self,
        (start, end): (&PlaceBytes, &PlaceBytes),
        mut at: PlaceBytes,
        rows_max: usize,
        (walk_max, disk): (usize, bool),
    ) -> Result<Option<Passed>, Error> {
        let engine = self.engine()?;
        let (mut passed, mut walked) = (0, 0);
        loop {
            let ahead = self.counted.ahead((start, end), &at, rows_max - passed);
            passed += ahead.rows;
            at = ahead.at.as_ref().into();
            if at >= *end {
                return Ok(Some((passed, None)));
            }
            if passed == rows_max || walked >= walk_max {
                return Ok(Some((passed, Some(at))));
            }
            let Some((rows, next, cost)) =
                self.walk(&engine, (start, end), &ahead, (rows_max - passed, disk))?
            else {
                return Ok(None);
            };
            passed += rows;
            walked += cost;
            at = next;
        }
    }

    /// Walks over the rows of one run at the most, and notes how many they are if they are all of it, or its first part if it
    /// is to be split: how many were passed over, the place behind them, and what it cost in rows; `None` if the tier is too low.
    fn walk(
        &self,
        engine: &Engine<'_>,
        (start, end): (&PlaceBytes, &PlaceBytes),
        ahead: &Ahead,
        (rows_max, disk): (usize, bool),
    ) -> Result<Option<(usize, PlaceBytes, usize)>, Error> {
        let (at, until) = (PlaceBytes::from(&*ahead.at), PlaceBytes::from(&*ahead.until));
        let run_rows = self.counted.run_rows();
        let mut rows = engine.raw_iterator_opt(scan_options((&at, &until), disk));
        rows.seek(&at);
        let (mut count, mut behind_first) = (0, None);
        while rows.valid() && count < ahead.count_max.min(rows_max) {
            if count == run_rows {
                behind_first = rows.key().map(PlaceBytes::from);
            }
            rows.next();
            count += 1;
        }
        match rows.status() {
            Ok(()) => {}
            Err(error) if error.kind() == Cause::Incomplete => return Ok(None),
            Err(error) => return Err(engine_failed(self.path(), "skip", error)),
        }
        let (cost, mut next) = (count.max(SEEK_ROWS), rows.key().map(PlaceBytes::from));
        let is_noted = count == ahead.count_max || next.is_none();
        if is_noted && next.is_some() && behind_first.is_some() {
            (count, next) = (run_rows, behind_first);
        }
        let next = next.unwrap_or(until);
        if let Some(ticket) = ahead.ticket.filter(|_| is_noted) {
            self.counted.note((start, end), ticket, (&at, &next), count);
        }
        Ok(Some((count, next, cost)))
    }
}

/// What was passed over, in keys of the partition.
fn skipped(partition: &Partition, (rows, next): Passed) -> Skipped {
    let key = |place: PlaceBytes| {
        Bytes::copy_from_slice(place.get(head_bytes(partition)..).expect("a place of this partition"))
    };
    Skipped { rows, next: next.map(key) }
}
