//! What is in a directory, page by page.

use super::{Found, PAGE_TENANTS, TenantInfo, Tenants, damaged};
use crate::rows::Pages;
use crate::{Direction, Error, Model, Tenant, TenantName};
use store_contract::lives::Directory;
use store_contract::tenant_rows::{self, Entry};

/// A page of a directory.
#[derive(Debug)]
pub struct TenantPage {
    /// By name.
    pub tenants: Vec<Result<TenantInfo, Error>>,
    /// The last of them, if there are more behind it.
    pub next: Option<TenantName>,
}

impl Tenants {
    /// Up to 1,024 tenants by name, from behind `after` on; the default one is not among them, for it is always there. Each with
    /// an error of its own: a damaged one hides no other.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(&self, after: Option<&TenantName>) -> Result<TenantPage, Error> {
        let mut range = tenant_rows::names(&self.directory);
        let is_tenants = self.directory.within.is_none();
        if let Some(after) = after.or(Some(&TenantName::default()).filter(|_| is_tenants)) {
            range = range.after_key(&self.key(after));
        }
        let generation = self.store.lives().generation();
        let page =
            self.store.scan(&tenant_rows::partition(), &range, Direction::Forward, PAGE_TENANTS).await?;
        let (mut tenants, mut last) = (Vec::with_capacity(page.len()), None);
        let head_bytes = tenant_rows::head_bytes(&self.directory);
        for (key, value) in page.rows() {
            let name = tenant_rows::name_of_key(key, head_bytes).ok_or_else(|| damaged(key))?;
            tenants.extend(self.listed(&name, value, generation).await.transpose());
            last = Some(name);
        }
        Ok(TenantPage { tenants, next: last.filter(|_| page.more()) })
    }

    /// A row of the directory that was read since `generation`; `None` if it was removed meanwhile.
    async fn listed(
        &self,
        name: &TenantName,
        value: &[u8],
        generation: u64,
    ) -> Result<Option<TenantInfo>, Error> {
        let entry = Entry::parse(value).ok_or_else(|| damaged(name.as_str().as_bytes()))?;
        match self.learn(entry.number, name, generation) {
            Some(tenant) => Ok(Some(TenantInfo { tenant, entry })),
            None => {
                let info = |Found { tenant, entry, .. }| TenantInfo { tenant, entry };
                Ok(self.find(name).await?.map(info))
            }
        }
    }

    /// All of them by name, but the default tenant, each with an error of its own. Cost: a scan of the directory.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn all_each(&self) -> Result<Vec<Result<TenantInfo, Error>>, Error> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.list(after.as_ref()).await?;
            all.extend(page.tenants);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// The same, if all can be read.
    ///
    /// # Errors
    ///
    /// `Corrupt`; if the store refuses.
    pub async fn all(&self) -> Result<Vec<TenantInfo>, Error> {
        self.all_each().await?.into_iter().collect()
    }

    /// What `model` keeps under names inside all tenants, each with an error of its own. Cost: a scan of the parts of all models.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn all_within(&self, model: Model) -> Result<Vec<Result<Tenant, Error>>, Error> {
        if self.store.may_lag() {
            // Others create tenants, too.
            self.all_each().await?;
        }
        let (lives, mut parts, partition) = (self.store.lives(), Vec::new(), tenant_rows::partition());
        let mut pages = Pages::new(&self.store, &partition, tenant_rows::all_parts(), PAGE_TENANTS);
        let mut generation = lives.generation();
        while let Some(page) = pages.next().await? {
            for (key, value) in page.rows() {
                let part = tenant_rows::part_of_key(key).ok_or_else(|| damaged(key))?;
                let Some(tenant) = lives.of_number(part.0).filter(|_| part.1 == model.id) else { continue };
                let directory = Directory { within: Some((tenant, model.id)) };
                let name = tenant_rows::name_of_key(key, tenant_rows::head_bytes(&directory));
                match name.zip(Entry::parse(value)) {
                    // What was removed meanwhile is not there; what was not is found the next time.
                    Some((name, entry)) => {
                        parts.extend(lives.learn(&directory, (entry.number, &name), generation).map(Ok));
                    }
                    None => parts.push(Err(damaged(key))),
                }
            }
            // Before the next page is read.
            generation = lives.generation();
        }
        Ok(parts)
    }
}
