//! Rows of a strand, fetched as its state names them.
//!
//! No row but the state is ever overwritten (keys.rs): what is found belongs to the state that names it. Where a row is
//! gone, a fold or a deletion came in between.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use bytes::Bytes;
use store::retry::{Attempts, RetryBackoff};
use store::rows::Pages as RowPages;
use store::{Partition, Stamp};

use crate::audit_rows::{AuditPart, levels};
use crate::blocks::open_block;
use crate::codec::Malformed;
use crate::error::Error;
use crate::fresh::FreshKey;
use crate::index::{Entry, PageRef, Pages};
use crate::keys;
use crate::layer::{EncodedLayer, Layer, compose, decode_range};
use crate::points::{Points, TimeRange};
use crate::state::{Overlays, State};
use crate::strand::Strand;
use crate::strands::Strands;

/// How often a read starts again because rows went while it read: with the waits between, some seconds.
pub(crate) const READS: RetryBackoff = RetryBackoff::waiting(48, 4, Duration::from_millis(100));
/// Rows that are scanned at once.
const SCANNED_ROWS: usize = 256;

/// What is made of a row, and whether that was enough.
pub(crate) type TakeRow<'a> = dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, Malformed> + Send + 'a;

/// The attempts at one read.
///
/// The store shows a commit's rows to readers one by one, after they are durable: a row that is not in its cache may
/// be gone some milliseconds before the new state is seen. So a reader that finds a row gone under an unchanged state
/// waits a little before it calls the strand damaged.
#[derive(Debug)]
pub(crate) struct ReadAttempts {
    attempts: Attempts,
    seen: Option<Stamp>,
    changes: u32,
}

impl ReadAttempts {
    pub(crate) fn new() -> Self {
        Self { attempts: READS.attempts(), seen: None, changes: 0 }
    }

    /// Begins the next attempt, after a wait if it is not the first.
    ///
    /// # Errors
    ///
    /// After as many as may be: [`Error::Contention`] if the state changed meanwhile, else [`Error::Malformed`].
    pub(crate) async fn begin(&mut self, strand: &Strand) -> Result<(), Error> {
        if self.attempts.next().await {
            return Ok(());
        }
        Err(if self.changes > 1 { contention(strand) } else { Malformed.into() })
    }

    /// Counts anew after an attempt that came further than the one before.
    pub(crate) async fn renew(&mut self) {
        *self = Self::new();
        self.attempts.next().await;
    }

    /// Notes the version of the state that an attempt reads.
    pub(crate) fn saw(&mut self, stamp: Stamp) {
        if self.seen.replace(stamp) != Some(stamp) {
            self.changes += 1;
        }
    }
}

/// Other writers kept coming first.
pub(crate) fn contention(strand: &Strand) -> Error {
    let Strand { partition, name } = strand;
    Error::Contention(format!("strand {} of bucket {}", name.escape_ascii(), partition.bucket).into())
}

/// Evaluates to the value, or leaves the function: something that the state names was gone.
macro_rules! or_gone {
    ($read:expr) => {
        match $read {
            Some(value) => value,
            None => return Ok(None),
        }
    };
}
pub(crate) use or_gone;

impl Strands {
    /// The state row and its version, as any commit left it: an older one may name rows that are gone, and miss those that a
    /// fold took out of sight elsewhere. No other row is written twice, so those may be read as they are known.
    /// Cost: one look-up, or one engine read.
    pub(crate) async fn state(&self, strand: &Strand) -> Result<Option<(Stamp, State)>, Error> {
        let key = keys::state(strand);
        let row = match self.reads().get_cached(&strand.partition, &key) {
            Some(row) => row,
            None => self.reads().get_linear(&strand.partition, &key).await?,
        };
        Ok(row.map(|row| State::parse(&row.value).map(|state| (row.stamp, state))).transpose()?)
    }

    pub(crate) async fn seen_state(
        &self,
        strand: &Strand,
        attempts: &mut ReadAttempts,
    ) -> Result<Option<State>, Error> {
        let Some((stamp, state)) = self.state(strand).await? else {
            return Ok(None);
        };
        attempts.saw(stamp);
        self.note_if_due(strand, &state);
        Ok(Some(state))
    }

    /// Values of rows; `None` if one is gone. Cost: one look-up each, or one engine read for all that are not cached.
    pub(crate) async fn rows(
        &self,
        partition: &Partition,
        keys: &[Bytes],
    ) -> Result<Option<Vec<Bytes>>, Error> {
        let mut values = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            match self.reads().get_cached(partition, key) {
                Some(Some(row)) => values.push(row.value),
                Some(None) => return Ok(None),
                None => {
                    let rest = keys.get(at..).expect("from one of the keys on");
                    let rows = self.reads().get_many_linear(partition, rest).await?;
                    for row in rows {
                        values.push(or_gone!(row).value);
                    }
                    return Ok(Some(values));
                }
            }
        }
        Ok(Some(values))
    }

    /// Values of fresh rows; `None` if one is gone. Cost: that of [`Strands::rows`] for each window.
    pub(crate) async fn fresh_rows(
        &self,
        strand: &Strand,
        wanted: impl Iterator<Item = (i64, Bytes)>,
    ) -> Result<Option<Vec<Bytes>>, Error> {
        let (windows, keys): (Vec<i64>, Vec<Bytes>) = wanted.unzip();
        let (mut values, mut from) = (Vec::new(), 0);
        for run in windows.chunk_by(|one, other| one == other) {
            let Some(window) = run.first() else { continue };
            let partition = keys::fresh_partition(strand, *window);
            let run_keys = keys.get(from..from + run.len()).expect("a key for each window");
            let rows = or_gone!(self.rows(&partition, run_keys).await?);
            if from == 0 && rows.len() == keys.len() {
                return Ok(Some(rows));
            }
            values.extend(rows);
            from += run.len();
        }
        Ok(Some(values))
    }

    /// Shows rows of a range, in order, until `take` has enough.
    pub(crate) async fn each_row(
        &self,
        partition: &Partition,
        range: store::Range,
        take: &mut TakeRow<'_>,
    ) -> Result<(), Error> {
        let pages = RowPages::new(self.reads(), partition, range, SCANNED_ROWS);
        pages.each(|key, value| Ok(take(key, value)?)).await
    }

    /// Reads pages of the index; `None` if one is gone.
    pub(crate) async fn read_pages<'a>(
        &self,
        strand: &Strand,
        wanted: impl Iterator<Item = &'a PageRef>,
    ) -> Result<Option<Pages>, Error> {
        let mut pages = Pages::default();
        let wanted: Vec<_> = wanted.copied().collect();
        if wanted.is_empty() {
            return Ok(Some(pages));
        }
        let rows = or_gone!(self.fresh_rows(strand, wanted.iter().map(|page| page.row(strand))).await?);
        for (page, bytes) in wanted.into_iter().zip(rows) {
            pages.insert(page, &bytes)?;
        }
        Ok(Some(pages))
    }

    /// What overlays make of the range, as one layer; `None` if one is gone.
    /// Cost: a look-up for each overlay of the strand; those that touch the range are decoded.
    pub(crate) async fn overlaid(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
    ) -> Result<Option<Layer>, Error> {
        let meets = |it: &Overlays| !range.is_empty() && it.meet(range.from, range.to - 1);
        let Some(overlays) = state.overlays.filter(meets) else {
            return Ok(Some(Layer::default()));
        };
        let ordinals = overlays.first_ordinal..state.overlay_next;
        let keys: Vec<Bytes> = ordinals.map(|ordinal| keys::overlay(strand, ordinal)).collect();
        let rows = or_gone!(self.rows(&strand.partition, &keys).await?);
        let mut layers = Vec::with_capacity(rows.len());
        for row in &rows {
            let layer = EncodedLayer::parse(row)?;
            if layer.meets(range) {
                let mut decoded = layer.decode(range)?;
                if !layer.spilled.is_empty() {
                    let spilled = Box::pin(self.read_spilled(strand, &layer, range, &mut decoded.points));
                    or_gone!(spilled.await?);
                }
                layers.push(decoded);
            }
        }
        Ok(Some(match layers.pop() {
            Some(only) if layers.is_empty() => only,
            Some(last) => {
                layers.push(last);
                compose(&layers)
            }
            None => Layer::default(),
        }))
    }

    /// The rows of blocks; `None` if one is gone.
    pub(crate) async fn block_rows(
        &self,
        strand: &Strand,
        entries: impl Iterator<Item = &Entry>,
    ) -> Result<Option<Vec<Bytes>>, Error> {
        self.fresh_rows(strand, entries.map(|entry| entry.row(strand))).await
    }

    /// Appends the points of an overlay that lie in the range and in rows of their own; `None` if one is gone.
    pub(crate) async fn read_spilled(
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
    pub(crate) async fn overlay_points(
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

    /// Rows that overlays and audited writes name; `None` if an overlay is gone.
    /// Cost: where an audited write has some, all parts of audited writes are read.
    pub(crate) async fn spilled_rows(
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
            named.extend(AuditPart::parse(key, value)?.spilled(strand));
            Ok(ControlFlow::Continue(()))
        };
        for level in levels(state.audit.levels).filter(|_| state.audit.spilled) {
            let all = keys::audit_parts_between(strand, level, i64::MIN, i64::MAX);
            self.each_row(&strand.partition, all, &mut take).await?;
        }
        Ok(Some(named))
    }
}

/// The key of points of an overlay.
fn key_of(strand: &Strand, entry: &Entry) -> FreshKey {
    keys::overlay_points(strand, entry.summary.last, entry.generation)
}
