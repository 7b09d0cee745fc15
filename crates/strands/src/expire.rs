//! Retention: what is older than a bound goes, audited writes too.
//!
//! The bound is set in the state, in one commit with the deletion of the points; only then go the rows of audited writes. So
//! an as-of reader that finds some of them gone finds the bound as well.

use std::ops::ControlFlow;

use bytes::Bytes;
use store::retry::RetryBackoff;
use store::rows::Pages;
use store::{Commit, Condition, Direction, Timestamp, Write, later_wins};

use crate::audit_rows::{AuditPart, levels};
use crate::commit::commit;
use crate::error::Error;
use crate::fresh::{Fresh, FreshKey};
use crate::keys;
use crate::layer::Layer;
use crate::pending::CheckedWrite;
use crate::points::{Points, TimeRange};
use crate::state::State;
use crate::strand::{Strand, StrandVersion};
use crate::strands::Strands;

/// The most rows of audited writes that are read at once; one commit removes no more (and what stands beside them).
const PAGE_ROWS_MAX: usize = 1_024;
/// How often a commit is tried again because a writer came before.
const ATTEMPTS: RetryBackoff = RetryBackoff::at_once(32);

impl Strands {
    /// Removes what is older than `before`: points, and audited writes that lie wholly before it, the latter in commits of
    /// their own (what is left of them when it ends early goes the next time). As-of reads tell nothing before the bound
    /// from now on, whatever is written there later; audited writes that reach over it stay whole for them. Answers whether
    /// there was anything.
    ///
    /// Cost: one look-up if there is nothing; else one commit, and a read of the audited writes that begin before the bound.
    ///
    /// # Errors
    ///
    /// If the store refuses, or stored bytes are damaged; [`Error::Contention`] if writers kept coming first.
    pub async fn expire(&self, strand: &Strand, before: i64) -> Result<bool, Error> {
        let live = self.live();
        let Some((_, state)) = live.state(strand).await? else {
            return Ok(false);
        };
        let is_old = match live.extent(strand).await? {
            Some((first, _)) => first < before,
            // What was kept may outlive the points.
            None => live.has_audit_part_before(strand, &state, before).await?,
        };
        if !is_old {
            return Ok(false);
        }
        let clear = TimeRange { from: i64::MIN, to: before };
        live.write_checked(CheckedWrite {
            strand: strand.clone(),
            layer: Layer { clears: vec![clear], points: Points::default() },
            encoding: state.encoding,
            written: Timestamp(i64::MIN),
            audited: false,
            expires: Some(before),
            mark: None,
            beside: Vec::new(),
            change: None,
            expects: None,
        })
        .await?;
        if state.audited {
            live.drop_audit_parts(strand, &state, before).await?;
        }
        Ok(true)
    }

    /// Removes the strand with all its rows if all points are older than `before` and no write is kept; answers whether
    /// it did. A write that comes meanwhile stays.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn erase_expired(&self, strand: &Strand, before: i64) -> Result<bool, Error> {
        let live = self.live();
        let Some((stamp, state)) = live.state(strand).await? else { return Ok(false) };
        let is_kept = state.audited && state.audit.levels != 0;
        if is_kept || live.extent(strand).await?.is_some_and(|(_, last)| last >= before) {
            return Ok(false);
        }
        // Of the state that was looked at, and of no later one.
        live.erase_version(strand, StrandVersion(Some(stamp)), Vec::new()).await
    }

    /// Whether a part of an audited write ends before the bound. Cost: those that reach over it are passed over.
    async fn has_audit_part_before(
        &self,
        strand: &Strand,
        state: &State,
        before: i64,
    ) -> Result<bool, Error> {
        let mut is_found = false;
        for level in levels(state.audit.levels) {
            let range = keys::audit_parts_between(strand, level, i64::MIN, before);
            let mut find = |key: &[u8], value: &[u8]| {
                is_found = AuditPart::parse(key, value)?.last < before;
                Ok(if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            };
            self.each_row(&strand.partition, range, &mut find).await?;
            if is_found {
                break;
            }
        }
        Ok(is_found)
    }

    /// Removes parts of audited writes that end before the bound, and with the last part of a write what stands beside it.
    async fn drop_audit_parts(&self, strand: &Strand, state: &State, before: i64) -> Result<(), Error> {
        // A row, and what stands beside it.
        let page_rows = PAGE_ROWS_MAX.min(self.shared.rules.limits.good_rows / 2);
        for level in levels(state.audit.levels) {
            let range = keys::audit_parts_between(strand, level, i64::MIN, before);
            let mut pages = Pages::new(&self.shared.store, &strand.partition, range, page_rows);
            while let Some(page) = pages.next().await? {
                let (mut writes, mut spilled) = (Vec::new(), Vec::new());
                for (key, value) in page.rows() {
                    let part = AuditPart::parse(key, value)?;
                    if part.last >= before {
                        continue;
                    }
                    writes.push(Write::Delete(Bytes::copy_from_slice(key)));
                    spilled.extend(part.spilled(strand));
                    if part.is_end {
                        writes.push(Write::Delete(keys::written(strand, part.written, part.sequence())));
                    }
                }
                // Clear and points of one write may end together, and both lead to what stands beside it.
                later_wins(&mut writes);
                if !writes.is_empty() && !self.drop_rows(strand, state, (writes, spilled)).await? {
                    return Ok(());
                }
            }
        }
        self.drop_levels(strand).await
    }

    /// Deletes rows of a strand, and lets fresh ones go; answers whether it did: not if the strand was erased meanwhile, or writers kept coming first.
    async fn drop_rows(
        &self,
        strand: &Strand,
        held: &State,
        (writes, spilled): (Vec<Write>, Vec<FreshKey>),
    ) -> Result<bool, Error> {
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            let epoch = self.shared.store.fence(&strand.partition);
            let Some((stamp, now)) = self.state(strand).await? else { return Ok(false) };
            if now.audit.life != held.audit.life {
                return Ok(false);
            }
            let commit = Commit {
                partition: strand.partition.clone(),
                write_id: self.shared.write_ids.next(),
                conditions: vec![Condition::Version(keys::state(strand), stamp)],
                writes: writes.clone(),
                change: None,
                reclaims: true,
            };
            let mut fresh = Fresh::default();
            spilled.iter().for_each(|row| fresh.remove(strand, row.clone()));
            if self.try_append_then_commit(fresh.with(epoch, commit), false).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets levels without rows.
    async fn drop_levels(&self, strand: &Strand) -> Result<(), Error> {
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            let Some((stamp, held)) = self.state(strand).await? else { return Ok(()) };
            let mut state = held.clone();
            for level in levels(held.audit.levels) {
                let all = keys::audit_parts_between(strand, level, i64::MIN, i64::MAX);
                if self.shared.store.scan(&strand.partition, &all, Direction::Forward, 1).await?.is_empty() {
                    state.audit.levels &= !(1 << level);
                }
            }
            state.audit.spilled &= state.audit.levels != 0;
            if state == held {
                break;
            }
            let write_id = self.shared.write_ids.next();
            let commit = commit(strand, Some(stamp), &state, std::iter::empty(), write_id, None);
            if self.try_commit(Commit { reclaims: true, ..commit }).await? {
                break;
            }
        }
        Ok(())
    }
}
