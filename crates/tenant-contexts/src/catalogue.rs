//! The contexts that there are for a tenant, as its users list, read, add and delete them (NGSI-LD 5.13).

use std::collections::HashSet;
use std::sync::Arc;

use lang_jsonld::{CORE_URL, Edition, fiware, read};
use model_entities::Timestamp;

use crate::contexts::TenantContexts;
use crate::error::Error;
use crate::hosted::Hosted;
use crate::request_context::RequestContext;
use crate::source::{ContextSource, LOCAL_PATH, identify, local_id};

/// The largest hosted context in bytes.
const HOSTED_BYTES_MAX: usize = 1 << 20;
/// The most contexts that a tenant hosts.
const HOSTED_MAX: usize = 10_000;

/// What kinds of contexts there are (NGSI-LD 5.13.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContextKind {
    /// From elsewhere: built in, preloaded or fetched.
    Cached,
    /// Stored by a client (POST /jsonldContexts).
    Hosted,
    /// Part of a request.
    ImplicitlyCreated,
}

/// What a list says of a context.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ContextEntry {
    /// Where it came from; a path of this server for those it serves itself.
    pub url: Box<str>,
    /// What the server calls it.
    pub id: Box<str>,
    /// How it came.
    pub kind: ContextKind,
    /// When it came; for what was there at the start, the start.
    pub created: Timestamp,
}

/// A context found by its id or URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundContext {
    /// What a list says of it.
    pub entry: ContextEntry,
    /// The document, of contexts that this server serves: all but those of kind `Cached` that came
    /// from elsewhere.
    pub document: Option<Arc<str>>,
}

impl ContextKind {
    /// As the standard spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cached => "Cached",
            Self::Hosted => "Hosted",
            Self::ImplicitlyCreated => "ImplicitlyCreated",
        }
    }
}

impl ContextEntry {
    fn local(id: &str, kind: ContextKind, created: Timestamp) -> Self {
        Self { url: [LOCAL_PATH, id].concat().into(), id: id.into(), kind, created }
    }

    fn cached(url: &str, created: Timestamp) -> Self {
        Self { url: url.into(), id: identify(url), kind: ContextKind::Cached, created }
    }
}

impl TenantContexts<'_> {
    fn hosted(&self) -> Result<&Hosted, Error> {
        let none = || Error::NotAllowed("this server is set up without a store for contexts".into());
        self.all.hosted.as_ref().ok_or_else(none)
    }

    /// The document made of the `@context` member of an earlier request.
    pub(crate) fn implicit(self, id: &str) -> Option<Arc<str>> {
        let mut pool = self.all.shared.pool.lock();
        pool.contexts(self.tenant).find_map(|context| match context.source() {
            ContextSource::Inline { id: own, text } if **own == *id => {
                Some(format!("{{\"@context\":{text}}}").into())
            }
            _ => None,
        })
    }

    /// Hosts a document (an object with a member `@context`), durably; answers its id. The tenant is created if it
    /// is new.
    ///
    /// # Errors
    ///
    /// [`Error::NotJson`] or [`Error::Invalid`] if it is no context; [`Error::Unavailable`] if it refers to what cannot be had;
    /// [`Error::TooLarge`].
    pub async fn add(self, document: &str) -> Result<Box<str>, Error> {
        let hosted = self.hosted()?;
        if document.len() > HOSTED_BYTES_MAX {
            return Err(Error::TooLarge(format!(
                "the context has {} bytes: at most {HOSTED_BYTES_MAX} are allowed",
                document.len()
            )));
        }
        let value = read(document).map_err(|problem| Error::NotJson(format!("the body {problem}")))?;
        let members = value
            .as_object()
            .ok_or_else(|| Error::Invalid("the body must be an object with the member @context".into()))?;
        let context = members
            .get("@context")
            .ok_or_else(|| Error::Invalid("the body must have the member @context".into()))?;
        let life = self.now().await?;
        let of = TenantContexts { life: life.as_ref(), ..self };
        of.build(context.clone(), ContextSource::url(LOCAL_PATH), document.len()).await?;
        let count = hosted.count(self.tenant).await?;
        if count >= HOSTED_MAX {
            return Err(Error::TooLarge(format!("this tenant already hosts {HOSTED_MAX} contexts")));
        }
        let text = serde_json::json!({ "@context": context }).to_string();
        Ok(hosted.add(self.tenant, &text, self.all.clock.now()).await?)
    }

    /// All contexts of a kind, or of all kinds: the core context first. Cost: reads the hosted ones.
    ///
    /// # Errors
    ///
    /// If the tenant does not exist; if the store refuses.
    pub async fn list(self, kind: Option<ContextKind>) -> Result<Vec<ContextEntry>, Error> {
        let mut entries = self.cached().await?;
        if let Some(hosted) = &self.all.hosted {
            let stored = hosted.list(self.tenant).await?;
            entries.extend(
                stored
                    .into_iter()
                    .map(|(id, created)| ContextEntry::local(&id, ContextKind::Hosted, created)),
            );
        }
        entries.extend(self.implicit_entries());
        entries.retain(|entry| kind.is_none_or(|kind| kind == entry.kind));
        Ok(entries)
    }

    /// Contexts from elsewhere: built in, preloaded, fetched.
    async fn cached(self) -> Result<Vec<ContextEntry>, Error> {
        let shared = &self.all.shared;
        let mut urls: Vec<&str> = shared.preloaded.keys().map(|url| &**url).collect();
        urls.sort_unstable();
        urls.retain(|url| *url != fiware::URL);
        urls.splice(0..0, [CORE_URL, fiware::URL]);
        let mut entries: Vec<_> =
            urls.into_iter().map(|url| ContextEntry::cached(url, shared.started)).collect();
        entries.extend(self.fetched().await?);
        Ok(entries)
    }

    /// Fetched contexts, in memory or in the store.
    async fn fetched(self) -> Result<Vec<ContextEntry>, Error> {
        let stored = match &self.all.hosted {
            None => Vec::new(),
            Some(hosted) => hosted.list_fetched(self.tenant).await?,
        };
        let mut entries: Vec<_> =
            stored.iter().map(|(url, created)| ContextEntry::cached(url, *created)).collect();
        let urls: HashSet<&str> = stored.iter().map(|(url, _)| &**url).collect();
        let mut pool = self.all.shared.pool.lock();
        for (url, document) in pool.documents(self.tenant).filter(|(url, _)| !urls.contains(url)) {
            entries.push(ContextEntry::cached(url, document.stored.created));
        }
        Ok(entries)
    }

    fn implicit_entries(self) -> Vec<ContextEntry> {
        let mut pool = self.all.shared.pool.lock();
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        for context in pool.contexts(self.tenant) {
            if let ContextSource::Inline { id, .. } = context.source()
                && seen.insert(id.clone())
            {
                entries.push(ContextEntry::local(id, ContextKind::ImplicitlyCreated, context.created()));
            }
        }
        entries
    }

    /// The context with this id, or of kind `Cached` with this URL.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchContext`]; if the tenant does not exist.
    pub async fn find(self, id: &str) -> Result<FoundContext, Error> {
        let id = local_id(id).unwrap_or(id);
        if let Some(stored) = self.hosted_document(id).await? {
            let entry = ContextEntry::local(id, ContextKind::Hosted, stored.created);
            return Ok(FoundContext { entry, document: Some(stored.text) });
        }
        if let Some(text) = self.implicit(id) {
            let entry = self.implicit_entries().into_iter().find(|entry| *entry.id == *id);
            if let Some(entry) = entry {
                return Ok(FoundContext { entry, document: Some(text) });
            }
        }
        let entry = self.cached_entry(id).await?.ok_or_else(|| Error::NoSuchContext(id.into()))?;
        let document = self.built_in(&entry.url);
        Ok(FoundContext { entry, document })
    }

    /// The context of kind `Cached` with this id or URL.
    async fn cached_entry(self, id: &str) -> Result<Option<ContextEntry>, Error> {
        let found = self.cached().await?.into_iter().find(|entry| *entry.id == *id || *entry.url == *id);
        let built_in = || Edition::of_url(id).map(|_| ContextEntry::cached(id, self.all.shared.started));
        Ok(found.or_else(built_in))
    }

    /// The document of a context that is built in.
    fn built_in(self, url: &str) -> Option<Arc<str>> {
        if let Some(edition) = Edition::of_url(url) {
            return Some(edition.document().into());
        }
        let is_fiware = fiware::is_url(url) && !self.all.shared.preloaded.contains_key(url);
        is_fiware.then(|| fiware::document().into())
    }

    /// Removes a context, or (`reload`) fetches it again.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchContext`]; [`Error::Invalid`] if `reload` does not apply; [`Error::NotAllowed`] if it is not the users' to
    /// remove; [`Error::Unavailable`] if it cannot be fetched again, or is no context any more (it then stays as it is).
    pub async fn delete(self, id: &str, reload: bool) -> Result<(), Error> {
        let found = self.find(id).await?;
        let ContextEntry { url, id, kind, .. } = found.entry;
        if reload && kind != ContextKind::Cached {
            let detail =
                format!("reload applies to contexts of kind Cached; {id} is of kind {}", kind.name());
            return Err(Error::Invalid(detail));
        }
        match kind {
            ContextKind::Hosted => {
                self.hosted()?.delete(self.tenant, &id).await?;
            }
            ContextKind::ImplicitlyCreated => {}
            ContextKind::Cached => self.delete_cached(&url, reload).await?,
        }
        // Whatever was made from it is parsed again when it is next asked for.
        let is_it = |used: &str| *used == *url || local_id(used).is_some_and(|used| *used == *id);
        let was_made_from_it = |context: &RequestContext| {
            context.uses().iter().any(|used| is_it(used))
                || matches!(context.source(), ContextSource::Inline { id: own, .. } if *own == id)
        };
        let evicted = self.all.shared.pool.lock().remove_contexts(self.tenant, was_made_from_it);
        drop(evicted);
        Ok(())
    }

    async fn delete_cached(self, url: &str, reload: bool) -> Result<(), Error> {
        if !self.fetched().await?.iter().any(|entry| *entry.url == *url) {
            let detail = format!("{url} is built in or preloaded; it stays as the operator set it up");
            return Err(Error::NotAllowed(detail));
        }
        if reload {
            return self.refetch(url).await;
        }
        if let Some(hosted) = &self.all.hosted {
            hosted.delete_fetched(self.tenant, url).await?;
        }
        self.all.shared.pool.lock().remove_document(self.tenant, url);
        Ok(())
    }
}
