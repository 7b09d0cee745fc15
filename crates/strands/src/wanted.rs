//! Reads that leave blocks out: of a strand's past only what may hold something asked for, a page at a time.

use super::index::Entry;
use super::layer::{Layer, merge_into};
use super::read::{Patience, decode_all, or_gone};
use super::state::State;
use super::{Strand, Strands};
use crate::{Error, Points, Summary, TimeRange};

/// A page ends also with so many blocks: those of large values hold few points each, and up to a megabyte.
pub(super) const PAGE_BLOCKS_MAX: usize = 32;

/// What is asked for.
#[derive(Clone, Copy)]
struct Ask<'a> {
    range: TimeRange,
    is_wanted: &'a (dyn Fn(&Summary) -> bool + Sync),
    points_max: usize,
}

/// The blocks of a page.
struct Page {
    entries: Vec<Entry>,
    /// Where what the page holds ends.
    to: i64,
}

impl Strands {
    /// See [`Strands::read_wanted`].
    pub(super) async fn wanted_now(
        &self,
        strand: &Strand,
        range: TimeRange,
        is_wanted: &(dyn Fn(&Summary) -> bool + Sync),
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        if range.is_empty() {
            return Ok(None);
        }
        let ask = Ask { range, is_wanted, points_max };
        let before = out.len();
        let mut patience = Patience::default();
        loop {
            let Some(state) = self.seen_state(strand, &mut patience).await? else {
                return Ok(None);
            };
            if let Some(next) = self.try_wanted(strand, &state, ask, out).await? {
                return Ok(next);
            }
            out.truncate(before);
            patience.wait(strand).await?;
        }
    }

    async fn try_wanted(
        &self,
        strand: &Strand,
        state: &State,
        ask: Ask<'_>,
        out: &mut Points,
    ) -> Result<Option<Option<i64>>, Error> {
        let Ask { range, is_wanted, points_max } = ask;
        let layer = or_gone!(self.overlaid(strand, state, range).await?);
        let takes = |entry: &Entry| {
            layer.touches(entry.summary.first, entry.summary.last) || is_wanted(&entry.summary)
        };
        let Page { entries, mut to } =
            or_gone!(self.page_of(strand, state, range, &takes, points_max).await?);
        // Overlays may hold more than blocks do.
        let over = layer.points.range_of(TimeRange { from: range.from, to });
        if let Some(cut) = layer.points.times.get(over.start + points_max.max(1)).filter(|cut| **cut < to) {
            to = *cut;
        }
        let part = TimeRange { from: range.from, to };
        let entries: Vec<Entry> = entries.into_iter().filter(|entry| entry.summary.first < to).collect();
        let rows = or_gone!(self.block_rows(strand, &entries).await?);
        if layer.is_empty() {
            decode_all(&entries, &rows, part, out)?;
        } else {
            let mut below = Points::default();
            decode_all(&entries, &rows, part, &mut below)?;
            merge_into(&below, &layer, part, out);
        }
        Ok(Some(Some(to).filter(|to| *to < range.to)))
    }

    /// Blocks from the beginning of the range until they hold `points_max` points, or are [`PAGE_BLOCKS_MAX`]; `None` if
    /// a row is gone.
    async fn page_of(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        takes: &(dyn Fn(&Entry) -> bool + Sync),
        points_max: usize,
    ) -> Result<Option<Page>, Error> {
        let (first, last) = (range.from, range.to.saturating_sub(1));
        let (mut entries, mut points) = (Vec::<Entry>::new(), 0);
        // Answers where the page ends, once it is full.
        let mut take = |found: &[Entry], entries: &mut Vec<Entry>| {
            for entry in found.iter().filter(|entry| entry.meets(first, last) && takes(entry)) {
                if points >= points_max.max(1) || entries.len() >= PAGE_BLOCKS_MAX {
                    return entries.last().map(|entry| entry.summary.last + 1);
                }
                points += entry.summary.count as usize;
                entries.push(*entry);
            }
            None
        };
        for page in state.index.pages_meeting(first, last) {
            let pages = or_gone!(self.read_pages(strand, std::iter::once(page)).await?);
            if let Some(to) = take(pages.entries(page)?, &mut entries) {
                return Ok(Some(Page { entries, to }));
            }
        }
        let to = take(&state.index.tail, &mut entries).unwrap_or(range.to);
        Ok(Some(Page { entries, to }))
    }

    /// See [`Strands::blocks`].
    pub(super) async fn blocks_now(
        &self,
        strand: &Strand,
        range: TimeRange,
    ) -> Result<Vec<(Summary, bool)>, Error> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let mut patience = Patience::default();
        loop {
            let Some(state) = self.seen_state(strand, &mut patience).await? else {
                return Ok(Vec::new());
            };
            if let Some(blocks) = self.try_blocks(strand, &state, range).await? {
                return Ok(blocks);
            }
            patience.wait(strand).await?;
        }
    }

    async fn try_blocks(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
    ) -> Result<Option<Vec<(Summary, bool)>>, Error> {
        let (first, last) = (range.from, range.to - 1);
        let pages = or_gone!(self.read_pages(strand, state.index.pages_meeting(first, last)).await?);
        let entries = state.index.entries_meeting(&pages, first, last)?;
        // Blocks may reach over the range, and what is said of them is said of the whole.
        let (Some(begin), Some(end)) = (entries.first(), entries.last()) else {
            return Ok(Some(Vec::new()));
        };
        let spanned = TimeRange { from: begin.summary.first, to: end.summary.last + 1 };
        let layer: Layer = or_gone!(self.overlaid(strand, state, spanned).await?);
        let told = |entry: Entry| {
            let summary = entry.summary;
            (summary, layer.touches(summary.first, summary.last))
        };
        Ok(Some(entries.into_iter().map(told).collect()))
    }
}
