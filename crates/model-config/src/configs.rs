//! The configuration of tenants: the handle that front ends hold, and the dataspaces of a tenant.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use config::PageCache;
use parking_lot::RwLock;
use store::retry::{RetryBackoff, RetryLocks, unless_lost};
use store::rows::Pages;
use store::{
    Clock, Commit, CommitWithAppends, Condition, Lane, Partition, Row, Store, Tenant, TenantCreation,
    TenantName, Tenants, Timestamp, WorkQueue, Write, WriteIds,
};

use crate::error::{Kind, damaged};
use crate::options::{check_limit, check_name};
use crate::rows::{Counts, DataspaceRow};
use crate::schemas::Schemas;
use crate::subscriptions::{SUBSCRIPTIONS_BYTES_MAX, Subscriptions};
use crate::{ConfigOptions, Error, keys};

/// How often a change starts again because another came first.
pub(crate) const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Rows that are read at once.
pub(crate) const PAGE_ROWS: usize = 1_000;
/// Locks for writers that lost a race.
const WRITE_LOCKS: u32 = 1_024;
/// Tenants whose removed anchors wait for the job, as far as this process knows.
const WANTED_MAX: usize = 10_000;

/// The configuration of a tenant, and for jobs that of all tenants; clones share.
#[derive(Clone, Debug)]
pub struct Configs {
    pub(crate) shared: Arc<Shared>,
    /// Whose.
    pub(crate) tenant: Tenant,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) options: ConfigOptions,
    pub(crate) tenants: Tenants,
    pub(crate) write_ids: WriteIds,
    pub(crate) schemas: Schemas,
    pub(crate) pages: Arc<PageCache>,
    pub(crate) retry_locks: RetryLocks,
    pub(crate) lane: Lane,
    /// Where whole trees are checked: how long that takes, their modules decide.
    pub(crate) strict_lane: Lane,
    /// Tenants with anchors that were removed, or have pages that no version has.
    pub(crate) wanted: WorkQueue<Tenant>,
    /// Over how many buckets the anchors of a tenant are spread, by its number: it never changes.
    buckets: RwLock<HashMap<u32, u32>>,
}

/// Of what a commit takes, the part that is left free before something is appended in a batch of its own.
const SPARE_PART: usize = 16;

/// A dataspace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataspaceInfo {
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
}

/// Conditions and writes of one commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) writes: Vec<Write>,
    /// Whether it makes room.
    pub(crate) reclaims: bool,
}

impl Configs {
    /// The configuration in `store`, of the default tenant. One such handle for a process.
    pub fn new(store: Store, clock: Clock, options: ConfigOptions) -> Self {
        let tenants = Tenants::new(store.clone());
        let lane = Lane::new(options.lane_slots);
        let shared = Shared {
            store,
            clock,
            options,
            tenants,
            write_ids: WriteIds::new(),
            schemas: Schemas::new(options.schema_cache_bytes, lane.clone()),
            pages: Arc::new(PageCache::new(options.page_cache_bytes)),
            retry_locks: RetryLocks::new(WRITE_LOCKS),
            lane,
            strict_lane: Lane::new(options.lane_slots),
            wanted: WorkQueue::new(WANTED_MAX),
            buckets: RwLock::default(),
        };
        Self { shared: Arc::new(shared), tenant: Tenant::default() }
    }

    /// The configuration of a tenant that is there. Cost: none for the default tenant, else one map look-up.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownTenant`]; if the store refuses.
    pub async fn of(&self, name: &TenantName) -> Result<Self, Error> {
        if name.is_default() {
            return Ok(self.of_tenant(Tenant::default()));
        }
        let tenant = self.shared.tenants.get(name).await?;
        let tenant = tenant.ok_or_else(|| Error::UnknownTenant(name.as_str().into()))?;
        Ok(self.of_tenant(tenant))
    }

    /// The configuration of a tenant, which is created (durably) if it is new.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`]; if the store refuses.
    pub async fn of_or_create(&self, name: &TenantName) -> Result<Self, Error> {
        match self.of(name).await {
            Err(Error::UnknownTenant(_)) => {}
            found => return found,
        }
        let max = self.shared.options.tenants_max;
        match Box::pin(self.shared.tenants.create(name, max, None)).await? {
            TenantCreation::Created(tenant) | TenantCreation::Exists(tenant) => Ok(self.of_tenant(tenant)),
            TenantCreation::Full => {
                let limit = ("tenants_max", max);
                Err(check_limit(|| "tenants".to_owned(), limit, max.saturating_add(1))
                    .expect_err("it is one more"))
            }
        }
    }

    /// The configuration of a tenant whose handle is known.
    pub fn of_tenant(&self, tenant: Tenant) -> Self {
        Self { shared: self.shared.clone(), tenant }
    }

    /// Whose configuration it is.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The store that it lies in.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// How it is stored.
    pub fn options(&self) -> &ConfigOptions {
        &self.shared.options
    }

    /// Where long work runs, but for checks of whole trees.
    pub fn lane(&self) -> &Lane {
        &self.shared.lane
    }

    /// Bytes that compiled schemas take in memory, as they are reckoned.
    pub fn schema_bytes(&self) -> usize {
        self.shared.schemas.bytes()
    }

    /// Makes a dataspace. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`], [`Error::Limit`], [`Error::Invalid`] for an empty name; [`Error::Contention`]; if the store refuses.
    pub async fn create_dataspace(&self, name: &str) -> Result<(), Error> {
        check_name("dataspace", name)?;
        let key = keys::dataspace(name);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if self.row(&key).await?.is_some() {
                return Err(Error::AlreadyExists { kind: Kind::Dataspace, name: name.into() });
            }
            let (mut counts, condition) = self.counts().await?;
            counts.dataspaces += 1;
            let limit = ("dataspaces_max", self.shared.options.dataspaces_max);
            check_limit(
                || "dataspaces".to_owned(),
                limit,
                usize::try_from(counts.dataspaces).unwrap_or(usize::MAX),
            )?;
            let row = DataspaceRow { created: self.shared.clock.now(), schema_sets: 0 };
            let conditions = vec![Condition::Absent(key.clone()), condition];
            let writes = vec![
                Write::PutStamped(key.clone(), row.to_bytes()),
                Write::PutStamped(keys::counts(), counts.to_bytes()),
            ];
            if self.commit(Pending { conditions, writes, reclaims: false }).await? {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the dataspaces").into())
    }

    /// All dataspaces, by name. Cost: a scan.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn dataspaces(&self) -> Result<Vec<DataspaceInfo>, Error> {
        let (mut infos, partition) = (Vec::new(), keys::catalogue(&self.tenant));
        let mut pages = Pages::new(&self.shared.store, &partition, keys::dataspaces(), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            for (key, value) in page.rows() {
                let name = keys::name_of_dataspace(key).ok_or_else(|| damaged("the key of a dataspace"))?;
                infos.push(DataspaceInfo { name, created: dataspace_row(value)?.created });
            }
        }
        Ok(infos)
    }

    /// A dataspace. Cost: a cached look-up.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`]; if the store refuses.
    pub async fn dataspace(&self, name: &str) -> Result<DataspaceInfo, Error> {
        let (row, _) = self.dataspace_row(name).await?;
        Ok(DataspaceInfo { name: name.to_owned(), created: row.created })
    }

    /// Removes a dataspace without schema sets, and so without anchors. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::InUse`]; [`Error::Contention`]; if the store refuses.
    pub async fn remove_dataspace(&self, name: &str) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (row, condition) = self.dataspace_row(name).await?;
            if row.schema_sets > 0 {
                let by =
                    if self.has_anchors(name).await? { "anchors and schema sets" } else { "schema sets" };
                return Err(Error::InUse { kind: Kind::Dataspace, name: name.into(), by: by.into() });
            }
            let (mut counts, of_counts) = self.counts().await?;
            counts.dataspaces = counts.dataspaces.saturating_sub(1);
            let writes = vec![
                Write::Delete(keys::dataspace(name)),
                Write::PutStamped(keys::counts(), counts.to_bytes()),
            ];
            if self.commit(Pending { conditions: vec![condition, of_counts], writes, reclaims: true }).await?
            {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the dataspaces").into())
    }

    /// What notifications are wanted of. Cost: a cached look-up.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn subscriptions(&self) -> Result<Subscriptions, Error> {
        subscriptions_of(self.row(&keys::subscriptions()).await?.as_ref())
    }

    /// Changes what notifications are wanted of, as `change` says of what is wanted now; answers with what is wanted then. Cost: one commit.
    ///
    /// # Errors
    ///
    /// What `change` refuses with; [`Error::Limit`]; [`Error::Contention`]; if the store refuses.
    pub async fn change_subscriptions<E: From<Error>>(
        &self,
        change: impl Fn(&mut Subscriptions) -> Result<(), E>,
    ) -> Result<Subscriptions, E> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let row = self.row(&keys::subscriptions()).await?;
            let mut subscriptions = subscriptions_of(row.as_ref())?;
            change(&mut subscriptions)?;
            let stored = subscriptions.to_bytes();
            let limit = ("SUBSCRIPTIONS_BYTES_MAX", SUBSCRIPTIONS_BYTES_MAX);
            check_limit(|| "bytes of subscriptions".to_owned(), limit, stored.len())?;
            let conditions = vec![unchanged(keys::subscriptions(), row.as_ref())];
            let writes = vec![Write::PutStamped(keys::subscriptions(), stored)];
            if self.commit(Pending { conditions, writes, reclaims: false }).await? {
                return Ok(subscriptions);
            }
        }
        Err(Error::from(attempts.exhausted("the subscriptions")).into())
    }

    /// The newest row of the catalogue under a key.
    pub(crate) async fn row(&self, key: &[u8]) -> Result<Option<Row>, Error> {
        Ok(self.shared.store.get_linear(&keys::catalogue(&self.tenant), key).await?)
    }

    /// A dataspace as it is stored, and that it is so still.
    pub(crate) async fn dataspace_row(&self, name: &str) -> Result<(DataspaceRow, Condition), Error> {
        let key = keys::dataspace(name);
        let row = self.row(&key).await?.ok_or_else(|| Error::UnknownDataspace(name.into()))?;
        Ok((dataspace_row(&row.value)?, Condition::Version(key, row.stamp)))
    }

    async fn counts(&self) -> Result<(Counts, Condition), Error> {
        let row = self.row(&keys::counts()).await?;
        let counts = match &row {
            None => Counts { buckets: self.shared.options.buckets.max(1).next_power_of_two(), dataspaces: 0 },
            Some(row) => Counts::parse(&row.value).map_err(|_| damaged("the number of dataspaces"))?,
        };
        Ok((counts, unchanged(keys::counts(), row.as_ref())))
    }

    /// Over how many buckets the anchors of the tenant are spread; `None` before its first dataspace. Cost: a map look-up.
    pub(crate) async fn buckets(&self) -> Result<Option<u32>, Error> {
        let number = self.tenant.number();
        let known = self.shared.buckets.read().get(&number).copied();
        if known.is_some() {
            return Ok(known);
        }
        if self.row(&keys::counts()).await?.is_none() {
            return Ok(None);
        }
        let buckets = self.counts().await?.0.buckets;
        self.shared.buckets.write().insert(number, buckets);
        Ok(Some(buckets))
    }

    /// Commits in the catalogue; `false`: another came first.
    pub(crate) async fn commit(&self, pending: Pending) -> Result<bool, Error> {
        let commit = self.catalogue_commit(pending);
        Ok(unless_lost(self.shared.store.commit_known(commit).await)?.is_some())
    }

    /// Whether rows may be left behind where a writer dies, or loses: those that do not go in one batch with their commit.
    pub(crate) fn leaves_rows(&self, commit: &CommitWithAppends) -> bool {
        let limits = self.shared.store.limits();
        let of_row = |(key, value): &(Bytes, Bytes)| key.len() + value.len();
        let rows = || commit.appends.iter().flat_map(|append| &append.rows);
        let bytes = rows().map(of_row).sum::<usize>() + commit.commit.bytes();
        let most = limits.commit_bytes - limits.commit_bytes / SPARE_PART;
        !commit.appends.is_empty() && (bytes > most || rows().count() > limits.good_rows)
    }

    pub(crate) fn catalogue_commit(&self, pending: Pending) -> Commit {
        Commit {
            partition: keys::catalogue(&self.tenant),
            write_id: self.shared.write_ids.next(),
            conditions: pending.conditions,
            writes: pending.writes,
            change: None,
            reclaims: pending.reclaims,
        }
    }

    /// All buckets of anchors.
    pub(crate) async fn partitions(&self) -> Result<Vec<Partition>, Error> {
        let buckets = self.buckets().await?.unwrap_or(0);
        Ok((0..buckets).map(|bucket| keys::partition(&self.tenant, bucket)).collect())
    }
}

fn dataspace_row(value: &[u8]) -> Result<DataspaceRow, Error> {
    DataspaceRow::parse(value).map_err(|_| damaged("a dataspace"))
}

fn subscriptions_of(row: Option<&Row>) -> Result<Subscriptions, Error> {
    let Some(row) = row else { return Ok(Subscriptions::default()) };
    Subscriptions::parse(&row.value).map_err(|_| damaged("the subscriptions"))
}

/// What must still hold of a row that was read.
pub(crate) fn unchanged(key: Bytes, row: Option<&Row>) -> Condition {
    match row {
        None => Condition::Absent(key),
        Some(row) => Condition::Version(key, row.stamp),
    }
}
