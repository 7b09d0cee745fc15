//! Erasing: a strand goes with all its rows.

use bytes::Bytes;
use store::{Commit, Condition, Stamp, Write};

use super::read::{contention, or_gone};
use super::state::State;
use super::think::{check_size, drop_overlays, remove_blocks};
use super::{Strand, StrandVersion, Strands, keys};
use crate::Error;
use crate::feed::of_points;

/// How often erasing starts again because a writer came first.
const ATTEMPTS_MAX: usize = 64;

impl Strands {
    /// See [`Strands::erase`].
    pub(super) async fn erase_now(
        &self,
        strand: &Strand,
        expects: Option<StrandVersion>,
        beside: &[Write],
        change: &Bytes,
    ) -> Result<(), Error> {
        for _ in 0..ATTEMPTS_MAX {
            let held = self.state(strand).await?;
            let version = StrandVersion(held.as_ref().map(|(stamp, _)| *stamp));
            if expects.is_some_and(|expected| expected != version) {
                return Err(contention(strand));
            }
            let Some(commit) = self.draught_erasure(strand, held, beside, change).await? else {
                tokio::task::yield_now().await;
                continue;
            };
            if self.try_commit(commit).await? {
                return Ok(());
            }
        }
        Err(contention(strand))
    }

    /// Cost: pages of the index are read; every row is deleted by its key (kept writes and very many blocks by range).
    async fn draught_erasure(
        &self,
        strand: &Strand,
        held: Option<(Stamp, State)>,
        beside: &[Write],
        change: &Bytes,
    ) -> Result<Option<Commit>, Error> {
        let key = keys::state(strand);
        let mut writes = Vec::new();
        let condition = match held {
            None => Condition::Absent(key),
            Some((stamp, mut state)) => {
                writes.push(Write::Delete(key.clone()));
                let pages = or_gone!(self.read_pages(strand, state.index.pages.iter()).await?);
                let entries = state.index.entries_meeting(&pages, i64::MIN, i64::MAX)?;
                remove_blocks(strand, &entries, &entries, &[], &mut writes);
                writes.extend(state.index.pages.iter().map(|page| Write::Delete(page.key(strand))));
                drop_overlays(strand, &mut state, &mut writes);
                if state.audited {
                    writes.extend(keys::all_kept(strand).map(Write::DeleteRange));
                }
                Condition::Version(key, stamp)
            }
        };
        writes.extend_from_slice(beside);
        check_size(&writes, &self.shared.rules.limits)?;
        Ok(Some(Commit {
            partition: strand.partition.clone(),
            write_id: self.shared.write_ids.next(),
            conditions: vec![condition],
            writes,
            change: of_points(change.clone()),
            reclaims: true,
        }))
    }
}
