//! Reads for aggregation: summaries of whole blocks where they are enough, points elsewhere.

use super::index::Entry;
use super::layer::{Layer, merge_into};
use super::read::{Patience, decode_all, or_gone};
use super::state::State;
use super::{Piece, Strand, Strands};
use crate::{Error, Points, Summary, TimeRange};

impl Strands {
    /// See [`Strands::read_pieces`].
    pub(super) async fn pieces_now(
        &self,
        strand: &Strand,
        range: TimeRange,
        is_wanted: &(dyn Fn(&Summary) -> bool + Sync),
        is_whole: &(dyn Fn(&Summary) -> bool + Sync),
    ) -> Result<Vec<Piece>, Error> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let mut patience = Patience::default();
        loop {
            let Some(state) = self.seen_state(strand, &mut patience).await? else {
                return Ok(Vec::new());
            };
            if let Some(pieces) = self.try_pieces(strand, &state, range, is_wanted, is_whole).await? {
                return Ok(pieces);
            }
            patience.wait(strand).await?;
        }
    }

    async fn try_pieces(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        is_wanted: &(dyn Fn(&Summary) -> bool + Sync),
        is_whole: &(dyn Fn(&Summary) -> bool + Sync),
    ) -> Result<Option<Vec<Piece>>, Error> {
        let (first, last) = (range.from, range.to - 1);
        let met = state.index.pages_meeting(first, last);
        let pages = or_gone!(self.read_pages(strand, met).await?);
        let layer = or_gone!(self.overlaid(strand, state, range).await?);
        let entries = state.index.entries_meeting(&pages, first, last)?;
        let mut needed = Vec::new();
        let uses: Vec<Use> = entries
            .iter()
            .map(|entry| {
                let summary = &entry.summary;
                if layer.touches(summary.first, summary.last) {
                    needed.push(*entry);
                    return Use::Read;
                }
                if !is_wanted(summary) {
                    return Use::Skip;
                }
                if range.contains(summary.first) && range.contains(summary.last) && is_whole(summary) {
                    return Use::Whole;
                }
                needed.push(*entry);
                Use::Read
            })
            .collect();
        let rows = or_gone!(self.block_rows(strand, &needed).await?);
        let mut below = Points::default();
        decode_all(&needed, &rows, range, &mut below)?;
        if layer.is_empty() && uses.iter().all(|what| *what == Use::Read) {
            // The usual case: what was decoded is the one piece.
            return Ok(Some(if below.is_empty() { Vec::new() } else { vec![Piece::Points(below)] }));
        }
        Ok(Some(cut_pieces(&entries, &uses, &below, &layer, range)))
    }
}

/// What becomes of a block in [`Strands::read_pieces`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Use {
    Skip,
    Whole,
    Read,
}

/// Pieces in order: between whole and skipped blocks lie stretches of points.
fn cut_pieces(
    entries: &[Entry],
    uses: &[Use],
    below: &Points,
    layer: &Layer,
    range: TimeRange,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let stretch = |from: i64, to: i64, pieces: &mut Vec<Piece>| {
        let mut points = Points::default();
        merge_into(below, layer, TimeRange { from, to }, &mut points);
        if !points.is_empty() {
            pieces.push(Piece::Points(points));
        }
    };
    let mut from = range.from;
    for (entry, what) in entries.iter().zip(uses) {
        if *what == Use::Read {
            continue;
        }
        stretch(from, entry.summary.first, &mut pieces);
        from = entry.summary.last + 1;
        if *what == Use::Whole {
            pieces.push(Piece::Whole(entry.summary));
        }
    }
    stretch(from, range.to, &mut pieces);
    pieces
}
