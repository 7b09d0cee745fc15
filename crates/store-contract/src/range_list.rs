//! Many ranges that are read at once: which, how much of each, and what was read.

use crate::place::{PlaceBytes, place};
use crate::{Page, Partition, Range, RangeRef};

/// Ranges of some partitions, packed into one buffer: no allocation per range. They may lie anywhere, overlap, and hold nothing.
#[derive(Clone, Debug, Default)]
pub struct RangeList {
    partitions: Vec<Partition>,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// Where a range lies in the buffer: its first key, then the first key behind it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    partition: u32,
    start: u32,
    start_end: u32,
    /// `None`: the range goes to the end of the partition.
    end: Option<u32>,
}

impl RangeList {
    /// No ranges yet, of these partitions.
    pub fn new(partitions: Vec<Partition>) -> Self {
        Self { partitions, ..Self::default() }
    }

    /// Adds a range of one of the partitions, by its number among them.
    ///
    /// # Panics
    ///
    /// If there is no such partition, or the keys are 4 GiB.
    pub fn push(&mut self, partition: usize, range: &Range) {
        let start_end = self.begin(partition, &range.start);
        if let Some(end) = &range.end {
            self.bytes.extend_from_slice(end);
            self.set_end(start_end);
        }
    }

    /// Adds the range of all keys that start with `prefix`. Cost: two copies of it.
    ///
    /// # Panics
    ///
    /// As [`RangeList::push`].
    #[inline]
    pub fn push_prefix(&mut self, partition: usize, prefix: &[u8]) {
        let start_end = self.begin(partition, prefix);
        if let Some(last) = prefix.iter().rposition(|byte| *byte != u8::MAX) {
            self.bytes.extend_from_slice(prefix.get(..=last).expect("a position within it"));
            *self.bytes.last_mut().expect("a byte that was just added") += 1;
            self.set_end(start_end);
        }
    }

    fn begin(&mut self, partition: usize, first: &[u8]) -> usize {
        assert!(partition < self.partitions.len(), "a partition of the list");
        let start = self.bytes.len();
        self.bytes.extend_from_slice(first);
        let (start, start_end) = (offset(start), offset(self.bytes.len()));
        self.entries.push(Entry { partition: offset(partition), start, start_end, end: None });
        self.bytes.len()
    }

    fn set_end(&mut self, start_end: usize) {
        let end = offset(self.bytes.len());
        let entry = self.entries.last_mut().expect("a range that was just added");
        debug_assert!(entry.start_end as usize == start_end, "its own end");
        entry.end = Some(end);
    }

    /// Removes all ranges; the partitions stay.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// How many ranges there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The partitions.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// A range by its number.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn range(&self, number: usize) -> RangeRef<'_> {
        let entry = self.entries.get(number).expect("a range of the list");
        let part = |from: u32, to: u32| {
            self.bytes.get(from as usize..to as usize).expect("offsets of the buffer, in order")
        };
        RangeRef {
            partition: self.partitions.get(entry.partition as usize).expect("a partition of the list"),
            start: part(entry.start, entry.start_end),
            end: entry.end.map(|end| part(entry.start_end, end)),
        }
    }

    /// The numbers of the ranges in the order of their first keys, partition by partition as they lie in an engine. Cost: a sort,
    /// unless they are in order.
    pub fn in_order(&self) -> Vec<u32> {
        let heads: Vec<PlaceBytes> = self.partitions.iter().map(|partition| place(partition, &[])).collect();
        let key = |number: &u32| {
            let entry = self.entries.get(*number as usize).expect("a range of the list");
            let head = heads.get(entry.partition as usize).expect("a partition of the list");
            (head, self.bytes.get(entry.start as usize..entry.start_end as usize))
        };
        let mut order: Vec<u32> = (0..offset(self.entries.len())).collect();
        if !order.is_sorted_by_key(key) {
            order.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
        }
        order
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("ranges of far less than 4 GiB")
}

/// How much is read of many ranges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScanLimits {
    /// The most rows of one range.
    pub rows_each: usize,
    /// A range ends at the row with which it has so many bytes.
    pub bytes_each: usize,
    /// About so many rows are read in one call.
    pub rows: usize,
    /// No further range is begun once all together have so many bytes.
    pub bytes: usize,
}

/// What was read of the ranges of a [`RangeList`], packed into one buffer: no allocation per row or range.
#[derive(Clone, Debug, Default)]
pub struct RangePages {
    rows: Page,
    runs: Vec<Run>,
    unread: usize,
}

/// The rows of a range, among all.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    end: u32,
    state: RunState,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RunState {
    Unread,
    /// There are rows behind.
    Begun,
    Whole,
}

impl RangePages {
    /// Nothing was read yet of so many ranges.
    pub fn of_unread(ranges: usize) -> Self {
        let mut pages = Self::default();
        pages.begin(ranges);
        pages
    }

    /// Forgets what was read; nothing was read yet of so many ranges. Buffers stay.
    pub fn begin(&mut self, ranges: usize) {
        self.rows.clear();
        self.runs.clear();
        self.runs.resize(ranges, Run { first: 0, end: 0, state: RunState::Unread });
        self.unread = ranges;
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many ranges nothing is known of yet.
    #[inline]
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Bytes of all keys and values.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }

    /// How many rows all ranges together have.
    pub fn rows_read(&self) -> usize {
        self.rows.len()
    }

    /// Whether a range was read, if only its first rows.
    #[inline]
    pub fn is_read(&self, range: usize) -> bool {
        self.run(range).state != RunState::Unread
    }

    /// Whether a range has rows behind those that were read, or was not read.
    #[inline]
    pub fn more(&self, range: usize) -> bool {
        self.run(range).state != RunState::Whole
    }

    /// Keys and values that were read of a range, in order.
    #[inline]
    pub fn rows(&self, range: usize) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        let run = self.run(range);
        (run.first..run.end).map(|index| self.rows.row(index as usize).expect("rows that were read"))
    }

    /// The last key that was read of a range.
    pub fn last_key(&self, range: usize) -> Option<&[u8]> {
        let run = self.run(range);
        if run.first == run.end { None } else { Some(self.rows.row(run.end as usize - 1)?.0) }
    }

    /// The part of a range that was not read; `None` if it was read wholly.
    pub fn rest(&self, list: &RangeList, range: usize) -> Option<Range> {
        let whole = self.more(range).then(|| list.range(range).to_range())?;
        Some(match self.last_key(range) {
            Some(last) => whole.after_key(last),
            None => whole,
        })
    }

    /// Begins to read a range; used by engines. Its rows are pushed one after another, then it is ended.
    #[inline]
    pub fn begin_range(&mut self, range: usize) {
        let at = offset(self.rows.len());
        let run = self.run_mut(range);
        debug_assert!(run.state == RunState::Unread, "a range is read once");
        (run.first, run.end) = (at, at);
    }

    /// Adds a row to the range that was begun last; used by engines.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.rows.push(key, value);
    }

    /// Ends the range that was begun last; used by engines.
    #[inline]
    pub fn end_range(&mut self, range: usize, more: bool) {
        let end = offset(self.rows.len());
        let run = self.run_mut(range);
        run.end = end;
        run.state = if more { RunState::Begun } else { RunState::Whole };
        self.unread -= 1;
    }

    /// Forgets the rows of the range that was begun last, which stays unread; used by engines.
    pub fn undo_range(&mut self, range: usize) {
        let first = self.run(range).first;
        self.rows.truncate(first as usize);
    }

    #[inline]
    fn run(&self, range: usize) -> &Run {
        self.runs.get(range).expect("a range that was asked for")
    }

    #[inline]
    fn run_mut(&mut self, range: usize) -> &mut Run {
        self.runs.get_mut(range).expect("a range that was asked for")
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::testing::things;

    #[test]
    fn a_list_has_the_ranges_that_were_pushed() {
        let mut list = RangeList::new(vec![things(7), things(0)]);
        let prefixes = [&b"k"[..], b"", b"k\xff", b"\xff\xff", b"a"];
        for (at, prefix) in prefixes.iter().enumerate() {
            list.push_prefix(at % 2, prefix);
            list.push(at % 2, &Range::prefix(prefix.to_vec()));
        }
        for (at, prefix) in prefixes.iter().enumerate() {
            for number in [2 * at, 2 * at + 1] {
                let range = list.range(number);
                assert_eq!(range.to_range(), Range::prefix(prefix.to_vec()));
                assert_eq!(*range.partition, things(if at % 2 == 0 { 7 } else { 0 }));
            }
        }
        let mut places: Vec<_> = list.in_order().iter().map(|at| list.range(*at as usize)).collect();
        assert_eq!(places.len(), list.len());
        let order = |range: &RangeRef<'_>| place(range.partition, range.start);
        assert!(places.is_sorted_by_key(order));
        places.sort_by_key(order);
        list.clear();
        assert!(list.is_empty() && list.in_order().is_empty());
    }

    #[test]
    fn pages_say_what_is_left_of_each_range() {
        let mut list = RangeList::new(vec![things(0)]);
        ["a", "b", "c"].iter().for_each(|prefix| list.push_prefix(0, prefix.as_bytes()));
        let mut pages = RangePages::of_unread(list.len());
        assert_eq!((pages.unread(), pages.rest(&list, 2)), (3, Some(Range::prefix("c"))));
        pages.begin_range(1);
        pages.push(b"b1", b"one");
        pages.end_range(1, true);
        pages.begin_range(0);
        pages.push(b"a1", b"undone");
        pages.undo_range(0);
        pages.begin_range(2);
        pages.end_range(2, false);
        assert_eq!((pages.unread(), pages.rows_read(), pages.bytes()), (1, 1, 5));
        assert_eq!(pages.rows(1).collect::<Vec<_>>(), [(&b"b1"[..], &b"one"[..])]);
        assert_eq!(pages.rest(&list, 1).unwrap(), Range::prefix("b").after_key(b"b1"));
        assert_eq!((pages.rest(&list, 0), pages.is_read(0)), (Some(Range::prefix("a")), false));
        assert_eq!((pages.rest(&list, 2), pages.more(2), pages.last_key(2)), (None, false, None));
        pages.begin(1);
        assert_eq!((pages.len(), pages.unread(), pages.rows(0).len()), (1, 1, 0));
        assert_eq!(Bytes::copy_from_slice(list.range(0).start), "a");
    }
}
