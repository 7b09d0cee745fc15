//! Chilling: blocks that are old are packed smaller, in the way a fold replaces blocks.
//!
//! Points stay what they are and overlays lie over the new blocks as over the old, so reads and writes go on meanwhile.
//! A commit stands only if the blocks it replaces are still there; else the sweep of this strand ends, and the next one
//! goes on.

use std::collections::HashMap;

use bytes::Bytes;
use parking_lot::Mutex;
use store::COMMIT_BYTES_MAX;

use super::fold::{Stretch, Swap};
use super::index::Entry;
use super::read::{decode_all, or_gone};
use super::state::State;
use super::think::encode_runs;
use super::{Strand, StrandOptions, Strands};
use crate::{Block, Encoding, Error, Malformed, Points, TimeRange};

/// Blocks that are read together, and that one commit replaces at most.
const PIECE_BLOCKS: usize = 32;
/// A commit with more bytes of blocks takes no further block.
const PIECE_BYTES: usize = COMMIT_BYTES_MAX / 4;
/// A block is replaced if the new one is smaller by one part in this many (three percent).
const SAVES_PART: usize = 33;
/// The most strands whose sweeps are remembered, some 200 bytes each; beyond, all are forgotten.
const SWEPT_MAX: usize = 65_536;

/// How far strands were swept by this process. What is forgotten is looked at again.
#[derive(Debug, Default)]
pub(super) struct Swept(Mutex<HashMap<Strand, Sweep>>);

/// Blocks up to this generation that end before this time were looked at.
#[derive(Clone, Copy, Debug)]
struct Sweep {
    generation: u64,
    before: i64,
}

impl Sweep {
    fn has_seen(self, generation: u64, last: i64) -> bool {
        generation <= self.generation && last < self.before
    }
}

impl Swept {
    fn of(&self, strand: &Strand) -> Option<Sweep> {
        self.0.lock().get(strand).copied()
    }

    fn note(&self, strand: &Strand, sweep: Sweep) {
        let mut swept = self.0.lock();
        if swept.len() >= SWEPT_MAX && !swept.contains_key(strand) {
            swept.clear();
        }
        swept.insert(strand.clone(), sweep);
    }

    /// For a strand that is erased: its generations begin anew.
    pub(super) fn forget(&self, strand: &Strand) {
        self.0.lock().remove(strand);
    }
}

impl Strands {
    /// Packs blocks that end before `before` with [`Encoding::Cold`] where that makes them smaller by three percent or
    /// more; answers how many were replaced. A strand last written raw is left as it is. If another writer comes in
    /// between, it ends early; the next call goes on.
    ///
    /// Cost: one look-up of the state. Each old block is read once by each process, and once more after it was replaced;
    /// packing takes 70 ns a point on one core, off the runtime's threads. Blocks that do not become smaller are packed
    /// for nothing, once by each process. At most 32 blocks are in memory at once.
    ///
    /// # Errors
    ///
    /// If the store refuses, or stored bytes are damaged. What was replaced before stays replaced.
    pub async fn chill(&self, strand: &Strand, before: i64) -> Result<usize, Error> {
        let mut chilled = 0;
        self.try_chill(strand, before, &mut chilled).await?;
        Ok(chilled)
    }

    /// `None` if another writer came in between.
    async fn try_chill(
        &self,
        strand: &Strand,
        before: i64,
        chilled: &mut usize,
    ) -> Result<Option<()>, Error> {
        let Some((_, state)) = self.state(strand).await? else {
            return Ok(Some(()));
        };
        if state.encoding == Encoding::Raw {
            return Ok(Some(()));
        }
        let swept = self.shared.swept.of(strand);
        let is_due = |entry: &Entry| {
            let last = entry.summary.last;
            // An entry with such a sum equals none, itself included: no swap would stand.
            let is_equal = !entry.summary.sum.is_nan();
            last < before && is_equal && swept.is_none_or(|swept| !swept.has_seen(entry.generation, last))
        };
        for page in &state.index.pages {
            // What a page names is not newer than the page.
            let is_seen = swept.is_some_and(|swept| swept.has_seen(page.generation, page.last));
            if is_seen || page.first >= before {
                continue;
            }
            let pages = or_gone!(self.read_pages(strand, std::iter::once(page)).await?);
            let due: Vec<Entry> =
                pages.entries(page)?.iter().filter(|entry| is_due(entry)).copied().collect();
            or_gone!(self.chill_blocks(strand, &state, &due, chilled).await?);
        }
        let due: Vec<Entry> = state.index.tail.iter().filter(|entry| is_due(entry)).copied().collect();
        or_gone!(self.chill_blocks(strand, &state, &due, chilled).await?);
        self.shared.swept.note(strand, Sweep { generation: state.generation, before });
        Ok(Some(()))
    }

    /// Blocks of one page, or of the tail: so that a commit writes no more than one page anew.
    async fn chill_blocks(
        &self,
        strand: &Strand,
        state: &State,
        due: &[Entry],
        chilled: &mut usize,
    ) -> Result<Option<()>, Error> {
        for blocks in due.chunks(PIECE_BLOCKS) {
            let rows = or_gone!(self.block_rows(strand, blocks).await?);
            let (blocks, options) = (blocks.to_vec(), self.shared.options);
            let packed = tokio::task::spawn_blocking(move || pack(&blocks, &rows, &options)).await;
            let swaps = packed.map_err(|error| {
                store::Error::new(store::ErrorKind::Unavailable, "chill a strand").with_source(error)
            })??;
            for swap in swaps {
                or_gone!(self.commit_swap(strand, state, &swap, false).await?);
                *chilled += swap.added.len();
                tokio::task::yield_now().await;
            }
        }
        Ok(Some(()))
    }
}

/// Swaps of blocks for smaller ones, each of them one commit.
fn pack(blocks: &[Entry], rows: &[Bytes], options: &StrandOptions) -> Result<Vec<Swap>, Malformed> {
    let mut swaps: Vec<Swap> = Vec::new();
    let mut bytes = 0;
    for (block, row) in blocks.iter().zip(rows) {
        let Some((entry, packed)) = pack_one(block, row, options)? else { continue };
        if swaps.is_empty() || bytes + packed.len() > PIECE_BYTES {
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
fn pack_one(
    block: &Entry,
    row: &Bytes,
    options: &StrandOptions,
) -> Result<Option<(Entry, Bytes)>, Malformed> {
    if Block::parse(row)?.is_cold() {
        return Ok(None);
    }
    let mut points = Points::default();
    decode_all(std::slice::from_ref(block), std::slice::from_ref(row), TimeRange::ALL, &mut points)?;
    let mut packed = encode_runs(&[(&points, 0..points.len())], 0, Encoding::Cold, options)?;
    // More than one if blocks were larger once: cutting them is left to folds.
    let only = packed.pop().filter(|_| packed.is_empty());
    Ok(only.filter(|(_, bytes)| bytes.len() + row.len() / SAVES_PART < row.len()))
}
