//! A parsed context: terms and IRIs both ways, as hash look-ups.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::core_context::{self, DEFAULT_VOCABULARY};
use crate::memory::{shared_text_bytes, table_bytes};

/// The terms of a context, both ways.
#[derive(Debug, Default)]
pub(crate) struct Table {
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
    pub(crate) fn new(reaches_core: bool) -> Self {
        Self { reaches_core, ..Self::default() }
    }

    /// Adds a term; of several terms for one IRI the shortest (then the first in order of
    /// characters) is the one that IRIs are compacted to.
    pub(crate) fn insert(&mut self, term: &str, iri: &str, is_prefix: bool) {
        let stored = self.terms.get_key_value(iri).map(|(iri, _)| Arc::clone(iri));
        let (term, iri): (Arc<str>, Arc<str>) = (term.into(), stored.unwrap_or_else(|| iri.into()));
        insert_if_better(&mut self.terms, &iri, &term);
        if is_prefix {
            self.prefixes.insert(Arc::clone(&term), Arc::clone(&iri));
            insert_if_better(&mut self.prefix_terms, &iri, &term);
            if let Err(slot) = self.prefix_lengths.binary_search_by(|length| iri.len().cmp(length))
                && slot < PREFIX_LENGTHS_MAX
            {
                self.prefix_lengths.insert(slot, iri.len());
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

    /// Frees the unused capacity.
    pub(crate) fn shrink(&mut self) {
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

/// Stores a term for an IRI unless there is a better one: a shorter one, or the first in order of characters.
fn insert_if_better(terms: &mut HashMap<Arc<str>, Arc<str>>, iri: &Arc<str>, term: &Arc<str>) {
    let is_better = |stored: &Arc<str>| (term.len(), term) < (stored.len(), stored);
    if terms.get(iri).is_none_or(is_better) {
        terms.insert(Arc::clone(iri), Arc::clone(term));
    }
}

/// The most lengths of prefixes that are tried to compact an IRI, the longest ones: this bounds the cost of each name of an
/// answer, whatever context a client sends.
const PREFIX_LENGTHS_MAX: usize = 64;

/// The core context's table, made once.
static CORE_TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for (term, iri) in core_context::newest() {
        table.insert(term, &iri, iri.ends_with(['/', '#']));
    }
    table
});

/// Whether the core context has a term; it then stands for what the core context says.
pub(crate) fn is_core_term(term: &str) -> bool {
    CORE_TABLE.iris.contains_key(term)
}

/// A parsed, immutable JSON-LD context: the terms of a user, and over them those of the core context.
///
/// Invariant: the core context's terms are looked up first, so that nothing overrides them.
#[derive(Debug)]
pub struct Context {
    user: Table,
}

impl Context {
    /// A context with these terms, none of which is a core term.
    pub(crate) fn new(user: Table) -> Self {
        Self { user }
    }

    /// The core context alone. Cost: none; its table is shared by all contexts.
    pub fn core() -> Self {
        Self::new(Table::new(true))
    }

    /// Whether the core context, of whatever version, is among the documents that the context was parsed from.
    pub fn reaches_core(&self) -> bool {
        self.user.reaches_core
    }

    /// Whether all terms are those of the core context.
    pub fn is_core(&self) -> bool {
        self.user.iris.is_empty()
    }

    /// How much memory the user's terms take on the heap, in bytes. Cost: a walk through all of them.
    pub fn bytes(&self) -> usize {
        self.user.bytes()
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
    pub fn expand<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
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

    /// The shortest name of an IRI: a term, the part after the default vocabulary, a compact IRI, or the
    /// IRI itself. The name expands to `iri` again. Cost: a hash look-up or two; one for each length of
    /// the context's prefixes where no term stands for it.
    pub fn compact<'a>(&'a self, iri: &'a str) -> Cow<'a, str> {
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
