//! The removal of what expired.

use entity::apply::apply_expiry;
use entity::{EntityView, Error, keys};
use store::{Commit, Direction, Range, Row, Timestamp};

use super::pending::{Before, PendingCommit};
use super::settle;
use crate::TenantEntities;
use crate::tenant::TenantState;
use crate::watch::Watch;

/// Expiry rows that are read in one page.
const PAGE_EXPIRED: usize = 256;

impl TenantEntities {
    /// Removes what expired before `now`; answers how many entities lost something, or went. Goes on behind what the last
    /// call removed: entities that fail are skipped, and tried again when a call begins at the beginning.
    pub(crate) async fn purge_expired(&self, now: Timestamp) -> Result<usize, Error> {
        let state = self.state();
        // What expires at a time is gone at that time.
        let expired = keys::expired_range(Timestamp(now.0.saturating_add(1)));
        // Others write what expires, too, where a store is shared: then every call begins at the beginning.
        let first = state.purged.begin().filter(|_| !state.store.may_lag());
        let (mut purged, mut is_all) = (0, true);
        for (bucket, partition) in state.partitions.iter().enumerate() {
            let start = first.as_ref().unwrap_or(&expired.start).clone();
            let mut range = Some(Range { start, ..expired.clone() });
            while let Some(rest) = range.take() {
                let page = match state.store.scan(partition, &rest, Direction::Forward, PAGE_EXPIRED).await {
                    Ok(page) => page,
                    Err(error) => {
                        state.skip("purge", &format_args!("bucket {bucket}"), error.into())?;
                        is_all = false;
                        break;
                    }
                };
                let mut ids: Vec<&str> = page.rows().filter_map(|(key, _)| keys::id_of_key(key)).collect();
                ids.sort_unstable();
                ids.dedup();
                let (done, left) = self.purge(state, &ids, now).await?;
                purged += done;
                is_all &= left == 0;
                range = rest.after_page(&page);
            }
        }
        if let Some(end) = expired.end.filter(|end| is_all && first.as_ref() < Some(end)) {
            state.purged.end(end);
        }
        Ok(purged)
    }

    /// How many entities lost something, or went, and how many were written meanwhile.
    async fn purge(
        &self,
        state: &TenantState,
        ids: &[&str],
        now: Timestamp,
    ) -> Result<(usize, usize), Error> {
        let (mut purging, mut commits) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
        let mut watches = Vec::with_capacity(ids.len());
        for id in ids {
            match state.watch(id).await {
                Ok(Some(watch)) => watches.push(Ok(watch)),
                // What is left is for the next time.
                Ok(None) => return Ok((0, ids.len())),
                Err(error) if error.is_outage() => return Err(error),
                Err(error) => watches.push(Err(error)),
            }
        }
        for ((id, row), watch) in ids.iter().zip(state.rows_each(ids).await?).zip(watches) {
            let purge = |(row, watch)| pending_purge(state, id, row, watch, now);
            match row.and_then(|row| Ok((row, watch?))).and_then(purge) {
                Ok(None) => {}
                Ok(Some(commit)) => {
                    purging.push(*id);
                    commits.push(Commit { reclaims: true, ..commit });
                }
                Err(error) => state.skip("purge", id, error)?,
            }
        }
        let (mut purged, mut left) = (0, 0);
        for (id, outcome) in purging.into_iter().zip(state.store.commit_all_known(commits).await) {
            match settle(outcome) {
                Ok(true) => purged += 1,
                Ok(false) => left += 1,
                Err(error) => state.skip("purge", &id, error)?,
            }
        }
        Ok((purged, left))
    }
}

/// What is to be written for an entity that lost something, or went.
fn pending_purge(
    state: &TenantState,
    id: &str,
    row: Option<Row>,
    watch: Watch,
    now: Timestamp,
) -> Result<Option<Commit>, Error> {
    let mut pending = PendingCommit::new(id, row, None, watch)?;
    let stored = pending.bytes.clone();
    let Some(bytes) = &stored else {
        return Ok(None);
    };
    let view = EntityView::parse(bytes)?;
    if let Some(outcome) = apply_expiry(&view, now, pending.indexed())? {
        let part = outcome.bytes.as_deref().map(EntityView::peek).transpose()?;
        // What is left was changed at the time that it says itself.
        let time = part.map_or_else(|| pending.time(Some(&view), now), |part| part.modified_at());
        pending.take(state, id, Before { stored: Some(&view), live: Some(&view) }, outcome, time)?;
    }
    pending.commit(state, id)
}
