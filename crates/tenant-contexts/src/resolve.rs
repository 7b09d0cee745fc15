//! Resolves what requests say of their contexts: by URL and by text, parsed once, and the names of a tenant in them.

use std::sync::Arc;

use lang_jsonld::{Context, Documents, Edition, parse, read};
use model_entities::TenantEntities;
use serde_json::Value;

use crate::contexts::TenantContexts;
use crate::error::Error;
use crate::fetch::FetchError;
use crate::names::Names;
use crate::pool::{Form, Key};
use crate::request_context::RequestContext;
use crate::source::ContextSource;

/// The deepest nesting of an `@context` member.
const DEPTH_MAX: usize = 32;
/// The largest `@context` member of a request in bytes.
const MEMBER_BYTES_MAX: usize = 1 << 20;
/// From this size on parsing takes long enough to disturb other requests of the same thread.
const ASIDE_BYTES_MIN: usize = 64 << 10;

impl TenantContexts<'_> {
    /// The context at a URL, as a `Link` header names it. Cost: nothing for the core context, a look-up or two once it
    /// was met.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the document cannot be had, [`Error::NotAllowed`] if it may not be, [`Error::Invalid`] if it
    /// (or the URL) is no context.
    pub async fn by_link(self, url: &str) -> Result<Arc<RequestContext>, Error> {
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
    async fn link(self, url: &str) -> Result<Arc<RequestContext>, Error> {
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
    /// As [`TenantContexts::by_link`]; [`Error::TooLarge`].
    pub async fn by_member(self, json: &str) -> Result<Arc<RequestContext>, Error> {
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
            return Err(Error::TooLarge(detail));
        }
        Box::pin(self.member(json)).await
    }

    /// Makes the context that a member describes.
    async fn member(self, json: &str) -> Result<Arc<RequestContext>, Error> {
        let text = lang_json::canonical(json, DEPTH_MAX)
            .map_err(|error| Error::Invalid(format!("@context: {error}")))?;
        let value = read(&text).map_err(|reason| Error::Invalid(format!("@context {reason}")))?;
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
    pub async fn names(self, context: &Arc<RequestContext>, entities: &TenantEntities) -> Arc<Names> {
        let make = |total: &_| Names::new(Arc::clone(context), entities.terms().clone(), total);
        let ((names, is_new), is_beyond) = {
            let mut pool = self.all.shared.pool.lock();
            (pool.names(context.number(), entities.tenant(), make), pool.is_beyond())
        };
        if is_new {
            // What was fetched before there was a tenant to store it for.
            Box::pin(self.store(context.uses())).await;
        }
        // Names grow while they are used: whoever comes next sees to it that everything fits.
        if is_beyond {
            self.all.trim();
        }
        names
    }

    /// Parses the value of an `@context` member of so many bytes, with all documents that it refers to.
    pub(crate) async fn build(
        self,
        value: Value,
        source: ContextSource,
        bytes: usize,
    ) -> Result<RequestContext, Error> {
        let gathered = self.gather(&value).await?;
        let is_large = gathered.repeats || bytes.saturating_add(gathered.bytes) >= ASIDE_BYTES_MIN;
        let (value, trees) = (Arc::new(value), Arc::new(gathered.trees));
        let terms = parse_aside(Arc::clone(&value), Arc::clone(&trees), is_large).await?;
        match terms {
            Ok(terms) => {
                let uses = gathered.uses;
                self.store(&uses).await;
                let context = RequestContext::new(terms, source, self.all.clock.now()).using(uses);
                let total = self.all.shared.pool.lock().memory_total().clone();
                Ok(context.counted(&total))
            }
            Err(detail) => {
                self.blame(&gathered.uses, &trees);
                Err(Error::Invalid(detail))
            }
        }
    }

    /// Fetches a document again and takes it in place of the one that is there, if it is a context.
    ///
    /// # Errors
    ///
    /// If it cannot be had, or is no context: the one that is there stays.
    pub(crate) async fn refetch(self, url: &str) -> Result<(), Error> {
        let life = self.now().await?;
        TenantContexts { life: life.as_ref(), ..self }.take_afresh(url).await
    }

    async fn take_afresh(self, url: &str) -> Result<(), Error> {
        let fresh = self.fetch_now(url).await.map_err(|error| match error {
            FetchError::Invalid(text) => Error::Unavailable(text),
            error => error.into(),
        })?;
        let pool = || self.all.shared.pool.lock();
        let before = pool().document(self.tenant, url);
        let bytes = fresh.stored.text.len();
        self.cache(url, fresh);
        match self.build(Value::String(url.into()), ContextSource::url(url), bytes).await {
            Ok(_) => Ok(()),
            Err(error) => {
                match before {
                    Some(before) => self.cache(url, before),
                    None => pool().remove_document(self.tenant, url),
                }
                Err(not_any_more(error))
            }
        }
    }
}

/// Why a document that was fetched again is not taken: what is wrong with it, or with what it refers to, may be corrected.
fn not_any_more(error: Error) -> Error {
    match error {
        Error::NotJson(text)
        | Error::Invalid(text)
        | Error::Unavailable(text)
        | Error::NotAllowed(text)
        | Error::TooLarge(text) => Error::Unavailable(text),
        error @ (Error::NoSuchContext(_) | Error::Damaged | Error::Failed | Error::Model(_)) => error,
    }
}

/// Parses, on a thread of its own if it `is_large`. What is wrong is said in words for the client.
async fn parse_aside(
    value: Arc<Value>,
    trees: Arc<Documents>,
    is_large: bool,
) -> Result<Result<Context, String>, Error> {
    let work = move || parse(&value, &trees).map_err(|error| error.to_string());
    if !is_large {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "parsing a context failed");
        Error::Failed
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
