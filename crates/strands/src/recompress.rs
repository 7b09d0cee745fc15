//! Recompressing: blocks that are old are packed smaller, in the way a fold replaces blocks.
//!
//! Points stay what they are and overlays lie over the new blocks as over the old, so reads and writes go on meanwhile.
//! A commit succeeds only if the blocks it replaces are still there; else the sweep goes on from there with the strand as
//! it is then. What was looked at is noted in the state, so that no process looks again.

use std::time::{Duration, Instant};

use bytes::Bytes;
use store::ErrorKind;
use store::retry::RetryBackoff;

use crate::blocks::{decode_all, encode_runs};
use crate::codec::{Block, Encoding, Malformed};
use crate::commit::commit;
use crate::error::Error;
use crate::fetch::or_gone;
use crate::fields::count_of;
use crate::fold::{Stretch, Swap};
use crate::index::Entry;
use crate::points::{Points, TimeRange};
use crate::state::{Recompressed, State};
use crate::strand::{Rules, Strand};
use crate::strands::Strands;

/// Blocks that are read together, and that one commit replaces at most.
const PIECE_BLOCKS: usize = 32;
/// A commit with more bytes of blocks than this part of what a commit takes takes no further block.
const PIECE_PART: usize = 4;
/// A block is replaced if the new one is smaller by one part in this many: reading it takes up to four times as long from then
/// on (decision 49 has the figures).
const SAVES_PART: usize = 10;
/// How often a sweep of a strand goes on with a newer state because blocks were replaced under its hands.
const ATTEMPTS: RetryBackoff = RetryBackoff::waiting(8, 8, Duration::ZERO);
/// After packing, so many times as long as it took is left to others.
const RESTS: u32 = 3;

/// A sweep of one strand.
struct Sweep {
    before: i64,
    /// Blocks that end before this time are done.
    from: i64,
    /// Blocks that were looked at.
    seen: usize,
    /// Commits that replaced blocks, and the blocks.
    swaps: u64,
    recompressed: usize,
}

impl Strands {
    /// Removes what writers left behind that died, and packs blocks that end before `before` with [`Encoding::Cold`] where that makes them smaller by a tenth or
    /// more; answers how many were replaced. A strand last written raw is left as it is. Where other writers replace
    /// blocks again and again it ends early; the next call goes on.
    ///
    /// Cost: one look-up of the state, and of pages of the index with blocks that were not looked at. Each old block is
    /// read once, whoever restarts; packing takes 70 ns a point on one core, off the runtime's threads, and three times as
    /// long is left to others. At most 32 blocks are in memory at once.
    ///
    /// # Errors
    ///
    /// If the store refuses, or stored bytes are damaged. What was replaced before stays replaced.
    pub async fn recompress(&self, strand: &Strand, before: i64) -> Result<usize, Error> {
        let live = self.live();
        live.tidy(strand).await?;
        let mut sweep = Sweep { before, from: i64::MIN, seen: 0, swaps: 0, recompressed: 0 };
        let mut first_generation = None;
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            let Some((_, state)) = live.state(strand).await? else { break };
            if state.encoding == Encoding::Raw {
                break;
            }
            let generation = *first_generation.get_or_insert(state.generation);
            if live.try_recompress(strand, &state, &mut sweep).await?.is_some() {
                if sweep.seen > 0 {
                    live.note_recompressed(strand, generation, &sweep).await?;
                }
                break;
            }
        }
        Ok(sweep.recompressed)
    }

    /// `None` if blocks were replaced by another writer in between.
    async fn try_recompress(
        &self,
        strand: &Strand,
        state: &State,
        sweep: &mut Sweep,
    ) -> Result<Option<()>, Error> {
        let (before, from, recompressed) = (sweep.before, sweep.from, state.recompressed);
        let is_due = |entry: &&Entry| {
            let last = entry.summary.last;
            let is_seen =
                recompressed.is_some_and(|recompressed| recompressed.has_seen(entry.generation, last));
            from <= last && last < before && !is_seen
        };
        for page in &state.index.pages {
            // What a page names is not newer than the page.
            let is_seen =
                recompressed.is_some_and(|recompressed| recompressed.has_seen(page.generation, page.last));
            if is_seen || page.last < from || page.first >= before {
                continue;
            }
            let pages = or_gone!(self.read_pages(strand, std::iter::once(page)).await?);
            let due: Vec<Entry> = pages.entries(page)?.iter().filter(is_due).copied().collect();
            or_gone!(self.recompress_blocks(strand, &due, sweep).await?);
        }
        let due: Vec<Entry> = state.index.tail.iter().filter(is_due).copied().collect();
        self.recompress_blocks(strand, &due, sweep).await
    }

    /// Blocks of one page, or of the tail: so that a commit writes no more than one page anew.
    async fn recompress_blocks(
        &self,
        strand: &Strand,
        due: &[Entry],
        sweep: &mut Sweep,
    ) -> Result<Option<()>, Error> {
        for blocks in due.chunks(PIECE_BLOCKS) {
            let rows = or_gone!(self.block_rows(strand, blocks.iter()).await?);
            let (packing, rules) = (blocks.to_vec(), self.shared.rules);
            let packed = tokio::task::spawn_blocking(move || {
                let start = Instant::now();
                pack(&packing, &rows, &rules).map(|swaps| (swaps, start.elapsed()))
            });
            let (swaps, took) = packed.await.map_err(|error| {
                // Bytes that a decoder cannot bear are as good as damaged.
                let kind = if error.is_panic() { ErrorKind::Corrupt } else { ErrorKind::Unavailable };
                store::Error::new(kind, "recompress a strand").with_source(error)
            })??;
            for swap in swaps {
                or_gone!(self.commit_swap(strand, None, &swap, false).await?);
                sweep.swaps += 1;
                sweep.recompressed += swap.added.len();
            }
            sweep.seen += blocks.len();
            sweep.from = blocks.last().map_or(sweep.from, |block| block.summary.last + 1);
            tokio::time::sleep(took * RESTS).await;
        }
        Ok(Some(()))
    }

    /// Notes what was looked at. If writers keep coming first, the next sweep looks again.
    async fn note_recompressed(&self, strand: &Strand, generation: u64, sweep: &Sweep) -> Result<(), Error> {
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            let Some((stamp, mut state)) = self.state(strand).await? else { break };
            // If nobody else changed blocks, those that the sweep wrote itself are known too.
            let is_alone = count_of(state.generation) == count_of(generation) + sweep.swaps;
            let generation = if is_alone { state.generation } else { generation };
            state.recompressed = Some(Recompressed { generation, before: sweep.before });
            let write_id = self.shared.write_ids.next();
            let commit = commit(strand, Some(stamp), &state, std::iter::empty(), write_id, None);
            if self.try_commit(commit).await? {
                break;
            }
        }
        Ok(())
    }
}

/// Swaps of blocks for smaller ones, each of them one commit.
fn pack(blocks: &[Entry], rows: &[Bytes], rules: &Rules) -> Result<Vec<Swap>, Malformed> {
    let mut swaps: Vec<Swap> = Vec::new();
    let mut bytes = 0;
    for (block, row) in blocks.iter().zip(rows) {
        let Some((entry, packed)) = pack_one(block, row, rules)? else { continue };
        if swaps.is_empty() || bytes + packed.len() > rules.limits.commit_bytes / PIECE_PART {
            swaps.push(Swap { stretches: Vec::new(), added: Vec::new() });
            bytes = 0;
        }
        bytes += packed.len();
        let Some(swap) = swaps.last_mut() else { continue };
        swap.stretches.push(Stretch {
            first: block.summary.first,
            last: block.summary.last,
            blocks: vec![*block],
            points: block.summary.count as usize,
        });
        swap.added.push((entry, packed));
    }
    Ok(swaps)
}

/// The block, packed smaller; `None` if it is small already, or saves too little.
fn pack_one(block: &Entry, row: &Bytes, rules: &Rules) -> Result<Option<(Entry, Bytes)>, Malformed> {
    if Block::parse(row)?.is_cold() {
        return Ok(None);
    }
    let mut points = Points::default();
    decode_all(std::slice::from_ref(block), std::slice::from_ref(row), TimeRange::ALL, &mut points)?;
    let mut packed = encode_runs(&[(&points, 0..points.len())], 0, Encoding::Cold, rules)?;
    // More than one if blocks were larger once: cutting them is left to folds.
    let only = packed.pop().filter(|_| packed.is_empty());
    Ok(only.filter(|(_, bytes)| bytes.len() + row.len() / SAVES_PART < row.len()))
}
