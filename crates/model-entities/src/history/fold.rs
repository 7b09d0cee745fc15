//! Folding: head rows become points of strands.
//!
//! First the strands are written, each with a mark: the newest head row it took in. Then the head rows are deleted. A
//! crash in between leaves head rows that the marks say are taken in already: readers pass over them, and so does the
//! next fold. Folds and edits of one entity's past take turns.

use std::time::Duration;

use bytes::Bytes;
use model_series::{Edit, Encoding, Piece, Points, Strand, StrandWrite, Strands, TimeRange};
use store::{Commit, Condition, Direction, ErrorKind, Tenant, Timestamp, Write};

use super::heads::{Gathered, Heads, unmarked};
use crate::entities::next_range;
use crate::{Entities, Error, TenantEntities, keys};

/// An entity that has gathered head rows enough to be folded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryJob {
    /// Whose.
    pub tenant: Tenant,
    /// Its id.
    pub id: Box<str>,
}

/// Blocks with fewer points are joined now and then, if they are the last of their strand.
const SMALL_BLOCK_POINTS: u32 = 2048;
/// One fold in so many looks for small blocks to join.
const JOIN_FOLDS: u64 = 8;
/// Head rows that a sweep reads in one page.
const PAGE_SWEPT: usize = 4096;

impl Entities {
    /// The strands that pasts are kept in: the server folds their overlays ([`Strands::next_to_fold`]).
    pub fn strands(&self) -> &Strands {
        &self.pasts().strands
    }

    /// The next entity that should be folded ([`TenantEntities::fold_history`]); waits until there is one. Entities are
    /// noted as they are written, in memory and within bounds: [`Self::sweep_history`] finds what was not noted.
    pub async fn next_to_fold(&self) -> HistoryJob {
        self.pasts().queue.next().await
    }

    /// Folds every entity whose oldest head row was written `age` before `now` or earlier; answers how many.
    /// Cost: a scan of all head rows.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn sweep_history(&self, now: Timestamp, age: Duration) -> Result<usize, Error> {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let oldest = Timestamp(now.0.saturating_sub(age));
        let mut folded = 0;
        for tenant in self.tenants().await? {
            folded += self.tenant(&tenant).await?.sweep(oldest).await?;
        }
        Ok(folded)
    }
}

impl TenantEntities {
    /// Folds the head rows of an entity into its strands; answers how many. Reads and writes go on meanwhile, and a crash
    /// at any moment shows nothing twice and loses nothing.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn fold_history(&self, id: &str) -> Result<usize, Error> {
        let _turn = self.turn(id).await;
        self.fold_now(id).await
    }

    /// Waits until no other fold or edit of the entity's past goes on.
    pub(super) async fn turn(&self, id: &str) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        match self.context().pasts.turns.of(id) {
            Some(turn) => Some(turn.lock().await),
            None => None,
        }
    }

    /// Folds; the caller has the turn.
    pub(super) async fn fold_now(&self, id: &str) -> Result<usize, Error> {
        let mut folded = 0;
        loop {
            let heads = self.heads(id, false).await?;
            let Some(newest) = heads.newest() else {
                return Ok(folded);
            };
            self.write_strands(id, &heads, newest).await?;
            self.drop_heads(id, &heads, newest).await?;
            folded += heads.rows();
            if !heads.pages.iter().any(|page| page.more()) {
                return Ok(folded);
            }
        }
    }

    pub(super) fn strand(&self, id: &str, name: Bytes) -> Strand {
        Strand { partition: keys::history_partition(self.context().tenant(), id), name }
    }

    /// The first half of a fold: what the head rows say goes into strands, each an atom.
    pub(super) async fn write_strands(
        &self,
        id: &str,
        heads: &Heads,
        newest: Timestamp,
    ) -> Result<(), Error> {
        let strands = &self.context().pasts.strands;
        let joins = xxhash_rust::xxh3::xxh3_64(&newest.0.to_le_bytes()).is_multiple_of(JOIN_FOLDS);
        let mut writes = Vec::new();
        for Gathered { attribute, dataset, builder } in heads.gather(|_, _| true)? {
            let strand = self.strand(id, keys::strand_name(id, attribute, dataset.as_deref()));
            let mark = strands.mark(&strand).await?;
            let range = TimeRange { from: unmarked(mark), to: i64::MAX };
            let new = builder.points.range_of(range);
            let points = if new.len() == builder.points.len() {
                builder.points
            } else {
                let mut points = Points::default();
                points.extend_from_range(&builder.points, new);
                points
            };
            let edit = if joins { join(strands, &strand, points).await? } else { Edit::Put(points) };
            writes.push(StrandWrite { mark: Some(newest.0), ..write_of(strand, vec![edit], newest) });
        }
        for outcome in strands.write_all(writes).await {
            outcome?;
        }
        Ok(())
    }

    /// The second half: head rows that strands hold are deleted.
    pub(super) async fn drop_heads(&self, id: &str, heads: &Heads, newest: Timestamp) -> Result<(), Error> {
        let context = self.context();
        let key = keys::folded(id);
        let condition = match &heads.folded {
            Some((row, _)) => Condition::Version(key.clone(), row.stamp),
            None => Condition::Absent(key.clone()),
        };
        let rows = heads.pages.iter().flat_map(|page| page.rows());
        let mut writes: Vec<Write> =
            rows.map(|(key, _)| Write::Delete(Bytes::copy_from_slice(key))).collect();
        writes.push(Write::PutStamped(key, Bytes::copy_from_slice(&newest.0.to_le_bytes())));
        let commit = Commit {
            partition: context.partition(id)?.clone(),
            write_id: context.write_ids.next(),
            conditions: vec![condition],
            writes,
            change: Bytes::new(),
        };
        match context.store.commit(commit).await {
            Ok(_) => Ok(()),
            // Another node folded the same rows, or the outcome is not known: what is left is folded again, to nothing new.
            Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unknown) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Folds the entities whose oldest head row is not newer than `oldest`; answers how many.
    async fn sweep(&self, oldest: Timestamp) -> Result<usize, Error> {
        let context = self.context();
        let mut folded = 0;
        for partition in &context.partitions {
            let mut range = Some(keys::heads_range());
            let mut last: Box<str> = Box::default();
            while let Some(rest) = range {
                let page = context.store.scan(partition, &rest, Direction::Forward, PAGE_SWEPT).await?;
                for (key, _) in page.rows() {
                    let Some((id, time)) = keys::head_of_key(key).filter(|(id, _)| **id != *last) else {
                        continue;
                    };
                    last = id.into();
                    if time <= oldest {
                        self.fold_history(id).await?;
                        folded += 1;
                    }
                }
                range = next_range(&rest, &page);
            }
        }
        Ok(folded)
    }
}

/// A write to the strand of an attribute's past.
pub(super) fn write_of(strand: Strand, edits: Vec<Edit>, written: Timestamp) -> StrandWrite {
    StrandWrite {
        strand,
        edits,
        encoding: Encoding::Hot,
        written,
        audited: false,
        mark: None,
        beside: Vec::new(),
        change: Bytes::new(),
    }
}

/// Puts `points` behind a strand's last blocks, together with those of them that are small.
async fn join(strands: &Strands, strand: &Strand, points: Points) -> Result<Edit, Error> {
    let pieces = strands.read_pieces(strand, TimeRange::ALL, &|_| true, &|_| true).await?;
    let small = pieces.iter().rev().map_while(|piece| match piece {
        Piece::Whole(summary) if summary.count < SMALL_BLOCK_POINTS => Some(summary.first),
        _ => None,
    });
    let (Some(from), Some(first)) = (small.last(), points.times.first().copied()) else {
        return Ok(Edit::Put(points));
    };
    let range = TimeRange { from, to: i64::MAX };
    let mut joined = Points::default();
    let mut rest = Some(range);
    while let Some(range) = rest {
        let next = strands.read_page(strand, range, None, usize::MAX, &mut joined).await?;
        rest = next.map(|from| TimeRange { from, ..range });
    }
    if joined.times.last().is_some_and(|last| *last >= first) {
        return Ok(Edit::Put(points));
    }
    joined.extend_from_range(&points, 0..points.len());
    Ok(Edit::Replace(range, joined))
}
