//! Folding: head rows become points of strands.
//!
//! First the strands are written, each with a mark: the newest head row it took in. Then the head rows are deleted. A
//! crash in between leaves head rows that the marks say are taken in already: readers pass over them, and so does the
//! next fold. Folds and edits of one entity's history lock each other out in a process; what two processes do at once is kept apart by
//! the versions of strands: a write that follows from what was read is committed only if that is still stored.

#[cfg(test)]
mod tests;

use std::time::Duration;

use bytes::Bytes;
use entity::{Error, keys};
use store::retry::RetryBackoff;
use store::{Condition, Direction, Partition, Timestamp, Write};
use strands::{Edit, Encoding, Points, Strand, StrandVersion, StrandWrite, Strands, TimeRange};

use super::heads::{Gathered, Heads, unmarked};
use crate::fold_queue::HistoryJob;
use crate::tenant::TenantState;
use crate::watch::Watch;
use crate::{Entities, TenantEntities};

/// Blocks with fewer points are joined now and then, if they are the last of their strand.
const SMALL_BLOCK_POINTS: u32 = 2048;
/// So many of them at most: folds between two that join are seldom more.
const JOINED_BLOCKS_MAX: usize = 32;
/// And of so many bytes: as many as a block has at most, however few its points.
const JOINED_BYTES_MAX: usize = 1 << 20;
/// Fewer points do not become a block at once, but an overlay, which the strand folds: they are put plainly.
const JOINED_POINTS_MIN: usize = crate::histories::BLOCK_POINTS_MAX / 16;
/// Points that are read of a small block and what overlays put behind it; where there are more, it is not joined.
const PART_POINTS_MAX: usize = 4096;
/// What a point takes beside its note: time, value, flag, time observed and place of the note.
const POINT_BYTES: usize = 29;
/// One fold in so many looks for small blocks to join.
const JOIN_FOLDS: u64 = 8;
/// How often a fold or an edit starts again because another node was there first.
pub(super) const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Head rows that a sweep reads in one page.
const PAGE_SWEPT: usize = 4096;

impl Entities {
    /// The strands that histories are kept in: the server folds their overlays ([`Strands::next_to_fold`]).
    pub fn strands(&self) -> &Strands {
        &self.histories().strands
    }

    /// The next entity that should be folded ([`TenantEntities::fold_history`]); waits until there is one. Entities are
    /// noted as they are written, in memory and within bounds: [`Self::sweep_history`] finds what was not noted.
    pub async fn next_to_fold(&self) -> HistoryJob {
        self.histories().queue.next().await
    }

    /// Folds every entity whose oldest head row was written `age` before `now` or earlier; answers how many. What fails is
    /// skipped ([`crate::SkipLog`]).
    /// Cost: a scan of all head rows.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn sweep_history(&self, now: Timestamp, age: Duration) -> Result<usize, Error> {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let oldest = Timestamp(now.0.saturating_sub(age));
        let mut folded = 0;
        for tenant in self.tenants_for("fold").await? {
            folded += tenant.sweep(oldest).await?;
        }
        Ok(folded)
    }
}

/// Head rows that were read under a fence, and the time of the newest of them.
pub(super) struct FencedHeads<'e> {
    pub(super) state: &'e TenantState,
    pub(super) watch: Watch,
    pub(super) heads: Heads,
    pub(super) newest: Timestamp,
}

impl TenantEntities {
    /// Folds the head rows of an entity into its strands; answers how many. Reads and writes go on meanwhile, and a crash
    /// at any moment shows nothing twice and loses nothing.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn fold_history(&self, id: &str) -> Result<usize, Error> {
        let _lock = self.lock_history(id).await;
        self.fold_now(id).await
    }

    /// Waits until no other fold or edit of the entity's history goes on.
    pub(super) async fn lock_history(&self, id: &str) -> tokio::sync::MutexGuard<'_, ()> {
        let locks = &self.state().histories.retry_locks;
        locks.lock(locks.of(&[id.as_bytes()])).await
    }

    /// Folds; the caller holds the lock.
    pub(super) async fn fold_now(&self, id: &str) -> Result<usize, Error> {
        let mut folded = 0;
        loop {
            let Some(FencedHeads { state, watch, heads, newest }) = self.fenced_heads(id).await? else {
                return Ok(folded);
            };
            if !self.write_strands(id, &heads, newest).await? {
                continue;
            }
            if !state.drop_heads(id, &heads, newest, watch).await? {
                continue;
            }
            folded += heads.rows();
            if !heads.pages.iter().any(|page| page.more()) {
                return Ok(folded);
            }
        }
    }

    /// A page of the head rows that are not folded; `None` if there are none.
    pub(super) async fn fenced_heads(&self, id: &str) -> Result<Option<FencedHeads<'_>>, Error> {
        loop {
            let (state, watch) = self.watch(id).await?;
            let heads = state.heads_in(state.partition(id)?, id, false).await?;
            if state.newer().await?.is_none() {
                return Ok(heads.newest().map(|newest| FencedHeads { state, watch, heads, newest }));
            }
        }
    }

    pub(super) fn strand(&self, id: &str, name: Bytes) -> Strand {
        Strand { partition: keys::history_partition(self.state().tenant(), id), name }
    }

    /// The first half of a fold: what the head rows say goes into strands, each an atom. Answers false if another node
    /// folded them meanwhile: then they must be read again.
    pub(super) async fn write_strands(
        &self,
        id: &str,
        heads: &Heads,
        newest: Timestamp,
    ) -> Result<bool, Error> {
        let strands = &self.state().histories.strands;
        let mut left = heads.gather(|_, _| true)?;
        let mut joins = xxhash_rust::xxh3::xxh3_64(&newest.0.to_le_bytes()).is_multiple_of(JOIN_FOLDS);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let mut writes = Vec::with_capacity(left.len());
            for gathered in &left {
                writes.push(self.fold_write(id, gathered, newest, joins).await?);
            }
            // Asked after the versions were read: what another node changes after that is noticed.
            if !self.is_folded_to(id, heads).await? {
                return Ok(false);
            }
            let is_new = |index: &usize| writes.get(*index).is_some_and(Option::is_some);
            let indexes: Vec<usize> = (0..left.len()).filter(is_new).collect();
            let outcomes = strands.write_all(writes.into_iter().flatten().collect()).await;
            let (mut lost, mut is_too_large) = (Vec::new(), false);
            for (index, outcome) in indexes.into_iter().zip(outcomes) {
                match outcome {
                    Err(strands::Error::Contention(_)) => lost.push(index),
                    // Without what it would join it may fit.
                    Err(strands::Error::Limit(_)) if joins => {
                        lost.push(index);
                        is_too_large = true;
                    }
                    outcome => outcome?,
                }
            }
            if lost.is_empty() {
                return Ok(true);
            }
            joins &= !is_too_large;
            // Both ascend.
            let (mut indexes, mut lost) = (0.., lost.into_iter().peekable());
            left.retain(|_| indexes.next().is_some_and(|index| lost.next_if_eq(&index).is_some()));
        }
        Err(attempts.exhausted(id).into())
    }

    /// What is new of one attribute and dataset, on the version of its strand for which it is new; `None` if nothing is.
    async fn fold_write(
        &self,
        id: &str,
        gathered: &Gathered,
        newest: Timestamp,
        joins: bool,
    ) -> Result<Option<StrandWrite>, Error> {
        let strands = &self.state().histories.strands;
        let points = &gathered.builder.points;
        let strand = self.strand(id, keys::strand_name(id, gathered.attribute, gathered.dataset.as_deref()));
        let version = strands.version(&strand).await?;
        let range = TimeRange { from: unmarked(strands.mark(&strand).await?), to: i64::MAX };
        let places = points.range_of(range);
        if places.is_empty() {
            return Ok(None);
        }
        let mut new = Points::default();
        new.extend_from_range(points, places);
        let edit = if joins { join(strands, &strand, new).await? } else { Edit::Put(new) };
        let write = write_of(strand, vec![edit], newest, Some(version));
        Ok(Some(StrandWrite { mark: Some(newest.0), ..write }))
    }

    /// Whether the entity's head rows are folded up to the same one as when these were read.
    async fn is_folded_to(&self, id: &str, heads: &Heads) -> Result<bool, Error> {
        let row = self.state().get_linear(id, &keys::folded(id)).await?;
        Ok(row.map(|row| row.stamp) == heads.folded.as_ref().map(|(row, _)| row.stamp))
    }

    /// Folds the entities whose oldest head row is not newer than `oldest`; answers how many. What fails is skipped.
    async fn sweep(&self, oldest: Timestamp) -> Result<usize, Error> {
        let state = self.state();
        let mut folded = 0;
        for (bucket, partition) in state.partitions.iter().enumerate() {
            if let Err(error) = self.sweep_bucket(partition, oldest, &mut folded).await {
                state.skip("fold", &format_args!("bucket {bucket}"), error)?;
            }
        }
        Ok(folded)
    }

    async fn sweep_bucket(
        &self,
        partition: &Partition,
        oldest: Timestamp,
        folded: &mut usize,
    ) -> Result<(), Error> {
        let state = self.state();
        let mut range = Some(keys::heads_range());
        let mut last: Box<str> = Box::default();
        while let Some(rest) = range {
            let page = state.store.scan(partition, &rest, Direction::Forward, PAGE_SWEPT).await?;
            for (key, _) in page.rows() {
                let Some((id, time)) = keys::head_of_key(key).filter(|(id, _)| **id != *last) else {
                    continue;
                };
                last = id.into();
                if time > oldest {
                    continue;
                }
                match self.fold_history(id).await {
                    Ok(_) => *folded += 1,
                    Err(error) => state.skip("fold", &id, error)?,
                }
            }
            range = rest.after_page(&page);
        }
        Ok(())
    }
}

impl TenantState {
    /// The second half: head rows that strands hold are deleted. Answers false if they are not, for all that is known: another
    /// node folded the same rows, or the commit was not carried out. Then they are to be read again: what is still there
    /// when its strand is erased would come back.
    pub(super) async fn drop_heads(
        &self,
        id: &str,
        heads: &Heads,
        newest: Timestamp,
        watch: Watch,
    ) -> Result<bool, Error> {
        let key = keys::folded(id);
        let condition = match &heads.folded {
            Some((row, _)) => Condition::Version(key.clone(), row.stamp),
            None => Condition::Absent(key.clone()),
        };
        let rows = heads.pages.iter().flat_map(|page| page.rows());
        let mut writes: Vec<Write> =
            rows.map(|(key, _)| Write::Delete(Bytes::copy_from_slice(key))).collect();
        writes.push(Write::PutStamped(key, Bytes::copy_from_slice(&newest.0.to_le_bytes())));
        let conditions = vec![condition, Condition::Fence(watch.fence)];
        let commit = self.silent(self.partition(id)?, conditions, writes, true);
        Ok(self.commit_silently(commit).await?.is_some())
    }
}

/// A write to the strand of an attribute's history.
pub(super) fn write_of(
    strand: Strand,
    edits: Vec<Edit>,
    written: Timestamp,
    expects: Option<StrandVersion>,
) -> StrandWrite {
    StrandWrite {
        strand,
        edits,
        encoding: Encoding::Hot,
        written,
        audited: false,
        mark: None,
        beside: Vec::new(),
        change: None,
        expects,
    }
}

/// Puts `points` behind a strand's last blocks, together with those of them that are small.
///
/// Cost: a look-up of each block that is joined, and of one more; those joined are no larger than one block together.
async fn join(strands: &Strands, strand: &Strand, points: Points) -> Result<Edit, Error> {
    let Some(first) = points.times.first().copied() else {
        return Ok(Edit::Put(points));
    };
    let (mut count, mut bytes) = (0, bytes_of(&points));
    let (mut from, mut parts) = (i64::MAX, Vec::new());
    let blocks = strands.blocks(strand).await?;
    for (summary, is_touched) in blocks.into_iter().rev().take(JOINED_BLOCKS_MAX) {
        if is_touched || summary.count >= SMALL_BLOCK_POINTS || count >= SMALL_BLOCK_POINTS {
            break;
        }
        let range = TimeRange { from: summary.first, to: from };
        let mut part = Points::default();
        let rest = strands.read_page(strand, range, None, PART_POINTS_MAX, &mut part).await?;
        bytes += bytes_of(&part);
        if rest.is_some() || bytes > JOINED_BYTES_MAX {
            break;
        }
        count += summary.count;
        from = range.from;
        parts.push(part);
    }
    if parts.first().and_then(|last| last.times.last()).is_none_or(|last| *last >= first) {
        return Ok(Edit::Put(points));
    }
    if parts.iter().map(Points::len).sum::<usize>() + points.len() < JOINED_POINTS_MIN {
        return Ok(Edit::Put(points));
    }
    let mut joined = Points::default();
    for part in parts.iter().rev().chain([&points]) {
        joined.extend_from_range(part, 0..part.len());
    }
    Ok(Edit::Replace(TimeRange { from, to: i64::MAX }, joined))
}

/// About how many bytes points take in a block at most.
fn bytes_of(points: &Points) -> usize {
    points.len() * POINT_BYTES + points.notes.dictionary.iter().map(Bytes::len).sum::<usize>()
}
