//! The directory of tenants, one for all models: made, listed, removed with everything.
//!
//! A tenant that is created has a number of its own, its *life*, which is in the keys of all its rows. A removal moves its row of
//! the directory, in one commit, to those of removals: from then on the name is free, and what comes late for the old
//! life is refused, or touches rows that nobody reads. Its rows go behind, piece by piece ([`Tenants::finish_removals`]).
//!
//! What a model has under names inside a tenant (repositories of series, say) is named in a directory of the same kind
//! ([`Tenants::within`]): each has a life and a number of its own, and can go alone or with its tenant.

mod listing;
mod removals;
#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use self::listing::TenantPage;
use crate::retry::{RetryBackoff, unless_lost};
use crate::{
    Commit, Condition, Error, ErrorKind, LimitExceeded, Model, Stamp, Store, Tenant, TenantName, Timestamp,
    Write, WriteIds,
};
use store_contract::TenantSlot;
use store_contract::lives::Directory;
use store_contract::tenant_rows::{self, Entry};

/// How often a change of the directory starts again because another came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(16);
/// What is changed, for errors.
const DIRECTORY: &str = "the directory of tenants";
/// Numbers that a process takes at once.
const NUMBERS_TAKEN: u32 = 16;
/// The most tenants in a page, and removals looked at at once.
const PAGE_TENANTS: usize = 1_024;
/// The most bytes that a model stores of a tenant in the directory.
const TENANT_MODEL_BYTES_MAX: usize = 16 * 1_024;

/// The directory of the tenants of a store, or of what a model keeps under names inside one; clones share.
#[derive(Clone, Debug)]
pub struct Tenants {
    store: Store,
    write_ids: WriteIds,
    directory: Directory,
    /// The name that is not counted among those that there may be.
    uncounted: &'static str,
}

/// A tenant, as the directory tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TenantInfo {
    /// Its handle.
    pub tenant: Tenant,
    entry: Entry,
}

impl TenantInfo {
    /// When it was created.
    pub fn created(&self) -> Timestamp {
        self.entry.created
    }

    /// What a model keeps of it in the directory.
    pub fn stored(&self, model: Model) -> Option<&Bytes> {
        self.entry.stored(model)
    }
}

/// What became of a creation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TenantCreation {
    /// The tenant is new.
    Created(Tenant),
    /// There was one of the name.
    Exists(Tenant),
    /// There are as many as may be.
    Full,
}

/// What the directory has under a name.
struct Found {
    tenant: Tenant,
    entry: Entry,
    /// That nobody has changed it since.
    condition: Condition,
}

impl Tenants {
    /// The directory of the tenants in `store`.
    pub fn new(store: Store) -> Self {
        Self { store, write_ids: WriteIds::new(), directory: Directory::default(), uncounted: "" }
    }

    /// The directory of what `model` keeps under names inside a tenant: its parts. What is said of tenants here goes for them; one named
    /// `uncounted` may be there beside the most of others.
    #[must_use]
    pub fn within(&self, tenant: &Tenant, model: Model, uncounted: &'static str) -> Self {
        let directory = Directory { within: Some((tenant.clone(), model.id)) };
        Self { directory, uncounted, ..self.clone() }
    }

    /// The tenant of this name. Cost: one map look-up once it is known here; on a store that may lag a linear read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn get(&self, name: &TenantName) -> Result<Option<Tenant>, Error> {
        if let Some(known) = self.known(name) {
            return Ok(Some(known));
        }
        Ok(self.find(name).await?.map(|found| found.tenant))
    }

    /// Whether this life of a tenant goes on, whoever may have removed it. Cost: a load; on a store that may lag a linear read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn is_current(&self, tenant: &Tenant) -> Result<bool, Error> {
        if !self.store.may_lag() || tenant.is_default() || tenant.is_ended() {
            return Ok(!tenant.is_ended());
        }
        let found = self.find(&tenant.to_name()).await?;
        Ok(found.is_some_and(|found| found.tenant == *tenant) && !tenant.is_ended())
    }

    /// Creates a tenant, unless there is one of the name, or as many as `names_max` beside the default one. What a model is to
    /// keep of it is there from its first moment. Cost: one commit, and for every [`NUMBERS_TAKEN`]th another; the first one counts all tenants.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn create(
        &self,
        name: &TenantName,
        names_max: usize,
        stored: Option<(Model, Bytes)>,
    ) -> Result<TenantCreation, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if let Some(found) = self.find(name).await? {
                return Ok(TenantCreation::Exists(found.tenant));
            }
            if self.is_default(name) {
                return Ok(TenantCreation::Exists(Tenant::default()));
            }
            let generation = self.store.lives().generation();
            let Some(place) = self.take_place(name, names_max).await? else {
                return Ok(TenantCreation::Full);
            };
            let mut entry = Entry::new(self.take_number().await?, self.store.now());
            if let Some((model, bytes)) = stored.clone() {
                check_model_bytes(&bytes)?;
                entry.put(model, bytes);
            }
            let key = self.key(name);
            let mut conditions = vec![Condition::Absent(key.clone())];
            conditions.extend(self.tenant_is_there().await?);
            match self.commit(conditions, vec![Write::PutStamped(key, entry.to_bytes())], false).await? {
                Some(_) => place.into_iter().for_each(TenantSlot::keep),
                None => {
                    place.into_iter().for_each(TenantSlot::give_back);
                    continue;
                }
            }
            if let Some(tenant) = self.learn(entry.number, name, generation) {
                return Ok(TenantCreation::Created(tenant));
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    /// What the directory tells of a tenant.
    ///
    /// # Errors
    ///
    /// `TenantRemoved`; if the store refuses.
    pub async fn info(&self, tenant: &Tenant) -> Result<TenantInfo, Error> {
        let (entry, _) = self.entry(tenant).await?;
        Ok(TenantInfo { tenant: tenant.clone(), entry })
    }

    /// Stores what a model wants known of a tenant, if `was` is what is stored. Answers with what is stored then: the word of another
    /// writer who came first, or `becomes`.
    ///
    /// # Errors
    ///
    /// `TenantRemoved`; `TooLarge` beyond `TENANT_MODEL_BYTES_MAX`; if the store refuses.
    pub async fn put(
        &self,
        tenant: &Tenant,
        model: Model,
        was: Option<&Bytes>,
        becomes: &Bytes,
    ) -> Result<Option<Bytes>, Error> {
        check_model_bytes(becomes)?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (mut entry, condition) = self.entry(tenant).await?;
            if entry.stored(model) != was {
                return Ok(entry.stored(model).cloned());
            }
            entry.put(model, becomes.clone());
            let write = Write::PutStamped(self.key(&tenant.to_name()), entry.to_bytes());
            if self.commit(vec![condition], vec![write], false).await?.is_some() {
                return Ok(Some(becomes.clone()));
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    fn is_default(&self, name: &TenantName) -> bool {
        self.directory.within.is_none() && name.is_default()
    }

    fn key(&self, name: &TenantName) -> Bytes {
        tenant_rows::named(&self.directory, name.as_str())
    }

    fn learn(&self, number: u32, name: &TenantName, generation: u64) -> Option<Tenant> {
        self.store.lives().learn(&self.directory, (number, name), generation)
    }

    /// What a creation demands: that the tenant in which it is goes on.
    async fn tenant_is_there(&self) -> Result<Option<Condition>, Error> {
        match &self.directory.within {
            Some((tenant, _)) if !tenant.is_default() => {
                let tenants = Self { directory: Directory::default(), ..self.clone() };
                tenants.entry(tenant).await.map(|(_, condition)| Some(condition))
            }
            _ => Ok(None),
        }
    }

    /// One that is known here, if that is enough to go by.
    fn known(&self, name: &TenantName) -> Option<Tenant> {
        if self.is_default(name) {
            return Some(Tenant::default());
        }
        if self.store.may_lag() { None } else { self.store.lives().of_name(&self.directory, name) }
    }

    /// What the directory has under a name. Cost: a linear read.
    async fn find(&self, name: &TenantName) -> Result<Option<Found>, Error> {
        let (lives, key) = (self.store.lives(), self.key(name));
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if let Some((tenant, _)) = &self.directory.within {
                tenant.check()?;
            }
            let generation = lives.generation();
            let Some(row) = self.store.get_linear(&tenant_rows::partition(), &key).await? else {
                if self.store.may_lag() {
                    // Another node has removed it.
                    lives.end_absent(&self.directory, name, generation);
                }
                return Ok(None);
            };
            let entry = Entry::parse(&row.value).ok_or_else(|| damaged(name.as_str().as_bytes()))?;
            if let Some(tenant) = self.learn(entry.number, name, generation) {
                let condition = Condition::Version(key, row.stamp);
                return Ok(Some(Found { tenant, entry, condition }));
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    /// The entry of a life, and what a change of it demands.
    async fn entry(&self, tenant: &Tenant) -> Result<(Entry, Condition), Error> {
        let name = tenant.to_name();
        match self.find(&name).await? {
            Some(found) if found.tenant == *tenant => Ok((found.entry, found.condition)),
            None if tenant.is_default() => {
                Ok((Entry::new(0, self.store.now()), Condition::Absent(self.key(&name))))
            }
            _ => Err(tenant.removed()),
        }
    }

    /// A place for one to be created; the one that is not counted needs none.
    async fn take_place(
        &self,
        name: &TenantName,
        names_max: usize,
    ) -> Result<Option<Option<TenantSlot>>, Error> {
        if name.as_str() == self.uncounted {
            return Ok(Some(None));
        }
        let places = self.store.lives().places(&self.directory).up_to(names_max);
        if self.store.may_lag() {
            // Others create some, too.
            drop(places.recount_after());
        }
        let count = async || {
            let is_counted = |found: &&Result<TenantInfo, Error>| {
                found.as_ref().map_or(true, |info| info.tenant.name() != self.uncounted)
            };
            Ok(self.all_each().await?.iter().filter(is_counted).count())
        };
        Ok(places.take(count).await?.map(Some))
    }

    /// A number that no tenant ever had.
    async fn take_number(&self) -> Result<u32, Error> {
        let mut numbers = self.store.lives().numbers.lock().await;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if let Some(number) = numbers.next() {
                return Ok(number);
            }
            let key = tenant_rows::numbers();
            let (first, condition) = match self.store.get_linear(&tenant_rows::partition(), &key).await? {
                None => (1, Condition::Absent(key.clone())),
                Some(row) => {
                    let first = tenant_rows::parse_number(&row.value).ok_or_else(|| damaged(&key))?;
                    (first, Condition::Version(key.clone(), row.stamp))
                }
            };
            let next = first.checked_add(NUMBERS_TAKEN).ok_or_else(|| {
                Error::new(ErrorKind::TooLarge, "create a tenant: all numbers of tenants were given")
            })?;
            let write = Write::PutStamped(key, Bytes::copy_from_slice(&next.to_be_bytes()));
            if self.commit(vec![condition], vec![write], false).await?.is_some() {
                *numbers = first..next;
            }
        }
        Err(attempts.exhausted(DIRECTORY).into_error())
    }

    /// `None`: another came first.
    async fn commit(
        &self,
        conditions: Vec<Condition>,
        writes: Vec<Write>,
        reclaims: bool,
    ) -> Result<Option<Stamp>, Error> {
        let (partition, write_id) = (tenant_rows::partition(), self.write_ids.next());
        let commit = Commit { partition, write_id, conditions, writes, change: None, reclaims };
        unless_lost(self.store.commit_known(commit).await)
    }
}

fn check_model_bytes(bytes: &Bytes) -> Result<(), Error> {
    LimitExceeded::check("TENANT_MODEL_BYTES_MAX", TENANT_MODEL_BYTES_MAX, bytes.len())
        .map_err(|limit| Error::too_large(format!("store {} bytes of a tenant", bytes.len()), limit))
}

fn is_default() -> Error {
    Error::new(ErrorKind::Misuse, "remove the default tenant: it is always there")
}

fn damaged(row: &[u8]) -> Error {
    let action =
        format!("read the directory of tenants: the bytes of \"{}\" make no sense", row.escape_ascii());
    Error::new(ErrorKind::Corrupt, action)
}
