//! Sweeps: fresh rows that no state names are removed. Writers that died leave them, and those that another came before.

use std::collections::HashSet;

use bytes::Bytes;
use store::retry::{RetryBackoff, unless_lost};
use store::rows::Pages;
use store::{Appended, Commit, Condition, Epoch, Removal, Stamp};

use crate::commit::commit;
use crate::error::Error;
use crate::fetch::{contention, or_gone};
use crate::fresh::KEYS_AT_ONCE;
use crate::keys;
use crate::state::State;
use crate::strand::Strand;
use crate::strands::Strands;

/// Rows that are looked at together.
const ROWS_AT_ONCE: usize = 64;
/// How often a sweep begins anew because the strand was written meanwhile.
const ATTEMPTS: RetryBackoff = RetryBackoff::at_once(8);

impl Strands {
    /// Removes fresh rows of `first..=last` that the strand does not name, if sweeping may find some; answers how many.
    ///
    /// Cost: one look-up where nothing can be left; else all blocks of the range are read, page by page.
    pub(crate) async fn tidy(&self, strand: &Strand) -> Result<usize, Error> {
        let Some((stamp, state)) = self.state(strand).await? else { return Ok(0) };
        let Some(span) = self.span_of_leftovers(&state) else { return Ok(0) };
        let swept = self.sweep_fresh(strand, span).await?;
        self.note_tidy(strand, (stamp, state)).await?;
        Ok(swept)
    }

    /// Notes that what was left by a range of a state is gone. A writer that comes first leaves it for the next time.
    async fn note_tidy(&self, strand: &Strand, (stamp, swept): (Stamp, State)) -> Result<(), Error> {
        if swept.untidy.is_some() {
            let tidy = State { untidy: None, ..swept };
            let write_id = self.shared.write_ids.next();
            let commit = commit(strand, Some(stamp), &tidy, std::iter::empty(), write_id, None);
            self.try_commit(Commit { reclaims: true, ..commit }).await?;
        }
        Ok(())
    }

    /// Removes fresh rows of the windows of a range that no state names; answers how many. A new epoch begins before any goes, on
    /// condition that the strand is as it was looked at: whoever appended before cannot commit any more, and what is appended
    /// after stays.
    pub(crate) async fn sweep_fresh(
        &self,
        strand: &Strand,
        (first, last): (i64, i64),
    ) -> Result<usize, Error> {
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            let held = self.state(strand).await?;
            let Some(orphans) = self.orphans(strand, held.as_ref().map(|(_, it)| it), (first, last)).await?
            else {
                continue;
            };
            if orphans.is_empty() {
                return Ok(0);
            }
            let seen = condition(strand, held.map(|(stamp, _)| stamp));
            let bumped = self.shared.store.bump(&strand.partition, vec![seen]).await;
            if let Some(epoch) = unless_lost(bumped)? {
                return self.remove_orphans(orphans, epoch).await;
            }
        }
        Err(contention(strand))
    }

    async fn remove_orphans(&self, orphans: Vec<Removal>, epoch: Epoch) -> Result<usize, Error> {
        let mut removed = 0;
        for Removal { partition, keys } in orphans {
            for keys in keys.chunks(KEYS_AT_ONCE) {
                removed += keys.len();
                self.shared.store.remove(&partition, keys.to_vec(), Appended::Before(epoch)).await?;
                tokio::task::yield_now().await;
            }
        }
        Ok(removed)
    }

    /// Fresh rows of the windows of a range that the state does not name; `None` if the state changed meanwhile.
    async fn orphans(
        &self,
        strand: &Strand,
        state: Option<&State>,
        (first, last): (i64, i64),
    ) -> Result<Option<Vec<Removal>>, Error> {
        let mut orphans = Vec::new();
        let spilled = match state {
            Some(state) => or_gone!(self.spilled_rows(strand, state).await?),
            None => Vec::new(),
        };
        for window in keys::windows(first, last) {
            let (from, to) = keys::times_of(window);
            let partition = keys::fresh_partition(strand, window);
            let mut named: HashSet<Bytes> = HashSet::new();
            if let Some(state) = state {
                let pages = or_gone!(self.read_pages(strand, state.index.pages_meeting(from, to)).await?);
                let entries = state.index.entries_meeting(&pages, from, to)?;
                named.extend(entries.iter().map(|entry| entry.row(strand).1));
                named.extend(state.index.pages.iter().map(|page| page.row(strand).1));
                named.extend(spilled.iter().filter(|(of, _)| *of == window).map(|(_, key)| key.clone()));
            }
            let mut keys = Vec::new();
            for range in keys::all_fresh(strand) {
                let mut pages = Pages::new(&self.shared.store, &partition, range, ROWS_AT_ONCE);
                while let Some(page) = pages.next().await? {
                    let found = page.rows().map(|(key, _)| key).filter(|key| !named.contains(*key));
                    keys.extend(found.map(Bytes::copy_from_slice));
                }
            }
            if !keys.is_empty() {
                orphans.push(Removal { partition, keys });
            }
        }
        Ok(Some(orphans))
    }
}

/// Holds while the strand is of this version.
fn condition(strand: &Strand, stamp: Option<Stamp>) -> Condition {
    let key = keys::state(strand);
    stamp.map_or(Condition::Absent(key.clone()), |stamp| Condition::Version(key, stamp))
}
