//! Removing tenants and their parts: the name at once, the rows behind.

use std::time::Duration;

use bytes::Bytes;

use super::{BACKOFF, DIRECTORY, Found, PAGE_TENANTS, Tenants, damaged, is_default};
use crate::rows::Pages;
use crate::{Error, ErrorKind, Model, Tenant, TenantName, Write};
use store_contract::tenant_rows::{self, Entry};

impl Tenants {
    /// Removes a tenant, with all its parts: from now on it is not there, on any node, and its name is free. Its rows go with
    /// [`Tenants::finish_removals`]. False if there is none of the name.
    ///
    /// # Errors
    ///
    /// `Misuse` for the default tenant, which is always there; if the store refuses.
    pub async fn remove(&self, name: &TenantName) -> Result<bool, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if self.is_default(name) {
                return Err(is_default());
            }
            let Some(found) = self.find(name).await? else {
                return Ok(false);
            };
            if self.remove_found(found).await? {
                return Ok(true);
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    /// Removes this life of a tenant, if what a model keeps of it is `was`. False if it is another's word by now.
    ///
    /// # Errors
    ///
    /// `TenantRemoved`, `Misuse` for the default tenant; if the store refuses.
    pub async fn remove_if(&self, tenant: &Tenant, model: Model, was: Option<&Bytes>) -> Result<bool, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some(found) = self.found_if(tenant, model, was).await? else { return Ok(false) };
            if self.remove_found(found).await? {
                return Ok(true);
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    /// Ends this life of a tenant, if what a model keeps of it is `was`, and begins another of the name, of which all models keep the same.
    /// False if it is another's word by now. One commit: the name is never free between, and the place among those that there may
    /// be never another's. The rows of the old life go with [`Tenants::finish_removals`].
    ///
    /// # Errors
    ///
    /// `TenantRemoved`, `Misuse` for the default tenant; if the store refuses.
    pub async fn renew_if(&self, tenant: &Tenant, model: Model, was: Option<&Bytes>) -> Result<bool, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some(found) = self.found_if(tenant, model, was).await? else { return Ok(false) };
            let mut renewed = found.entry.clone();
            (renewed.number, renewed.created) = (self.take_number().await?, self.store.now());
            let instead = Write::PutStamped(self.key(&tenant.to_name()), renewed.to_bytes());
            if self.end_life(found, instead).await? {
                return Ok(true);
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    /// This life of a tenant, if what a model keeps of it is `was`.
    async fn found_if(
        &self,
        tenant: &Tenant,
        model: Model,
        was: Option<&Bytes>,
    ) -> Result<Option<Found>, Error> {
        if tenant.is_default() {
            return Err(is_default());
        }
        let (entry, condition) = self.entry(tenant).await?;
        Ok((entry.stored(model) == was).then(|| Found { tenant: tenant.clone(), entry, condition }))
    }

    async fn remove_found(&self, found: Found) -> Result<bool, Error> {
        let instead = Write::Delete(self.key(&found.tenant.to_name()));
        self.end_life(found, instead).await
    }

    /// Ends a life, and has this in place of its row. False: another came first. Runs to its end even if the caller's future is dropped: a life whose row is gone must end here, or
    /// writes would be acknowledged that are erased.
    async fn end_life(&self, found: Found, instead: Write) -> Result<bool, Error> {
        let tenants = self.clone();
        let removal = tokio::spawn(async move { tenants.commit_end(found, instead).await });
        match removal.await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Error::new(ErrorKind::Unknown, "remove a tenant: the process is about to end")),
            },
        }
    }

    async fn commit_end(
        &self,
        Found { tenant, condition, .. }: Found,
        instead: Write,
    ) -> Result<bool, Error> {
        let _recount = self.store.lives().places(&self.directory).recount_after();
        let removal = Write::Put(tenant_rows::removal(tenant.number()), tenant.name().to_owned().into());
        let reclaims = matches!(instead, Write::Delete(_));
        let is_ended = self.commit(vec![condition], vec![instead, removal], reclaims).await?.is_some();
        if is_ended {
            self.store.end_tenant(tenant.number());
            self.store.lives().removed.notify_one();
        }
        Ok(is_ended)
    }

    /// Waits until a tenant or a part of one is removed in this process: for the one job that calls [`Tenants::finish_removals`].
    pub async fn removal(&self) {
        self.store.lives().removed.notified().await;
    }

    /// Removes the rows of all tenants and parts that were removed; answers how many of these are done. For a job, which any number of
    /// nodes may run, and which goes on after any break. Cost: on the embedded engine one range for each tenant and
    /// part; elsewhere pieces of some thousand rows, with a `pause` between them. What is damaged stops no other.
    ///
    /// # Errors
    ///
    /// `Corrupt` once all others are done; if the store refuses.
    pub async fn finish_removals(&self, pause: Duration) -> Result<usize, Error> {
        let (mut done, mut damage, partition) = (0, Ok(()), tenant_rows::partition());
        let mut pages = Pages::new(&self.store, &partition, tenant_rows::removals(), PAGE_TENANTS);
        while let Some(page) = pages.next().await? {
            for (key, name) in page.rows() {
                match self.finish_removal(key, name, pause).await {
                    Ok(is_done) => done += usize::from(is_done),
                    Err(error) => note_damage(&mut damage, error)?,
                }
            }
        }
        damage.map(|()| done)
    }

    /// Finishes the removal that a row of the directory tells of.
    async fn finish_removal(&self, key: &[u8], name: &[u8], pause: Duration) -> Result<bool, Error> {
        let number = tenant_rows::number_of_key(key).ok_or_else(|| damaged(key))?;
        self.store.end_tenant(number);
        self.erase_parts(number, pause).await?;
        self.erase(number, pause).await?;
        let write = Write::Delete(tenant_rows::removal(number));
        let is_done = self.commit(Vec::new(), vec![write], true).await?.is_some();
        if is_done {
            let name = String::from_utf8_lossy(name);
            tracing::info!(%name, number, "the rows of what was removed are gone");
        }
        Ok(is_done)
    }

    /// Removes the parts of a removed tenant, rows first, so that a break leaves none without its name. A damaged one is logged
    /// once the others are gone.
    async fn erase_parts(&self, tenant: u32, pause: Duration) -> Result<(), Error> {
        let (mut damage, partition) = (Ok(()), tenant_rows::partition());
        let mut pages = Pages::new(&self.store, &partition, tenant_rows::parts(tenant), PAGE_TENANTS);
        while let Some(page) = pages.next().await? {
            for (key, value) in page.rows() {
                let Some(entry) = Entry::parse(value) else {
                    note_damage(&mut damage, damaged(key))?;
                    continue;
                };
                self.store.end_tenant(entry.number);
                self.erase(entry.number, pause).await?;
                let write = Write::Delete(Bytes::copy_from_slice(key));
                while self.commit(Vec::new(), vec![write.clone()], true).await?.is_none() {}
            }
        }
        damage
    }

    async fn erase(&self, number: u32, pause: Duration) -> Result<(), Error> {
        while self.store.erase_tenant(number).await? {
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }
}

/// Notes the first damage that was met. Any other error is not to be passed over.
fn note_damage(first: &mut Result<(), Error>, error: Error) -> Result<(), Error> {
    if error.kind() != ErrorKind::Corrupt {
        return Err(error);
    }
    if first.is_ok() {
        *first = Err(error);
    }
    Ok(())
}
