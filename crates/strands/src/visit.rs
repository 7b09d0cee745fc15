//! Reads for aggregation, block by block: summaries where they are enough, of others the columns that are wanted.

use std::ops::ControlFlow;

use bytes::Bytes;

use super::index::Entry;
use super::layer::{Layer, decode_range, merge_into};
use super::read::{Patience, open_block, or_gone};
use super::state::State;
use super::{Part, Strand, Strands, Wanted};
use crate::{ColumnSet, Error, Malformed, Points, Summary, TimeRange};

/// Blocks whose rows are fetched at once: they stand in memory together, packed.
const BLOCKS_AT_ONCE: usize = 32;

/// What is wanted of a block, by its summary and whether it is the last of the range.
pub(super) type Want<'w> = &'w (dyn Fn(&Summary, bool) -> Wanted + Sync);

/// A walk along a strand, and its memory.
pub(super) struct Walk<'w> {
    /// What is still to be shown.
    left: TimeRange,
    want: Want<'w>,
    show: &'w mut (dyn FnMut(Part<'_>) -> ControlFlow<()> + Send),
    /// Columns of the block at hand.
    scratch: Points,
}

impl Strands {
    /// See [`Strands::visit`].
    pub(super) async fn visit_now(
        &self,
        strand: &Strand,
        range: TimeRange,
        want: Want<'_>,
        show: &mut (dyn FnMut(Part<'_>) -> ControlFlow<()> + Send),
    ) -> Result<(), Error> {
        let mut patience = Patience::default();
        let mut walk = Walk { left: range, want, show, scratch: Points::default() };
        while !walk.left.is_empty() {
            let from = walk.left.from;
            let Some(state) = self.seen_state(strand, &mut patience).await? else { break };
            if self.try_walk(strand, &state, &mut walk).await?.is_some() {
                break;
            }
            if walk.left.from > from {
                patience = Patience::default();
            }
            patience.wait(strand).await?;
        }
        Ok(())
    }

    /// Walks on as one state has it; `None` if a row is gone.
    async fn try_walk(
        &self,
        strand: &Strand,
        state: &State,
        walk: &mut Walk<'_>,
    ) -> Result<Option<()>, Error> {
        let range = walk.left;
        let (first, last) = (range.from, range.to - 1);
        let met = state.index.pages_meeting(first, last);
        let pages = or_gone!(self.read_pages(strand, met).await?);
        let layer = or_gone!(self.overlaid(strand, state, range).await?);
        let entries = state.index.entries_meeting(&pages, first, last)?;
        let mut behind = entries.len();
        for entries in entries.chunks(BLOCKS_AT_ONCE) {
            behind -= entries.len();
            let mut needed = Vec::with_capacity(entries.len());
            let uses: Vec<Use> = (1..=entries.len())
                .zip(entries)
                .map(|(place, entry)| {
                    let what = walk.use_of(&entry.summary, &layer, behind == 0 && place == entries.len());
                    if what.reads() {
                        needed.push(*entry);
                    }
                    what
                })
                .collect();
            let rows = or_gone!(self.block_rows(strand, &needed).await?);
            let mut rows = rows.iter();
            for (entry, what) in entries.iter().zip(uses) {
                let row = if what.reads() { rows.next() } else { None };
                if walk.pass(entry, what, row, &layer)?.is_break() {
                    return Ok(Some(()));
                }
            }
        }
        // Whether that is enough does not matter any more.
        let _ = walk.merge(&Points::default(), &layer, range.to);
        Ok(Some(()))
    }
}

/// What becomes of a block.
#[derive(Clone, Copy, Debug)]
enum Use {
    Skip,
    Whole,
    Columns(ColumnSet),
    /// Part of it lies outside of the range.
    Cut,
    /// Overlays touch it.
    Merge,
}

impl Use {
    fn reads(self) -> bool {
        !matches!(self, Self::Skip | Self::Whole)
    }
}

impl Walk<'_> {
    fn use_of(&self, summary: &Summary, layer: &Layer, is_last: bool) -> Use {
        if layer.touches(summary.first, summary.last) {
            return Use::Merge;
        }
        let inside = self.left.contains(summary.first) && self.left.contains(summary.last);
        match (self.want)(summary, is_last) {
            Wanted::Nothing => Use::Skip,
            _ if !inside => Use::Cut,
            Wanted::Summary => Use::Whole,
            Wanted::Columns(columns) => Use::Columns(columns),
        }
    }

    /// Shows what overlays put before a block, and the block; what is left begins behind it.
    fn pass(
        &mut self,
        entry: &Entry,
        what: Use,
        row: Option<&Bytes>,
        layer: &Layer,
    ) -> Result<ControlFlow<()>, Malformed> {
        let summary = &entry.summary;
        let behind = summary.last.saturating_add(1);
        let block = row.map(|row| open_block(entry, row)).transpose()?;
        if let (Use::Cut | Use::Merge, Some(block)) = (what, &block) {
            let mut below = Points::default();
            decode_range(block, self.left, &mut below)?;
            return Ok(self.merge(&below, layer, behind));
        }
        if self.merge(&Points::default(), layer, summary.first).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.left.from = self.left.from.max(behind);
        Ok(match (what, &block) {
            (Use::Columns(columns), Some(block)) => {
                block.decode_columns(columns, &mut self.scratch)?;
                (self.show)(Part::Block(summary, self.scratch.columns()))
            }
            (Use::Whole, _) => (self.show)(Part::Summary(summary)),
            _ => ControlFlow::Continue(()),
        })
    }

    /// Shows what overlays make of `below` until `to`; what is left begins there.
    fn merge(&mut self, below: &Points, layer: &Layer, to: i64) -> ControlFlow<()> {
        let range = TimeRange { from: self.left.from, to: to.min(self.left.to) };
        if range.is_empty() {
            return ControlFlow::Continue(());
        }
        self.left.from = range.to;
        if below.is_empty() && layer.points.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut merged = Points::default();
        merge_into(below, layer, range, &mut merged);
        if merged.is_empty() {
            return ControlFlow::Continue(());
        }
        (self.show)(Part::Stretch(merged.columns()))
    }
}
