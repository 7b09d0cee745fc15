//! The handle: one store's tenants.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use store::{
    Commit, Condition, Direction, ErrorKind, FencedFlag, Lane, Range, Store, Tenant, TenantPlace,
    TenantPlaces, Timestamp, Write, WriteIds,
};

use crate::history::{Pasts, TenantPolicy};
use crate::layout::Layout;
use crate::tenant::Context;
use crate::{Documents, Error, HistoryPolicy, SkipLog, TenantEntities, Terms, keys};

/// Tenants that are read in one page.
const PAGE_TENANTS: usize = 1024;
/// How often creating a tenant starts again because another writer came first.
const ATTEMPTS_MAX: usize = 16;

/// How entities are kept; handed in by the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Buckets a tenant's entities are spread over: a power of two. Where they are spread over another number, [`Entities::rebucketing`]
    /// moves them.
    pub buckets: u32,
    /// The most tenants beside the default one.
    pub tenants_max: usize,
    /// The most types and attribute names a tenant can have.
    pub terms_max: usize,
    /// The largest stored entity in bytes.
    pub entity_bytes_max: usize,
    /// The most entities a query may look at before it is refused.
    pub scan_entities_max: usize,
    /// The most matches that can be sorted for `orderBy`.
    pub sort_entities_max: usize,
    /// What is recorded of changes, and how long it is kept.
    pub history: HistoryPolicy,
}

/// All tenants of a store; clones share.
#[derive(Clone, Debug)]
pub struct Entities {
    store: Store,
    options: Arc<Options>,
    write_ids: WriteIds,
    pasts: Arc<Pasts>,
    lane: Lane,
    tenants: Arc<RwLock<HashMap<Tenant, TenantEntities>>>,
    places: TenantPlaces,
}

impl Entities {
    /// Entities kept in `store`.
    pub fn new(store: Store, options: Options) -> Self {
        let (write_ids, tenants) = (WriteIds::new(), Arc::default());
        let pasts = Arc::new(Pasts::new(store.clone()));
        let (lane, places) = (Lane::new(1), TenantPlaces::new(options.tenants_max));
        Self { store, options: Arc::new(options), write_ids, pasts, lane, tenants, places }
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

    /// The entities of a tenant that was written to before. Cost: one map look-up once it is loaded.
    /// The default tenant always exists.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchTenant`].
    pub async fn tenant(&self, tenant: &Tenant) -> Result<TenantEntities, Error> {
        if let Some(loaded) = self.loaded(tenant) {
            return self.refreshed(loaded).await;
        }
        match self.stored_buckets(tenant).await? {
            Some(buckets) => self.load(tenant, buckets).await,
            None if *tenant == Tenant::default() => self.tenant_or_create(tenant).await,
            None => Err(Error::NoSuchTenant(tenant.name().into())),
        }
    }

    /// The entities of a tenant, which is created (durably) if it is new.
    /// Cost: one map look-up once it is loaded; the first creation, and one after another without a known outcome,
    /// counts all tenants.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyTenants`] for a new one beyond the limit; if the store refuses.
    pub async fn tenant_or_create(&self, tenant: &Tenant) -> Result<TenantEntities, Error> {
        if let Some(loaded) = self.loaded(tenant) {
            return self.refreshed(loaded).await;
        }
        for _ in 0..ATTEMPTS_MAX {
            if let Some(buckets) = self.stored_buckets(tenant).await? {
                return self.load(tenant, buckets).await;
            }
            let place = self.take_place(tenant).await?;
            match self.store.commit(self.creation(tenant)).await {
                Ok(_) => place.into_iter().for_each(TenantPlace::keep),
                // Another writer, or an acknowledgement that was lost: what is stored tells.
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    place.into_iter().for_each(TenantPlace::give_back);
                }
                Err(error) if error.kind() == ErrorKind::Unknown => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(store::Error::new(ErrorKind::Unavailable, "creating a tenant").into())
    }

    /// The documents that front ends keep for a tenant that was written to before. Cost: one map look-up once it is loaded.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchTenant`].
    pub async fn documents(&self, tenant: &Tenant) -> Result<Documents, Error> {
        self.tenant(tenant).await?;
        Ok(Documents::new(self.store.clone(), tenant.clone(), self.write_ids.clone()))
    }

    /// A place for a tenant to be created; the default tenant needs none.
    async fn take_place(&self, tenant: &Tenant) -> Result<Option<TenantPlace>, Error> {
        if *tenant == Tenant::default() {
            return Ok(None);
        }
        if self.store.may_lag() {
            // Others create tenants, too.
            drop(self.places.recount_after());
        }
        let count = || async { Ok::<_, Error>(self.tenants().await?.len().saturating_sub(1)) };
        let refused = || Error::TooManyTenants { tenant: tenant.name().into(), max: self.places.max() };
        self.places.take(count).await?.ok_or_else(refused).map(Some)
    }

    /// The names of all tenants, the default tenant's (empty) first.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        let mut tenants = vec![Tenant::default()];
        let partition = keys::tenants_partition();
        let mut range = keys::tenants_range();
        loop {
            let page = self.store.scan(&partition, &range, Direction::Forward, PAGE_TENANTS).await?;
            let names = page.rows().filter_map(|(key, _)| keys::tenant_of_key(key));
            tenants.extend(names.filter(|name| !name.is_empty()).filter_map(|name| Tenant::new(name).ok()));
            match page.last_key().filter(|_| page.more()) {
                Some(key) => range = keys::after_key(&range, key),
                None => return Ok(tenants),
            }
        }
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
                Err(error) => tenant.context().skip("purge", &"the tenant", error)?,
            }
        }
        Ok(purged)
    }

    /// All tenants for a job, which skips those that cannot be loaded.
    pub(crate) async fn tenants_for(&self, job: &'static str) -> Result<Vec<TenantEntities>, Error> {
        let mut loaded = Vec::new();
        for tenant in self.tenants().await? {
            match self.tenant(&tenant).await {
                Ok(entities) => loaded.push(entities),
                Err(error) if error.is_outage() => return Err(error),
                Err(error) => self.skips().note(job, &tenant, &"the tenant", &error),
            }
        }
        Ok(loaded)
    }

    /// What jobs on entities and their pasts skip.
    pub fn skips(&self) -> &Arc<SkipLog> {
        self.pasts.strands.skips()
    }

    pub(crate) fn pasts(&self) -> &Pasts {
        &self.pasts
    }

    fn loaded(&self, tenant: &Tenant) -> Option<TenantEntities> {
        let loaded = self.tenants.read().get(tenant).cloned()?;
        if loaded.is_renewed() {
            return Some(loaded);
        }
        let renewed = loaded.renewed();
        self.tenants.write().insert(tenant.clone(), renewed.clone());
        Some(renewed)
    }

    /// A tenant with all names that are stored: others store some, too, where a store is shared.
    async fn refreshed(&self, tenant: TenantEntities) -> Result<TenantEntities, Error> {
        if self.store.may_lag() {
            tenant.refresh_terms().await?;
        }
        Ok(tenant)
    }

    /// Over how many buckets entities are to be spread.
    pub(crate) fn buckets_wanted(&self) -> u32 {
        self.options.buckets.max(1).next_power_of_two()
    }

    async fn stored_buckets(&self, tenant: &Tenant) -> Result<Option<u32>, Error> {
        let key = keys::tenant(tenant.name());
        let Some(row) = self.store.get_linear(&keys::tenants_partition(), &key).await? else {
            return Ok(None);
        };
        let buckets = row.value.as_ref().try_into().map(u32::from_be_bytes).ok();
        match buckets.filter(|buckets| buckets.is_power_of_two()) {
            Some(buckets) => Ok(Some(buckets)),
            None => Err(store::Error::new(ErrorKind::Corrupt, "reading the directory of tenants").into()),
        }
    }

    fn creation(&self, tenant: &Tenant) -> Commit {
        let key = keys::tenant(tenant.name());
        let buckets = self.buckets_wanted();
        Commit {
            partition: keys::tenants_partition(),
            write_id: self.write_ids.next(),
            conditions: vec![Condition::Absent(key.clone())],
            writes: vec![Write::Put(key, Bytes::copy_from_slice(&buckets.to_be_bytes()))],
            change: None,
            reclaims: false,
        }
    }

    async fn load(&self, tenant: &Tenant, buckets: u32) -> Result<TenantEntities, Error> {
        let terms = Terms::default();
        terms.learn(&self.store, &keys::terms_partition(tenant)).await?;
        let layout = Layout::created(buckets);
        let partitions = layout.partitions(tenant);
        let context = Context {
            store: self.store.clone(),
            options: self.options.clone(),
            terms_partition: keys::terms_partition(tenant),
            created: buckets,
            layout,
            consumed: partitions.iter().map(|_| FencedFlag::default()).collect(),
            partitions,
            terms,
            write_ids: self.write_ids.clone(),
            turns: Default::default(),
            policy: TenantPolicy::new(&self.options.history, tenant),
            pasts: self.pasts.clone(),
            purged: Default::default(),
            lane: self.lane.clone(),
            successor: Default::default(),
        };
        let stored = context.stored_layout().await?;
        context.supersede(stored.in_force());
        // Whoever loads it first is kept, so that all share one set of names.
        let mut tenants = self.tenants.write();
        let loaded = || TenantEntities::new(context).renewed();
        Ok(tenants.entry(tenant.clone()).or_insert_with(loaded).clone())
    }
}

/// The part of `range` behind a page of it; `None` if the page was the last.
pub(crate) fn next_range(range: &Range, page: &store::Page) -> Option<Range> {
    page.last_key().filter(|_| page.more()).map(|key| keys::after_key(range, key))
}
