//! Blocks of a strand as rows: cut from points, put and removed with their entries in the index, and opened again. Pure.

use std::ops::Range;

use bytes::Bytes;
use store::{LimitExceeded, Limits};

use crate::codec::{Block, Encoding, Malformed, Summary, encode_part};
use crate::error::Error;
use crate::fresh::Fresh;
use crate::index::{Entry, Pages, balanced};
use crate::layer::decode_range;
use crate::points::{Points, TimeRange};
use crate::state::State;
use crate::strand::{Rules, Strand};

/// The most blocks of one strand: 400 million points in full blocks.
pub(crate) const STRAND_BLOCKS_MAX: usize = 100_000;

/// Encodes runs of points to blocks of balanced sizes.
pub(crate) fn encode_runs(
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
    let step = step_of(points.times.get(places).expect("places of these points"));
    let summary = Block::parse(&bytes)?.summary();
    blocks.push((Entry { generation, step, summary }, bytes.into()));
    Ok(())
}

/// Nanoseconds from each time to the next, if that is the same for all of at least two; else zero.
pub(crate) fn step_of(times: &[i64]) -> u64 {
    let [first, second, ..] = times else { return 0 };
    let step = second.abs_diff(*first);
    let same = times.windows(2).all(|pair| matches!(pair, [one, next] if next.abs_diff(*one) == step));
    if same { step } else { 0 }
}

/// Blocks that go, and blocks of a generation that come.
pub(crate) struct Swapped<'a> {
    pub(crate) removed: &'a [Entry],
    pub(crate) added: Vec<(Entry, Bytes)>,
    pub(crate) generation: u64,
}

/// Removes and adds blocks: rows and index.
pub(crate) fn swap_blocks(
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
    LimitExceeded::check("STRAND_BLOCKS_MAX", STRAND_BLOCKS_MAX, state.index.blocks())?;
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

/// Appends the points of blocks that lie in the range.
pub(crate) fn decode_all(
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
pub(crate) fn open_block<'a>(entry: &Entry, row: &'a [u8]) -> Result<Block<'a>, Malformed> {
    let block = Block::parse(row)?;
    let outcome = |summary: &Summary| (summary.first, summary.last, summary.count);
    if outcome(&block.summary()) == outcome(&entry.summary) { Ok(block) } else { Err(Malformed) }
}
