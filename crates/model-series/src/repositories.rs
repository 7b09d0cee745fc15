//! Repositories: names inside a tenant, each with series and all that is known of them. The store's directory of tenants names them,
//! gives each life of one a number of its own, and removes their rows.

mod info;
mod jobs;
mod matches;

pub use info::{RepositoryChange, RepositoryDraft, RepositoryInfo};

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use store::{
    ErrorKind, StateCondition, Store, Tenant, TenantCreation, TenantInfo, TenantName, Tenants, Timestamp,
};

use self::info::{put_info, take_info};
use crate::catalogue::{BACKOFF, Context, check_state, check_text, hook_registry};
use crate::encode::damaged;
use crate::keys::MODEL;
use crate::{CATALOGUE_BUCKETS_MAX, Error, Repository};
use strands::{StrandOptions, Strands};

/// The repository that a tenant may have beside the most of others.
const DEFAULT: &str = "default";

/// How series are kept.
#[derive(Clone, Copy, Debug)]
pub struct SeriesOptions {
    /// How their points are kept.
    pub strands: StrandOptions,
    /// The most tenants beside the default one.
    pub tenants_max: usize,
    /// The most repositories of a tenant beside `default`.
    pub repositories_max: usize,
    /// Over how many buckets the definitions of a repository are spread that is made from now on: a power of two; at most
    /// [`crate::CATALOGUE_BUCKETS_MAX`] are taken.
    pub catalogue_buckets: u32,
    /// Definitions that are kept decoded, of each repository (about 1 KiB each).
    pub definitions_cached_max: usize,
}

/// The repositories of a tenant, and for jobs those of all tenants; clones share.
#[derive(Clone, Debug)]
pub struct Repositories {
    shared: Arc<Shared>,
    /// Whose.
    tenant: Tenant,
    /// What a change or a removal through this handle demands.
    condition: StateCondition,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    strands: Strands,
    options: SeriesOptions,
    tenants: Tenants,
    /// Those asked for so far, by the number of the tenant and name.
    contexts: RwLock<HashMap<u32, Named>>,
}

/// Repositories of a tenant by name.
type Named = HashMap<Box<str>, Arc<Context>>;

/// What the directory holds of a repository.
#[derive(Clone, Debug)]
struct Entry {
    part: Tenant,
    info: RepositoryInfo,
    /// The part of it that is ours, as it is stored.
    kept: Bytes,
}

impl Repositories {
    /// The repositories kept in `store`, of the default tenant. One such handle for a process: it holds the cache of definitions and
    /// the queue of what wants to be folded.
    pub fn new(store: Store, options: SeriesOptions) -> Self {
        let (strands, tenants) = (Strands::new(store.clone(), options.strands), Tenants::new(store.clone()));
        let shared = Arc::new(Shared { store, strands, options, tenants, contexts: RwLock::default() });
        Self { shared, tenant: Tenant::default(), condition: StateCondition::NONE }
    }

    /// The repositories of a tenant that is there. Cost: none for the default tenant, else one map look-up.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn of(&self, name: &TenantName) -> Result<Self, Error> {
        if name.is_default() {
            return Ok(Self { tenant: Tenant::default(), ..self.clone() });
        }
        let tenant = self.shared.tenants.get(name).await?;
        let tenant = tenant.ok_or_else(|| Error::NotFound(format!("tenant {name}").into()))?;
        Ok(Self { tenant, ..self.clone() })
    }

    /// The repositories of a tenant, which is created (durably) if it is new, unless `draft`, for which it is to be there, cannot
    /// be a repository.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyTenants`]; of a new one [`Error::Invalid`] and [`Error::Limit`] for the draft; if the
    /// store refuses.
    pub async fn of_or_create(&self, name: &TenantName, draft: &RepositoryDraft) -> Result<Self, Error> {
        match self.of(name).await {
            Err(Error::NotFound(_)) => {}
            found => return found,
        }
        draft.check()?;
        let max = self.shared.options.tenants_max;
        match self.shared.tenants.create(name, max, None).await? {
            TenantCreation::Created(tenant) | TenantCreation::Exists(tenant) => {
                Ok(Self { tenant, ..self.clone() })
            }
            TenantCreation::Full => Err(Error::TooManyTenants { tenant: name.as_str().into(), max }),
        }
    }

    /// The same for a writer that demands a state: what it changes or removes must be in it
    /// ([`Error::StateDiffers`] otherwise).
    #[must_use]
    pub fn when(&self, condition: StateCondition) -> Self {
        Self { condition, ..self.clone() }
    }

    /// All repositories of the tenant, by name.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(&self) -> Result<Vec<RepositoryInfo>, Error> {
        let found = self.directory().all().await?.into_iter();
        found.map(|found| Ok(entry_of(found)?.info)).collect()
    }

    /// Makes a repository.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`], [`Error::Invalid`] for a name that cannot be, [`Error::TooManyRepositories`]; if the store refuses.
    pub async fn create(&self, draft: RepositoryDraft, now: Timestamp) -> Result<RepositoryInfo, Error> {
        let name = draft.check()?;
        let buckets =
            self.shared.options.catalogue_buckets.clamp(1, CATALOGUE_BUCKETS_MAX).next_power_of_two();
        let info = RepositoryInfo { name: draft.name, description: draft.description, created: now, buckets };
        let max = self.shared.options.repositories_max;
        match self.directory().create(&name, max, Some((MODEL, put_info(&info)))).await? {
            TenantCreation::Created(_) => Ok(info),
            TenantCreation::Exists(_) => Err(Error::AlreadyExists(format!("repository {name}").into())),
            TenantCreation::Full => Err(Error::TooManyRepositories { repository: name.as_str().into(), max }),
        }
    }

    /// Changes a repository.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn change(&self, name: &str, change: RepositoryChange) -> Result<RepositoryInfo, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Entry { part, mut info, kept } = self.entry(name).await?;
            check_state(&self.condition, Some(|| info.fingerprint()), "repository", name)?;
            if let Some(description) = &change.description {
                check_text("a description", description)?;
                info.description.clone_from(description);
            }
            let becomes = put_info(&info);
            if self.directory().put(&part, MODEL, Some(&kept), &becomes).await? == Some(becomes) {
                return Ok(info);
            }
        }
        Err(attempts.exhausted("the repositories").into())
    }

    /// Removes a repository with all that is in it: it is gone at once and its name is free; its rows go with the job that
    /// removes those of tenants.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Entry { part, info, kept } = self.entry(name).await?;
            check_state(&self.condition, Some(|| info.fingerprint()), "repository", name)?;
            if self.directory().remove_if(&part, MODEL, Some(&kept)).await? {
                self.forget_removed();
                return Ok(hook_registry(self.store()).note_change().await?);
            }
        }
        Err(attempts.exhausted("the repositories").into())
    }

    /// The repository of this name. Cost: one map look-up.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn get(&self, name: &str) -> Result<Repository, Error> {
        if let Some(known) = self.known(name).await? {
            return Ok(Repository::new(known));
        }
        let found = match TenantName::new(name) {
            Ok(name) => self.directory().get(&name).await?,
            Err(_) => None,
        };
        Ok(Repository::new(self.context(&found.ok_or_else(|| not_found(name))?).await?))
    }

    /// The same; makes it if it is not there.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a name that cannot be; if the store refuses.
    pub async fn get_or_create(&self, name: &str, now: Timestamp) -> Result<Repository, Error> {
        match self.get(name).await {
            Err(Error::NotFound(_)) => {}
            other => return other,
        }
        match self.create(RepositoryDraft::named(name), now).await {
            Ok(_) | Err(Error::AlreadyExists(_)) => self.get(name).await,
            Err(error) => Err(error),
        }
    }

    /// What the directory says of a repository.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn info(&self, name: &str) -> Result<RepositoryInfo, Error> {
        Ok(self.entry(name).await?.info)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The strands that points are kept in: the server folds their overlays ([`Strands::next_to_fold`]).
    pub fn strands(&self) -> &Strands {
        &self.shared.strands
    }

    /// The directory of the tenant's repositories.
    fn directory(&self) -> Tenants {
        self.shared.tenants.within(&self.tenant, MODEL, DEFAULT)
    }

    /// A repository that was asked for before and goes on.
    async fn known(&self, name: &str) -> Result<Option<Arc<Context>>, Error> {
        let known = {
            let contexts = self.shared.contexts.read();
            contexts.get(&self.tenant.number()).and_then(|named| named.get(name)).cloned()
        };
        let known = known.filter(|known| !known.tenant.is_ended());
        if let Some(context) = &known
            && self.shared.store.may_lag()
            && !self.directory().is_current(&context.tenant).await?
        {
            return Ok(None);
        }
        Ok(known)
    }

    /// What all work on a repository needs; of one that is known already the same. Cost: a look-up; a linear read for one that
    /// is not known.
    pub(crate) async fn context(&self, part: &Tenant) -> Result<Arc<Context>, Error> {
        let shared = &*self.shared;
        let (number, name) = (part.within().map_or(0, Tenant::number), part.name());
        let is_it = |context: &&Arc<Context>| context.tenant == *part;
        let known =
            shared.contexts.read().get(&number).and_then(|named| named.get(name)).filter(is_it).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let directory = shared.tenants.within(part.within().unwrap_or(&Tenant::default()), MODEL, DEFAULT);
        let buckets = match directory.info(part).await {
            Ok(found) => entry_of(found)?.info.buckets,
            Err(error) if error.kind() == ErrorKind::TenantRemoved => return Err(not_found(name)),
            Err(error) => return Err(error.into()),
        };
        let kept = shared.options.definitions_cached_max;
        let engine = (shared.store.clone(), shared.strands.clone());
        let context = Arc::new(Context::new(engine, part.clone(), buckets, kept));
        context.carry_out_for_reader().await;
        let mut contexts = shared.contexts.write();
        let named = contexts.entry(number).or_default();
        if let Some(known) = named.get(name).filter(is_it) {
            return Ok(known.clone());
        }
        named.insert(name.into(), context.clone());
        Ok(context)
    }

    fn forget_removed(&self) {
        self.shared.contexts.write().retain(|_, named| {
            named.retain(|_, context| !context.tenant.is_ended());
            !named.is_empty()
        });
    }

    /// What the directory holds of a repository. Cost: a linear read.
    async fn entry(&self, name: &str) -> Result<Entry, Error> {
        let directory = self.directory();
        let found = match TenantName::new(name) {
            Ok(name) => directory.get(&name).await?,
            Err(_) => None,
        };
        let part = found.ok_or_else(|| not_found(name))?;
        match directory.info(&part).await {
            Ok(found) => entry_of(found),
            Err(error) if error.kind() == ErrorKind::TenantRemoved => Err(not_found(name)),
            Err(error) => Err(error.into()),
        }
    }
}

fn not_found(name: &str) -> Error {
    Error::NotFound(format!("repository {name}").into())
}

fn entry_of(found: TenantInfo) -> Result<Entry, Error> {
    let kept = found.stored(MODEL).cloned().ok_or_else(|| damaged("a repository"))?;
    let info = take_info(found.tenant.name(), &kept).map_err(|_| damaged("a repository"))?;
    Ok(Entry { part: found.tenant, info, kept })
}
