//! Contexts by URL and by text, parsed once, and the names of tenants in them.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lru::LruCache;
use model_entities::{Clock, Documents, Tenant, Terms, Timestamp};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::active::{ContextSource, local_id};
use super::bounded::Bounded;
use super::core::Edition;
use super::fetch::{FetchPolicy, Fetcher};
use super::folder::{self, ContextError};
use super::hosted::{Hosted, Stored};
use super::parse::{Failure, Texts, parse, read};
use super::{Context, Names};
use crate::problem::Problem;

/// What parsed contexts, and as much again what fetched documents may take in memory.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// The deepest nesting of an `@context` member.
const DEPTH_MAX: usize = 32;
/// The most documents whose fetching failed that are remembered.
const FAILURES_MAX: usize = 1000;
/// How long a failure to fetch stands before the document is asked for again.
const FAILURE_KEPT: Duration = Duration::from_secs(5);

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

/// Resolves what a request says of its context; clones share.
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
    fetcher: Fetcher,
    /// Parsed contexts by the URL of a `Link`.
    pub(super) urls: Mutex<Bounded<Arc<Context>>>,
    /// Parsed contexts by the text of an `@context` member.
    pub(super) inline: Mutex<Bounded<Arc<Context>>>,
    names: Mutex<LruCache<(u64, Tenant), Arc<Names>>>,
    /// Documents from elsewhere by URL.
    pub(super) fetched: Mutex<Bounded<Stored>>,
    /// What could not be fetched a short while ago.
    pub(super) failures: Mutex<Bounded<(Instant, Problem)>>,
    flights: Mutex<HashMap<Box<str>, Flight>>,
}

/// One fetch that many may wait for.
type Flight = Arc<OnceCell<Result<Stored, Problem>>>;

/// What kinds of contexts there are (NGSI-LD 5.13.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ContextKind {
    /// From elsewhere: built in, preloaded or fetched.
    Cached,
    /// Given to the server to keep.
    Hosted,
    /// Part of a request.
    ImplicitlyCreated,
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
        let entries = options.cache_entries;
        let shared = Shared {
            started: Clock::System.now(),
            preloaded,
            fetcher: Fetcher::new(options.fetch),
            urls: Mutex::new(Bounded::new(entries, CACHE_BYTES_MAX)),
            inline: Mutex::new(Bounded::new(entries, CACHE_BYTES_MAX)),
            names: Mutex::new(LruCache::new(NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN))),
            fetched: Mutex::new(Bounded::new(entries, CACHE_BYTES_MAX)),
            failures: Mutex::new(Bounded::new(FAILURES_MAX, CACHE_BYTES_MAX)),
            flights: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared), hosted: None, clock: Clock::System })
    }

    /// The same, with hosted contexts kept in `documents`. They belong to the server, not to a
    /// tenant: give it the documents of the default tenant.
    #[must_use]
    pub fn hosting(self, documents: Documents, clock: Clock) -> Self {
        Self { hosted: Some(Hosted::new(documents)), clock, ..self }
    }

    /// The context at a URL, as a `Link` header names it. Cost: nothing for the core context, one
    /// look-up once it was met.
    ///
    /// # Errors
    ///
    /// 503 if the document cannot be had, 400 if it (or the URL) is no context.
    pub(crate) async fn by_link(&self, url: &str) -> Result<Arc<Context>, Problem> {
        if Edition::of_url(url).is_some_and(Edition::is_in_newest) {
            return Ok(Context::core());
        }
        if let Some(context) = self.shared.urls.lock().get(url) {
            return Ok(context);
        }
        let context = self.build(&Value::String(absolute(url).into()), ContextSource::url(url)).await?;
        self.shared.urls.lock().put(url, Arc::clone(&context), context.bytes());
        Ok(context)
    }

    /// The context that the value of an `@context` member (a string, an array, an object) describes.
    /// Cost: as [`Contexts::by_link`]; the look-up reads the whole text.
    ///
    /// # Errors
    ///
    /// As [`Contexts::by_link`].
    pub(crate) async fn by_member(&self, json: &str) -> Result<Arc<Context>, Problem> {
        if let Some(url) = plain_string(json) {
            return self.by_link(url).await;
        }
        if let Some(context) = self.shared.inline.lock().get(json) {
            return Ok(context);
        }
        let text = lang_json::canonical(json, DEPTH_MAX)
            .map_err(|error| Problem::bad_request(format!("@context: {error}")))?;
        let value = read(&text).map_err(|problem| Problem::bad_request(format!("@context {problem}")))?;
        let context = match only_url(&value) {
            Only::Core => Context::core(),
            Only::Url(url) => self.by_link(url).await?,
            Only::More => self.build(&value, ContextSource::inline(&text)).await?,
        };
        self.shared.inline.lock().put(json, Arc::clone(&context), context.bytes());
        Ok(context)
    }

    /// The names of a tenant in a context. Cost: one look-up.
    pub(crate) fn names(&self, context: &Arc<Context>, tenant: &Tenant, terms: &Terms) -> Arc<Names> {
        let key = (context.number(), tenant.clone());
        let make = || Arc::new(Names::new(Arc::clone(context), terms.clone()));
        Arc::clone(self.shared.names.lock().get_or_insert(key, make))
    }

    /// Parses, having what is missing brought until nothing is.
    pub(super) async fn build(&self, value: &Value, source: ContextSource) -> Result<Arc<Context>, Problem> {
        let mut texts = self.shared.preloaded.clone();
        loop {
            match parse(value, &texts) {
                Ok(table) => return Ok(Arc::new(Context::new(table, source, self.clock.now()))),
                Err(Failure::Invalid(detail)) => return Err(Problem::bad_request(detail)),
                Err(Failure::Missing(url)) => {
                    let text = self.text(&url).await?;
                    texts.insert(url, text);
                }
            }
        }
    }

    /// The document at a URL that is not preloaded: hosted here, part of an earlier request, or from
    /// elsewhere.
    async fn text(&self, url: &str) -> Result<Arc<str>, Problem> {
        if let Some(id) = local_id(url) {
            if let Some(stored) = self.hosted_document(id).await? {
                return Ok(stored.text);
            }
            if let Some(text) = self.implicit(id) {
                return Ok(text);
            }
        }
        let held = self.shared.fetched.lock().get(url);
        if let Some(stored) = held {
            return Ok(stored.text);
        }
        if let Some(stored) = self.kept_document(url).await? {
            self.shared.fetched.lock().put(url, stored.clone(), stored.text.len());
            return Ok(stored.text);
        }
        self.fetch(url).await.map(|stored| stored.text)
    }

    /// Fetches a document, and keeps it; whoever asks for it meanwhile waits for the same fetch.
    pub(super) async fn fetch(&self, url: &str) -> Result<Stored, Problem> {
        if let Some((since, problem)) = self.shared.failures.lock().get(url)
            && since.elapsed() < FAILURE_KEPT
        {
            return Err(problem);
        }
        let flight = Arc::clone(self.shared.flights.lock().entry(url.into()).or_default());
        let waiting = Waiting { flights: &self.shared.flights, url, flight };
        waiting.flight.get_or_init(|| self.fetch_now(url)).await.clone()
    }

    async fn fetch_now(&self, url: &str) -> Result<Stored, Problem> {
        let fetched =
            self.shared.fetcher.fetch(url).await.and_then(|text| check_document(&text).map(|()| text));
        match fetched {
            Ok(text) => {
                tracing::info!(url, bytes = text.len(), "fetched a remote context");
                let stored = Stored { text: text.into(), created: self.clock.now() };
                self.shared.fetched.lock().put(url, stored.clone(), stored.text.len());
                self.keep(url, &stored).await;
                Ok(stored)
            }
            Err(reason) => {
                tracing::warn!(url, reason, "cannot get a remote context");
                let problem = Problem::ld_context_not_available(format!("@context {url}: {reason}"));
                let failure = (Instant::now(), problem.clone());
                self.shared.failures.lock().put(url, failure, problem.detail.len());
                Err(problem)
            }
        }
    }
}

/// One of those who wait for a flight; the last to leave, or the first after it landed, clears it away.
struct Waiting<'a> {
    flights: &'a Mutex<HashMap<Box<str>, Flight>>,
    url: &'a str,
    flight: Flight,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Two hold the flight when nobody else waits for it: the map and this.
        const LAST: usize = 2;
        let mut flights = self.flights.lock();
        let is_held = flights.get(self.url).is_some_and(|held| Arc::ptr_eq(held, &self.flight));
        if is_held && (self.flight.initialized() || Arc::strong_count(&self.flight) <= LAST) {
            flights.remove(self.url);
        }
    }
}

/// Checks that a fetched text is a document with an `@context`.
fn check_document(text: &str) -> Result<(), String> {
    match read(text)? {
        Value::Object(members) if members.contains_key("@context") => Ok(()),
        _ => Err("it is no object with a member @context".into()),
    }
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
