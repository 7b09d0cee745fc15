//! A parsed context: terms and IRIs both ways, as hash look-ups.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use http::HeaderValue;
use model_entities::Timestamp;
use reqwest::Url;

use super::core::{self, CORE_URL, DEFAULT_VOCABULARY};
use super::weight::{Budget, Weight, shared_text_bytes, table_bytes, text_bytes};

/// What a context was made from, for answers to name it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ContextSource {
    /// The URL of one document.
    Url(Box<str>),
    /// An `@context` member that is more than one URL.
    Inline {
        /// What the server calls it (see [`identify`]).
        id: Box<str>,
        /// Its canonical JSON text.
        text: Box<str>,
    },
}

/// The terms of a context, both ways.
#[derive(Debug, Default)]
pub(super) struct Table {
    iris: HashMap<Arc<str>, Arc<str>>,
    terms: HashMap<Arc<str>, Arc<str>>,
    /// The IRIs of those terms that are prefixes.
    prefixes: HashMap<Arc<str>, Arc<str>>,
    /// Whether the core context, of whatever version, is among what the terms were read from.
    reaches_core: bool,
    /// The best prefix for each of those IRIs.
    prefix_terms: HashMap<Arc<str>, Arc<str>>,
    /// How long those IRIs are, in bytes, the longest first.
    prefix_lengths: Vec<usize>,
}

impl Table {
    /// No terms yet; `reaches_core`: whether they are read from the core context, too.
    pub(super) fn new(reaches_core: bool) -> Self {
        Self { reaches_core, ..Self::default() }
    }

    /// Adds a term; of several terms for one IRI the shortest (then the first in order of
    /// characters) is the one that IRIs are compacted to.
    pub(super) fn insert(&mut self, term: &str, iri: &str, is_prefix: bool) {
        let held = self.terms.get_key_value(iri).map(|(iri, _)| Arc::clone(iri));
        let (term, iri): (Arc<str>, Arc<str>) = (term.into(), held.unwrap_or_else(|| iri.into()));
        insert_if_better(&mut self.terms, &iri, &term);
        if is_prefix {
            self.prefixes.insert(Arc::clone(&term), Arc::clone(&iri));
            insert_if_better(&mut self.prefix_terms, &iri, &term);
            if let Err(place) = self.prefix_lengths.binary_search_by(|length| iri.len().cmp(length))
                && place < PREFIX_LENGTHS_MAX
            {
                self.prefix_lengths.insert(place, iri.len());
                self.prefix_lengths.truncate(PREFIX_LENGTHS_MAX);
            }
        }
        self.iris.insert(term, iri);
    }

    /// The prefixes of an IRI, each with what follows it. Cost: a hash look-up for each length that prefixes have.
    fn prefixes_of<'a>(&'a self, iri: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let lengths = self.prefix_lengths.iter().filter(|length| **length < iri.len());
        lengths.filter_map(|length| {
            let (whole, suffix) = iri.split_at_checked(*length)?;
            Some((&**self.prefix_terms.get(whole)?, suffix))
        })
    }

    /// Gives back what room was made for more terms.
    pub(super) fn shrink(&mut self) {
        for table in [&mut self.iris, &mut self.terms, &mut self.prefixes, &mut self.prefix_terms] {
            table.shrink_to_fit();
        }
    }

    /// How much memory the table takes, in bytes.
    fn bytes(&self) -> usize {
        let tables = [&self.iris, &self.terms, &self.prefixes, &self.prefix_terms];
        let tables: usize =
            tables.iter().map(|table| table_bytes::<(Arc<str>, Arc<str>)>(table.capacity())).sum();
        let texts = self.iris.keys().chain(self.terms.keys());
        let lengths = size_of::<usize>() * self.prefix_lengths.capacity();
        tables + lengths + texts.map(|text| shared_text_bytes(text.len())).sum::<usize>()
    }
}

/// Takes a term for an IRI unless there is a better one: a shorter, or the first in order of characters.
fn insert_if_better(terms: &mut HashMap<Arc<str>, Arc<str>>, iri: &Arc<str>, term: &Arc<str>) {
    let is_better = |held: &Arc<str>| (term.len(), term) < (held.len(), held);
    if terms.get(iri).is_none_or(is_better) {
        terms.insert(Arc::clone(iri), Arc::clone(term));
    }
}

/// The most lengths of prefixes that names are compacted by, the longest ones: whoever sends a context does not choose
/// what each name of an answer costs.
const PREFIX_LENGTHS_MAX: usize = 64;

/// The core context's table, made once.
static CORE_TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for (term, iri) in core::newest() {
        table.insert(term, &iri, iri.ends_with(['/', '#']));
    }
    table
});

/// Whether the core context has a term; it then stands for what the core context says.
pub(super) fn is_core_term(term: &str) -> bool {
    CORE_TABLE.iris.contains_key(term)
}

static CORE: LazyLock<Arc<Context>> = LazyLock::new(|| {
    Arc::new(Context::new(Table::new(true), ContextSource::url(CORE_URL), Timestamp::default()))
});

/// Tells contexts apart in the caches that hang on them.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A parsed, immutable JSON-LD context: the user's contexts, and over them the core context.
///
/// Invariant: the core context's terms are looked up first, so that nothing overrides them.
#[derive(Debug)]
pub(crate) struct Context {
    number: u64,
    user: Table,
    source: ContextSource,
    created: Timestamp,
    link_field: HeaderValue,
    member: Box<str>,
    /// The URLs of the documents it was made from, but for those that are built in or preloaded.
    uses: Box<[Box<str>]>,
    weight: Weight,
}

impl Context {
    /// A context over these terms, none of which is a core term.
    pub(super) fn new(user: Table, source: ContextSource, created: Timestamp) -> Self {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let (link, member) = (source.link(), source.member(user.reaches_core));
        let link_field = format!("<{link}>; rel=\"{LINK_RELATION}\"; type=\"application/ld+json\"");
        let link_field = HeaderValue::try_from(link_field).unwrap_or(HeaderValue::from_static(""));
        let (uses, weight) = (Box::default(), Weight::default());
        Self { number, user, source, created, link_field, member, uses, weight }
    }

    /// The same, made from the documents with these URLs.
    pub(super) fn using(self, uses: Vec<Box<str>>) -> Self {
        Self { uses: uses.into(), ..self }
    }

    /// The same, weighed in `budget` for as long as it lives.
    pub(super) fn weighed(self, budget: &Budget) -> Self {
        let texts: usize = self.uses.iter().map(|url| text_bytes(url.len()) + size_of::<Box<str>>()).sum();
        let bytes = size_of::<Self>() + self.user.bytes() + self.source.bytes() + texts;
        let bytes = bytes + text_bytes(self.member.len()) + text_bytes(self.link_field.len());
        Self { weight: budget.weight(bytes), ..self }
    }

    /// The core context alone. Cost: a reference count.
    pub(crate) fn core() -> Arc<Self> {
        Arc::clone(&CORE)
    }

    /// Tells this context from all others of this process.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// When the context was made.
    pub(super) fn created(&self) -> Timestamp {
        self.created
    }

    /// How much memory the context takes, in bytes, if it was weighed.
    pub(super) fn bytes(&self) -> usize {
        self.weight.bytes()
    }

    /// The URLs of the documents it was made from, but for those that are built in or preloaded.
    pub(super) fn uses(&self) -> &[Box<str>] {
        &self.uses
    }

    /// What the context was made from.
    pub(super) fn source(&self) -> &ContextSource {
        &self.source
    }

    /// The URL in [`Context::link_field`].
    #[cfg(test)]
    pub(crate) fn link(&self) -> Box<str> {
        self.source.link()
    }

    /// The value of the `Link` header that names the context: by its URL, or, for an inline context, by
    /// a reference relative to the server, which serves it for as long as it is cached.
    pub(crate) fn link_field(&self) -> &HeaderValue {
        &self.link_field
    }

    /// The JSON text of the `@context` member of an answer; it always leads to the core context.
    pub(crate) fn member(&self) -> &str {
        &self.member
    }

    /// Whether no term is the user's.
    #[cfg(test)]
    pub(crate) fn is_core(&self) -> bool {
        self.user.iris.is_empty()
    }

    /// The IRI that a term stands for.
    fn iri_of(&self, term: &str) -> Option<&str> {
        CORE_TABLE.iris.get(term).or_else(|| self.user.iris.get(term)).map(|iri| &**iri)
    }

    /// The term for an IRI.
    fn term_of(&self, iri: &str) -> Option<&str> {
        CORE_TABLE.terms.get(iri).or_else(|| self.user.terms.get(iri)).map(|term| &**term)
    }

    /// The IRI that a prefix stands for.
    fn prefix_of(&self, prefix: &str) -> Option<&str> {
        CORE_TABLE.prefixes.get(prefix).or_else(|| self.user.prefixes.get(prefix)).map(|iri| &**iri)
    }

    /// The IRI of a term, a compact IRI or an IRI; a name that no context defines belongs to the
    /// default vocabulary. Cost: one or two hash look-ups; allocates for compact IRIs and unknown names.
    pub(crate) fn expand<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        if let Some(iri) = self.iri_of(name) {
            return Cow::Borrowed(iri);
        }
        if name.starts_with('@') {
            return Cow::Borrowed(name);
        }
        let Some((prefix, suffix)) = name.split_once(':') else {
            return Cow::Owned([DEFAULT_VOCABULARY, name].concat());
        };
        match self.prefix_of(prefix).filter(|_| !suffix.starts_with("//")) {
            Some(iri) => Cow::Owned([iri, suffix].concat()),
            None => Cow::Borrowed(name),
        }
    }

    /// The shortest name of an IRI: a term, the part behind the default vocabulary, a compact IRI, or the
    /// IRI itself. What it answers expands to `iri` again. Cost: a hash look-up or two; one for each length of
    /// the context's prefixes where no term stands for it.
    pub(crate) fn compact<'a>(&'a self, iri: &'a str) -> Cow<'a, str> {
        if let Some(term) = self.term_of(iri) {
            return Cow::Borrowed(term);
        }
        if let Some(name) = iri.strip_prefix(DEFAULT_VOCABULARY)
            && self.is_free(name)
        {
            return Cow::Borrowed(name);
        }
        let prefixes = CORE_TABLE.prefixes_of(iri).chain(self.user.prefixes_of(iri));
        prefixes
            .filter_map(|(prefix, suffix)| {
                let name = [prefix, ":", suffix].concat();
                (self.expand(&name) == iri).then_some(name)
            })
            .min_by(|one, other| (one.len(), one).cmp(&(other.len(), other)))
            .map_or(Cow::Borrowed(iri), Cow::Owned)
    }

    /// Whether a bare name belongs to the default vocabulary.
    fn is_free(&self, name: &str) -> bool {
        !name.is_empty() && !name.starts_with('@') && !name.contains(':') && self.iri_of(name).is_none()
    }
}

impl ContextSource {
    /// A URL as it was given.
    pub(super) fn url(url: &str) -> Self {
        Self::Url(url.into())
    }

    /// The canonical text of an `@context` member.
    pub(super) fn inline(text: &str) -> Self {
        Self::Inline { id: identify(text), text: text.into() }
    }

    /// How much memory the source takes on the heap, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Url(url) => text_bytes(url.len()),
            Self::Inline { id, text } => text_bytes(id.len()) + text_bytes(text.len()),
        }
    }

    fn link(&self) -> Box<str> {
        match self {
            // What cannot stand in a header field is percent-encoded.
            Self::Url(url) if url.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '<' | '>')) => {
                Url::parse(url).map_or_else(|_| CORE_URL.into(), |url| url.as_str().into())
            }
            Self::Url(url) => url.clone(),
            Self::Inline { id, .. } => [LOCAL_PATH, id].concat().into(),
        }
    }

    /// The JSON text of the `@context` member. The core context stands last (4.4), unless the user's contexts lead to it anyway:
    /// it is protected, and need not be said twice.
    fn member(&self, reaches_core: bool) -> Box<str> {
        match self {
            Self::Url(url) if reaches_core => lang_json::string_to(url).into(),
            Self::Url(url) => format!("[{},\"{CORE_URL}\"]", lang_json::string_to(url)).into(),
            Self::Inline { text, .. } if reaches_core => text.clone(),
            Self::Inline { text, .. } => with_core(text),
        }
    }
}

/// The canonical text of an `@context` member, with the core context last.
fn with_core(text: &str) -> Box<str> {
    match text.strip_suffix(']').filter(|_| text.starts_with('[')) {
        Some("[") => format!("\"{CORE_URL}\"").into(),
        Some(open) => format!("{open},\"{CORE_URL}\"]").into(),
        None => format!("[{text},\"{CORE_URL}\"]").into(),
    }
}

/// What a `Link` to a context is.
const LINK_RELATION: &str = "http://www.w3.org/ns/json-ld#context";

/// Where the server serves contexts by their ids.
pub(crate) const LOCAL_PATH: &str = "/ngsi-ld/v1/jsonldContexts/";

/// What ids of contexts start with.
const ID_PREFIX: &str = "urn:ngsi-ld:jsonldContext:";

/// The id of a context that is known by a text: its URL, or its own.
pub(super) fn identify(text: &str) -> Box<str> {
    id_of(xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// The id of this number.
pub(super) fn id_of(number: u128) -> Box<str> {
    format!("{ID_PREFIX}{number:032x}").into()
}

/// The id in a URL that is, by its path, one of a context on this server.
pub(super) fn local_id(url: &str) -> Option<&str> {
    let (_, id) = url.split_once(LOCAL_PATH)?;
    id.starts_with(ID_PREFIX).then_some(id)
}
