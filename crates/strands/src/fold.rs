//! Folding: overlays go into blocks, small blocks are joined. Reads and writes go on meanwhile.
//!
//! A fold holds a snapshot, makes new blocks of what the overlays touch, and swaps them in by commits of bounded size;
//! the last of them removes the overlays. Until then the overlays still lie over the new blocks and say the same.
//! A swap is valid if the blocks it replaces are still there and the overlays of the snapshot too: writers that only
//! add overlays do not disturb it. Whatever ends a fold half-way leaves a right strand.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use store::retry::RetryBackoff;

use crate::blocks::{Swapped, decode_all, encode_runs, swap_blocks};
use crate::codec::{Encoding, Malformed};
use crate::commit::{ReadyCommit, commit};
use crate::error::Error;
use crate::fetch::or_gone;
use crate::fields::next_generation;
use crate::fresh::Fresh;
use crate::index::{Entry, Index, PageRef, Pages, balanced};
use crate::keys;
use crate::layer::{EncodedLayer, Layer, merge_into};
use crate::pending::check_size;
use crate::plan::remove_overlays;
use crate::points::{Points, TimeRange};
use crate::state::{Overlays, State};
use crate::strand::{Rules, Strand};
use crate::strands::Strands;

/// How often a fold starts again because the blocks it read were replaced.
const ATTEMPTS: RetryBackoff = RetryBackoff::waiting(8, 8, Duration::ZERO);
/// How often a commit is tried again because a writer came before.
const COMMIT_ATTEMPTS: RetryBackoff = RetryBackoff::at_once(32);
/// Full blocks whose points one commit of a fold moves, about.
const PIECE_BLOCKS: usize = 32;
/// Where the points of a piece are too many bytes for a commit, pieces become smaller by this factor.
const PIECE_SHRINKS_BY: usize = 16;
/// More points than these are encoded where that holds up nobody.
const INLINE_POINTS_MAX: usize = 16_384;

/// Something along a strand.
#[derive(Clone, Debug)]
struct Item {
    first: i64,
    last: i64,
    /// How many points, at most.
    points: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// A block; true if it is to be written anew.
    Block(Entry, bool),
    /// Points of overlays where no block is.
    Gap,
    /// A page of blocks that nothing touches.
    Wall,
}

/// A stretch of a strand that is written anew.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) blocks: Vec<Entry>,
    pub(crate) points: usize,
}

/// What one commit swaps.
pub(crate) struct Swap {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) added: Vec<(Entry, Bytes)>,
}

impl Strands {
    /// Folds overlays into blocks if there are any. Reads and writes go on meanwhile; a fold that a writer comes
    /// before starts again, and gives up after some attempts (answering false).
    /// Cost: blocks under overlays, and small ones beside them, are decoded and encoded anew.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn fold(&self, strand: &Strand, encoding: Encoding) -> Result<bool, Error> {
        let live = self.live();
        let mut piece_points = PIECE_BLOCKS * live.shared.rules.block_points_max();
        let mut attempts = ATTEMPTS.attempts();
        'attempts: while attempts.next().await {
            loop {
                match live.try_fold(strand, encoding, piece_points).await {
                    Ok(Some(())) => return Ok(true),
                    Ok(None) => continue 'attempts,
                    Err(Error::Limit(_)) if piece_points > 1 => {
                        piece_points = (piece_points / PIECE_SHRINKS_BY).max(1);
                    }
                    Err(error) => return Err(error),
                }
                tokio::task::yield_now().await;
            }
        }
        Ok(false)
    }

    async fn try_fold(
        &self,
        strand: &Strand,
        encoding: Encoding,
        piece_points: usize,
    ) -> Result<Option<()>, Error> {
        let Some((_, state)) = self.state(strand).await? else {
            return Ok(Some(()));
        };
        let Some(overlays) = state.overlays else {
            return Ok(Some(()));
        };
        let all = TimeRange { from: overlays.first, to: overlays.last + 1 };
        let layer = or_gone!(self.overlaid(strand, &state, all).await?);
        let touched = state.index.pages.iter().filter(|page| layer.touches(page.first, page.last));
        let pages = or_gone!(self.read_pages(strand, touched).await?);
        let items = items(&state.index, &pages, &layer, piece_points)?;
        let pieces = pieces(items, self.shared.rules.block_points_max(), piece_points);
        let (last, pieces) = match pieces.split_last() {
            Some((last, pieces)) => (last.as_slice(), pieces),
            None => (&[][..], &[][..]),
        };
        for piece in pieces {
            let swap = or_gone!(self.make_swap(strand, piece, &layer, encoding).await?);
            or_gone!(self.commit_swap(strand, Some(&state), &swap, false).await?);
            tokio::task::yield_now().await;
        }
        let swap = or_gone!(self.make_swap(strand, last, &layer, encoding).await?);
        self.commit_swap(strand, Some(&state), &swap, true).await
    }

    /// Reads, merges and encodes a piece; `None` if a block is gone.
    async fn make_swap(
        &self,
        strand: &Strand,
        piece: &[Stretch],
        layer: &Layer,
        encoding: Encoding,
    ) -> Result<Option<Swap>, Error> {
        let blocks: Vec<Entry> = piece.iter().flat_map(|stretch| &stretch.blocks).copied().collect();
        let rows = or_gone!(self.block_rows(strand, blocks.iter()).await?);
        let mut below = Points::default();
        decode_all(&blocks, &rows, TimeRange::ALL, &mut below)?;
        let mut merged = Vec::with_capacity(piece.len());
        for stretch in piece {
            let mut points = Points::default();
            let range = TimeRange { from: stretch.first, to: stretch.last + 1 };
            merge_into(&below, layer, range, &mut points);
            merged.push(points);
        }
        let rules = self.shared.rules;
        let points: usize = merged.iter().map(Points::len).sum();
        let added = if points > INLINE_POINTS_MAX {
            let encoded = tokio::task::spawn_blocking(move || encode_all(&merged, encoding, &rules)).await;
            encoded.map_err(|error| {
                store::Error::new(store::ErrorKind::Unavailable, "fold a strand").with_source(error)
            })??
        } else {
            encode_all(&merged, encoding, &rules)?
        };
        Ok(Some(Swap { stretches: piece.to_vec(), added }))
    }

    /// Commits a swap onto the strand as it is now; `None` if what it replaces is not there any more, or the overlays
    /// of `folded` are not, from which its points are.
    pub(crate) async fn commit_swap(
        &self,
        strand: &Strand,
        folded: Option<&State>,
        swap: &Swap,
        is_last: bool,
    ) -> Result<Option<()>, Error> {
        let mut attempts = COMMIT_ATTEMPTS.attempts();
        while attempts.next().await {
            let ready = or_gone!(self.prepare_swap(strand, folded, swap, is_last).await?);
            if let Some(said) = ready.untidy {
                self.try_commit(said).await?;
            } else if self.try_append_then_commit(ready.commit, ready.is_too_much).await? {
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    async fn prepare_swap(
        &self,
        strand: &Strand,
        folded: Option<&State>,
        swap: &Swap,
        is_last: bool,
    ) -> Result<Option<ReadyCommit>, Error> {
        let epoch = self.shared.store.fence(&strand.partition);
        let (stamp, now) = or_gone!(self.state(strand).await?);
        let first_ordinal = |state: &State| state.overlays.map(|overlays| overlays.first_ordinal);
        if folded.is_some_and(|folded| first_ordinal(&now) != first_ordinal(folded)) {
            return Ok(None);
        }
        let span = swap.stretches.first().zip(swap.stretches.last());
        let pages = match span.map(|(first, last)| (first.first, last.last)) {
            Some((first, last)) => {
                let splice = now.index.pages_to_splice(first, last, swap.added.len());
                let meets = now.index.pages_meeting(first, last);
                let beside = splice.iter().filter(|page| page.last < first || last < page.first);
                or_gone!(self.read_pages(strand, meets.chain(beside)).await?)
            }
            None => Pages::default(),
        };
        let is_smallest = matches!(&*swap.stretches, [only] if only.blocks.len() <= 1);
        let mut removed = Vec::new();
        for stretch in &swap.stretches {
            let held = now.index.entries_meeting(&pages, stretch.first, stretch.last)?;
            let pairs = held.iter().zip(&stretch.blocks);
            if held.len() != stretch.blocks.len() || !pairs.into_iter().all(|(one, other)| one.is_same(other))
            {
                return Ok(None);
            }
            removed.extend_from_slice(&stretch.blocks);
        }
        let held = now;
        let (mut state, mut writes, mut fresh) = (held.clone(), Vec::new(), Fresh::default());
        let write_id = self.shared.write_ids.next();
        let generation = next_generation(state.generation, self.attempt(&state, write_id))?;
        let renamed = |(entry, bytes): &(Entry, Bytes)| (Entry { generation, ..*entry }, bytes.clone());
        let added = swap.added.iter().map(renamed).collect();
        let (swap, limits) = (Swapped { removed: &removed, added, generation }, &self.shared.rules.limits);
        swap_blocks(strand, &mut state, &pages, swap, limits, &mut fresh)?;
        if let Some(folded) = folded.filter(|_| is_last) {
            let left = or_gone!(self.overlays_from(strand, &state, folded.overlay_next).await?);
            if let Some(overlays) = &folded.overlays {
                let gone = overlays.first_ordinal..folded.overlay_next;
                let points = or_gone!(self.overlay_points(strand, overlays, gone.clone()).await?);
                points.into_iter().for_each(|row| fresh.remove(strand, row));
                remove_overlays(strand, gone, &mut writes);
            }
            state.overlays = left;
        }
        self.keep_span(self.span_of_leftovers(&held), &mut state);
        check_size(&writes, limits)?;
        let commit = commit(strand, Some(stamp), &state, writes.into_iter(), write_id, None);
        if !is_smallest {
            // Pieces of one batch each: nobody holds more of them at once.
            fresh.check_size(&commit, limits)?;
        }
        let is_too_much = fresh.is_too_much(&commit, limits);
        let untidy = if is_too_much { self.say_before(strand, Some(stamp), &held, &fresh) } else { None };
        Ok(Some(ReadyCommit { commit: fresh.with(epoch, commit), state, is_too_much, untidy }))
    }

    /// What is known of the overlays from `ordinal` on, read from them.
    async fn overlays_from(
        &self,
        strand: &Strand,
        state: &State,
        ordinal: u64,
    ) -> Result<Option<Option<Overlays>>, Error> {
        let keys: Vec<Bytes> =
            (ordinal..state.overlay_next).map(|ordinal| keys::overlay(strand, ordinal)).collect();
        let rows = or_gone!(self.rows(&strand.partition, &keys).await?);
        let mut left: Option<Overlays> = None;
        for row in &rows {
            let next = EncodedLayer::parse(row)?.outline(ordinal).ok_or(Malformed)?;
            left = Some(left.map_or(next, |left| left.with(next)));
        }
        Ok(Some(left))
    }
}

/// Blocks of all stretches, each cut by itself. Their generation is given when they are committed.
fn encode_all(
    stretches: &[Points],
    encoding: Encoding,
    rules: &Rules,
) -> Result<Vec<(Entry, Bytes)>, Malformed> {
    let runs: Vec<(&Points, Range<usize>)> =
        stretches.iter().map(|points| (points, 0..points.len())).collect();
    encode_runs(&runs, 0, encoding, rules)
}

/// What lies along the strand where the overlays touch it, in order.
fn items(index: &Index, pages: &Pages, layer: &Layer, piece_points: usize) -> Result<Vec<Item>, Malformed> {
    let mut items = Vec::new();
    let mut at = 0;
    for page in &index.pages {
        if !pages.holds(page) {
            put_gap(&mut items, layer, &mut at, page.first, piece_points);
            items.push(wall(page));
            continue;
        }
        for entry in pages.entries(page)? {
            put_gap(&mut items, layer, &mut at, entry.summary.first, piece_points);
            put_block(&mut items, layer, &mut at, entry);
        }
    }
    for entry in &index.tail {
        put_gap(&mut items, layer, &mut at, entry.summary.first, piece_points);
        put_block(&mut items, layer, &mut at, entry);
    }
    put_gap(&mut items, layer, &mut at, i64::MAX, piece_points);
    Ok(items)
}

fn wall(page: &PageRef) -> Item {
    Item { first: page.first, last: page.last, points: 0, what: What::Wall }
}

fn put_block(items: &mut Vec<Item>, layer: &Layer, at: &mut usize, entry: &Entry) {
    let (first, last) = (entry.summary.first, entry.summary.last);
    let over = layer.points.range_of(TimeRange { from: first, to: last + 1 });
    *at = over.end.max(*at);
    let points = entry.summary.count as usize + over.len();
    items.push(Item { first, last, points, what: What::Block(*entry, layer.touches(first, last)) });
}

/// Points of the layer before `to`, in items of bounded size.
fn put_gap(items: &mut Vec<Item>, layer: &Layer, at: &mut usize, to: i64, piece_points: usize) {
    let from = *at;
    let rest = layer.points.times.get(from..).expect("a place in the layer, or its end");
    let (run, _) = rest.split_at(rest.partition_point(|time| *time < to));
    for part in balanced(run.len(), piece_points) {
        let part = run.get(part).expect("a part of the run");
        if let (Some(first), Some(last)) = (part.first(), part.last()) {
            items.push(Item { first: *first, last: *last, points: part.len(), what: What::Gap });
        }
    }
    *at = from + run.len();
}

impl Item {
    fn is_work(&self) -> bool {
        matches!(self.what, What::Gap | What::Block(_, true))
    }
}

/// Stretches to be written anew, in pieces of which each is one commit.
fn pieces(mut items: Vec<Item>, block_points_max: usize, piece_points: usize) -> Vec<Vec<Stretch>> {
    join_neighbours(&mut items, block_points_max);
    let mut pieces: Vec<Vec<Stretch>> = Vec::new();
    let (mut is_adjacent, mut is_same_piece, mut points) = (false, false, 0);
    for item in items {
        if !item.is_work() {
            is_adjacent = false;
            is_same_piece &= !matches!(item.what, What::Wall);
            continue;
        }
        if points + item.points > piece_points {
            (is_adjacent, is_same_piece, points) = (false, false, 0);
        }
        points += item.points;
        if !is_same_piece {
            pieces.push(Vec::new());
        }
        let Some(piece) = pieces.last_mut() else { continue };
        let block = match item.what {
            What::Block(entry, _) => Some(entry),
            _ => None,
        };
        match piece.last_mut().filter(|_| is_adjacent) {
            Some(stretch) => {
                stretch.last = item.last;
                stretch.points += item.points;
                stretch.blocks.extend(block);
            }
            None => piece.push(Stretch {
                first: item.first,
                last: item.last,
                blocks: block.into_iter().collect(),
                points: item.points,
            }),
        }
        (is_adjacent, is_same_piece) = (true, true);
    }
    pieces
}

/// Blocks beside a stretch join it while all fit in one block, and theirs are few, or not many more than the
/// stretch's: so appended points are written anew a logarithmic number of times, and blocks fill up.
fn join_neighbours(items: &mut [Item], block_points_max: usize) {
    let mut from = 0;
    while let Some(start) = (from..items.len()).find(|at| items.get(*at).is_some_and(Item::is_work)) {
        let mut end = start;
        let mut points = 0;
        while let Some(item) = items.get(end).filter(|item| item.is_work()) {
            points += item.points;
            end += 1;
        }
        let mut join = |at: usize, points: &mut usize| {
            let Some(Item { points: held, what: What::Block(_, is_work @ false), .. }) = items.get_mut(at)
            else {
                return false;
            };
            let few = *held < block_points_max / 4 || *held <= points.saturating_mul(2);
            *is_work = few && *held + *points <= block_points_max;
            *points += if *is_work { *held } else { 0 };
            *is_work
        };
        let mut before = start;
        while before.checked_sub(1).is_some_and(|at| join(at, &mut points)) {
            before -= 1;
        }
        while join(end, &mut points) {
            end += 1;
        }
        from = end + 1;
    }
}
