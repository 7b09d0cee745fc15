//! What a write makes of a strand: the pure step between reading and committing.
//!
//! Points become blocks at once where no block and no overlay is in their way; else they become an overlay over what
//! lies there, unread. Blocks that are deleted whole go; blocks deleted in part get an overlay that says so.
//!
//! Invariant: a cleared range of an overlay never reaches beyond what the strand held when it was written, so blocks
//! that come later, where nothing was, are not under it.

use std::ops::Range;

use store::{LimitExceeded, Timestamp, Write};

use crate::audit_rows::put_audit;
use crate::blocks::{Swapped, encode_runs, step_of, swap_blocks};
use crate::codec::Malformed;
use crate::error::Error;
use crate::fields::Attempt;
use crate::fresh::Fresh;
use crate::index::{Entry, PageRef, Pages};
use crate::keys;
use crate::layer::{Layer, encode_layer, name_layer};
use crate::pending::{CheckedWrite, PendingCommit};
use crate::points::{Points, TimeRange};
use crate::state::{Overlays, State};
use crate::strand::{Rules, Strand};

/// The most overlays of a strand. Folds keep it far below; one that cannot be folded must still fit in the commit that
/// erases it.
pub(crate) const OVERLAYS_LIMIT: usize = 32_768;
/// More overlays than these are removed by one range; it costs a walk of the store's cache.
const ROWS_REMOVED_SINGLY_MAX: usize = 1_000;

/// How the points of a write are kept.
#[derive(Debug, Default)]
struct Plan {
    /// Blocks that go.
    removed: Vec<Entry>,
    /// Places of points, each run of them a stretch where no block stays.
    direct: Vec<Range<usize>>,
    /// What an overlay must clear.
    clears: Vec<TimeRange>,
    /// All overlays are cleared and go.
    drops_overlays: bool,
}

/// Pages of the index that [`think`] needs. Names some too many rather than reads twice.
pub(crate) fn pages_needed<'a>(
    state: &'a State,
    checked: &CheckedWrite,
    rules: &Rules,
) -> impl Iterator<Item = &'a PageRef> {
    let points = checked.layer.points.len();
    let plans_blocks = points >= rules.block_points_min() || !checked.layer.clears.is_empty();
    let bounds = checked.layer.bounds().filter(|_| plans_blocks && !state.index.pages.is_empty());
    let (first, last) = bounds.unwrap_or((i64::MAX, i64::MIN));
    let added = points.div_ceil(rules.block_points_max());
    // Runs between blocks that stay may be cut once more each: room for as many as there are entries to stay.
    let splice = bounds.map_or(&[][..], |(first, last)| state.index.pages_to_splice(first, last, added + 1));
    let meets = state.index.pages_meeting(first, last);
    meets.chain(splice.iter().filter(move |page| page.last < first || last < page.first))
}

/// The next state and the rows of a write (the state row apart). Cost: the points are encoded once.
///
/// # Errors
///
/// [`Error::Limit`] beyond a named limit; [`Error::Malformed`] if a page is missing or damaged.
pub(crate) fn plan_commit(
    held: &State,
    pages: &Pages,
    checked: &CheckedWrite,
    rules: &Rules,
    attempt: Attempt,
) -> Result<PendingCommit, Error> {
    let plan = plan(held, pages, &checked.layer, rules)?;
    let mut state = State {
        sequence: held.sequence + 1,
        written: time_of(held, checked),
        encoding: checked.encoding,
        audited: held.audited || checked.audited,
        unaudited: held.unaudited || !checked.audited,
        // `None` is below all: a mark never goes back.
        mark: checked.mark.max(held.mark),
        ..held.clone()
    };
    if let Some(bound) = checked.expires {
        // Not a write that as-of reads would have to know: they end at the bound.
        state.unaudited = held.unaudited;
        state.encoding = held.encoding;
        state.audit.from = held.audit.from.max(bound);
    }
    let before = (held.generation, attempt);
    let mut pending = PendingCommit { state, writes: Vec::with_capacity(4), fresh: Fresh::default(), before };
    let mut whole = None;
    if plan.drops_overlays {
        drop_overlays(&checked.strand, &mut pending.state, &mut pending.writes);
    }
    if !plan.direct.is_empty() || !plan.removed.is_empty() {
        let strand = &checked.strand;
        let cut = |run: &Range<usize>| (&checked.layer.points, run.clone());
        let runs: Vec<_> = plan.direct.iter().map(cut).collect();
        let generation = pending.next_generation()?;
        let added = encode_runs(&runs, generation, checked.encoding, rules)?;
        whole = (checked.audited && runs.len() == 1).then(|| added.clone());
        let swap = Swapped { removed: &plan.removed, added, generation };
        swap_blocks(strand, &mut pending.state, pages, swap, &rules.limits, &mut pending.fresh)?;
    }
    let overlaid = !checked.layer.points.is_empty() && plan.direct.is_empty();
    if overlaid || !plan.clears.is_empty() {
        LimitExceeded::check("OVERLAYS_LIMIT", OVERLAYS_LIMIT, pending.state.overlay_count() + 1)?;
        let none = Points::default();
        let points = if overlaid { &checked.layer.points } else { &none };
        put_overlay(&mut pending, checked, (&plan.clears, points), rules)?;
    }
    if checked.audited {
        put_audit(checked, whole, rules, &mut pending)?;
    }
    Ok(pending)
}

/// When a write counts as written: a kept one later than any write before it, even if the clock was set back or stands,
/// so that as-of reads tell them apart.
fn time_of(held: &State, checked: &CheckedWrite) -> Timestamp {
    let earliest = if checked.audited { Timestamp(held.written.0.saturating_add(1)) } else { held.written };
    checked.written.max(earliest)
}

fn plan(held: &State, pages: &Pages, layer: &Layer, rules: &Rules) -> Result<Plan, Malformed> {
    let Some((first, last)) = layer.bounds() else {
        return Ok(Plan::default());
    };
    let mut plan = Plan::default();
    let mut overlays = held.overlays;
    if overlays.is_some_and(|overlays| layer.clears_all(overlays.first, overlays.last)) {
        plan.drops_overlays = true;
        overlays = None;
    }
    let span = points_span(&layer.points);
    let many = layer.points.len() >= rules.block_points_min();
    if !many && layer.clears.is_empty() {
        return Ok(plan);
    }
    let met = held.index.entries_meeting(pages, first, last)?;
    let is_cleared = |entry: &Entry| layer.clears_all(entry.summary.first, entry.summary.last);
    let (removed, stay): (Vec<Entry>, Vec<Entry>) = met.into_iter().partition(is_cleared);
    plan.removed = removed;
    for clear in &layer.clears {
        plan.clears.extend(clip(*clear, &stay, overlays));
    }
    let (Some((first, last)), true) = (span, many) else {
        return Ok(plan);
    };
    let is_under = overlays.is_some_and(|overlays| overlays.meet(first, last));
    let is_cleared = plan.clears.iter().any(|clear| clear.from <= last && first < clear.to);
    if is_under || is_cleared {
        return Ok(plan);
    }
    if let Some((covered, direct)) = runs_between(&layer.points, &stay) {
        plan.removed.extend(covered);
        plan.direct = direct;
    }
    Ok(plan)
}

fn points_span(points: &Points) -> Option<(i64, i64)> {
    points.times.first().zip(points.times.last()).map(|(first, last)| (*first, *last))
}

/// The part of a cleared range that has something to clear: blocks that stay, or overlays.
fn clip(clear: TimeRange, stay: &[Entry], overlays: Option<Overlays>) -> Option<TimeRange> {
    let spans = stay.iter().map(|entry| (entry.summary.first, entry.summary.last));
    let spans = spans.chain(overlays.map(|overlays| (overlays.first, overlays.last)));
    let spans = spans.filter(|(first, last)| clear.from <= *last && *first < clear.to);
    let (first, last) = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    Some(TimeRange { from: clear.from.max(first), to: clear.to.min(last.saturating_add(1)) })
}

/// Blocks that the points replace point by point, and the runs of points between blocks that stay; `None` if a block
/// must be read to know.
fn runs_between(points: &Points, stay: &[Entry]) -> Option<(Vec<Entry>, Vec<Range<usize>>)> {
    let step = step_of(&points.times);
    let (mut covered, mut runs, mut from) = (Vec::new(), Vec::new(), 0);
    for entry in stay {
        let (first, last) = (entry.summary.first, entry.summary.last);
        let start = points.times.partition_point(|time| *time < first);
        if points.times.get(start).is_none_or(|time| *time > last) {
            if start > from {
                runs.push(from..start);
            }
            from = start;
        } else if covers(points, step, entry) {
            covered.push(*entry);
        } else {
            return None;
        }
    }
    if from < points.len() {
        runs.push(from..points.len());
    }
    Some((covered, runs))
}

/// Whether the points have each time that the block has, known without reading it.
fn covers(points: &Points, step: u64, entry: &Entry) -> bool {
    let Some((first, last)) = points_span(points) else { return false };
    let summary = &entry.summary;
    let within = first <= summary.first && summary.last <= last;
    let is_raster = entry.step != 0 || summary.count == 1;
    let is_finer = step != 0 && is_raster && entry.step.is_multiple_of(step);
    within && is_finer && summary.first.abs_diff(first).is_multiple_of(step)
}

/// Removes all overlays.
pub(crate) fn drop_overlays(strand: &Strand, state: &mut State, writes: &mut Vec<Write>) {
    if let Some(overlays) = state.overlays.take() {
        remove_overlays(strand, overlays.first_ordinal..state.overlay_next, writes);
    }
}

/// Removes overlays of which none is put by the same commit.
pub(crate) fn remove_overlays(strand: &Strand, ordinals: Range<u64>, writes: &mut Vec<Write>) {
    if ordinals.end.saturating_sub(ordinals.start) > ROWS_REMOVED_SINGLY_MAX as u64 {
        writes.push(Write::DeleteRange(keys::overlays(strand, ordinals)));
    } else {
        writes.extend(ordinals.map(|ordinal| Write::Delete(keys::overlay(strand, ordinal))));
    }
}

fn put_overlay(
    pending: &mut PendingCommit,
    checked: &CheckedWrite,
    (clears, points): (&[TimeRange], &Points),
    rules: &Rules,
) -> Result<(), Error> {
    let cleared = clears.first().zip(clears.last()).map(|(first, last)| (first.from, last.to - 1));
    let spans = points_span(points).into_iter().chain(cleared);
    let Some((first, last)) = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) else {
        return Ok(());
    };
    let (strand, ordinal) = (&checked.strand, pending.state.overlay_next);
    let too_large = rules.too_large(points, checked.encoding)?;
    let (count, spilled) = (points.len() as u64, too_large.is_some());
    let value = match too_large {
        None => encode_layer(clears, points, checked.encoding, rules.block_points_max()),
        Some(parts) => name_layer(clears, &pending.spill(strand, parts, keys::overlay_points, rules)?),
    };
    let newest =
        Overlays { first_ordinal: ordinal, points: count, clears: !clears.is_empty(), first, last, spilled };
    let held = pending.state.overlays;
    pending.state.overlays = Some(held.map_or(newest, |held| held.with(newest)));
    pending.state.overlay_next = ordinal + 1;
    pending.writes.push(Write::PutStamped(keys::overlay(strand, ordinal), value.into()));
    Ok(())
}

#[cfg(test)]
mod tests;
