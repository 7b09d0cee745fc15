//! Reads: the state says which rows there are, all of them are fetched at once, newest wins.
//!
//! A reader holds one state and reads what it names. No row is ever overwritten (keys.rs), so what it finds belongs to
//! that state; where a row is gone, a fold or a deletion came in between, and it starts again from the newer state. At one
//! moment nothing is gone: rows that were removed since are read from the store's snapshot.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use store::{Direction, Partition, Range, Stamp};

use super::index::{Entry, Pages};
use super::layer::{EncodedLayer, Layer, compose, decode_range, merge_into};
use super::state::State;
use super::{Strand, Strands, keys};
use crate::{Block, Error, Malformed, Points, Summary, TimeRange};

/// How often a read starts again because rows went while it read: with the waits between, some seconds.
const ATTEMPTS_MAX: u32 = 48;
/// Attempts that follow each other without waiting.
const ATTEMPTS_AT_ONCE: u32 = 4;
/// The longest wait between two attempts.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// Strands that are read at the same time where rows must come from the disk.
const READS_AT_ONCE: usize = 32;
/// Rows that are scanned at once.
const SCANNED_ROWS: usize = 256;

/// What is made of a row, and whether that was enough.
pub(super) type TakeRow<'a> = dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, Malformed> + Send + 'a;

/// Waits between attempts, and knows when to give up.
///
/// The store shows a commit's rows to readers one by one, after they are durable: a row that is not in its cache may
/// be gone some milliseconds before the new state is seen. So a reader that finds a row gone under an unchanged state
/// waits a little before it calls the strand damaged.
#[derive(Debug, Default)]
pub(super) struct Patience {
    attempts: u32,
    seen: Option<Stamp>,
    changes: u32,
}

impl Patience {
    pub(super) fn saw(&mut self, stamp: Stamp) {
        if self.seen.replace(stamp) != Some(stamp) {
            self.changes += 1;
        }
    }

    /// Whether the last attempt read that version of the state.
    pub(super) fn has_seen(&self, stamp: Stamp) -> bool {
        self.seen == Some(stamp)
    }

    pub(super) async fn wait(&mut self, strand: &Strand) -> Result<(), Error> {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS_MAX {
            return Err(if self.changes > 1 { contention(strand) } else { Malformed.into() });
        }
        pause(self.attempts).await;
        Ok(())
    }
}

/// Waits after so many attempts that found rows gone: first a moment, then longer and longer.
pub(super) async fn pause(attempts: u32) {
    if attempts <= ATTEMPTS_AT_ONCE {
        tokio::task::yield_now().await;
    } else {
        let wait = Duration::from_millis(1 << (attempts - ATTEMPTS_AT_ONCE).min(7));
        tokio::time::sleep(wait.min(WAIT_MAX)).await;
    }
}

/// Other writers kept coming first.
pub(super) fn contention(strand: &Strand) -> Error {
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
pub(super) use or_gone;

impl Strands {
    /// The state row and its version, as any commit left it: an older one may name rows that are gone, and miss those that a
    /// fold took out of sight elsewhere. No other row is written twice, so those may be read as they are known.
    /// Cost: one look-up, or one engine read.
    pub(super) async fn state(&self, strand: &Strand) -> Result<Option<(Stamp, State)>, Error> {
        let key = keys::state(strand);
        let row = match self.reads().get_cached(&strand.partition, &key) {
            Some(row) => row,
            None => self.reads().get_linear(&strand.partition, &key).await?,
        };
        Ok(row.map(|row| State::parse(&row.value).map(|state| (row.stamp, state))).transpose()?)
    }

    pub(super) async fn seen_state(
        &self,
        strand: &Strand,
        patience: &mut Patience,
    ) -> Result<Option<State>, Error> {
        let Some((stamp, state)) = self.state(strand).await? else {
            return Ok(None);
        };
        patience.saw(stamp);
        self.note_if_due(strand, &state);
        Ok(Some(state))
    }

    /// Values of rows; `None` if one is gone. Cost: one look-up each, or one engine read for all that are not cached.
    pub(super) async fn rows(
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
                    let rest = keys.get(at..).unwrap_or_default();
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

    /// Shows rows of a range, in order, until `take` has enough.
    pub(super) async fn each_row(
        &self,
        partition: &Partition,
        mut rest: Range,
        take: &mut TakeRow<'_>,
    ) -> Result<(), Error> {
        loop {
            let page = self.reads().scan(partition, &rest, Direction::Forward, SCANNED_ROWS).await?;
            for (key, value) in page.rows() {
                if take(key, value)?.is_break() {
                    return Ok(());
                }
            }
            let Some(last) = page.last_key().filter(|_| page.more()) else { return Ok(()) };
            rest.start = [last, &[0]].concat().into();
        }
    }

    /// Reads pages of the index; `None` if one is gone.
    pub(super) async fn read_pages<'a>(
        &self,
        strand: &Strand,
        wanted: impl Iterator<Item = &'a super::index::PageRef>,
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
    pub(super) async fn overlaid(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
    ) -> Result<Option<Layer>, Error> {
        let meets = |it: &super::state::Overlays| !range.is_empty() && it.meet(range.from, range.to - 1);
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
    pub(super) async fn block_rows(
        &self,
        strand: &Strand,
        entries: &[Entry],
    ) -> Result<Option<Vec<Bytes>>, Error> {
        self.fresh_rows(strand, entries.iter().map(|entry| entry.row(strand))).await
    }

    /// Appends the points of the range, of these blocks and the overlays; `None` if a row is gone.
    async fn read_merged(
        &self,
        strand: &Strand,
        state: &State,
        entries: &[Entry],
        range: TimeRange,
        out: &mut Points,
    ) -> Result<Option<()>, Error> {
        let layer = or_gone!(self.overlaid(strand, state, range).await?);
        let rows = or_gone!(self.block_rows(strand, entries).await?);
        if layer.is_empty() {
            decode_all(entries, &rows, range, out)?;
        } else {
            let mut below = Points::default();
            decode_all(entries, &rows, range, &mut below)?;
            merge_into(&below, &layer, range, out);
        }
        Ok(Some(()))
    }

    /// Blocks from the beginning of the range until they hold `points_max` points, and where what they hold ends.
    async fn first_entries(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        points_max: usize,
    ) -> Result<Option<(Vec<Entry>, i64)>, Error> {
        let (first, last) = (range.from, range.to.saturating_sub(1));
        let (mut entries, mut points) = (Vec::new(), 0_usize);
        // True if the entry is one too many.
        let mut is_full = |entry: &Entry, entries: &mut Vec<Entry>| {
            if points >= points_max && !entries.is_empty() {
                return true;
            }
            points += entry.summary.count as usize;
            entries.push(*entry);
            false
        };
        let end = |entries: &[Entry]| entries.last().map_or(range.to, |entry| entry.summary.last + 1);
        for page in state.index.pages_meeting(first, last) {
            let pages = or_gone!(self.read_pages(strand, std::iter::once(page)).await?);
            for entry in pages.entries(page)?.iter().filter(|entry| entry.meets(first, last)) {
                if is_full(entry, &mut entries) {
                    let to = end(&entries);
                    return Ok(Some((entries, to)));
                }
            }
        }
        for entry in state.index.tail.iter().filter(|entry| entry.meets(first, last)) {
            if is_full(entry, &mut entries) {
                let to = end(&entries);
                return Ok(Some((entries, to)));
            }
        }
        Ok(Some((entries, range.to)))
    }

    /// Blocks back from the end of the range until they hold `count` points, and where what they hold begins.
    async fn last_entries(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        count: usize,
    ) -> Result<Option<(Vec<Entry>, i64)>, Error> {
        let (first, last) = (range.from, range.to.saturating_sub(1));
        let mut entries: Vec<Entry> =
            state.index.tail.iter().rev().filter(|entry| entry.meets(first, last)).copied().collect();
        let held =
            |entries: &[Entry]| entries.iter().map(|entry| entry.summary.count as usize).sum::<usize>();
        let pages: Vec<_> = state.index.pages_meeting(first, last).copied().collect();
        for page in pages.iter().rev() {
            if held(&entries) >= count {
                break;
            }
            let pages = or_gone!(self.read_pages(strand, std::iter::once(page)).await?);
            let met = pages.entries(page)?.iter().rev().filter(|entry| entry.meets(first, last));
            entries.extend(met.copied());
        }
        let (mut points, mut taken) = (0_usize, 0_usize);
        for entry in &entries {
            if points >= count {
                break;
            }
            points += entry.summary.count as usize;
            taken += 1;
        }
        let whole = points < count && taken == entries.len();
        entries.truncate(taken);
        entries.reverse();
        let from = entries.first().filter(|_| !whole).map_or(range.from, |entry| entry.summary.first);
        Ok(Some((entries, from.max(range.from))))
    }

    /// See [`Strands::read_page`].
    pub(super) async fn page_now(
        &self,
        strand: &Strand,
        range: TimeRange,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        if range.is_empty() {
            return Ok(None);
        }
        let before = out.len();
        let mut patience = Patience::default();
        loop {
            if let Some(next) = self.try_page(strand, range, points_max, out, &mut patience).await? {
                return Ok(next);
            }
            out.truncate(before);
            patience.wait(strand).await?;
        }
    }

    pub(super) async fn try_page(
        &self,
        strand: &Strand,
        range: TimeRange,
        points_max: usize,
        out: &mut Points,
        patience: &mut Patience,
    ) -> Result<Option<Option<i64>>, Error> {
        let Some(state) = self.seen_state(strand, patience).await? else {
            return Ok(Some(None));
        };
        let before = out.len();
        let (entries, to) = or_gone!(self.first_entries(strand, &state, range, points_max).await?);
        let part = TimeRange { from: range.from, to };
        or_gone!(self.read_merged(strand, &state, &entries, part, out).await?);
        // Only overlays can bring so much more.
        let most =
            before.saturating_add(points_max).saturating_add(self.shared.rules.options.block_points_max);
        if out.len() > most {
            let cut = before + points_max.max(1);
            let next = out.times.get(cut).copied();
            out.truncate(cut);
            return Ok(Some(next));
        }
        Ok(Some(Some(to).filter(|to| *to < range.to)))
    }

    /// See [`Strands::read_last`].
    pub(super) async fn last_now(
        &self,
        strand: &Strand,
        range: TimeRange,
        count: usize,
    ) -> Result<Points, Error> {
        if range.is_empty() || count == 0 {
            return Ok(Points::default());
        }
        let mut patience = Patience::default();
        loop {
            if let Some(points) = self.try_last(strand, range, count, &mut patience).await? {
                return Ok(points);
            }
            patience.wait(strand).await?;
        }
    }

    async fn try_last(
        &self,
        strand: &Strand,
        range: TimeRange,
        count: usize,
        patience: &mut Patience,
    ) -> Result<Option<Points>, Error> {
        let Some(state) = self.seen_state(strand, patience).await? else {
            return Ok(Some(Points::default()));
        };
        // Overlays may delete of what blocks hold: then further back, by twice as much.
        let mut wanted = count;
        loop {
            let (entries, from) = or_gone!(self.last_entries(strand, &state, range, wanted).await?);
            let part = TimeRange { from, to: range.to };
            let mut points = Points::default();
            or_gone!(self.read_merged(strand, &state, &entries, part, &mut points).await?);
            if points.len() >= count || from <= range.from {
                let mut last = Points::default();
                last.extend_from_range(&points, points.len().saturating_sub(count)..points.len());
                return Ok(Some(last));
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    /// See [`Strands::extent`].
    pub(super) async fn extent_now(&self, strand: &Strand) -> Result<Option<(i64, i64)>, Error> {
        let Some((_, state)) = self.state(strand).await? else {
            return Ok(None);
        };
        if state.overlays.is_none_or(|overlays| !overlays.clears) {
            return Ok(state.bounds());
        }
        let last = self.last_now(strand, TimeRange::ALL, 1).await?;
        let mut from = Some(i64::MIN);
        let mut points = Points::default();
        while let Some(start) = from.filter(|_| points.is_empty()) {
            from = self.page_now(strand, TimeRange { from: start, to: i64::MAX }, 1, &mut points).await?;
        }
        Ok(points.times.first().copied().zip(last.times.last().copied()))
    }

    /// See [`Strands::read_many`].
    pub(super) async fn many_now(&self, wanted: &[(Strand, TimeRange)]) -> Vec<Result<Points, Error>> {
        let mut all = Vec::with_capacity(wanted.len());
        // Made by a loop: a closure over borrowed pairs would keep callers from moving this between threads.
        let mut pending = Vec::with_capacity(wanted.len());
        for (strand, range) in wanted {
            pending.push(self.whole(strand, *range));
        }
        let mut reads = futures_util::stream::iter(pending).buffered(READS_AT_ONCE);
        while let Some(read) = reads.next().await {
            all.push(read);
        }
        all
    }

    async fn whole(&self, strand: &Strand, range: TimeRange) -> Result<Points, Error> {
        let mut points = Points::default();
        self.page_now(strand, range, usize::MAX, &mut points).await?;
        Ok(points)
    }

    /// See [`Strands::list`].
    pub(super) async fn names(
        &self,
        partition: &Partition,
        prefix: &[u8],
        after: Option<&[u8]>,
        count_max: usize,
    ) -> Result<Vec<Bytes>, Error> {
        let mut names: Vec<Bytes> = Vec::new();
        let mut range = keys::states(prefix, after);
        while names.len() < count_max {
            let left = count_max - names.len();
            let page = self.reads().scan(partition, &range, Direction::Forward, left).await?;
            names.extend(page.rows().filter_map(|(key, _)| keys::name_of(key)).map(Bytes::copy_from_slice));
            let Some(last) = names.last().filter(|_| page.more()) else { break };
            range = keys::states(prefix, Some(last));
        }
        Ok(names)
    }
}

/// Appends the points of blocks that lie in the range.
pub(super) fn decode_all(
    entries: &[Entry],
    rows: &[Bytes],
    range: TimeRange,
    out: &mut Points,
) -> Result<(), Malformed> {
    let mut left: usize = entries.iter().map(|entry| entry.summary.count as usize).sum();
    for (entry, row) in entries.iter().zip(rows) {
        // The first block shows which columns there are.
        if !out.is_empty() {
            out.reserve(left);
        }
        left = left.saturating_sub(entry.summary.count as usize);
        decode_range(&open_block(entry, row)?, range, out)?;
    }
    Ok(())
}

/// The block of a row, which must be the one that the index tells of.
pub(super) fn open_block<'a>(entry: &Entry, row: &'a [u8]) -> Result<Block<'a>, Malformed> {
    let block = Block::parse(row)?;
    let told = |summary: &Summary| (summary.first, summary.last, summary.count);
    if told(&block.summary()) == told(&entry.summary) { Ok(block) } else { Err(Malformed) }
}
