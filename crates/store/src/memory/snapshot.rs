//! The engine in memory as it was at one moment: what is there, with what was undone of later writes. Or, as an engine
//! would do it that keeps nothing of what was: a read that is validated, and ends with the first write of its partition.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{Memory, State, fill};
use crate::{
    Direction, Error, ErrorKind, Page, Partition, Range, RangeList, RangePages, Row, ScanLimits, SpaceKind,
};
use store_contract::place::{PlaceBytes, bounds, head_bytes, place};

/// What rows were at the moment of a snapshot, of those that were written since.
type Undone = Mutex<BTreeMap<PlaceBytes, Option<Row>>>;

/// Snapshots that are still read.
#[derive(Debug, Default)]
pub(super) struct Snapshots(Vec<Weak<Undone>>);

impl Snapshots {
    /// Notes a row that is about to be written. Cost: a copy for each snapshot that does not have it.
    pub(super) fn note(&mut self, place: &PlaceBytes, rows: &BTreeMap<PlaceBytes, Row>) {
        self.0.retain(|snapshot| {
            let Some(undone) = snapshot.upgrade() else { return false };
            undone.lock().entry(place.clone()).or_insert_with(|| rows.get(place).cloned());
            true
        });
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The engine as it was at one moment.
#[derive(Debug)]
pub(crate) struct MemorySnapshot {
    memory: Arc<Memory>,
    kept: Kept,
}

/// What a snapshot keeps.
#[derive(Debug)]
enum Kept {
    Undone(Arc<Undone>),
    /// How often each partition had been written when it was first read.
    Seen(Mutex<HashMap<Partition, u64>>),
}

impl MemorySnapshot {
    pub(crate) fn new(memory: &Arc<Memory>) -> Result<Self, Error> {
        let mut state = memory.state.write();
        state.open()?;
        let kept = if memory.validates {
            Kept::Seen(Mutex::default())
        } else {
            let undone = Arc::new(Undone::default());
            state.snapshots.0.push(Arc::downgrade(&undone));
            Kept::Undone(undone)
        };
        Ok(Self { memory: Arc::clone(memory), kept })
    }

    /// What was undone; an empty set for a read that is validated, and still valid.
    fn undone(&self, state: &State, partition: &Partition) -> Result<Arc<Undone>, Error> {
        match &self.kept {
            Kept::Undone(undone) => Ok(Arc::clone(undone)),
            // Rows of append spaces are reached through others: what those mean is there, or they are changed by now.
            Kept::Seen(_) if partition.space.kind == SpaceKind::Append => Ok(Arc::default()),
            Kept::Seen(seen) => {
                let now = state.versions.get(partition).copied().unwrap_or(0);
                if *seen.lock().entry(partition.clone()).or_insert(now) == now {
                    return Ok(Arc::default());
                }
                let action = "read several pages: a commit came between them";
                Err(Error::new(ErrorKind::Changed, action))
            }
        }
    }

    pub(crate) fn get(&self, partition: &Partition, key: &[u8]) -> Result<Option<Row>, Error> {
        let state = self.memory.state.read();
        state.check(partition)?;
        let place = place(partition, key);
        match self.undone(&state, partition)?.lock().get(&place) {
            Some(row) => Ok(row.clone()),
            None => Ok(state.rows.get(&place).cloned()),
        }
    }

    pub(crate) fn scan(
        &self,
        partition: &Partition,
        range: &Range,
        direction: Direction,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let state = self.memory.state.read();
        state.check(partition)?;
        let mut page = Page::default();
        let Some((start, end)) = bounds(partition, range) else {
            return Ok(page);
        };
        let bounds = (Bound::Included(&start[..]), Bound::Excluded(&end[..]));
        let undone = self.undone(&state, partition)?;
        let undone = undone.lock();
        let State { rows, .. } = &*state;
        let (rows, undone) = (rows.range::<[u8], _>(bounds), undone.range::<[u8], _>(bounds));
        let head = head_bytes(partition);
        match direction {
            Direction::Forward => fill(&mut page, head, merge(rows, undone, PlaceBytes::cmp), rows_max),
            Direction::Backward => {
                let backward = |one: &PlaceBytes, other: &PlaceBytes| other.cmp(one);
                fill(&mut page, head, merge(rows.rev(), undone.rev(), backward), rows_max);
            }
        }
        Ok(page)
    }
}

/// Reads ranges until the limits are reached, or `is_over` says so behind one of them.
pub(crate) fn scan_many(
    snapshot: &MemorySnapshot,
    ranges: &RangeList,
    limits: ScanLimits,
    pages: &mut RangePages,
    mut is_over: impl FnMut() -> bool,
) -> Result<(), Error> {
    let mut left = limits.rows.max(1);
    for index in (0..ranges.len()).filter(|index| !pages.is_read(*index)).collect::<Vec<_>>() {
        if left == 0 || pages.bytes() >= limits.bytes {
            return Ok(());
        }
        let range = ranges.range(index);
        let rows_max = limits.rows_each.min(left).max(1);
        let page = snapshot.scan(range.partition, &range.to_range(), Direction::Forward, rows_max)?;
        pages.begin_range(index);
        let (mut bytes, mut rows) = (0, page.rows());
        while bytes < limits.bytes_each.max(1)
            && let Some((key, value)) = rows.next()
        {
            pages.push(key, value);
            bytes += key.len() + value.len();
            left -= 1;
        }
        pages.end_range(index, page.more() || rows.len() > 0);
        if is_over() {
            return Ok(());
        }
    }
    Ok(())
}

/// The rows as they were: those of `undone` in the place of those that are there.
fn merge<'a>(
    rows: impl Iterator<Item = (&'a PlaceBytes, &'a Row)>,
    undone: impl Iterator<Item = (&'a PlaceBytes, &'a Option<Row>)>,
    order: impl Fn(&PlaceBytes, &PlaceBytes) -> Ordering,
) -> impl Iterator<Item = (&'a PlaceBytes, &'a Row)> {
    let (mut rows, mut undone) = (rows.peekable(), undone.peekable());
    std::iter::from_fn(move || {
        loop {
            let order = match (rows.peek(), undone.peek()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((row, _)), Some((was, _))) => order(row, was),
            };
            match order {
                Ordering::Less => return rows.next(),
                Ordering::Equal => drop(rows.next()),
                Ordering::Greater => {
                    if let Some((place, Some(row))) = undone.next() {
                        return Some((place, row));
                    }
                }
            }
        }
    })
}
