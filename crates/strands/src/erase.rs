//! Erasing: a strand goes with all its rows.

use std::time::Duration;

use store::retry::{RetryBackoff, unless_lost};
use store::{ChangeRecord, Commit, CommitWithAppends, Condition, Stamp, Write};

use crate::error::Error;
use crate::fetch::{contention, or_gone};
use crate::fresh::Fresh;
use crate::keys;
use crate::pending::check_size;
use crate::plan::drop_overlays;
use crate::state::State;
use crate::strand::{Strand, StrandVersion};
use crate::strands::Strands;

/// How often erasing starts again because a writer came first.
const ATTEMPTS: RetryBackoff = RetryBackoff::waiting(64, 64, Duration::ZERO);
/// The most strands whose commits are submitted together.
const GROUP_STRANDS_MAX: usize = 256;
/// A group whose commits let more rows go takes no further strand.
const GROUP_KEYS_MAX: usize = 20_000;

impl Strands {
    /// Removes the strand with all its rows, and writes `beside` in the same atom.
    ///
    /// # Errors
    ///
    /// If the store refuses; [`Error::Contention`] if writers kept coming first.
    pub async fn erase(
        &self,
        strand: &Strand,
        beside: Vec<Write>,
        change: Option<ChangeRecord>,
    ) -> Result<(), Error> {
        self.live().erase_now(strand, None, &beside, change.as_ref()).await
    }

    /// Removes strands with all their rows, each an atom; those that are not there are passed over. Those before one that
    /// cannot be removed may be gone, and some behind it.
    ///
    /// Cost: that of [`Strands::erase`] for each, but one group commit for up to 256.
    ///
    /// # Errors
    ///
    /// As [`Strands::erase`].
    pub async fn erase_all(&self, strands: &[Strand]) -> Result<(), Error> {
        let live = self.live();
        let mut rest = strands.iter();
        while !rest.as_slice().is_empty() {
            live.erase_group(&mut rest).await?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// [`Strands::erase`] if the strand is still of this version; answers whether it was.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn erase_version(
        &self,
        strand: &Strand,
        version: StrandVersion,
        beside: Vec<Write>,
    ) -> Result<bool, Error> {
        match self.live().erase_now(strand, Some(version), &beside, None).await {
            Ok(()) => Ok(true),
            Err(Error::Contention(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// See [`Strands::erase`].
    pub(crate) async fn erase_now(
        &self,
        strand: &Strand,
        expects: Option<StrandVersion>,
        beside: &[Write],
        change: Option<&ChangeRecord>,
    ) -> Result<(), Error> {
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            let held = self.state(strand).await?;
            let version = StrandVersion(held.as_ref().map(|(stamp, _)| *stamp));
            if expects.is_some_and(|expected| expected != version) {
                return Err(contention(strand));
            }
            let span = held.as_ref().and_then(|(_, state)| self.span_of_leftovers(state));
            let Some(commit) = self.prepare_erasure(strand, held, beside, change).await? else {
                continue;
            };
            if self.try_append_then_commit(commit, false).await? {
                self.sweep_erased(strand, span).await;
                return Ok(());
            }
        }
        Err(contention(strand))
    }

    /// Erases the first strands of the rest, as many as go together.
    async fn erase_group(&self, rest: &mut std::slice::Iter<'_, Strand>) -> Result<(), Error> {
        let (mut commits, mut erasing, mut left, mut keys) = (Vec::new(), Vec::new(), Vec::new(), 0);
        while commits.len() < GROUP_STRANDS_MAX && keys < GROUP_KEYS_MAX {
            let Some(strand) = rest.next() else { break };
            let Some(held) = self.state(strand).await? else { continue };
            let span = self.span_of_leftovers(&held.1);
            match self.prepare_erasure(strand, Some(held), &[], None).await? {
                Some(commit) => {
                    keys += commit.lets_go.iter().map(|removal| removal.keys.len()).sum::<usize>();
                    commits.push(commit);
                    erasing.push((strand, span));
                }
                None => left.push(strand),
            }
        }
        let outcome = self.shared.store.append_then_commit_all(commits).await;
        for ((strand, span), outcome) in erasing.into_iter().zip(outcome) {
            if unless_lost(outcome)?.is_some() {
                self.sweep_erased(strand, span).await;
            } else {
                left.push(strand);
            }
        }
        for strand in left {
            self.erase_now(strand, None, &[], None).await?;
        }
        Ok(())
    }

    /// It is erased, whatever becomes of what was left behind.
    async fn sweep_erased(&self, strand: &Strand, span: Option<(i64, i64)>) {
        if let Some(span) = span
            && let Err(error) = self.sweep_fresh(strand, span).await
        {
            self.shared.skips.note("erase", &strand.partition.tenant, strand, &error);
        }
    }

    /// Cost: pages of the index are read; every row is deleted by its key (audited writes by range).
    async fn prepare_erasure(
        &self,
        strand: &Strand,
        held: Option<(Stamp, State)>,
        beside: &[Write],
        change: Option<&ChangeRecord>,
    ) -> Result<Option<CommitWithAppends>, Error> {
        let epoch = self.shared.store.fence(&strand.partition);
        let key = keys::state(strand);
        let (mut writes, mut fresh) = (Vec::new(), Fresh::default());
        let condition = match held {
            None => Condition::Absent(key),
            Some((stamp, mut state)) => {
                writes.push(Write::Delete(key.clone()));
                let pages = or_gone!(self.read_pages(strand, state.index.pages.iter()).await?);
                let entries = state.index.entries_meeting(&pages, i64::MIN, i64::MAX)?;
                entries.iter().for_each(|entry| fresh.remove(strand, entry.row(strand)));
                state.index.pages.iter().for_each(|page| fresh.remove(strand, page.row(strand)));
                let spilled = or_gone!(self.spilled_rows(strand, &state).await?);
                spilled.into_iter().for_each(|row| fresh.remove(strand, row));
                drop_overlays(strand, &mut state, &mut writes);
                if state.audited {
                    writes.extend(keys::all_audit_rows(strand).map(Write::DeleteRange));
                }
                Condition::Version(key, stamp)
            }
        };
        writes.extend_from_slice(beside);
        check_size(&writes, &self.shared.rules.limits)?;
        let commit = Commit {
            partition: strand.partition.clone(),
            write_id: self.shared.write_ids.next(),
            conditions: vec![condition],
            writes,
            change: change.cloned(),
            reclaims: true,
        };
        Ok(Some(fresh.with(epoch, commit)))
    }
}
