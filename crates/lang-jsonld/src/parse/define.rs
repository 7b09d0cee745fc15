//! The definitions of terms in a context object.

use serde_json::{Map, Value};

use super::{Builder, Definition, Local, ParseError, is_keyword, is_keyword_like};

/// The most definitions that lean on one another (`a` on prefix `b`, `b` on prefix `c`, ...).
pub(super) const DEFINITIONS_DEPTH_MAX: usize = 32;
/// The most definitions read for one context, those of documents that are read again counted again.
pub(super) const DEFINITIONS_MAX: usize = 400_000;
/// The most terms of one context.
pub(super) const TERMS_MAX: usize = 100_000;

/// Keywords that may be members of a context object.
const CONTEXT_MEMBERS: [&str; 9] = [
    "@base",
    "@direction",
    "@import",
    "@language",
    "@propagate",
    "@protected",
    "@type",
    "@version",
    "@vocab",
];

/// What `@container` can be.
const CONTAINERS: [&str; 7] = ["@graph", "@id", "@index", "@language", "@list", "@set", "@type"];

/// What the IRI of a prefix ends with, unless `@prefix` says that it is one.
const PREFIX_ENDS: [char; 7] = [':', '/', '?', '#', '[', ']', '@'];

impl Builder<'_> {
    /// Defines a term of a context object, and first those that it leans on.
    pub(super) fn define<'l>(&mut self, local: &mut Local<'l>, term: &'l str) -> Result<(), ParseError> {
        let Some(value) = local.members.get(term).filter(|_| !local.done.contains(term)) else {
            return Ok(());
        };
        if is_keyword(term) && !CONTEXT_MEMBERS.contains(&term) {
            return self.invalid(format_args!("{term} cannot be redefined"));
        }
        if term.is_empty() {
            return self.invalid("a term is empty");
        }
        if is_keyword(term) || is_keyword_like(term) {
            return Ok(());
        }
        if local.open.contains(&term) {
            return self.invalid(format_args!("terms are defined by each other: {}", local.open.join(", ")));
        }
        if local.open.len() >= DEFINITIONS_DEPTH_MAX {
            return self.invalid(format_args!("more than {DEFINITIONS_DEPTH_MAX} terms lean on each other"));
        }
        local.open.push(term);
        let definition = self.definition(local, term, value)?;
        local.open.pop();
        local.done.insert(term);
        self.put(term, definition)
    }

    /// Defines a name, or its prefix, if this context object has it.
    fn define_used<'l>(&mut self, local: &mut Local<'l>, name: &str) -> Result<(), ParseError> {
        // What begins like `http://` is an IRI, whatever terms there are.
        let prefix = match name.split_once(':') {
            Some((prefix, rest)) if !rest.starts_with("//") => prefix,
            _ => name,
        };
        for name in [name, prefix] {
            if let Some((term, _)) = local.members.get_key_value(name) {
                self.define(local, term)?;
            }
        }
        Ok(())
    }

    /// What the definition `value` of `term` says.
    fn definition<'l>(
        &mut self,
        local: &mut Local<'l>,
        term: &'l str,
        value: &'l Value,
    ) -> Result<Definition, ParseError> {
        let mut is_protected = local.is_protected;
        let mut is_prefix = None;
        let id = match value {
            Value::Null => return Ok(Definition { iri: None, is_prefix: false, is_protected }),
            Value::String(id) => Some(id.as_str()),
            Value::Object(members) => {
                is_protected = self.flag(term, members, "@protected")?.unwrap_or(is_protected);
                is_prefix = Some(self.flag(term, members, "@prefix")?.unwrap_or(false));
                self.check_coercions(term, members)?;
                if members.contains_key("@context") {
                    return self.invalid(format_args!(
                        "{term:?} has a scoped @context, which only the core context may have (5.5.7)"
                    ));
                }
                match members.get("@id") {
                    // A reverse property is none of the entity's own: nothing can be stored under it.
                    _ if members.contains_key("@reverse") => {
                        return Ok(Definition { iri: None, is_prefix: false, is_protected });
                    }
                    Some(Value::Null) => return Ok(Definition { iri: None, is_prefix: false, is_protected }),
                    Some(Value::String(id)) => Some(id.as_str()),
                    None => None,
                    Some(other) => {
                        return self.invalid(format_args!("the @id of {term:?} is {other}, not an IRI"));
                    }
                }
            }
            other => {
                return self
                    .invalid(format_args!("the definition of {term:?} is {other}, not an IRI or an object"));
            }
        };
        let iri = self.iri(local, term, id)?;
        let is_prefix = !term.contains([':', '/'])
            && iri.as_ref().is_some_and(|iri| is_prefix.unwrap_or_else(|| iri.ends_with(PREFIX_ENDS)));
        Ok(Definition { iri, is_prefix, is_protected })
    }

    /// A member of a term's definition that is true or false.
    fn flag(&self, term: &str, members: &Map<String, Value>, name: &str) -> Result<Option<bool>, ParseError> {
        match members.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => self.invalid(format_args!("{name} of {term:?} is {other}, not true or false")),
        }
    }

    /// The coercions of a term, which are checked for shape only.
    fn check_coercions(&self, term: &str, members: &Map<String, Value>) -> Result<(), ParseError> {
        match members.get("@type") {
            None | Some(Value::String(_) | Value::Null) => {}
            Some(other) => return self.invalid(format_args!("the @type of {term:?} is {other}, not an IRI")),
        }
        let known = |value: &Value| value.as_str().is_some_and(|name| CONTAINERS.contains(&name));
        match members.get("@container") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(containers)) if containers.iter().all(known) => Ok(()),
            Some(container) if known(container) => Ok(()),
            Some(other) => self.invalid(format_args!("the @container of {term:?} is {other}, which is none")),
        }
    }

    /// The IRI of a term: by its `@id`, its prefix, or the vocabulary. `None`: it stands for a keyword.
    fn iri<'l>(
        &mut self,
        local: &mut Local<'l>,
        term: &'l str,
        id: Option<&'l str>,
    ) -> Result<Option<Box<str>>, ParseError> {
        let iri = match id.filter(|id| *id != term) {
            Some("@context") => return self.invalid(format_args!("{term:?} stands for @context")),
            // Aliases other than the core context's own (id, type) are names like any other.
            Some(id) if is_keyword(id) || is_keyword_like(id) => return Ok(None),
            Some(id) => {
                self.define_used(local, id)?;
                self.expand(id)
            }
            None => match term.split_once(':').filter(|(prefix, _)| !prefix.is_empty()) {
                Some((prefix, suffix)) => {
                    self.define_used(local, prefix)?;
                    let whole = self.terms.get(prefix).and_then(|known| known.iri.as_deref());
                    Some(whole.map_or_else(|| term.into(), |whole| [whole, suffix].concat().into()))
                }
                None => self.vocabulary.as_ref().map(|vocabulary| [vocabulary, term].concat().into()),
            },
        };
        match iri {
            Some(iri) if iri.contains(':') => self.check_length(term, iri).map(Some),
            Some(iri) => self.invalid(format_args!("{term:?} stands for {iri:?}, which is no IRI")),
            None => self.invalid(format_args!("{term:?} has no IRI: neither an @id nor an @vocab")),
        }
    }

    /// Adds a definition.
    pub(super) fn put(&mut self, term: &str, definition: Definition) -> Result<(), ParseError> {
        if let Some(known) = self.terms.get(term)
            && known.is_protected
            && known.iri != definition.iri
        {
            return self.invalid(format_args!("the term {term:?} is protected and cannot be redefined"));
        }
        self.definitions += 1;
        if self.definitions > DEFINITIONS_MAX {
            return self
                .invalid(format_args!("more than {DEFINITIONS_MAX} definitions, repeated ones included"));
        }
        if self.terms.len() >= TERMS_MAX && !self.terms.contains_key(term) {
            return self.invalid(format_args!("more than {TERMS_MAX} terms"));
        }
        self.terms.insert(term.into(), definition);
        Ok(())
    }
}
