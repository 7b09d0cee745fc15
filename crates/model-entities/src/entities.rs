//! The handle: one store's tenants.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use entity::{Error, keys};
use parking_lot::RwLock;
use store::retry::{RetryBackoff, RetryLocks};
use store::{ErrorKind, Lane, Store, Tenant, TenantCreation, TenantName, Tenants, Timestamp, WriteIds};
use tokio::sync::Notify;

use crate::histories::Histories;
use crate::indexes::{IndexPolicy, Indexes};
use crate::layout::{Layout, Looks};
use crate::options::Options;
use crate::policy::TenantPolicy;
use crate::tenant::TenantState;
use crate::watch::Watched;
use crate::{Documents, SkipLog, TenantEntities, Terms};

/// How often a tenant is looked up again because it was removed meanwhile.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(16);
/// Locks of writers that lost a race, which the entities of a tenant share by hash.
const WRITE_LOCKS: u32 = 64;
/// What it rests between pieces of a removed tenant.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);

/// All tenants of a store; clones share.
#[derive(Clone, Debug)]
pub struct Entities {
    store: Store,
    options: Arc<Options>,
    write_ids: WriteIds,
    histories: Arc<Histories>,
    lane: Lane,
    /// The newest life of each, by name.
    tenants: Arc<RwLock<HashMap<TenantName, TenantEntities>>>,
    directory: Tenants,
    /// Rung when a tenant wants something indexed.
    index_alarm: Arc<Notify>,
}

impl Entities {
    /// Entities kept in `store`.
    pub fn new(store: Store, options: Options) -> Self {
        let (write_ids, tenants) = (WriteIds::new(), Arc::default());
        let histories = Arc::new(Histories::new(store.clone()));
        let (lane, directory) = (Lane::new(1), Tenants::new(store.clone()));
        let index_alarm = Arc::default();
        Self {
            store,
            options: Arc::new(options),
            write_ids,
            histories,
            lane,
            tenants,
            directory,
            index_alarm,
        }
    }

    /// The same with long queries in this lane (otherwise there is one of a single slot). Asked for before any tenant.
    #[must_use]
    pub fn in_lane(self, lane: Lane) -> Self {
        Self { lane, ..self }
    }

    /// Where long work on entities runs.
    pub fn lane(&self) -> &Lane {
        &self.lane
    }

    /// The entities of a tenant that is there. Cost: one map look-up once it is loaded.
    /// The default tenant always is.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchTenant`].
    pub async fn tenant(&self, name: &TenantName) -> Result<TenantEntities, Error> {
        if let Some(loaded) = self.loaded(name).await? {
            return Ok(loaded);
        }
        match self.directory.get(name).await? {
            Some(tenant) => self.load(&tenant).await,
            None => Err(Error::NoSuchTenant(name.as_str().into())),
        }
    }

    /// The entities of a tenant, which is created (durably) if it is new.
    /// Cost: one map look-up once it is loaded; the first creation, and one after another without a known outcome,
    /// counts all tenants.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyTenants`] for a new one beyond the limit; if the store refuses.
    pub async fn tenant_or_create(&self, name: &TenantName) -> Result<TenantEntities, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            match self.tenant(name).await {
                Err(Error::NoSuchTenant(_)) => {}
                found => return found,
            }
            let (max, kept) = (self.options.tenants_max, self.to_create().put());
            let created = self.directory.create(name, max, Some((keys::MODEL, kept))).await?;
            if created == TenantCreation::Full {
                return Err(Error::TooManyTenants { tenant: name.as_str().into(), max });
            }
        }
        Err(store::Error::new(ErrorKind::Unavailable, "creating a tenant").into())
    }

    /// The entities of this life of a tenant. Cost: one map look-up once it is loaded.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchTenant`] if it was removed.
    pub async fn life(&self, tenant: &Tenant) -> Result<TenantEntities, Error> {
        let found = self.tenant(&tenant.to_name()).await?;
        if found.tenant() == tenant { Ok(found) } else { Err(Error::NoSuchTenant(tenant.name().into())) }
    }

    /// Removes a tenant with everything that any model keeps of it: from now on it is not there, and its name is free. False
    /// if there is none of the name. Its rows go with [`Entities::finish_removals`].
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the default tenant, which is always there; if the store refuses.
    pub async fn remove_tenant(&self, name: &TenantName) -> Result<bool, Error> {
        if name.is_default() {
            return Err(Error::Invalid("the default tenant cannot be removed".into()));
        }
        let is_removed = self.directory.remove(name).await?;
        self.forget_removed();
        Ok(is_removed)
    }

    /// Waits until a tenant, or a part of one, is removed in this process.
    pub async fn removal(&self) {
        self.directory.removal().await;
    }

    /// Removes the rows of all tenants, and of all parts of tenants, that were removed; answers how many are done. For a job: after each
    /// removal, and now and then for those of other nodes and what a break left.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn finish_removals(&self) -> Result<usize, Error> {
        self.forget_removed();
        Ok(self.directory.finish_removals(REMOVAL_PAUSE).await?)
    }

    fn forget_removed(&self) {
        self.tenants.write().retain(|_, loaded| !loaded.tenant().is_ended());
    }

    /// The documents that front ends keep for a tenant that is there. Cost: one map look-up once it is loaded.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchTenant`].
    pub async fn documents(&self, name: &TenantName) -> Result<Documents, Error> {
        let tenant = self.tenant(name).await?.tenant().clone();
        Ok(Documents::new(self.store.clone(), tenant, self.write_ids.clone()))
    }

    /// All tenants, the default one first. Cost: a scan of the directory.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        let others = self.directory.all().await?.into_iter().map(|info| info.tenant);
        Ok([Tenant::default()].into_iter().chain(others).collect())
    }

    /// Removes what expired before `now`, of all tenants; answers how many entities lost something,
    /// or went. What other writers change meanwhile is left for the next time, and what fails is skipped
    /// ([`SkipLog`]).
    /// Cost: one read and one commit for each of them.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn purge_expired(&self, now: Timestamp) -> Result<usize, Error> {
        let mut purged = 0;
        for tenant in self.tenants_for("purge").await? {
            match tenant.purge_expired(now).await {
                Ok(count) => purged += count,
                Err(error) => tenant.state().skip("purge", &"the tenant", error)?,
            }
        }
        Ok(purged)
    }

    /// All tenants for a job, which skips those that cannot be loaded.
    pub(crate) async fn tenants_for(&self, job: &'static str) -> Result<Vec<TenantEntities>, Error> {
        let mut loaded = Vec::new();
        let others = self.directory.all_each().await?.into_iter().map(|found| found.map(|info| info.tenant));
        for tenant in [Ok(Tenant::default())].into_iter().chain(others) {
            let tenant = match tenant {
                Ok(tenant) => tenant,
                Err(error) => {
                    self.skips().note(job, &Tenant::default(), &"a tenant", &error);
                    continue;
                }
            };
            match self.life(&tenant).await {
                Ok(entities) => loaded.push(entities),
                Err(Error::NoSuchTenant(_)) => {}
                Err(error) if error.is_outage() => return Err(error),
                Err(error) => self.skips().note(job, &tenant, &"the tenant", &error),
            }
        }
        Ok(loaded)
    }

    pub(crate) fn index_alarm(&self) -> &Notify {
        &self.index_alarm
    }

    /// What jobs on entities and their histories skip.
    pub fn skips(&self) -> &Arc<SkipLog> {
        self.histories.strands.skips()
    }

    pub(crate) fn histories(&self) -> &Histories {
        &self.histories
    }

    /// A tenant that is loaded and goes on, with all names that are stored: other nodes store some, too, where a store is shared.
    async fn loaded(&self, name: &TenantName) -> Result<Option<TenantEntities>, Error> {
        let loaded = self.tenants.read().get(name).filter(|loaded| !loaded.tenant().is_ended()).cloned();
        let Some(mut loaded) = loaded else { return Ok(None) };
        if !loaded.is_renewed() {
            loaded = self.keep_loaded(loaded.renewed());
        }
        if self.store.may_lag() {
            if !self.directory.is_current(loaded.tenant()).await? {
                return Ok(None);
            }
            loaded.refresh_terms().await?;
        }
        Ok(Some(loaded))
    }

    /// Has a tenant be the loaded one of its name, unless it has ended.
    fn keep_loaded(&self, loaded: TenantEntities) -> TenantEntities {
        let mut tenants = self.tenants.write();
        if !loaded.tenant().is_ended() {
            tenants.insert(loaded.tenant().to_name(), loaded.clone());
        }
        drop(tenants);
        loaded
    }

    /// Over how many buckets entities are to be spread.
    pub(crate) fn buckets_wanted(&self) -> u32 {
        self.options.buckets.max(1).next_power_of_two()
    }

    /// What a tenant is created with.
    fn to_create(&self) -> Created {
        Created { buckets: self.buckets_wanted(), index: self.options.index }
    }

    /// What a tenant was created with: what is wanted now if there was nothing yet. Cost: a linear read.
    async fn created(&self, tenant: &Tenant) -> Result<Created, Error> {
        let info = self.directory.info(tenant).await?;
        let kept = match info.stored(keys::MODEL) {
            Some(kept) => Some(kept.clone()),
            None => {
                let wanted = self.to_create().put();
                self.directory.put(tenant, keys::MODEL, None, &wanted).await?
            }
        };
        let damaged = || store::Error::new(ErrorKind::Corrupt, "reading the directory of tenants").into();
        kept.and_then(|kept| Created::parse(&kept)).ok_or_else(damaged)
    }

    async fn load(&self, tenant: &Tenant) -> Result<TenantEntities, Error> {
        let Created { buckets, index } = self.created(tenant).await?;
        let terms = Terms::default();
        terms.learn(&self.store, &keys::terms_partition(tenant)).await?;
        let layout = Layout::created(buckets);
        let partitions = layout.partitions(tenant);
        let state = TenantState {
            store: self.store.clone(),
            options: self.options.clone(),
            terms_partition: keys::terms_partition(tenant),
            created: buckets,
            layout,
            looks: Looks::default(),
            watched: partitions.iter().map(|_| Watched::default()).collect(),
            partitions,
            terms,
            write_ids: self.write_ids.clone(),
            retry_locks: Arc::new(RetryLocks::new(WRITE_LOCKS)),
            policy: TenantPolicy::new(&self.options.history, tenant),
            histories: self.histories.clone(),
            purged: Default::default(),
            lane: self.lane.clone(),
            indexes: Arc::new(Indexes::new(index, Arc::clone(&self.index_alarm))),
            successor: Default::default(),
        };
        let stored = state.stored_layout().await?;
        state.supersede(stored.in_force());
        state.learn_indexes(self.options.index).await?;
        // Whoever loads it first is kept, so that all share one set of names.
        let mut tenants = self.tenants.write();
        if let Some(loaded) = tenants.get(&tenant.to_name()).filter(|loaded| loaded.tenant() == tenant) {
            return Ok(loaded.clone());
        }
        let loaded = TenantEntities::new(state).renewed();
        if !tenant.is_ended() {
            tenants.insert(tenant.to_name(), loaded.clone());
        }
        Ok(loaded)
    }
}

/// What a tenant was created with, as the directory keeps it: buckets (u32), and whether all attributes are indexed (u8).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Created {
    buckets: u32,
    index: IndexPolicy,
}

impl Created {
    fn put(self) -> Bytes {
        let [a, b, c, d] = self.buckets.to_be_bytes();
        Bytes::copy_from_slice(&[a, b, c, d, u8::from(self.index == IndexPolicy::All)])
    }

    fn parse(kept: &[u8]) -> Option<Self> {
        let (buckets, index) = kept.split_first_chunk()?;
        let buckets = u32::from_be_bytes(*buckets);
        let index = match index {
            [0] => IndexPolicy::ByUse,
            [1] => IndexPolicy::All,
            _ => return None,
        };
        buckets.is_power_of_two().then_some(Self { buckets, index })
    }
}
