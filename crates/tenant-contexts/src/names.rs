//! The names of one tenant as one context spells them.

use std::borrow::Cow;
use std::sync::Arc;

use lang_jsonld::{MemoryTotal, NameCache, Spelling};
use model_entities::{TermId, Terms};

use crate::request_context::RequestContext;

/// Answered where a stored entity uses a term that its tenant does not have (a damaged store): alone, and as a key.
const UNKNOWN: (&str, &str) = ("urn:twinfold:unknown-term", "\"urn:twinfold:unknown-term\":");

/// Says in the log that a term is unknown, and what is answered in its place.
#[cold]
fn unknown(term: TermId) -> (&'static str, &'static str) {
    tracing::error!(term = term.0, "a stored entity uses a term that its tenant does not have");
    UNKNOWN
}

/// How the reserved name of scopes is spelled, alone and as a key, in every context.
const SCOPE: (&str, &str) = ("scope", "\"scope\":");
/// Its IRI.
pub const SCOPE_IRI: &str = "https://uri.etsi.org/ngsi-ld/scope";

/// Where a tenant's terms come from.
#[derive(Debug)]
enum Interned {
    /// The model.
    Terms(Terms),
    /// IRIs numbered from 0.
    #[cfg(any(test, feature = "testing"))]
    Given(Vec<Arc<str>>),
}

impl Interned {
    fn id(&self, iri: &str) -> Option<TermId> {
        match self {
            Self::Terms(terms) => terms.id(iri),
            #[cfg(any(test, feature = "testing"))]
            Self::Given(iris) => {
                let at = iris.iter().position(|given| **given == *iri)?;
                u32::try_from(at).ok().map(TermId)
            }
        }
    }

    fn iri(&self, term: TermId) -> Option<Arc<str>> {
        match self {
            Self::Terms(terms) => terms.iri(term),
            #[cfg(any(test, feature = "testing"))]
            Self::Given(iris) => iris.get(term.0 as usize).cloned(),
        }
    }
}

/// The names of one tenant as one context spells them; cached per context and tenant, shared by [`Arc`]. Readers take no lock.
#[derive(Debug)]
pub struct Names {
    context: Arc<RequestContext>,
    interned: Interned,
    cache: NameCache,
}

impl Names {
    /// The names of `terms` in `context`; what they take in memory counts in `total`.
    pub(crate) fn new(context: Arc<RequestContext>, terms: Terms, total: &MemoryTotal) -> Self {
        Self::over(context, Interned::Terms(terms), total)
    }

    fn over(context: Arc<RequestContext>, interned: Interned, total: &MemoryTotal) -> Self {
        let cache = NameCache::new(total.count(size_of::<Self>()));
        Self { context, interned, cache }
    }

    /// Names for tests: these short names (or IRIs), expanded by `context`, are terms 0, 1, 2, ...
    #[cfg(any(test, feature = "testing"))]
    pub fn of(context: &Arc<RequestContext>, names: &[&str]) -> Self {
        let iris = names.iter().map(|name| context.expand(name).as_ref().into()).collect();
        Self::over(Arc::clone(context), Interned::Given(iris), &MemoryTotal::default())
    }

    /// The context.
    #[inline]
    pub fn context(&self) -> &Arc<RequestContext> {
        &self.context
    }

    /// The term of a short name or IRI; `None`: not in use in this tenant. Cost: one hash look-up,
    /// once the name was met; the first time, and while it is not in use, its expansion and a second one.
    #[inline]
    pub fn term(&self, name: &str) -> Option<TermId> {
        let find = |iri: &str| self.interned.id(iri).map(|term| term.0);
        self.cache.number(self.context.terms(), name, find).map(TermId)
    }

    /// Whether a name in an address, short or whole, is that of the scopes of an entity (4.18). Cost: a look-up.
    pub fn is_scope(&self, name: &str) -> bool {
        name == SCOPE.0 || self.term(name).is_none() && self.context.expand(name) == SCOPE_IRI
    }

    /// The IRI of a short name.
    pub fn iri<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        self.context.expand(name)
    }

    #[inline]
    fn spelling(&self, term: TermId) -> Option<&Spelling> {
        self.cache.spelling(self.context.terms(), term.0, || self.interned.iri(term))
    }

    /// The short name of a term. Cost: two indexes, once the term was met.
    #[inline]
    pub fn compact(&self, term: TermId) -> &str {
        if term == TermId::SCOPE {
            return SCOPE.0;
        }
        self.spelling(term).map_or_else(|| unknown(term).0, |spelling| &spelling.name)
    }

    /// The short name of a term as the key of a JSON member: escaped, in quotes, with the colon.
    /// Cost: as [`Names::compact`].
    #[inline]
    pub fn key(&self, term: TermId) -> &str {
        if term == TermId::SCOPE {
            return SCOPE.1;
        }
        self.spelling(term).map_or_else(|| unknown(term).1, |spelling| &spelling.key)
    }

    /// The IRI of a term.
    pub fn iri_of(&self, term: TermId) -> Arc<str> {
        self.interned.iri(term).unwrap_or_else(|| unknown(term).0.into())
    }

    /// The short name of any IRI, be it in use or not.
    pub fn compact_iri<'a>(&'a self, iri: &'a str) -> Cow<'a, str> {
        self.context.compact(iri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_by_every_spelling() {
        let names =
            Names::of(&RequestContext::core(), &["Vehicle", "speed", "location", "http://example.org/a\"b"]);
        for (number, spellings) in [
            (0, vec!["Vehicle", "https://uri.etsi.org/ngsi-ld/default-context/Vehicle"]),
            (1, vec!["speed"]),
            (2, vec!["location", "ngsi-ld:location", "https://uri.etsi.org/ngsi-ld/location"]),
        ] {
            for spelling in spellings {
                for _ in 0..2 {
                    assert_eq!(names.term(spelling), Some(TermId(number)), "{spelling}");
                }
            }
        }
        assert_eq!(names.term("other"), None);
        assert_eq!(names.iri("other"), "https://uri.etsi.org/ngsi-ld/default-context/other");
    }

    #[test]
    fn terms_are_spelled_short_and_as_keys() {
        let names = Names::of(&RequestContext::core(), &["speed", "http://example.org/a\"b"]);
        for _ in 0..2 {
            assert_eq!(names.compact(TermId(0)), "speed");
            assert_eq!(names.key(TermId(0)), "\"speed\":");
            assert_eq!(names.compact(TermId(1)), "http://example.org/a\"b");
            assert_eq!(names.key(TermId(1)), "\"http://example.org/a\\\"b\":");
            assert_eq!(names.compact(TermId(7)), UNKNOWN.0);
        }
        assert_eq!(names.compact_iri("https://uri.etsi.org/ngsi-ld/observedAt"), "observedAt");
    }
}
