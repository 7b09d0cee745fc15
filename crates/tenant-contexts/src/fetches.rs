//! Fetches of remote documents that are pending, and those that failed a short while ago.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model_entities::{Tenant, TenantName};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::bounded::Bounded;
use crate::fetch::{FetchError, Fetcher};
use crate::pool::Document;

/// The most failed fetches that are remembered.
const FAILURES_MAX: usize = 1000;
/// The most bytes of what is remembered of them.
const FAILURES_BYTES_MAX: usize = 1 << 20;
/// How long a document is not asked for again after its fetch failed.
const FAILURE_AGE_MAX: Duration = Duration::from_secs(5);

/// Fetches documents, each once at a time.
#[derive(Debug)]
pub(crate) struct Fetches {
    pub(crate) fetcher: Fetcher,
    /// What could not be fetched a short while ago, by tenant and URL.
    failures: Mutex<Bounded<(Instant, FetchError)>>,
    pending: Pending,
}

/// Fetches that requests wait for.
type Pending = Mutex<HashMap<Key, Fetch>>;

/// For whom: a tenant, which of its lives, and the URL.
type Key = (TenantName, Option<Tenant>, Box<str>);

/// One fetch that many may wait for.
type Fetch = Arc<OnceCell<Result<Document, FetchError>>>;

impl Fetches {
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        let failures = Mutex::new(Bounded::new(FAILURES_MAX, FAILURES_BYTES_MAX));
        Self { fetcher, failures, pending: Mutex::default() }
    }

    /// Why the document could not be fetched a short while ago.
    pub(crate) fn failure(&self, tenant: &TenantName, url: &str) -> Option<FetchError> {
        let (since, error) = self.failures.lock().get(&failure_key(tenant, url))?;
        (since.elapsed() < FAILURE_AGE_MAX).then_some(error)
    }

    /// Remembers why a document cannot be fetched.
    pub(crate) fn remember_failure(&self, tenant: &TenantName, url: &str, error: FetchError) {
        let bytes = error.text().len();
        self.failures.lock().put(&failure_key(tenant, url), (Instant::now(), error), bytes);
    }

    /// The pending fetch of a document, which is begun if there is none. Dropping it removes the fetch, if it is done or
    /// nobody else waits for it.
    pub(crate) fn pending(&self, tenant: &TenantName, life: Option<&Tenant>, url: &str) -> Waiting<'_> {
        let key = (tenant.clone(), life.cloned(), url.into());
        let fetch = Arc::clone(self.pending.lock().entry(key.clone()).or_default());
        Waiting { pending: &self.pending, key, fetch }
    }

    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.lock().is_empty()
    }
}

fn failure_key(tenant: &TenantName, url: &str) -> String {
    [tenant.as_str(), " ", url].concat()
}

/// One of those who wait for a fetch.
pub(crate) struct Waiting<'a> {
    pending: &'a Pending,
    key: Key,
    fetch: Fetch,
}

impl Waiting<'_> {
    /// What the fetch gives; `fetch` is run by the first who waits for it.
    pub(crate) async fn result<F>(&self, fetch: impl FnOnce() -> F) -> Result<Document, FetchError>
    where
        F: Future<Output = Result<Document, FetchError>>,
    {
        self.fetch.get_or_init(fetch).await.clone()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // When nobody else waits for the fetch, two own it: the map and this.
        const LAST: usize = 2;
        let mut pending = self.pending.lock();
        let is_there = pending.get(&self.key).is_some_and(|fetch| Arc::ptr_eq(fetch, &self.fetch));
        if is_there && (self.fetch.initialized() || Arc::strong_count(&self.fetch) <= LAST) {
            pending.remove(&self.key);
        }
    }
}
