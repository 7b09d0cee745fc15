//! JSON-LD 1.1 context processing, as far as names need it: terms, prefixes, `@vocab`, arrays and
//! documents of contexts, `@import`. A document that is missing is asked for by its URL.
//!
//! What only matters to values (`@language`, `@direction`, coercions, containers) is checked and then ignored: the kinds
//! of NGSI-LD attributes say how their values are read. Scoped contexts are refused (NGSI-LD 5.5.7).

mod define;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use url::Url;

use crate::context::{Context, Table, is_core_term};
use crate::core_terms::Edition;
use crate::fiware;

/// The most documents within documents.
const NESTING_MAX: usize = 16;
/// The most references to documents followed for one context, repeated ones counted again.
pub const REFERENCES_MAX: usize = 128;
/// The longest IRI a term can stand for, in bytes.
const IRI_BYTES_MAX: usize = 2048;

/// The keywords: a term may stand for one, and some may be members of contexts.
const KEYWORDS: [&str; 23] = [
    "@base",
    "@container",
    "@context",
    "@direction",
    "@graph",
    "@id",
    "@import",
    "@included",
    "@index",
    "@json",
    "@language",
    "@list",
    "@nest",
    "@none",
    "@prefix",
    "@propagate",
    "@protected",
    "@reverse",
    "@set",
    "@type",
    "@value",
    "@version",
    "@vocab",
];

/// The documents that contexts may refer to, by URL. Those that are built in need not be among them.
pub type Documents = HashMap<Box<str>, Arc<Value>>;

/// Why a context cannot be parsed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ParseError {
    /// The document with this URL is referred to, and was not given.
    Missing(Box<str>),
    /// The context is invalid: says what is wrong, and in which document.
    Invalid(String),
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(url) => write!(formatter, "@context {url} is missing"),
            Self::Invalid(detail) => formatter.write_str(detail),
        }
    }
}

impl std::error::Error for ParseError {}

/// Parses the value of an `@context` member: a URL, an object, an array of them, or null.
///
/// Cost: each document is read as often as it is referred to; limits of this module bound the work.
///
/// # Errors
///
/// [`ParseError::Missing`] names a document that is not in `documents`; [`ParseError::Invalid`] says what is wrong.
pub fn parse(context: &Value, documents: &Documents) -> Result<Context, ParseError> {
    let mut builder = Builder::new(documents);
    builder.context(context)?;
    Ok(Context::new(builder.table()))
}

/// A JSON text as a tree.
///
/// # Errors
///
/// If it is no JSON: says where.
pub fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))
}

/// What a term stands for.
#[derive(Clone, Debug)]
struct Definition {
    /// `None`: nothing (`null`, a keyword, a reverse property).
    iri: Option<Box<str>>,
    is_prefix: bool,
    is_protected: bool,
}

/// A context in the making.
struct Builder<'a> {
    documents: &'a Documents,
    terms: HashMap<Box<str>, Definition>,
    vocabulary: Option<Box<str>>,
    /// The documents being read, outermost first.
    path: Vec<Url>,
    loads: usize,
    definitions: usize,
    /// Whether the core context was among what was read.
    reaches_core: bool,
}

/// One context object in the making.
struct Local<'a> {
    members: &'a Map<String, Value>,
    is_protected: bool,
    done: HashSet<&'a str>,
    /// Terms being defined, to find those that define one another.
    open: Vec<&'a str>,
}

impl<'a> Builder<'a> {
    fn new(documents: &'a Documents) -> Self {
        Self {
            documents,
            terms: HashMap::new(),
            vocabulary: None,
            path: Vec::new(),
            loads: 0,
            definitions: 0,
            reaches_core: false,
        }
    }

    /// The finished table; the core context's own terms are left out, for they cannot be changed.
    fn table(self) -> Table {
        let mut table = Table::new(self.reaches_core);
        for (term, definition) in &self.terms {
            if let Some(iri) = definition.iri.as_deref().filter(|_| !is_core_term(term)) {
                table.insert(term, iri, definition.is_prefix);
            }
        }
        table.shrink();
        table
    }

    /// A refusal that names the document being read.
    fn invalid<T>(&self, problem: impl std::fmt::Display) -> Result<T, ParseError> {
        Err(ParseError::Invalid(match self.path.last() {
            Some(url) => format!("@context {url}: {problem}"),
            None => format!("@context: {problem}"),
        }))
    }

    fn context(&mut self, context: &Value) -> Result<(), ParseError> {
        match context {
            Value::Null => {
                if self.terms.values().any(|known| known.is_protected) {
                    return self.invalid("null would take terms away that are protected");
                }
                self.terms.clear();
                (self.vocabulary, self.reaches_core) = (None, false);
                Ok(())
            }
            Value::String(url) => self.reference(url),
            Value::Array(contexts) => contexts.iter().try_for_each(|context| self.context(context)),
            Value::Object(members) => self.object(members),
            Value::Bool(_) | Value::Number(_) => {
                self.invalid(format_args!("{context} is neither a URL nor an object nor an array"))
            }
        }
    }

    /// The URL that a reference in the current document means.
    fn resolve(&self, reference: &str) -> Result<Url, ParseError> {
        let resolved = match self.path.last() {
            Some(base) => base.join(reference),
            None => Url::parse(reference),
        };
        resolved.or_else(|problem| self.invalid(format_args!("{reference:?} is no URL: {problem}")))
    }

    /// Counts a document, and refuses cycles and excesses.
    fn enter(&mut self, url: &Url) -> Result<(), ParseError> {
        if self.path.contains(url) {
            let path: Vec<&str> = self.path.iter().map(Url::as_str).collect();
            return self.invalid(format_args!("{} refers to itself: {} -> {url}", url, path.join(" -> ")));
        }
        if self.path.len() >= NESTING_MAX {
            return self.invalid(format_args!("more than {NESTING_MAX} contexts within contexts"));
        }
        self.loads += 1;
        if self.loads > REFERENCES_MAX {
            return self.invalid(format_args!("more than {REFERENCES_MAX} references to contexts"));
        }
        Ok(())
    }

    /// A context given by reference.
    fn reference(&mut self, reference: &str) -> Result<(), ParseError> {
        let url = self.resolve(reference)?;
        self.enter(&url)?;
        if let Some(edition) = Edition::of_url(url.as_str()) {
            self.reaches_core = true;
            return self.built_in(edition.older_terms());
        }
        // A preloaded document goes before the one that is built in.
        if fiware::is_url(url.as_str()) && !self.documents.contains_key(url.as_str()) {
            return self.built_in(fiware::terms());
        }
        let document = self.document(&url)?;
        self.path.push(url);
        let context = member(&document, "@context");
        let done = match context {
            Some(context) => self.context(context),
            None => self.invalid("the document has no member @context"),
        };
        self.path.pop();
        done
    }

    fn built_in(&mut self, terms: impl Iterator<Item = (Box<str>, Box<str>)>) -> Result<(), ParseError> {
        for (term, iri) in terms {
            let definition = Definition { iri: Some(iri), is_prefix: false, is_protected: false };
            self.put(&term, definition)?;
        }
        Ok(())
    }

    /// A given document, as a tree.
    fn document(&self, url: &Url) -> Result<Arc<Value>, ParseError> {
        let missing = || ParseError::Missing(url.as_str().into());
        self.documents.get(url.as_str()).cloned().ok_or_else(missing)
    }

    /// A document that is to be imported: given, or built in.
    fn importable(&self, url: &Url) -> Result<Arc<Value>, ParseError> {
        let built_in = match Edition::of_url(url.as_str()) {
            Some(edition) => edition.document(),
            None if fiware::is_url(url.as_str()) && !self.documents.contains_key(url.as_str()) => {
                fiware::document()
            }
            None => return self.document(url),
        };
        read(&built_in).map(Arc::new).map_err(ParseError::Invalid)
    }

    fn object(&mut self, members: &Map<String, Value>) -> Result<(), ParseError> {
        let imported;
        let members = match members.get("@import") {
            None => members,
            Some(import) => {
                imported = self.import(import, members)?;
                &imported
            }
        };
        self.check_version(members)?;
        let is_protected = match members.get("@protected") {
            None => false,
            Some(Value::Bool(is_protected)) => *is_protected,
            Some(other) => return self.invalid(format_args!("@protected is {other}, not true or false")),
        };
        if let Some(vocabulary) = members.get("@vocab") {
            self.vocabulary = self.read_vocabulary(vocabulary)?;
        }
        let mut local = Local { members, is_protected, done: HashSet::new(), open: Vec::new() };
        members.keys().try_for_each(|term| self.define(&mut local, term))
    }

    /// The members of an imported context, with those of the importing one over them.
    fn import(
        &mut self,
        import: &Value,
        members: &Map<String, Value>,
    ) -> Result<Map<String, Value>, ParseError> {
        let Value::String(reference) = import else {
            return self.invalid(format_args!("@import is {import}, not a URL"));
        };
        let url = self.resolve(reference)?;
        self.enter(&url)?;
        let document = self.importable(&url)?;
        let mut merged = match member(&document, "@context") {
            Some(Value::Object(imported)) if imported.contains_key("@import") => {
                return self.invalid(format_args!("@import of {url}, which imports another"));
            }
            Some(Value::Object(imported)) => imported.clone(),
            _ => return self.invalid(format_args!("@import of {url}, whose @context is no object")),
        };
        if Edition::of_url(url.as_str()).is_some() {
            // The core context alone may have scoped contexts (4.4); names have no use for them.
            for definition in merged.values_mut().filter_map(Value::as_object_mut) {
                definition.remove("@context");
            }
        }
        for (name, value) in members.iter().filter(|(name, _)| *name != "@import") {
            merged.insert(name.clone(), value.clone());
        }
        Ok(merged)
    }

    fn check_version(&self, members: &Map<String, Value>) -> Result<(), ParseError> {
        match members.get("@version") {
            None => Ok(()),
            Some(version) if version.as_f64() == Some(1.1) || version.as_str() == Some("1.1") => Ok(()),
            Some(version) => self.invalid(format_args!("@version is {version}, not 1.1")),
        }
    }

    /// The vocabulary in force from here on. A relative one extends the vocabulary before it.
    fn read_vocabulary(&self, vocabulary: &Value) -> Result<Option<Box<str>>, ParseError> {
        let text = match vocabulary {
            Value::Null => return Ok(None),
            Value::String(text) => text,
            other => return self.invalid(format_args!("@vocab is {other}, not an IRI")),
        };
        let expanded = self.expand(text);
        match expanded {
            Some(iri) if iri.contains(':') => self.check_length("@vocab", iri).map(Some),
            _ => self.invalid(format_args!("@vocab {text:?} is no IRI")),
        }
    }

    fn check_length(&self, term: &str, iri: Box<str>) -> Result<Box<str>, ParseError> {
        if iri.len() > IRI_BYTES_MAX {
            return self.invalid(format_args!("the IRI of {term:?} is longer than {IRI_BYTES_MAX} bytes"));
        }
        Ok(iri)
    }

    /// A name by the terms, prefixes and vocabulary known so far; `None`: a term that means nothing.
    fn expand(&self, name: &str) -> Option<Box<str>> {
        if is_keyword(name) {
            return Some(name.into());
        }
        if let Some(definition) = self.terms.get(name) {
            return definition.iri.clone();
        }
        if let Some((prefix, suffix)) = name.split_once(':') {
            let prefix = self.terms.get(prefix).filter(|known| known.is_prefix && !suffix.starts_with("//"));
            let whole = prefix.and_then(|known| known.iri.as_deref());
            return Some(whole.map_or_else(|| name.into(), |whole| [whole, suffix].concat().into()));
        }
        match &self.vocabulary {
            Some(vocabulary) => Some([vocabulary, name].concat().into()),
            None => Some(name.into()),
        }
    }
}

/// A member of an object.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.as_object()?.get(name)
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok()
}

/// Whether a name looks like a keyword of a later standard: `@` and letters only.
fn is_keyword_like(name: &str) -> bool {
    name.strip_prefix('@')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests;
