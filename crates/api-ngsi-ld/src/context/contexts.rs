//! The contexts of tenants: by URL and by text, parsed once, and the names of tenants in them.

use std::path::PathBuf;
use std::sync::Arc;

use lang_jsonld::{Context, Documents, Edition, parse, read};
use model_entities::{Clock, Entities, Tenant, TenantEntities, TenantName, Timestamp};
use parking_lot::Mutex;
use serde_json::Value;

use super::documents::Sources;
use super::fetch::{FetchPolicy, Fetcher};
use super::folder::{self, ContextError, Texts};
use super::hosted::Hosted;
use super::names::Names;
use super::pool::{Evicted, Form, Key, Pool};
use super::request_context::RequestContext;
use super::source::ContextSource;
use crate::problem::{Problem, problem};

/// What parsed contexts, the names in them, and fetched documents may take in memory, together.
const POOL_BYTES_MAX: usize = 64 << 20;
/// The deepest nesting of an `@context` member.
const DEPTH_MAX: usize = 32;
/// The largest `@context` member of a request in bytes.
const MEMBER_BYTES_MAX: usize = 1 << 20;
/// From this size on parsing takes long enough to disturb other requests of the same thread.
const ASIDE_BYTES_MIN: usize = 64 << 10;

/// Where contexts come from, and how many are kept.
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// A folder of documents that stand for URLs, as its `contexts.toml` says.
    pub folder: Option<PathBuf>,
    /// Fetching of the rest.
    pub fetch: FetchPolicy,
    /// The most parsed contexts kept.
    pub cache_entries: usize,
}

/// Resolves what requests say of their contexts; clones share.
#[derive(Clone, Debug)]
pub struct Contexts {
    pub(super) shared: Arc<Shared>,
    pub(super) hosted: Option<Hosted>,
    pub(super) clock: Clock,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) started: Timestamp,
    pub(super) preloaded: Texts,
    pub(super) sources: Sources,
    pub(super) pool: Mutex<Pool>,
}

/// The contexts of one tenant: its own, and those that are everybody's.
///
/// Invariant: what was hosted, fetched or made for one tenant is seen by no other; what is built in or preloaded, and
/// what was parsed from nothing else, is everybody's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TenantContexts<'a> {
    pub(super) all: &'a Contexts,
    pub(super) tenant: &'a TenantName,
    /// The life of the tenant in which something is made; `None`: there was no such tenant.
    pub(super) life: Option<&'a Tenant>,
}

impl Contexts {
    /// Contexts as `options` say. Without [`Contexts::hosting`] none can be hosted.
    ///
    /// # Errors
    ///
    /// If a file of the folder is broken or missing: names the file and the position.
    pub fn new(options: ContextOptions) -> Result<Self, ContextError> {
        let preloaded = match &options.folder {
            Some(folder) => folder::load(folder, options.fetch.allowed)?,
            None => Texts::new(),
        };
        let shared = Shared {
            started: Clock::System.now(),
            preloaded,
            sources: Sources::new(Fetcher::new(options.fetch)),
            pool: Mutex::new(Pool::new(options.cache_entries, POOL_BYTES_MAX)),
        };
        Ok(Self { shared: Arc::new(shared), hosted: None, clock: Clock::System })
    }

    /// The same, with what is hosted and fetched kept among the documents of each tenant of `entities`.
    #[must_use]
    pub fn hosting(self, entities: Entities, clock: Clock) -> Self {
        Self { hosted: Some(Hosted::new(entities)), clock, ..self }
    }

    /// The contexts of a tenant.
    pub(crate) fn of<'a>(&'a self, tenant: &'a TenantName) -> TenantContexts<'a> {
        TenantContexts { all: self, tenant, life: None }
    }

    /// Makes the pool as light as it must be. What leaves it is dropped while nobody waits for its lock.
    pub(super) fn trim(&self) {
        while let Some(evicted) = self.pop_beyond() {
            drop(evicted);
        }
    }

    fn pop_beyond(&self) -> Option<Evicted> {
        self.shared.pool.lock().pop_beyond()
    }
}

impl TenantContexts<'_> {
    /// The tenant as it is now: what is made from here on is kept for it alone. Cost: a look-up, and a read if there is none.
    pub(super) async fn now(self) -> Result<Option<Tenant>, Problem> {
        match &self.all.hosted {
            Some(hosted) if !self.tenant.is_default() => {
                hosted.life(self.tenant).await.map_err(|error| problem(&error, None))
            }
            _ => Ok(None),
        }
    }

    /// The context at a URL, as a `Link` header names it. Cost: nothing for the core context, a look-up or two once it
    /// was met.
    ///
    /// # Errors
    ///
    /// 504 if the document cannot be had, 422 if it may not be, 400 if it (or the URL) is no context.
    pub(crate) async fn by_link(self, url: &str) -> Result<Arc<RequestContext>, Problem> {
        if Edition::of_url(url).is_some_and(Edition::is_in_newest) {
            return Ok(RequestContext::core());
        }
        let found = self.all.shared.pool.lock().context(self.tenant, Form::Link, url);
        if let Some(context) = found {
            return Ok(context);
        }
        // Boxed: what is seldom done must not make the futures of all requests large.
        Box::pin(self.link(url)).await
    }

    /// Makes the context at a URL.
    async fn link(self, url: &str) -> Result<Arc<RequestContext>, Problem> {
        let life = self.now().await?;
        let of = TenantContexts { life: life.as_ref(), ..self };
        let value = Value::String(absolute(url).into());
        let context = Arc::new(of.build(value, ContextSource::url(url), url.len()).await?);
        // What was made of documents that are everybody's is everybody's.
        let owner = (!context.uses().is_empty()).then_some(self.tenant);
        of.remember(Key::new(owner, Form::Link, url), &context);
        Ok(context)
    }

    /// The context that the value of an `@context` member (a string, an array, an object) describes.
    /// Cost: as [`TenantContexts::by_link`]; the look-up reads the whole text.
    ///
    /// # Errors
    ///
    /// As [`TenantContexts::by_link`]; 413 if the text is too large.
    pub(crate) async fn by_member(self, json: &str) -> Result<Arc<RequestContext>, Problem> {
        if let Some(url) = plain_string(json) {
            return self.by_link(url).await;
        }
        let found = self.all.shared.pool.lock().context(self.tenant, Form::Member, json);
        if let Some(context) = found {
            return Ok(context);
        }
        if json.len() > MEMBER_BYTES_MAX {
            let detail = format!(
                "@context is {} bytes long, and may have {MEMBER_BYTES_MAX}: host it, or refer to its URL",
                json.len()
            );
            return Err(Problem::too_large(detail));
        }
        Box::pin(self.member(json)).await
    }

    /// Makes the context that a member describes.
    async fn member(self, json: &str) -> Result<Arc<RequestContext>, Problem> {
        let text = lang_json::canonical(json, DEPTH_MAX)
            .map_err(|error| Problem::bad_request(format!("@context: {error}")))?;
        let value = read(&text).map_err(|reason| Problem::bad_request(format!("@context {reason}")))?;
        let life = self.now().await?;
        let of = TenantContexts { life: life.as_ref(), ..self };
        let context = match only_url(&value) {
            Only::Core => RequestContext::core(),
            Only::Url(url) => of.by_link(url).await?,
            Only::More => Arc::new(of.build(value, ContextSource::inline(&text), text.len()).await?),
        };
        of.remember(Key::new(Some(self.tenant), Form::Member, json), &context);
        Ok(context)
    }

    fn remember(self, key: Key, context: &Arc<RequestContext>) {
        // A value of its own, so that what leaves the pool is dropped when its lock is free.
        let evicted = self.all.shared.pool.lock().put_context(key, self.life, Arc::clone(context));
        drop(evicted);
        self.all.trim();
    }

    /// The names of the tenant, which exists, in a context. Cost: one look-up, once they were met.
    pub(crate) async fn names(self, context: &Arc<RequestContext>, entities: &TenantEntities) -> Arc<Names> {
        let make = |total: &_| Names::new(Arc::clone(context), entities.terms().clone(), total);
        let ((names, is_new), is_beyond) = {
            let mut pool = self.all.shared.pool.lock();
            (pool.names(context.number(), entities.tenant(), make), pool.is_beyond())
        };
        if is_new {
            // What was fetched when there was no tenant yet to keep it.
            Box::pin(self.keep(context.uses())).await;
        }
        // Names grow while they are used: whoever comes next sees to it that everything fits.
        if is_beyond {
            self.all.trim();
        }
        names
    }

    /// Parses the value of an `@context` member of so many bytes, with all documents that it refers to.
    pub(super) async fn build(
        self,
        value: Value,
        source: ContextSource,
        bytes: usize,
    ) -> Result<RequestContext, Problem> {
        let gathered = self.gather(&value).await?;
        let is_large = gathered.repeats || bytes.saturating_add(gathered.bytes) >= ASIDE_BYTES_MIN;
        let (value, trees) = (Arc::new(value), Arc::new(gathered.trees));
        let terms = parse_aside(Arc::clone(&value), Arc::clone(&trees), is_large).await?;
        match terms {
            Ok(terms) => {
                let uses = gathered.uses;
                self.keep(&uses).await;
                let context = RequestContext::new(terms, source, self.all.clock.now()).using(uses);
                let total = self.all.shared.pool.lock().memory_total().clone();
                Ok(context.counted(&total))
            }
            Err(detail) => {
                self.blame(&gathered.uses, &trees);
                Err(Problem::bad_request(detail))
            }
        }
    }
}

/// Parses, on a thread of its own if it `is_large`. What is wrong is said in words for the client.
async fn parse_aside(
    value: Arc<Value>,
    trees: Arc<Documents>,
    is_large: bool,
) -> Result<Result<Context, String>, Problem> {
    let work = move || parse(&value, &trees).map_err(|error| error.to_string());
    if !is_large {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "parsing a context failed");
        Problem::internal()
    })
}

/// A URL, made absolute if it is a path of this server's own.
fn absolute(url: &str) -> std::borrow::Cow<'_, str> {
    if url.starts_with('/') { format!("http://localhost{url}").into() } else { url.into() }
}

/// The characters of a JSON string that needs no decoding.
fn plain_string(json: &str) -> Option<&str> {
    let text = json.trim_ascii().strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains(['"', '\\'])).then_some(text)
}

/// What an `@context` member boils down to.
enum Only<'v> {
    /// Nothing beside the core context.
    Core,
    /// One URL, and perhaps the core context.
    Url(&'v str),
    /// Anything else.
    More,
}

fn only_url(value: &Value) -> Only<'_> {
    let is_core = |value: &&Value| {
        value.as_str().and_then(Edition::of_url).is_some_and(Edition::is_in_newest)
            || value.as_object().is_some_and(serde_json::Map::is_empty)
    };
    let all = match value {
        Value::Null => return Only::Core,
        Value::Array(all) => all.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut others = all.iter().filter(|value| !is_core(value));
    match (others.next(), others.next()) {
        (None, _) => Only::Core,
        (Some(Value::String(url)), None) => Only::Url(url),
        _ => Only::More,
    }
}

#[cfg(test)]
mod tests;
