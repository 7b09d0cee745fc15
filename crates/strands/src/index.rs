//! The block index of a strand: where its blocks are and what they hold. The newest entries lie in the state row
//! (the tail), older ones in pages of their own, so that an append rewrites neither. Pure.

use std::ops::Range;

use bytes::Bytes;

use crate::codec::{Malformed, Summary};
use crate::fields::{put_generation, put_last, read_generation, read_last};
use crate::keys;
use crate::points::UNOBSERVED;
use crate::strand::Strand;
use store::wire::{Reader, put_f64, put_varint, put_zigzag};

/// The most entries of a page; one page takes about 7 kB.
const PAGE_ENTRIES_MAX: usize = 128;
/// The most entries in the state row.
const TAIL_ENTRIES_MAX: usize = 12;
/// Entries that stay in the state row when older ones move to a page.
const TAIL_ENTRIES_KEPT: usize = 4;

/// One sealed block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The state's generation that wrote the block: with its last time, its name.
    pub(crate) generation: u64,
    /// Nanoseconds from each point to the next, if that is the same for all; else zero.
    pub(crate) step: u64,
    /// What it holds.
    pub(crate) summary: Summary,
}

/// Where a page is and what it spans.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct PageRef {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) generation: u64,
    pub(crate) entries: u32,
}

/// The index as the state row holds it.
///
/// Invariant: spans of pages, and then of entries of the tail, ascend and never overlap.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Index {
    pub(crate) pages: Vec<PageRef>,
    pub(crate) tail: Vec<Entry>,
}

/// Pages that were read.
#[derive(Debug, Default)]
pub(crate) struct Pages(Vec<(PageRef, Vec<Entry>)>);

/// What a splice makes of an index.
#[derive(Debug, Default)]
pub(crate) struct Splice {
    pub(crate) index: Index,
    pub(crate) put: Vec<(PageRef, Bytes)>,
    pub(crate) gone: Vec<PageRef>,
}

impl Entry {
    /// Its window and key.
    pub(crate) fn row(&self, strand: &Strand) -> (i64, Bytes) {
        keys::block(strand, self.summary.last, self.generation)
    }

    /// Whether both tell of the same block. Sums are not asked: one that is not a number equals none.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let name =
            |entry: &Self| (entry.generation, entry.summary.first, entry.summary.last, entry.summary.count);
        name(self) == name(other)
    }

    /// Whether the block spans an instant of `first..=last`.
    pub(crate) fn meets(&self, first: i64, last: i64) -> bool {
        self.summary.first <= last && first <= self.summary.last
    }

    fn put(&self, out: &mut Vec<u8>, before: i64) {
        let summary = &self.summary;
        put_zigzag(out, summary.first.wrapping_sub(before));
        put_last(out, summary.first, summary.last);
        put_generation(out, self.generation);
        put_varint(out, self.step);
        put_varint(out, u64::from(summary.count));
        put_varint(out, u64::from(summary.values));
        out.push(summary.flag_max);
        let is_observed = summary.observed_first != UNOBSERVED;
        out.push(u8::from(is_observed));
        if is_observed {
            put_zigzag(out, summary.observed_first.wrapping_sub(summary.first));
            put_varint(out, summary.observed_last.wrapping_sub(summary.observed_first).cast_unsigned());
        }
        for value in [summary.min, summary.max, summary.sum, summary.sum_of_squares] {
            put_f64(out, value);
        }
    }

    fn read(reader: &mut Reader<'_>, before: i64) -> Result<Self, Malformed> {
        let first = before.wrapping_add(reader.zigzag()?);
        let last = read_last(reader, first)?;
        let generation = read_generation(reader)?;
        let step = reader.varint()?;
        let count = reader.varint_u32()?;
        let values = reader.varint_u32()?;
        let flag_max = reader.byte()?;
        let (observed_first, observed_last) = match reader.byte()? {
            0 => (UNOBSERVED, UNOBSERVED),
            1 => {
                let observed_first = first.wrapping_add(reader.zigzag()?);
                (observed_first, observed_first.wrapping_add(reader.varint()?.cast_signed()))
            }
            _ => return Err(Malformed),
        };
        let (min, max, sum, sum_of_squares) = (reader.f64()?, reader.f64()?, reader.f64()?, reader.f64()?);
        let summary = Summary {
            count,
            values,
            first,
            last,
            observed_first,
            observed_last,
            min,
            max,
            sum,
            sum_of_squares,
            flag_max,
        };
        Ok(Self { generation, step, summary })
    }
}

/// Appends entries: their number, then each beginning where the one before ended.
pub(crate) fn put_entries(out: &mut Vec<u8>, entries: &[Entry]) {
    put_varint(out, entries.len() as u64);
    let mut before = 0;
    for entry in entries {
        entry.put(out, before);
        before = entry.summary.last;
    }
}

pub(crate) fn read_entries(reader: &mut Reader<'_>) -> Result<Vec<Entry>, Malformed> {
    let count = reader.count()?;
    let mut entries = Vec::with_capacity(count.min(PAGE_ENTRIES_MAX));
    let mut before = 0;
    for _ in 0..count {
        let entry = Entry::read(reader, before)?;
        before = entry.summary.last;
        entries.push(entry);
    }
    if entries.is_sorted_by(|left, right| left.summary.last < right.summary.first) {
        Ok(entries)
    } else {
        Err(Malformed)
    }
}

impl PageRef {
    /// Its window and key.
    pub(crate) fn row(&self, strand: &Strand) -> (i64, Bytes) {
        keys::page(strand, self.first, self.generation)
    }

    fn of(entries: &[Entry], generation: u64) -> Option<Self> {
        let (first, last) = (entries.first()?.summary.first, entries.last()?.summary.last);
        Some(Self { first, last, generation, entries: u32::try_from(entries.len()).ok()? })
    }

    fn meets(&self, first: i64, last: i64) -> bool {
        self.first <= last && first <= self.last
    }
}

impl Pages {
    pub(crate) fn insert(&mut self, page: PageRef, bytes: &[u8]) -> Result<(), Malformed> {
        let mut reader = Reader::new(bytes);
        let entries = read_entries(&mut reader)?;
        reader.end()?;
        if PageRef::of(&entries, page.generation) != Some(page) {
            return Err(Malformed);
        }
        self.0.push((page, entries));
        Ok(())
    }

    pub(crate) fn holds(&self, page: &PageRef) -> bool {
        self.0.iter().any(|(held, _)| held == page)
    }

    /// The entries of a page that was read.
    pub(crate) fn entries(&self, page: &PageRef) -> Result<&[Entry], Malformed> {
        let found = self.0.iter().find(|(held, _)| held == page);
        found.map(|(_, entries)| entries.as_slice()).ok_or(Malformed)
    }
}

impl Index {
    /// First and last time of all blocks.
    pub(crate) fn extent(&self) -> Option<(i64, i64)> {
        let first = self.pages.first().map(|page| page.first);
        let first = first.or_else(|| self.tail.first().map(|entry| entry.summary.first))?;
        let last = self.tail.last().map(|entry| entry.summary.last);
        let last = last.or_else(|| self.pages.last().map(|page| page.last))?;
        Some((first, last))
    }

    pub(crate) fn blocks(&self) -> usize {
        let paged: usize = self.pages.iter().map(|page| page.entries as usize).sum();
        paged + self.tail.len()
    }

    /// Pages that span an instant of `first..=last`.
    pub(crate) fn pages_meeting(&self, first: i64, last: i64) -> impl Iterator<Item = &PageRef> {
        self.pages.iter().filter(move |page| page.meets(first, last))
    }

    /// Entries of the tail that span an instant of `first..=last`.
    pub(crate) fn tail_meeting(&self, first: i64, last: i64) -> &[Entry] {
        let from = self.tail.partition_point(|entry| entry.summary.last < first);
        let to = self.tail.partition_point(|entry| entry.summary.first <= last).max(from);
        self.tail.get(from..to).expect("both lie inside the tail")
    }

    /// Entries that span an instant of `first..=last`; their pages must have been read.
    pub(crate) fn entries_meeting(
        &self,
        pages: &Pages,
        first: i64,
        last: i64,
    ) -> Result<Vec<Entry>, Malformed> {
        let mut entries = Vec::new();
        for page in self.pages_meeting(first, last) {
            entries.extend(pages.entries(page)?.iter().filter(|entry| entry.meets(first, last)));
        }
        entries.extend_from_slice(self.tail_meeting(first, last));
        Ok(entries)
    }

    /// Which pages a splice inside `first..=last` that adds up to `added` entries works on, and whether on the tail.
    /// Where it has a choice it takes pages that `is_read`.
    fn working(
        &self,
        (first, last): (i64, i64),
        added: usize,
        is_read: impl Fn(&PageRef) -> bool,
    ) -> (Range<usize>, bool) {
        let mut from = self.pages.partition_point(|page| page.last < first);
        let to = self.pages.partition_point(|page| page.first <= last).max(from);
        let with_tail = self.pages.last().is_none_or(|page| last > page.last);
        if from == to && !with_tail {
            // A gap between pages: one of its neighbours takes what comes.
            let before = from.checked_sub(1).filter(|at| self.pages.get(*at).is_some_and(&is_read));
            return before.map_or((from..from + 1, false), |before| (before..from, false));
        }
        let moved = (self.tail.len() + added).saturating_sub(TAIL_ENTRIES_KEPT);
        let overflows = with_tail && self.tail.len() + added > TAIL_ENTRIES_MAX;
        if overflows && from == to && from > 0 {
            let has_room = |page: &PageRef| page.entries as usize + moved <= PAGE_ENTRIES_MAX;
            if self.pages.last().is_some_and(|page| has_room(page) && is_read(page)) {
                from -= 1;
            }
        }
        (from..to, with_tail)
    }

    /// The pages that [`Index::splice`] will need.
    pub(crate) fn pages_to_splice(&self, first: i64, last: i64, added: usize) -> &[PageRef] {
        let (range, _) = self.working((first, last), added, |_| true);
        self.pages.get(range).expect("a range of pages")
    }

    /// The index without the entries that `is_removed` names, and with `added`; all inside `span`.
    /// Cost: the pages touched are written anew; an append touches none until the tail is full.
    pub(crate) fn splice(
        &self,
        pages: &Pages,
        span: (i64, i64),
        is_removed: impl Fn(&Entry) -> bool,
        added: &[Entry],
        generation: u64,
    ) -> Result<Splice, Malformed> {
        let (range, with_tail) = self.working(span, added.len(), |page| pages.holds(page));
        let gone = self.pages.get(range.clone()).expect("a range of pages");
        let mut entries = Vec::new();
        for page in gone {
            entries.extend(pages.entries(page)?.iter().filter(|entry| !is_removed(entry)));
        }
        if with_tail {
            entries.extend(self.tail.iter().filter(|entry| !is_removed(entry)));
        }
        entries.extend_from_slice(added);
        entries.sort_unstable_by_key(|entry| entry.summary.first);
        debug_assert!(
            entries.is_sorted_by(|left, right| left.summary.last < right.summary.first),
            "blocks never overlap"
        );
        let kept = match (with_tail, entries.len()) {
            (true, len) if len <= TAIL_ENTRIES_MAX => len,
            (true, _) => TAIL_ENTRIES_KEPT,
            (false, _) => 0,
        };
        let tail = entries.split_off(entries.len() - kept);
        let mut put = Vec::new();
        for part in balanced(entries.len(), PAGE_ENTRIES_MAX) {
            let part = entries.get(part).expect("a part of the entries");
            let page = PageRef::of(part, generation).ok_or(Malformed)?;
            let mut bytes = Vec::with_capacity(part.len() * 64);
            put_entries(&mut bytes, part);
            put.push((page, bytes.into()));
        }
        let gone = gone.to_vec();
        let mut all = self.pages.clone();
        all.splice(range, put.iter().map(|(page, _)| *page));
        let tail = if with_tail { tail } else { self.tail.clone() };
        Ok(Splice { index: Self { pages: all, tail }, put, gone })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.pages.len() as u64);
        let mut before = 0;
        for page in &self.pages {
            put_zigzag(out, page.first.wrapping_sub(before));
            put_last(out, page.first, page.last);
            put_generation(out, page.generation);
            put_varint(out, u64::from(page.entries));
            before = page.last;
        }
        put_entries(out, &self.tail);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.count()?;
        let mut pages = Vec::with_capacity(count);
        let mut before = 0_i64;
        for _ in 0..count {
            let first = before.wrapping_add(reader.zigzag()?);
            let last = read_last(reader, first)?;
            pages.push(PageRef {
                first,
                last,
                generation: read_generation(reader)?,
                entries: reader.varint_u32()?,
            });
            before = last;
        }
        let tail = read_entries(reader)?;
        let ascends = pages.is_sorted_by(|left, right| left.last < right.first);
        let behind = match (pages.last(), tail.first()) {
            (Some(page), Some(entry)) => page.last < entry.summary.first,
            _ => true,
        };
        if ascends && behind { Ok(Self { pages, tail }) } else { Err(Malformed) }
    }
}

/// `len` things in parts of at most `max`, none much smaller than another.
pub(crate) fn balanced(len: usize, max: usize) -> impl Iterator<Item = Range<usize>> {
    let parts = len.div_ceil(max.max(1));
    (0..parts).map(move |part| len * part / parts..len * (part + 1) / parts)
}

#[cfg(test)]
mod tests;
