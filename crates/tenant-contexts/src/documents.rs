//! The documents that contexts refer to: preloaded, hosted, part of an earlier request, or from elsewhere.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lang_jsonld::{
    Documents, Edition, REFERENCES_MAX, Url, document_references, fiware, parse, read, references,
};
use model_entities::Error as ModelError;
use serde_json::Value;

use crate::contexts::TenantContexts;
use crate::error::Error;
use crate::fetch::FetchError;
use crate::hosted::Stored;
use crate::pool::Document;
use crate::source::local_id;

/// The documents that a context refers to, directly or through others.
pub(crate) struct Gathered {
    pub(crate) trees: Documents,
    /// The URLs of those that are neither built in nor preloaded.
    pub(crate) uses: Vec<Box<str>>,
    /// How much there is to read: documents that are built in count as if they were texts, too.
    pub(crate) bytes: usize,
    /// Whether a document is referred to more than once: it is then read as often.
    pub(crate) repeats: bool,
}

impl TenantContexts<'_> {
    /// Reads what a context refers to, each document once. Parsing then says what is wrong with it.
    pub(crate) async fn gather(self, context: &Value) -> Result<Gathered, Error> {
        let preloaded = &self.all.shared.preloaded;
        let mut gathered = Gathered { trees: Documents::new(), uses: Vec::new(), bytes: 0, repeats: false };
        let mut seen = HashSet::new();
        let mut wanted: VecDeque<Url> = references(context).into();
        while let Some(url) = wanted.pop_front() {
            let is_preloaded = preloaded.contains_key(url.as_str());
            let built_in = match Edition::of_url(url.as_str()) {
                Some(edition) => Some(edition.bytes()),
                None if fiware::is_url(url.as_str()) && !is_preloaded => Some(fiware::bytes()),
                None => None,
            };
            if let Some(bytes) = built_in {
                gathered.bytes = gathered.bytes.saturating_add(bytes);
                continue;
            }
            if seen.contains(&url) {
                gathered.repeats = true;
                continue;
            }
            if seen.len() >= REFERENCES_MAX {
                continue;
            }
            seen.insert(url.clone());
            let text = match preloaded.get(url.as_str()) {
                Some(text) => Arc::clone(text),
                None => {
                    gathered.uses.push(url.as_str().into());
                    self.text(url.as_str()).await?
                }
            };
            gathered.bytes += text.len();
            let tree = read(&text).map_err(|problem| Error::Invalid(format!("@context {url} {problem}")))?;
            wanted.extend(document_references(&tree, &url));
            gathered.trees.insert(url.as_str().into(), tree.into());
        }
        Ok(gathered)
    }

    /// The document at a URL that is not preloaded: hosted here, part of an earlier request, or from elsewhere.
    async fn text(self, url: &str) -> Result<Arc<str>, Error> {
        if let Some(id) = local_id(url) {
            if let Some(stored) = self.hosted_document(id).await? {
                return Ok(stored.text);
            }
            if let Some(text) = self.implicit(id) {
                return Ok(text);
            }
            if is_own(url) {
                return Err(Error::Invalid(format!("@context {url}: this tenant has no such context")));
            }
        }
        let document = self.all.shared.pool.lock().document(self.tenant, url);
        if let Some(document) = document {
            return Ok(document.stored.text);
        }
        if let Some(stored) = self.stored_document(url).await? {
            let text = Arc::clone(&stored.text);
            self.cache(url, Document { stored, is_stored: Arc::new(AtomicBool::new(true)) });
            return Ok(text);
        }
        Ok(self.fetch(url).await?.stored.text)
    }

    /// Puts a document into the cache.
    pub(crate) fn cache(self, url: &str, document: Document) {
        self.all.shared.pool.lock().put_document(self.tenant, self.life, url, document);
        self.all.trim();
    }

    /// Fetches a document; whoever asks for it meanwhile waits for the same fetch.
    async fn fetch(self, url: &str) -> Result<Document, FetchError> {
        let fetches = &self.all.shared.fetches;
        if let Some(error) = fetches.failure(self.tenant, url) {
            return Err(error);
        }
        let fetch = || async {
            let fetched = self.fetch_now(url).await;
            match &fetched {
                Ok(document) => self.cache(url, document.clone()),
                Err(error) => fetches.remember_failure(self.tenant, url, error.clone()),
            }
            fetched
        };
        fetches.pending(self.tenant, self.life, url).result(fetch).await
    }

    /// Fetches a document, without storing or caching it.
    pub(crate) async fn fetch_now(self, url: &str) -> Result<Document, FetchError> {
        match self.all.shared.fetches.fetcher.fetch(url).await {
            Ok(text) => {
                tracing::info!(
                    url,
                    tenant = self.tenant.as_str(),
                    bytes = text.len(),
                    "fetched a remote context"
                );
                check_document(&text).map_err(|reason| FetchError::Invalid(reason).of(url))?;
                let stored = Stored { text: text.into(), created: self.all.clock.now() };
                Ok(Document { stored, is_stored: Arc::default() })
            }
            Err(error) => {
                tracing::warn!(url, tenant = self.tenant.as_str(), %error, "cannot get a remote context");
                Err(error.of(url))
            }
        }
    }

    /// Stores those of these documents that were fetched, so that they are there after a restart. For a tenant that does
    /// not exist it does nothing.
    pub(crate) async fn store(self, urls: &[Box<str>]) {
        for url in urls {
            let document = self.all.shared.pool.lock().document(self.tenant, url);
            if let Some(document) = document
                && !document.is_stored.swap(true, Ordering::AcqRel)
                && !self.store_document(url, &document.stored).await
            {
                document.is_stored.store(false, Ordering::Release);
            }
        }
    }

    /// Stores a fetched document; `false`: it did not. The request goes on if that fails: it has what it needs.
    async fn store_document(self, url: &str, stored: &Stored) -> bool {
        let Some(hosted) = &self.all.hosted else { return false };
        match hosted.put_fetched(self.tenant, url, stored).await {
            Ok(true) => return true,
            Ok(false) => tracing::warn!(url, "a fetched context is not stored: the tenant has too many"),
            Err(ModelError::NoSuchTenant(_)) => {}
            Err(error) => tracing::warn!(url, %error, "a fetched context is not stored"),
        }
        false
    }

    /// Removes those of these fetched documents that are no contexts in themselves from the cache, and remembers them as
    /// failed fetches: they are fetched again later, when their owner may have corrected them.
    pub(crate) fn blame(self, urls: &[Box<str>], trees: &Documents) {
        for url in urls {
            let is_fetched = self.all.shared.pool.lock().document(self.tenant, url).is_some();
            if is_fetched && let Err(failure) = parse(&Value::String(url.to_string()), trees) {
                self.all.shared.pool.lock().remove_document(self.tenant, url);
                let error = FetchError::Invalid(failure.to_string());
                self.all.shared.fetches.remember_failure(self.tenant, url, error);
            }
        }
    }

    /// The document that this tenant hosts under an id.
    pub(crate) async fn hosted_document(self, id: &str) -> Result<Option<Stored>, Error> {
        match &self.all.hosted {
            None => Ok(None),
            Some(hosted) => hosted.get(self.tenant, id).await,
        }
    }

    /// The document of this URL that was fetched earlier, perhaps before a restart.
    async fn stored_document(self, url: &str) -> Result<Option<Stored>, Error> {
        match &self.all.hosted {
            None => Ok(None),
            Some(hosted) => hosted.get_fetched(self.tenant, url).await,
        }
    }
}

/// Whether a URL was a path of this server's own: nobody else can be asked for it.
fn is_own(url: &str) -> bool {
    url.strip_prefix("http://localhost").is_some_and(|path| path.starts_with('/'))
}

/// Checks that a fetched text is a document with an `@context`.
fn check_document(text: &str) -> Result<(), String> {
    match read(text)? {
        Value::Object(members) if members.contains_key("@context") => Ok(()),
        _ => Err("it is no object with a member @context".into()),
    }
}
