//! Erasing: a strand goes with all its rows.

use bytes::Bytes;
use store::{Commit, Condition, Timestamp, Write};

use super::read::{contention, or_gone};
use super::think::{check_size, drop_overlays, remove_blocks};
use super::{Strand, Strands, keys};
use crate::Error;

/// How often erasing starts again because a writer came first.
const ATTEMPTS_MAX: usize = 64;

impl Strands {
    /// See [`Strands::erase`].
    pub(super) async fn erase_now(
        &self,
        strand: &Strand,
        beside: &[Write],
        change: &Bytes,
    ) -> Result<(), Error> {
        self.shared.swept.forget(strand);
        for _ in 0..ATTEMPTS_MAX {
            let Some(commit) = self.draught_erasure(strand, beside, change).await? else {
                tokio::task::yield_now().await;
                continue;
            };
            let write_id = commit.write_id;
            let told = self.shared.store.commit(commit).await;
            if self.settle_commit(strand, write_id, told).await? {
                return Ok(());
            }
        }
        Err(contention(strand))
    }

    /// Cost: pages of the index are read; every row is deleted by its key (kept writes and very many blocks by range).
    async fn draught_erasure(
        &self,
        strand: &Strand,
        beside: &[Write],
        change: &Bytes,
    ) -> Result<Option<Commit>, Error> {
        let key = keys::state(strand);
        let mut writes = Vec::new();
        let condition = match self.state(strand).await? {
            None => Condition::Absent(key),
            Some((stamp, mut state)) => {
                // First, so that readers see it before any other row goes.
                writes.push(Write::Delete(key.clone()));
                let pages = or_gone!(self.read_pages(strand, state.index.pages.iter()).await?);
                let entries = state.index.entries_meeting(&pages, i64::MIN, i64::MAX)?;
                remove_blocks(strand, &entries, &entries, &mut writes);
                writes.extend(state.index.pages.iter().map(|page| Write::Delete(page.key(strand))));
                drop_overlays(strand, &mut state, &mut writes);
                if state.audited {
                    let all = keys::audits(strand, Timestamp(i64::MIN), Timestamp(i64::MAX));
                    writes.push(Write::DeleteRange(all));
                }
                Condition::Version(key, stamp)
            }
        };
        writes.extend_from_slice(beside);
        check_size(&writes)?;
        Ok(Some(Commit {
            partition: strand.partition.clone(),
            write_id: self.shared.write_ids.next(),
            conditions: vec![condition],
            writes,
            change: change.clone(),
        }))
    }
}
