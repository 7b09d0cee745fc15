//! What a write makes of a strand: the pure step between reading and committing.
//!
//! Points become blocks at once where no block and no overlay is in their way; else they become an overlay over what
//! lies there, unread. Blocks that are deleted whole go; blocks deleted in part get an overlay that says so.
//!
//! Invariant: a cleared range of an overlay never reaches beyond what the strand held when it was written, so blocks
//! that come later, where nothing was, are not under it.

use std::ops::Range;

use bytes::Bytes;
use store::{ChangeRecord, Limits, ROW_BYTES_MAX, Timestamp, Write};

use super::fresh::{Attempt, Fresh, next_generation};
use super::index::{Entry, PageRef, Pages, balanced};
use super::kept::keep;
use super::layer::{Layer, encode_layer, name_layer};
use super::state::{Overlays, State};
use super::{Rules, Strand, StrandVersion, keys};
use crate::codec::encode_part;
use crate::{Block, Encoding, Error, Malformed, Points, TimeRange};

/// Fewer points than this part of a full block never become blocks of their own at once.
const BLOCK_PART_MIN: usize = 16;
/// The largest block in bytes, unless it holds one point.
const BLOCK_BYTES_MAX: usize = 1024 * 1024;
/// The most blocks of one strand: 400 million points in full blocks.
pub(super) const STRAND_BLOCKS_MAX: usize = 100_000;
/// The most overlays of a strand. Folds keep it far below; one that cannot be folded must still fit in the commit that
/// erases it.
pub(super) const OVERLAYS_LIMIT: usize = 32_768;
/// More overlays than these are removed by one range; it costs a walk of the store's cache.
const ROWS_REMOVED_SINGLY_MAX: usize = 1_000;

/// A write, checked: what does not change while it is thought again.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) strand: Strand,
    pub(super) layer: Layer,
    pub(super) encoding: Encoding,
    pub(super) written: Timestamp,
    pub(super) audited: bool,
    /// The bound, if this is not a write of points but what retention removes.
    pub(super) expires: Option<i64>,
    pub(super) mark: Option<i64>,
    pub(super) beside: Vec<Write>,
    pub(super) change: Option<ChangeRecord>,
    pub(super) expects: Option<StrandVersion>,
}

/// What a write or a fold is to do in one commit.
#[derive(Debug)]
pub(super) struct Draught {
    pub(super) state: State,
    pub(super) writes: Vec<Write>,
    pub(super) fresh: Fresh,
    /// The generation before, and how this one is told apart.
    before: (u64, Attempt),
}

impl Draught {
    /// The generation of all fresh rows that it puts.
    pub(super) fn next_generation(&self) -> Result<u64, Error> {
        let (before, attempt) = self.before;
        next_generation(before, attempt)
    }
}

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

/// The most points of one block, whatever the options say.
const BLOCK_POINTS_LIMIT: usize = 65_535;

impl Rules {
    /// The most points of a block.
    pub(super) fn block_points_max(&self) -> usize {
        self.options.block_points_max.clamp(1, BLOCK_POINTS_LIMIT)
    }

    /// A block of more bytes is cut into smaller ones, unless it holds one point: a commit takes several.
    fn block_bytes_max(&self) -> usize {
        BLOCK_BYTES_MAX.min(self.limits.commit_bytes / 4)
    }

    /// Fewer points never become blocks of their own at once.
    fn block_points_min(&self) -> usize {
        (self.block_points_max() / BLOCK_PART_MIN).max(2)
    }
}

/// Pages of the index that [`think`] needs. Over-states a little rather than reads twice.
pub(super) fn pages_needed<'a>(
    state: &'a State,
    order: &Order,
    rules: &Rules,
) -> impl Iterator<Item = &'a PageRef> {
    let points = order.layer.points.len();
    let plans_blocks = points >= rules.block_points_min() || !order.layer.clears.is_empty();
    let bounds = order.layer.bounds().filter(|_| plans_blocks && !state.index.pages.is_empty());
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
pub(super) fn think(
    held: &State,
    pages: &Pages,
    order: &Order,
    rules: &Rules,
    attempt: Attempt,
) -> Result<Draught, Error> {
    let plan = plan(held, pages, &order.layer, rules)?;
    let mut state = State {
        sequence: held.sequence + 1,
        written: time_of(held, order),
        encoding: order.encoding,
        audited: held.audited || order.audited,
        unaudited: held.unaudited || !order.audited,
        // `None` is below all: a mark never goes back.
        mark: order.mark.max(held.mark),
        ..held.clone()
    };
    if let Some(bound) = order.expires {
        // Not a write that as-of reads would have to know: they end at the bound.
        state.unaudited = held.unaudited;
        state.encoding = held.encoding;
        state.kept.from = held.kept.from.max(bound);
    }
    let before = (held.generation, attempt);
    let mut draught = Draught { state, writes: Vec::with_capacity(4), fresh: Fresh::default(), before };
    let mut whole = None;
    if plan.drops_overlays {
        drop_overlays(&order.strand, &mut draught.state, &mut draught.writes);
    }
    if !plan.direct.is_empty() || !plan.removed.is_empty() {
        let strand = &order.strand;
        let cut = |run: &Range<usize>| (&order.layer.points, run.clone());
        let runs: Vec<_> = plan.direct.iter().map(cut).collect();
        let generation = draught.next_generation()?;
        let added = encode_runs(&runs, generation, order.encoding, rules)?;
        whole = (order.audited && runs.len() == 1).then(|| added.clone());
        let swap = Swapped { removed: &plan.removed, added, generation };
        swap_blocks(strand, &mut draught.state, pages, swap, &rules.limits, &mut draught.fresh)?;
    }
    let overlaid = !order.layer.points.is_empty() && plan.direct.is_empty();
    if overlaid || !plan.clears.is_empty() {
        if draught.state.overlay_count() >= OVERLAYS_LIMIT {
            let text = format!(
                "a strand has at most {OVERLAYS_LIMIT} overlays (OVERLAYS_LIMIT): it cannot be folded"
            );
            return Err(Error::Limit(text));
        }
        let none = Points::default();
        let points = if overlaid { &order.layer.points } else { &none };
        put_overlay(&mut draught, order, (&plan.clears, points), rules)?;
    }
    if order.audited {
        keep(order, whole, rules, &mut draught)?;
    }
    Ok(draught)
}

/// When a write counts as written: a kept one later than any write before it, even if the clock was set back or stands,
/// so that as-of reads tell them apart.
fn time_of(held: &State, order: &Order) -> Timestamp {
    let earliest = if order.audited { Timestamp(held.written.0.saturating_add(1)) } else { held.written };
    order.written.max(earliest)
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

/// Nanoseconds from each time to the next, if that is the same for all of at least two; else zero.
fn step_of(times: &[i64]) -> u64 {
    let [first, second, ..] = times else { return 0 };
    let step = second.abs_diff(*first);
    let same = times.windows(2).all(|pair| matches!(pair, [one, next] if next.abs_diff(*one) == step));
    if same { step } else { 0 }
}

/// Encodes runs of points to blocks of balanced sizes.
pub(super) fn encode_runs(
    runs: &[(&Points, Range<usize>)],
    generation: u64,
    encoding: Encoding,
    rules: &Rules,
) -> Result<Vec<(Entry, Bytes)>, Malformed> {
    let mut blocks = Vec::with_capacity(runs.len());
    for (points, run) in runs {
        for part in balanced(run.len(), rules.block_points_max()) {
            let places = run.start + part.start..run.start + part.end;
            encode_block_to(&mut blocks, points, places, (generation, encoding), rules)?;
        }
    }
    Ok(blocks)
}

/// One block, or halves of it while it is too large (long notes).
fn encode_block_to(
    blocks: &mut Vec<(Entry, Bytes)>,
    points: &Points,
    places: Range<usize>,
    (generation, encoding): (u64, Encoding),
    rules: &Rules,
) -> Result<(), Malformed> {
    let bytes = encode_part(points, places.clone(), encoding);
    if bytes.len() > rules.block_bytes_max() && places.len() > 1 {
        let middle = places.start + places.len() / 2;
        encode_block_to(blocks, points, places.start..middle, (generation, encoding), rules)?;
        return encode_block_to(blocks, points, middle..places.end, (generation, encoding), rules);
    }
    let step = step_of(points.times.get(places).unwrap_or_default());
    let summary = Block::parse(&bytes)?.summary();
    blocks.push((Entry { generation, step, summary }, bytes.into()));
    Ok(())
}

/// Blocks that go, and blocks of a generation that come.
pub(super) struct Swapped<'a> {
    pub(super) removed: &'a [Entry],
    pub(super) added: Vec<(Entry, Bytes)>,
    pub(super) generation: u64,
}

/// Removes and adds blocks: rows and index.
pub(super) fn swap_blocks(
    strand: &Strand,
    state: &mut State,
    pages: &Pages,
    swapped: Swapped<'_>,
    limits: &Limits,
    fresh: &mut Fresh,
) -> Result<(), Error> {
    let Swapped { removed, added, generation } = swapped;
    let entries: Vec<Entry> = added.iter().map(|(entry, _)| *entry).collect();
    let spans = removed.iter().chain(&entries).map(|entry| (entry.summary.first, entry.summary.last));
    let Some(span) = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) else {
        return Ok(());
    };
    state.generation = generation;
    let mut lasts: Vec<i64> = removed.iter().map(|entry| entry.summary.last).collect();
    lasts.sort_unstable();
    let is_removed = |entry: &Entry| lasts.binary_search(&entry.summary.last).is_ok();
    let splice = state.index.splice(pages, span, is_removed, &entries, generation)?;
    state.index = splice.index;
    if state.index.blocks() > STRAND_BLOCKS_MAX {
        return Err(Error::Limit(format!(
            "a strand has at most {STRAND_BLOCKS_MAX} blocks (STRAND_BLOCKS_MAX)"
        )));
    }
    for entry in removed {
        fresh.remove(strand, entry.row(strand));
    }
    for page in &splice.gone {
        fresh.remove(strand, page.row(strand));
    }
    for (page, bytes) in splice.put {
        fresh.put(strand, page.row(strand), bytes, limits);
    }
    for (entry, bytes) in added {
        fresh.put(strand, entry.row(strand), bytes, limits);
    }
    Ok(())
}

/// Removes all overlays.
pub(super) fn drop_overlays(strand: &Strand, state: &mut State, writes: &mut Vec<Write>) {
    if let Some(overlays) = state.overlays.take() {
        remove_overlays(strand, overlays.first_ordinal..state.overlay_next, writes);
    }
}

/// Removes overlays of which none is put by the same commit.
pub(super) fn remove_overlays(strand: &Strand, ordinals: Range<u64>, writes: &mut Vec<Write>) {
    if ordinals.end.saturating_sub(ordinals.start) > ROWS_REMOVED_SINGLY_MAX as u64 {
        writes.push(Write::DeleteRange(keys::overlays(strand, ordinals)));
    } else {
        writes.extend(ordinals.map(|ordinal| Write::Delete(keys::overlay(strand, ordinal))));
    }
}

fn put_overlay(
    draught: &mut Draught,
    order: &Order,
    (clears, points): (&[TimeRange], &Points),
    rules: &Rules,
) -> Result<(), Error> {
    let cleared = clears.first().zip(clears.last()).map(|(first, last)| (first.from, last.to - 1));
    let spans = points_span(points).into_iter().chain(cleared);
    let Some((first, last)) = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) else {
        return Ok(());
    };
    let (strand, ordinal) = (&order.strand, draught.state.overlay_next);
    let too_large = rules.too_large(points, order.encoding)?;
    let (count, spilled) = (points.len() as u64, too_large.is_some());
    let value = match too_large {
        None => encode_layer(clears, points, order.encoding, rules.block_points_max()),
        Some(parts) => name_layer(clears, &draught.spill(strand, parts, keys::overlay_points, rules)?),
    };
    let newest =
        Overlays { first_ordinal: ordinal, points: count, clears: !clears.is_empty(), first, last, spilled };
    let held = draught.state.overlays;
    draught.state.overlays = Some(held.map_or(newest, |held| held.with(newest)));
    draught.state.overlay_next = ordinal + 1;
    draught.writes.push(Write::PutStamped(keys::overlay(strand, ordinal), value.into()));
    Ok(())
}

/// Refuses what the store would refuse, by the names of its limits.
pub(super) fn check_size(writes: &[Write], limits: &Limits) -> Result<(), Error> {
    let too_large = |error: store::Error| Error::Limit(format!("one strand: {}", error.action()));
    // A condition, and a state, may come beside.
    limits.check_rows(writes.len() + 2).map_err(too_large)?;
    let mut bytes = 0;
    for write in writes {
        let (key, value) = match write {
            Write::Put(key, value) | Write::PutStamped(key, value) => (key.len(), value.len()),
            Write::Delete(key) => (key.len(), 0),
            Write::DeleteRange(range) => (range.start.len(), range.end.as_ref().map_or(0, Bytes::len)),
        };
        if value > ROW_BYTES_MAX {
            return Err(Error::Limit(format!(
                "an edit of one strand takes {value} bytes: at most {ROW_BYTES_MAX} are allowed (ROW_BYTES_MAX)"
            )));
        }
        bytes += key + value;
    }
    limits.check_bytes(bytes).map_err(too_large)
}

#[cfg(test)]
mod tests {
    use super::super::StrandOptions;
    use super::*;

    fn raster(first: i64, step: i64, count: i64) -> Points {
        let mut points = Points::default();
        (0..count).for_each(|at| points.push(first + at * step, 1.0, 3));
        points
    }

    fn strand() -> Strand {
        let space = store::Space { id: 240, kind: store::SpaceKind::Commit, name: "strands" };
        let partition = store::Partition { tenant: store::Tenant::default(), space, bucket: 0 };
        Strand { partition, name: Bytes::new() }
    }

    fn entry(points: &Points) -> Entry {
        let rules = Rules::new(StrandOptions::recommended(), Limits::EMBEDDED);
        let blocks = encode_runs(&[(points, 0..points.len())], 1, Encoding::Hot, &rules).unwrap();
        assert_eq!(blocks.len(), 1);
        blocks[0].0
    }

    #[test]
    fn a_block_is_covered_only_if_each_of_its_times_is() {
        let check = |points: &Points, block: &Points, expected: bool| {
            assert_eq!(covers(points, step_of(&points.times), &entry(block)), expected);
        };
        let day = raster(0, 900, 96);
        check(&day, &day, true);
        check(&raster(-900, 900, 98), &day, true);
        check(&raster(0, 300, 400), &day, true);
        check(&raster(0, 900, 95), &day, false);
        check(&raster(900, 900, 96), &day, false);
        check(&raster(-450, 900, 98), &day, false);
        check(&raster(0, 1_800, 96), &day, false);
        check(&raster(0, 900, 96), &raster(900, 1, 1), true);
        check(&raster(0, 900, 96), &raster(901, 1, 1), false);
        check(&raster(0, 1, 1), &raster(0, 1, 1), false);
        let mut uneven = raster(0, 900, 96);
        uneven.times[1] += 1;
        check(&day, &uneven, false);
        check(&uneven, &day, false);
    }

    #[test]
    fn runs_go_around_blocks_that_stay() {
        let points = raster(0, 10, 100);
        let stay = [entry(&raster(201, 1, 9)), entry(&raster(505, 1, 2)), entry(&raster(5_000, 1, 2))];
        assert_eq!(runs_between(&points, &stay), Some((Vec::new(), vec![0..21, 21..51, 51..100])));
        assert_eq!(runs_between(&points, &[entry(&raster(195, 5, 9))]), None);
        let covered = entry(&raster(300, 20, 9));
        let (gone, runs) = runs_between(&points, &[covered]).unwrap();
        assert_eq!((gone.as_slice(), runs.as_slice()), (&[covered][..], std::slice::from_ref(&(0..100))));
    }

    #[test]
    fn a_strand_that_cannot_be_folded_takes_no_overlay_beyond_the_limit() {
        let strand = strand();
        let held = |count: u64| State {
            overlay_next: 7 + count,
            overlays: Some(Overlays {
                first_ordinal: 7,
                points: count,
                clears: false,
                first: 0,
                last: 99,
                spilled: false,
            }),
            ..State::new()
        };
        let order = |clears: Vec<TimeRange>, points| Order {
            strand: strand.clone(),
            layer: Layer { clears, points },
            encoding: Encoding::Hot,
            written: Timestamp(0),
            audited: false,
            expires: None,
            mark: None,
            beside: Vec::new(),
            change: None,
            expects: None,
        };
        let rules = Rules::new(StrandOptions::recommended(), Limits::EMBEDDED);
        let limit = OVERLAYS_LIMIT as u64;
        let think =
            |count, order: &Order| think(&held(count), &Pages::default(), order, &rules, Attempt::CLEAN);
        let few = order(Vec::new(), raster(5, 1, 1));
        assert_eq!(think(limit - 1, &few).unwrap().state.overlay_count(), OVERLAYS_LIMIT);
        assert!(matches!(think(limit, &few), Err(Error::Limit(text)) if text.contains("OVERLAYS_LIMIT")));
        // What makes all of them needless is taken, and fits in a commit.
        let all = think(limit, &order(vec![TimeRange::ALL], raster(5, 1, 1))).unwrap();
        assert_eq!(all.state.overlay_count(), 1);
        assert!(check_size(&all.writes, &Limits::PORTABLE).is_ok());
    }

    #[test]
    fn large_blocks_are_halved() {
        let mut points = raster(0, 10, 64);
        for at in 0..64_u8 {
            let note = vec![at; 100_000 + usize::from(at)].into();
            let place = points.notes.place_of(&note);
            points.notes.places.push(place);
        }
        let rules = Rules::new(StrandOptions::recommended(), Limits::EMBEDDED);
        let blocks = encode_runs(&[(&points, 0..64)], 1, Encoding::Raw, &rules).unwrap();
        assert!(blocks.iter().all(|(_, bytes)| bytes.len() <= BLOCK_BYTES_MAX));
        let mut all = Points::default();
        for (_, bytes) in &blocks {
            Block::parse(bytes).unwrap().decode_into(&mut all).unwrap();
        }
        assert_eq!(all, points);
    }
}
