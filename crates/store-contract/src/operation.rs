//! What goes in and comes out: commits, rows, pages, changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytes::Bytes;

use crate::{ChangeRecord, Cursor, Epoch, Error, ErrorKind, Partition, Stamp};

/// A page of a scan ends at the row that reaches this many bytes.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Names one commit for ever; chosen by the caller, random or ordered, never reused.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WriteId(pub u128);

/// What must hold of a row for a commit to happen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Condition {
    /// No row has this key.
    Absent(Bytes),
    /// Some row has this key.
    Present(Bytes),
    /// The stamped row with this key has this version.
    Version(Bytes, Stamp),
    /// The partition is in this epoch still (`store::Store::fence`).
    Fence(Epoch),
}

impl Condition {
    /// The key of the row, if it asks for one.
    #[inline]
    pub fn key(&self) -> Option<&Bytes> {
        match self {
            Self::Absent(key) | Self::Present(key) | Self::Version(key, _) => Some(key),
            Self::Fence(_) => None,
        }
    }

    /// Why a commit is refused of which this does not hold.
    pub fn refusal(&self) -> Error {
        match self {
            Self::Absent(_) | Self::Present(_) | Self::Version(..) => {
                Error::new(ErrorKind::Conflict, "commit: a condition does not hold")
            }
            Self::Fence(_) => Error::new(ErrorKind::Fenced, "commit: its epoch is over"),
        }
    }
}

/// One change of one row.
///
/// A key that begins with a capital letter (A to Z) is that of a row which is found by scans only, as index rows are: no
/// condition names it, it carries no stamp, and engines keep neither filter nor cache for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Write {
    /// A plain row (an index row, say): key, value.
    Put(Bytes, Bytes),
    /// A row that carries stamp and write id of its commit, so that conditions can name its version.
    PutStamped(Bytes, Bytes),
    /// Removes the row with this key, if there is one.
    Delete(Bytes),
    /// Removes every row in the range.
    DeleteRange(Range),
}

impl Write {
    /// The key of the row, or the first of the range.
    #[inline]
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Put(key, _) | Self::PutStamped(key, _) | Self::Delete(key) => key,
            Self::DeleteRange(range) => &range.start,
        }
    }
}

/// Rows, their index rows and their change record: one atom in one partition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Commit {
    /// Where; its space must be a commit space.
    pub partition: Partition,
    /// Names the commit, so that a retry can tell its own success from another's.
    pub write_id: WriteId,
    /// All must hold, or nothing is written and the answer is a conflict.
    pub conditions: Vec<Condition>,
    /// A set: each key at most once, and none in a range that is removed ([`crate::later_wins`] makes one). Their order has no
    /// meaning.
    pub writes: Vec<Write>,
    /// What `store::Store::feed` tells of it; meaning is the model's own. Of a commit that says nothing it tells nothing.
    pub change: Option<ChangeRecord>,
    /// Whether it makes room, though it does not only remove: it rewrites what is left, or notes what is to go next. Such a
    /// commit is taken on a nearly full disk, too.
    pub reclaims: bool,
}

impl Commit {
    /// One that writes nothing, to begin an epoch with. It goes with making room: sweeps begin so.
    pub fn of_bump(partition: &Partition, conditions: Vec<Condition>) -> Self {
        let (write_id, writes, change) = (WriteId::default(), Vec::new(), None);
        Self { partition: partition.clone(), write_id, conditions, writes, change, reclaims: true }
    }

    /// Bytes of its keys, values and change record: what limits count.
    #[inline]
    pub fn bytes(&self) -> usize {
        let of_write = |write: &Write| match write {
            Write::Put(key, value) | Write::PutStamped(key, value) => key.len().saturating_add(value.len()),
            Write::Delete(key) => key.len(),
            Write::DeleteRange(range) => range.start.len() + range.end.as_ref().map_or(0, Bytes::len),
        };
        let conditions = self.conditions.iter().filter_map(Condition::key).map(Bytes::len);
        let record = self.change.as_ref().map_or(0, ChangeRecord::bytes);
        self.writes.iter().map(of_write).chain(conditions).fold(record, usize::saturating_add)
    }
}

/// What became of a commit whose acknowledgement was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It is durable.
    Committed(Stamp),
    /// It never happened and never will.
    NotCommitted,
}

/// A row read by its key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// The version, for rows written with [`Write::PutStamped`]; the default one for plain rows. Of rows of append spaces it
    /// says nothing.
    pub stamp: Stamp,
    /// The commit that wrote it; zero for plain rows. Of rows of append spaces it says nothing.
    pub write_id: WriteId,
    /// The value as it was written; shares memory with the cache.
    pub value: Bytes,
}

/// Keys from `start` (included) to `end` (excluded; `None`: to the end of the partition).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Range {
    /// The first key of the range.
    pub start: Bytes,
    /// The first key after the range.
    pub end: Option<Bytes>,
}

impl Range {
    /// All keys that start with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start: Bytes = prefix.into();
        let end = prefix_end(&start);
        Self { start, end }
    }

    /// The part of it behind the row with this key.
    #[must_use]
    pub fn after_key(&self, key: &[u8]) -> Self {
        Self { start: [key, &[0]].concat().into(), end: self.end.clone() }
    }

    /// The part of it behind a page that was read of it, forward; `None` if the page was the last.
    #[must_use]
    pub fn after_page(&self, page: &Page) -> Option<Self> {
        page.last_key().filter(|_| page.more()).map(|last| self.after_key(last))
    }
}

/// A range of a partition, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct RangeRef<'a> {
    /// Whose rows.
    pub partition: &'a Partition,
    /// The first key of the range.
    pub start: &'a [u8],
    /// The first key after the range; `None`: to the end of the partition.
    pub end: Option<&'a [u8]>,
}

impl RangeRef<'_> {
    /// A copy of the range.
    pub fn to_range(self) -> Range {
        let copy = Bytes::copy_from_slice;
        Range { start: copy(self.start), end: self.end.map(copy) }
    }
}

/// The first key after all keys with this prefix; `None` if there is none.
pub(crate) fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let (last, head) = prefix.get(..=last)?.split_last()?;
    let mut end = head.to_vec();
    end.push(last.saturating_add(1));
    Some(end.into())
}

/// Which way a scan goes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys, starting below the range's end.
    Backward,
}

/// A run of rows from a scan, packed into one buffer: no allocation per row.
#[derive(Clone, Debug, Default)]
pub struct Page {
    buffer: Vec<u8>,
    /// End of key and end of value of every row, as offsets in `buffer`.
    ends: Vec<(u32, u32)>,
    more: bool,
}

impl Page {
    /// Adds a row; used by engines.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.buffer.extend_from_slice(key);
        let key_end = self.end();
        self.buffer.extend_from_slice(value);
        let end = self.end();
        self.ends.push((key_end, end));
    }

    #[inline]
    fn end(&self) -> u32 {
        u32::try_from(self.buffer.len()).expect("engines end a page long before 4 GiB")
    }

    /// Says that the range holds rows beyond this page; used by engines.
    #[inline]
    pub fn set_more(&mut self, more: bool) {
        self.more = more;
    }

    /// How many bytes the page holds; engines end a page at a limit.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// How many rows the page holds.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the page holds no row.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether the range holds rows beyond this page.
    #[inline]
    pub fn more(&self) -> bool {
        self.more
    }

    /// Key and value of the row at `index`. Values are as written: stamps are not part of them.
    #[inline]
    pub fn row(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let start = match index.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before)?.1,
        };
        let (key_end, end) = *self.ends.get(index)?;
        let key = self.buffer.get(start as usize..key_end as usize)?;
        Some((key, self.buffer.get(key_end as usize..end as usize)?))
    }

    /// Removes all rows; the room stays.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
        self.more = false;
    }

    /// Keeps the first so many rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows);
        self.buffer.truncate(self.ends.last().map_or(0, |(_, end)| *end as usize));
    }

    /// Leaves the rows behind the first so many bytes to the next page; the first row stays.
    pub fn cut(&mut self, bytes_max: usize) {
        let fitting = self.ends.iter().take_while(|(_, end)| *end as usize <= bytes_max).count().max(1);
        if fitting < self.ends.len() {
            self.truncate(fitting);
            self.more = true;
        }
    }

    /// One page of several that scan the same range forward, each in a partition of its own: in the order of keys, up to
    /// where the first of them ends that has more behind it, or to the size of a page. A scan goes on behind the last key, as with one partition.
    /// Cost: a comparison for each level of a heap, and a copy, for each row.
    pub fn merged(pages: &[Self]) -> Self {
        let known = pages.iter().filter(|page| page.more).filter_map(Self::last_key).min();
        let mut firsts: BinaryHeap<Reverse<(&[u8], usize, usize)>> = pages
            .iter()
            .enumerate()
            .filter_map(|(of, page)| Some(Reverse((page.row(0)?.0, of, 0))))
            .collect();
        let mut merged = Self { more: known.is_some(), ..Self::default() };
        while let Some(Reverse((key, of, at))) = firsts.pop() {
            if merged.bytes() >= PAGE_BYTES_MAX {
                merged.more = true;
                return merged;
            }
            if known.is_some_and(|known| key > known) {
                return merged;
            }
            let Some(page) = pages.get(of) else { continue };
            if let Some((_, value)) = page.row(at) {
                merged.push(key, value);
            }
            firsts.extend(page.row(at + 1).map(|(key, _)| Reverse((key, of, at + 1))));
        }
        merged
    }

    /// Keys and values, in the order of the scan.
    #[inline]
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> + ExactSizeIterator {
        (0..self.len()).map(|index| self.row(index).expect("an index below the length"))
    }

    /// The last key of the page: a forward scan goes on just behind it, a backward scan just before.
    #[inline]
    pub fn last_key(&self) -> Option<&[u8]> {
        self.row(self.len().checked_sub(1)?).map(|(key, _)| key)
    }
}

/// Rows that were passed over.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Skipped {
    /// How many.
    pub rows: usize,
    /// The key behind them, from which to go on: that of a row, or one where none is. `None`: nothing of the range is left.
    pub next: Option<Bytes>,
}

/// One commit as the feed tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// A reader that goes on from here has seen this change and misses none: what is behind it in the page follows, and some of what is
    /// before it may come again. Changes in the order of a page never have an older one than those before them.
    pub cursor: Cursor,
    /// Its number: it grows from change to change of its partition, with gaps, and is given again only in another incarnation.
    pub number: u64,
    /// Where it happened.
    pub partition: Partition,
    /// Which commit it was.
    pub write_id: WriteId,
    /// What the commit said of itself.
    pub record: ChangeRecord,
}
