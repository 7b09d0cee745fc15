//! What is done behind, by a job: rows and pages of removed anchors go, versions that are too old are dropped, pages that no version has and
//! texts that no schema set names are removed. Each run finds in stored rows what is left to do, so a crash loses nothing, and two that run
//! side by side do no harm.
//!
//! Invariant: before pages are removed that no version has, a new epoch begins, and only rows of older epochs go; what versions have is read
//! after that. So a writer under way begins again, and what it appends then stays.

use std::collections::HashSet;

use bytes::Bytes;
use config::PageId;
use store::retry::unless_lost;
use store::rows::Pages;
use store::{Appended, Commit, Condition, Epoch, Partition, Range, Write};

use crate::anchor::Anchor;
use crate::configs::{BACKOFF, Configs};
use crate::error::damaged;
use crate::rows::{AnchorRow, parse_removal, removal_to_bytes};
use crate::{Error, anchors, keys};

/// Rows that are read, or removed, at once.
const PAGE_ROWS: usize = 256;

/// What a run did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tidied {
    /// Anchors that were removed, and of which nothing is left.
    pub anchors: u64,
    /// Anchors of which versions were dropped for their age.
    pub expired: u64,
    /// Rows that were removed.
    pub rows: u64,
}

impl Configs {
    /// A tenant with work for [`Configs::tidy`]; waits for one. What this process does not know of is found by a look at all tenants
    /// now and then.
    pub async fn next_wanted(&self) -> Self {
        self.of_tenant(self.shared.wanted.next().await.0)
    }

    /// Has a tenant be among those with work again.
    pub fn want(&self) {
        self.shared.wanted.note(&self.tenant, || ());
    }

    /// The configuration of all tenants, for jobs; what of the directory is damaged is passed over.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn all(&self) -> Result<Vec<Self>, Error> {
        let found = self.shared.tenants.all_each().await?.into_iter();
        let tenants = found.flatten().map(|info| self.of_tenant(info.tenant));
        Ok(std::iter::once(self.of_tenant(store::Tenant::default())).chain(tenants).collect())
    }

    /// Does what is left to do of this tenant. Cost: a scan of its anchors; then by what there is to do.
    ///
    /// # Errors
    ///
    /// If the store refuses; that of one anchor, once the others were looked at.
    pub async fn tidy(&self) -> Result<Tidied, Error> {
        let mut done = Tidied::default();
        let mut failed = None;
        for partition in self.partitions().await? {
            self.finish_removals(&partition, &mut done).await?;
            let mut pages = Pages::new(&self.shared.store, &partition, keys::all_anchors(), PAGE_ROWS);
            while let Some(page) = pages.next().await? {
                for (key, value) in page.rows() {
                    match self.tidy_anchor(key, value, &mut done).await {
                        Ok(()) => {}
                        Err(error) if error.is_outage() => return Err(error),
                        // The others do not wait for it.
                        Err(error) => failed = failed.or(Some(error)),
                    }
                }
            }
        }
        if self.has_left_texts().await? {
            done.rows += self.sweep_blobs().await? as u64;
        }
        failed.map_or(Ok(done), Err)
    }

    async fn tidy_anchor(&self, key: &[u8], value: &[u8], done: &mut Tidied) -> Result<(), Error> {
        let row = anchors::read_row(value)?;
        let is_aged = row.oldest_until.is_some_and(|until| self.is_aged(until));
        let is_untidy = row.is_untidy || (row.has_pages && self.shared.store.may_lag());
        if !is_aged && !is_untidy {
            return Ok(());
        }
        let (dataspace, name) = keys::names_of_anchor(key).ok_or_else(|| damaged("the key of an anchor"))?;
        let anchor = match self.anchor(&dataspace, &name).await {
            Err(Error::UnknownAnchor { .. } | Error::UnknownDataspace(_)) => return Ok(()),
            anchor => anchor?,
        };
        if is_aged && anchor.drop_aged().await? {
            done.expired += 1;
        }
        if is_untidy {
            done.rows += anchor.sweep_pages().await?;
        }
        Ok(())
    }

    /// Removes what anchors left that were removed.
    async fn finish_removals(&self, partition: &Partition, done: &mut Tidied) -> Result<(), Error> {
        let mut pages = Pages::new(&self.shared.store, partition, keys::removals(), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            if page.is_empty() {
                continue;
            }
            // Nobody who knows one of these anchors appends in it.
            let epoch = self.shared.store.bump(partition, Vec::new()).await?;
            for (key, value) in page.rows() {
                let number = keys::number_of_removal(key).ok_or_else(|| damaged("the key of a removal"))?;
                let is_second = parse_removal(value).map_err(|_| damaged("a removal"))?;
                done.rows += self.remove_versions(partition, number).await?;
                done.rows += self.remove_pages(partition, (number, epoch), |_| true).await?;
                // Where an append may come late, the next run looks once more.
                let is_done = is_second || !self.shared.store.may_lag();
                let key = Bytes::copy_from_slice(key);
                let write =
                    if is_done { Write::Delete(key) } else { Write::Put(key, removal_to_bytes(true)) };
                self.write_rows(partition, vec![write]).await?;
                done.anchors += u64::from(is_done);
            }
        }
        Ok(())
    }

    /// Removes the rows of versions of an anchor that was removed.
    async fn remove_versions(&self, partition: &Partition, number: u64) -> Result<u64, Error> {
        let mut removed = 0;
        let mut pages = Pages::new(&self.shared.store, partition, keys::versions(number), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            removed += page.len() as u64;
            let deletes = page.rows().map(|(key, _)| Write::Delete(Bytes::copy_from_slice(key)));
            for deletes in deletes.collect::<Vec<_>>().chunks(self.shared.store.limits().good_rows) {
                self.write_rows(partition, deletes.to_vec()).await?;
            }
        }
        Ok(removed)
    }

    /// Removes pages of an anchor, of epochs before this one.
    async fn remove_pages(
        &self,
        partition: &Partition,
        (number, before): (u64, Epoch),
        is_gone: impl Fn(PageId) -> bool,
    ) -> Result<u64, Error> {
        let (mut removed, store) = (0, &self.shared.store);
        let partition = keys::pages(&self.tenant, partition.bucket);
        let range: Range = keys::pages_of(number);
        let mut pages = Pages::new(store, &partition, range, PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            let mut gone = Vec::new();
            for (key, _) in page.rows() {
                let (version, nonce, number) =
                    keys::page_of_key(key).ok_or_else(|| damaged("the key of a page"))?;
                if is_gone(PageId { version, nonce, number }) {
                    gone.push(Bytes::copy_from_slice(key));
                }
            }
            removed += gone.len() as u64;
            for gone in gone.chunks(store.limits().good_rows) {
                store.remove(&partition, gone.to_vec(), Appended::Before(before)).await?;
            }
        }
        Ok(removed)
    }

    /// Writes rows that nobody else writes.
    async fn write_rows(&self, partition: &Partition, writes: Vec<Write>) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let commit = Commit {
                partition: partition.clone(),
                write_id: self.shared.write_ids.next(),
                conditions: Vec::new(),
                writes: writes.clone(),
                change: None,
                reclaims: true,
            };
            if unless_lost(self.shared.store.commit_known(commit).await)?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted("what removed anchors left").into())
    }
}

impl Anchor {
    /// Drops versions for their age, as many as go in one commit; whether any was. Another who comes first leaves it to the next run.
    async fn drop_aged(&self) -> Result<bool, Error> {
        let configs = self.configs();
        let epoch = configs.shared.store.fence(&self.place().partition);
        let Some((stored, row)) = self.row().await? else { return Ok(false) };
        let Some(dropping) = self.dropping(&row, None).await? else { return Ok(false) };
        if dropping.oldest == row.oldest {
            return Ok(false);
        }
        let becomes = AnchorRow { oldest: dropping.oldest, oldest_until: dropping.oldest_until, ..row };
        let mut writes = vec![Write::PutStamped(self.place().key.clone(), becomes.to_bytes())];
        writes.extend(dropping.rows.into_iter().map(Write::Delete));
        let commit = Commit {
            partition: self.place().partition.clone(),
            write_id: configs.shared.write_ids.next(),
            conditions: vec![Condition::Version(self.place().key.clone(), stored.stamp)],
            writes,
            change: None,
            reclaims: true,
        };
        let lets_go = self.removals_of(&dropping.pages);
        let commit = store::CommitWithAppends { appends: Vec::new(), epoch, commit, lets_go };
        Ok(unless_lost(configs.shared.store.append_then_commit(commit).await)?.is_some())
    }

    /// Removes pages that no version has; answers with how many.
    async fn sweep_pages(&self) -> Result<u64, Error> {
        let (configs, place) = (self.configs(), self.place());
        let epoch = configs.shared.store.bump(&place.partition, Vec::new()).await?;
        let Some((stored, row)) = self.row().await? else { return Ok(0) };
        let Some(live) = self.live_pages(&row).await? else { return Ok(0) };
        let of = (row.number, epoch);
        let removed = configs.remove_pages(&place.partition, of, |page| !live.contains(&page)).await?;
        if row.is_untidy {
            let tidy = AnchorRow { is_untidy: false, ..row };
            let commit = Commit {
                partition: place.partition.clone(),
                write_id: configs.shared.write_ids.next(),
                // Nobody has left pages since.
                conditions: vec![Condition::Version(place.key.clone(), stored.stamp)],
                writes: vec![Write::PutStamped(place.key.clone(), tidy.to_bytes())],
                change: None,
                reclaims: true,
            };
            unless_lost(configs.shared.store.commit_known(commit).await)?;
        }
        Ok(removed)
    }

    /// The pages of all versions that are kept: those of the newest, and what each superseded since the oldest. `None`: it was changed
    /// meanwhile, so that not all were found.
    async fn live_pages(&self, row: &AnchorRow) -> Result<Option<HashSet<PageId>>, Error> {
        let mut live = HashSet::new();
        for version in row.oldest.saturating_add(1)..=row.head {
            let Some(of) = self.version_row(version).await? else { return Ok(None) };
            live.extend(of.superseded);
        }
        let Some(pages) = self.pages_of_head(row).await? else { return Ok(None) };
        live.extend(pages);
        Ok(Some(live))
    }
}
