//! The contexts a server holds, as its users list, read, add and delete them (NGSI-LD 5.13).

use std::sync::Arc;

use model_entities::Timestamp;

use super::active::{ContextSource, LOCAL_PATH, identify, local_id};
use super::cache::{ContextKind, Contexts};
use super::core::{CORE_URL, Edition};
use super::fiware;
use super::hosted::{Hosted, Stored};
use super::parse::read;
use crate::problem::{Problem, problem, write_problem};

/// The largest hosted context in bytes.
const HOSTED_BYTES_MAX: usize = 1 << 20;
/// The most contexts hosted.
const HOSTED_MAX: usize = 10_000;

/// What is told of a context.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ContextEntry {
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
pub(crate) struct FoundContext {
    /// What is told of it.
    pub entry: ContextEntry,
    /// The document, of contexts that this server serves: all but those of kind `Cached` that came
    /// from elsewhere.
    pub document: Option<Arc<str>>,
}

impl ContextKind {
    /// As the standard spells it.
    pub(crate) fn name(self) -> &'static str {
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

impl Contexts {
    fn hosted(&self) -> Result<&Hosted, Problem> {
        let none =
            || Problem::operation_not_supported("this server was set up without a place to keep contexts");
        self.hosted.as_ref().ok_or_else(none)
    }

    /// The hosted document with this id.
    pub(super) async fn hosted_document(&self, id: &str) -> Result<Option<Stored>, Problem> {
        match &self.hosted {
            None => Ok(None),
            Some(hosted) => hosted.get(id).await.map_err(|error| problem(&error, None)),
        }
    }

    /// The document of this URL that was fetched earlier, perhaps before a restart.
    pub(super) async fn kept_document(&self, url: &str) -> Result<Option<Stored>, Problem> {
        match &self.hosted {
            None => Ok(None),
            Some(hosted) => hosted.get_fetched(url).await.map_err(|error| problem(&error, None)),
        }
    }

    /// Keeps a fetched document in the store. The request goes on if that fails: it has what it needs.
    pub(super) async fn keep(&self, url: &str, stored: &Stored) {
        let Some(hosted) = &self.hosted else { return };
        match hosted.keep_fetched(url, stored).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!(url, "a fetched context is not kept: there are too many"),
            Err(error) => tracing::warn!(url, %error, "a fetched context is not kept"),
        }
    }

    /// The document made of the `@context` member of an earlier request.
    pub(super) fn implicit(&self, id: &str) -> Option<Arc<str>> {
        let inline = self.shared.inline.lock();
        inline.iter().find_map(|(_, context)| match context.source() {
            ContextSource::Inline { id: held, text } if **held == *id => {
                Some(format!("{{\"@context\":{text}}}").into())
            }
            _ => None,
        })
    }

    /// Hosts a document (an object with a member `@context`), durably; answers its id.
    ///
    /// # Errors
    ///
    /// 400 if it is no context; 503 if it refers to what cannot be had.
    pub(crate) async fn add(&self, document: &str) -> Result<Box<str>, Problem> {
        let hosted = self.hosted()?;
        if document.len() > HOSTED_BYTES_MAX {
            return Err(Problem::too_large(format!("the context is larger than {HOSTED_BYTES_MAX} bytes")));
        }
        let value =
            read(document).map_err(|problem| Problem::invalid_request(format!("the body {problem}")))?;
        let members = value.as_object().ok_or_else(|| Problem::bad_request("the body is no object"))?;
        let context =
            members.get("@context").ok_or_else(|| Problem::bad_request("the body has no @context"))?;
        self.build(context, ContextSource::url(LOCAL_PATH)).await?;
        let held = hosted.list().await.map_err(|error| problem(&error, None))?;
        if held.len() >= HOSTED_MAX {
            return Err(Problem::too_large(format!("this server already hosts {HOSTED_MAX} contexts")));
        }
        let text = serde_json::json!({ "@context": context }).to_string();
        hosted.add(&text, self.clock.now()).await.map_err(|error| write_problem(&error, None))
    }

    /// All contexts of a kind, or of all kinds: the core context first. Cost: reads the hosted ones.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub(crate) async fn list(&self, kind: Option<ContextKind>) -> Result<Vec<ContextEntry>, Problem> {
        let mut entries = self.cached().await?;
        if let Some(hosted) = &self.hosted {
            let held = hosted.list().await.map_err(|error| problem(&error, None))?;
            entries.extend(
                held.into_iter()
                    .map(|(id, stored)| ContextEntry::local(&id, ContextKind::Hosted, stored.created)),
            );
        }
        entries.extend(self.implicit_entries());
        entries.retain(|entry| kind.is_none_or(|kind| kind == entry.kind));
        Ok(entries)
    }

    /// Contexts from elsewhere: built in, preloaded, fetched.
    async fn cached(&self) -> Result<Vec<ContextEntry>, Problem> {
        let mut urls: Vec<&str> = self.shared.preloaded.keys().map(|url| &**url).collect();
        urls.sort_unstable();
        urls.retain(|url| *url != fiware::URL);
        urls.splice(0..0, [CORE_URL, fiware::URL]);
        let mut entries: Vec<_> =
            urls.into_iter().map(|url| ContextEntry::cached(url, self.shared.started)).collect();
        entries.extend(self.fetched().await?);
        Ok(entries)
    }

    /// Fetched contexts, in memory or in the store.
    async fn fetched(&self) -> Result<Vec<ContextEntry>, Problem> {
        let kept = match &self.hosted {
            None => Vec::new(),
            Some(hosted) => hosted.list_fetched().await.map_err(|error| problem(&error, None))?,
        };
        let mut entries: Vec<_> =
            kept.iter().map(|(url, stored)| ContextEntry::cached(url, stored.created)).collect();
        let fetched = self.shared.fetched.lock();
        for (url, stored) in fetched.iter() {
            if !kept.iter().any(|(held, _)| **held == *url) {
                entries.push(ContextEntry::cached(url, stored.created));
            }
        }
        Ok(entries)
    }

    fn implicit_entries(&self) -> Vec<ContextEntry> {
        let inline = self.shared.inline.lock();
        let mut entries: Vec<ContextEntry> = Vec::new();
        for (_, context) in inline.iter() {
            if let ContextSource::Inline { id, .. } = context.source()
                && !entries.iter().any(|entry| entry.id == *id)
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
    /// 404 if there is none.
    pub(crate) async fn find(&self, id: &str) -> Result<FoundContext, Problem> {
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
        let entry = self.cached_entry(id).await?.ok_or_else(|| no_such(id))?;
        let document = self.built_in(&entry.url);
        Ok(FoundContext { entry, document })
    }

    /// The context of kind `Cached` with this id or URL.
    async fn cached_entry(&self, id: &str) -> Result<Option<ContextEntry>, Problem> {
        let held = self.cached().await?.into_iter().find(|entry| *entry.id == *id || *entry.url == *id);
        let built_in = || Edition::of_url(id).map(|_| ContextEntry::cached(id, self.shared.started));
        Ok(held.or_else(built_in))
    }

    /// The document of a context that is built in.
    fn built_in(&self, url: &str) -> Option<Arc<str>> {
        if let Some(edition) = Edition::of_url(url) {
            return Some(edition.document().into());
        }
        (fiware::is_url(url) && !self.shared.preloaded.contains_key(url)).then(|| fiware::document().into())
    }

    /// Removes a context, or (`reload`) fetches it again.
    ///
    /// # Errors
    ///
    /// 404 if there is none; 400 if `reload` does not apply; 422 if it is not the users' to remove;
    /// 503 if it cannot be fetched again (it then stays as it is).
    pub(crate) async fn delete(&self, id: &str, reload: bool) -> Result<(), Problem> {
        let found = self.find(id).await?;
        let ContextEntry { url, id, kind, .. } = found.entry;
        if reload && kind != ContextKind::Cached {
            let detail =
                format!("reload applies to contexts of kind Cached; {id} is of kind {}", kind.name());
            return Err(Problem::bad_request(detail));
        }
        match kind {
            ContextKind::Hosted => {
                self.hosted()?.delete(&id).await.map_err(|error| write_problem(&error, None))?;
            }
            ContextKind::ImplicitlyCreated => {}
            ContextKind::Cached => self.delete_cached(&url, reload).await?,
        }
        // Whatever was made from it is parsed again when it is next asked for.
        self.shared.urls.lock().clear();
        self.shared.inline.lock().clear();
        Ok(())
    }
}

impl Contexts {
    async fn delete_cached(&self, url: &str, reload: bool) -> Result<(), Problem> {
        if !self.fetched().await?.iter().any(|entry| *entry.url == *url) {
            let detail = format!("{url} is built in or preloaded; it stays as the operator set it up");
            return Err(Problem::operation_not_supported(detail));
        }
        if reload {
            self.shared.failures.lock().remove(url);
            return self.fetch(url).await.map(drop);
        }
        if let Some(hosted) = &self.hosted {
            hosted.delete_fetched(url).await.map_err(|error| write_problem(&error, None))?;
        }
        self.shared.fetched.lock().remove(url);
        Ok(())
    }
}

fn no_such(id: &str) -> Problem {
    Problem::not_found(format!("no context has the id or URL {id:?}"))
}
