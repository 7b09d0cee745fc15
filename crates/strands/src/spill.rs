//! Layers that are too large for a commit: their points go ahead of it as fresh rows, one block each, and the row in the commit
//! names them: an overlay by entries as the index has them (layer.rs), a part of a kept write by its generation (kept.rs).
//!
//! They go with the row that names them: with its overlay when that is folded or cleared, with its part when retention or
//! erasing takes it. The state says whether there may be any, so nobody looks for them where there are none.

use std::ops::{ControlFlow, Range};

use bytes::Bytes;

use super::index::Entry;
use super::kept::{KeptPart, levels};
use super::layer::{EncodedLayer, decode_range};
use super::read::{open_block, or_gone};
use super::state::{Overlays, State};
use super::think::{Draught, encode_runs};
use super::{Rules, Strand, Strands, keys};
use crate::{Encoding, Error, Malformed, Points, TimeRange};

/// What a point takes at most, packed, beside its note.
const POINT_BYTES_MAX: usize = 48;

/// A window and a key.
pub(super) type FreshKey = (i64, Bytes);

impl Rules {
    /// The points of a layer as blocks, if they are too large for a commit. Cost: they are encoded if there are many.
    pub(super) fn too_large(
        &self,
        points: &Points,
        encoding: Encoding,
    ) -> Result<Option<Vec<(Entry, Bytes)>>, Malformed> {
        let notes: usize = points.notes.dictionary.iter().map(Bytes::len).sum();
        if points.len() * POINT_BYTES_MAX + notes <= self.inline_bytes_max {
            return Ok(None);
        }
        let parts = encode_runs(&[(points, 0..points.len())], 0, encoding, self)?;
        Ok(Some(parts).filter(|parts| self.are_too_large(parts)))
    }

    /// Whether these are too large for a commit.
    pub(super) fn are_too_large(&self, parts: &[(Entry, Bytes)]) -> bool {
        parts.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > self.inline_bytes_max
    }
}

impl Draught {
    /// Puts blocks ahead of the commit, under the keys of a kind; answers how they are named.
    pub(super) fn spill(
        &mut self,
        strand: &Strand,
        parts: Vec<(Entry, Bytes)>,
        key: impl Fn(&Strand, i64, u64) -> FreshKey,
        rules: &Rules,
    ) -> Result<Vec<Entry>, Error> {
        let generation = self.next_generation()?;
        self.state.generation = generation;
        let mut named = Vec::with_capacity(parts.len());
        for (entry, bytes) in parts {
            self.fresh.put(strand, key(strand, entry.summary.last, generation), bytes, &rules.limits);
            named.push(Entry { generation, ..entry });
        }
        Ok(named)
    }
}

/// The key of points of an overlay.
fn key_of(strand: &Strand, entry: &Entry) -> FreshKey {
    keys::overlay_points(strand, entry.summary.last, entry.generation)
}

impl Strands {
    /// Appends the points of an overlay that lie in the range and in rows of their own; `None` if one is gone.
    pub(super) async fn read_spilled(
        &self,
        strand: &Strand,
        layer: &EncodedLayer<'_>,
        range: TimeRange,
        out: &mut Points,
    ) -> Result<Option<()>, Error> {
        let parts: Vec<Entry> =
            layer.spilled.iter().filter(|part| part.meets(range.from, range.to - 1)).copied().collect();
        let rows = self.fresh_rows(strand, parts.iter().map(|part| key_of(strand, part))).await?;
        for (part, row) in parts.iter().zip(or_gone!(rows)) {
            decode_range(&open_block(part, &row)?, range, out)?;
        }
        Ok(Some(()))
    }

    /// Rows that overlays of these ordinals name; `None` if an overlay is gone.
    pub(super) async fn overlay_points(
        &self,
        strand: &Strand,
        overlays: &Overlays,
        ordinals: Range<u64>,
    ) -> Result<Option<Vec<FreshKey>>, Error> {
        let mut named = Vec::new();
        if overlays.spilled {
            let keys: Vec<Bytes> = ordinals.map(|ordinal| keys::overlay(strand, ordinal)).collect();
            for row in or_gone!(self.rows(&strand.partition, &keys).await?) {
                let layer = EncodedLayer::parse(&row)?;
                named.extend(layer.spilled.iter().map(|part| key_of(strand, part)));
            }
        }
        Ok(Some(named))
    }

    /// Rows that overlays and kept writes name; `None` if an overlay is gone.
    /// Cost: where a kept write has some, all parts of kept writes are read.
    pub(super) async fn spilled_rows(
        &self,
        strand: &Strand,
        state: &State,
    ) -> Result<Option<Vec<FreshKey>>, Error> {
        let mut named = match &state.overlays {
            Some(overlays) => {
                let ordinals = overlays.first_ordinal..state.overlay_next;
                or_gone!(self.overlay_points(strand, overlays, ordinals).await?)
            }
            None => Vec::new(),
        };
        let mut take = |key: &[u8], value: &[u8]| {
            named.extend(KeptPart::parse(key, value)?.spilled(strand));
            Ok(ControlFlow::Continue(()))
        };
        for level in levels(state.kept.levels).filter(|_| state.kept.spilled) {
            let all = keys::kept_between(strand, level, i64::MIN, i64::MAX);
            self.each_row(&strand.partition, all, &mut take).await?;
        }
        Ok(Some(named))
    }
}
