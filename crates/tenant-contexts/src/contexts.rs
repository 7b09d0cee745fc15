//! The contexts of all tenants, and those of one.

use std::path::PathBuf;
use std::sync::Arc;

use model_entities::{Clock, Entities, Tenant, TenantName, Timestamp};
use parking_lot::Mutex;

use crate::error::Error;
use crate::fetch::{FetchPolicy, Fetcher};
use crate::fetches::Fetches;
use crate::folder::{self, FolderError, Texts};
use crate::hosted::Hosted;
use crate::pool::{Evicted, Pool};

/// What parsed contexts, the names in them, and fetched documents may take in memory, together.
const POOL_BYTES_MAX: usize = 64 << 20;

/// Where contexts come from, and how many are cached.
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// A folder of documents to use in place of those at their URLs, as its `contexts.toml` says.
    pub folder: Option<PathBuf>,
    /// Fetching of the rest.
    pub fetch: FetchPolicy,
    /// The most parsed contexts in the cache.
    pub cache_entries: usize,
}

/// Resolves what requests say of their contexts; clones share.
#[derive(Clone, Debug)]
pub struct Contexts {
    pub(crate) shared: Arc<Shared>,
    pub(crate) hosted: Option<Hosted>,
    pub(crate) clock: Clock,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) started: Timestamp,
    pub(crate) preloaded: Texts,
    pub(crate) fetches: Fetches,
    pub(crate) pool: Mutex<Pool>,
}

/// The contexts of one tenant: its own, and those that are everybody's.
///
/// Invariant: what was hosted, fetched or made for one tenant is seen by no other; what is built in or preloaded, and
/// what was parsed from nothing else, is everybody's.
#[derive(Clone, Copy, Debug)]
pub struct TenantContexts<'a> {
    pub(crate) all: &'a Contexts,
    pub(crate) tenant: &'a TenantName,
    /// The life of the tenant in which something is made; `None`: there was no such tenant.
    pub(crate) life: Option<&'a Tenant>,
}

impl Contexts {
    /// Contexts as `options` say. Without [`Contexts::hosting`] none can be hosted.
    ///
    /// # Errors
    ///
    /// If a file of the folder is broken or missing: names the file and the position.
    pub fn new(options: ContextOptions) -> Result<Self, FolderError> {
        let preloaded = match &options.folder {
            Some(folder) => folder::load(folder, options.fetch.allowed)?,
            None => Texts::new(),
        };
        let shared = Shared {
            started: Clock::System.now(),
            preloaded,
            fetches: Fetches::new(Fetcher::new(options.fetch)),
            pool: Mutex::new(Pool::new(options.cache_entries, POOL_BYTES_MAX)),
        };
        Ok(Self { shared: Arc::new(shared), hosted: None, clock: Clock::System })
    }

    /// The same, with hosted and fetched contexts stored among the documents of each tenant of `entities`.
    #[must_use]
    pub fn hosting(self, entities: Entities, clock: Clock) -> Self {
        Self { hosted: Some(Hosted::new(entities)), clock, ..self }
    }

    /// The contexts of a tenant.
    pub fn of<'a>(&'a self, tenant: &'a TenantName) -> TenantContexts<'a> {
        TenantContexts { all: self, tenant, life: None }
    }

    /// Evicts what is beyond the limit of memory, and drops it without the lock.
    pub(crate) fn trim(&self) {
        while let Some(evicted) = self.pop_beyond() {
            drop(evicted);
        }
    }

    fn pop_beyond(&self) -> Option<Evicted> {
        self.shared.pool.lock().pop_beyond()
    }
}

impl TenantContexts<'_> {
    /// The tenant as it is now: what is made from here on is cached for it alone. Cost: a look-up, and a read if there is none.
    pub(crate) async fn now(self) -> Result<Option<Tenant>, Error> {
        match &self.all.hosted {
            Some(hosted) if !self.tenant.is_default() => Ok(hosted.life(self.tenant).await?),
            _ => Ok(None),
        }
    }
}
