//! A context as requests and answers name it: its terms, its URL or text, and the header and member of answers.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use http::HeaderValue;
use lang_jsonld::{CORE_URL, Context, MemoryTotal, MemoryUse, text_bytes};
use model_entities::Timestamp;

use crate::source::ContextSource;

/// The relation type of a `Link` to a context.
const LINK_RELATION: &str = "http://www.w3.org/ns/json-ld#context";

static CORE: LazyLock<Arc<RequestContext>> = LazyLock::new(|| {
    let source = ContextSource::url(CORE_URL);
    Arc::new(RequestContext::new(Context::core(), source, Timestamp::default()))
});

/// Numbers the contexts, as keys of the caches of names.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A parsed context, with what answers say of it.
///
/// Invariant: it never changes.
#[derive(Debug)]
pub struct RequestContext {
    number: u64,
    terms: Context,
    source: ContextSource,
    created: Timestamp,
    link_field: HeaderValue,
    member: Box<str>,
    /// The URLs of the documents it was made from, except those that are built in or preloaded.
    uses: Box<[Box<str>]>,
    memory: MemoryUse,
}

impl RequestContext {
    /// A context with these terms, made from `source`.
    pub(crate) fn new(terms: Context, source: ContextSource, created: Timestamp) -> Self {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let (link, member) = (source.link(), source.member(terms.reaches_core()));
        let link_field = format!("<{link}>; rel=\"{LINK_RELATION}\"; type=\"application/ld+json\"");
        let link_field = HeaderValue::try_from(link_field).expect("a link is of visible ASCII characters");
        let (uses, memory) = (Box::default(), MemoryUse::default());
        Self { number, terms, source, created, link_field, member, uses, memory }
    }

    /// The same, made from the documents with these URLs.
    pub(crate) fn using(self, uses: Vec<Box<str>>) -> Self {
        Self { uses: uses.into(), ..self }
    }

    /// The same, its memory counted in `total` for as long as it lives.
    pub(crate) fn counted(self, total: &MemoryTotal) -> Self {
        let texts: usize = self.uses.iter().map(|url| text_bytes(url.len()) + size_of::<Box<str>>()).sum();
        let bytes = size_of::<Self>() + self.terms.bytes() + self.source.bytes() + texts;
        let bytes = bytes + text_bytes(self.member.len()) + text_bytes(self.link_field.len());
        Self { memory: total.count(bytes), ..self }
    }

    /// The core context alone. Cost: a reference count.
    pub fn core() -> Arc<Self> {
        Arc::clone(&CORE)
    }

    /// Tells this context from all others of this process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// When the context was made.
    pub(crate) fn created(&self) -> Timestamp {
        self.created
    }

    /// How much memory the context takes, in bytes, if it was counted.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The URLs of the documents it was made from, except those that are built in or preloaded.
    pub(crate) fn uses(&self) -> &[Box<str>] {
        &self.uses
    }

    /// What the context was made from.
    pub(crate) fn source(&self) -> &ContextSource {
        &self.source
    }

    /// The URL of the context, or its path on this server: that of [`RequestContext::link_field`]. Cost: makes it anew.
    pub fn link(&self) -> Box<str> {
        self.source.link()
    }

    /// The value of the `Link` header that names the context: by its URL, or, for an inline context, by
    /// a reference relative to the server, which serves it for as long as it is cached.
    #[inline]
    pub fn link_field(&self) -> &HeaderValue {
        &self.link_field
    }

    /// The JSON text of the `@context` member of an answer; it always leads to the core context.
    #[inline]
    pub fn member(&self) -> &str {
        &self.member
    }

    /// The terms.
    #[inline]
    pub(crate) fn terms(&self) -> &Context {
        &self.terms
    }

    /// The IRI of a name, as [`Context::expand`] says.
    #[inline]
    pub fn expand<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        self.terms.expand(name)
    }

    /// The shortest name of an IRI, as [`Context::compact`] says.
    #[inline]
    pub fn compact<'a>(&'a self, iri: &'a str) -> Cow<'a, str> {
        self.terms.compact(iri)
    }
}
