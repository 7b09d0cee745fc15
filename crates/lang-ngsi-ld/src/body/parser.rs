//! The state of a parse: where in the body, under which rules, and which names were new.

use std::collections::HashMap;

use lang_json::{Kind, Reader};
use model_entities::TermId;
use tenant_contexts::Names;

use super::fault::{BodyError, Fault, Outcome};
use super::name::{CORE, check_attribute_name, check_new_name, is_reserved, reserved};
use super::rules::{NULL, Rules};

/// The NGSI-LD null as it is written.
const QUOTED: &str = "\"urn:ngsi-ld:null\"";

/// Reads one body.
pub(super) struct Parser<'a> {
    body: &'a str,
    pub(super) reader: Reader<'a>,
    pub(super) names: &'a Names,
    pub(super) rules: &'a Rules,
    /// Canonical text under construction, reused from value to value.
    pub(super) scratch: String,
    unknown: HashMap<String, u32>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(body: &'a str, names: &'a Names, rules: &'a Rules) -> Self {
        let reader = Reader::new(body, rules.depth_max);
        Self { body, reader, names, rules, scratch: String::new(), unknown: HashMap::new() }
    }

    /// The end of the body, and with it the outcome.
    pub(super) fn finish<T>(mut self, outcome: Outcome<T>) -> Result<T, BodyError> {
        let ended = outcome.and_then(|found| Ok(self.reader.end().map(|()| found)?));
        let found = ended.map_err(|fault| BodyError::Refused(fault.into_error()))?;
        if self.unknown.is_empty() {
            return Ok(found);
        }
        let mut unknown: Vec<_> = self.unknown.into_iter().collect();
        unknown.sort_by_key(|(_, order)| *order);
        Err(BodyError::Unknown(unknown.into_iter().map(|(iri, _)| iri).collect()))
    }

    /// The term of a type or attribute name; a new one gets a placeholder, and is interned after the parse.
    fn term(&mut self, name: &str) -> Outcome<TermId> {
        match self.names.term(name) {
            Some(term) => Ok(term),
            None => self.new_term(name),
        }
    }

    /// The same of a type.
    pub(super) fn type_term(&mut self, name: &str) -> Outcome<TermId> {
        check_new_name(name).map_err(|error| Fault::data(format!("\"type\": {error}")))?;
        self.term(name)
    }

    /// The same of an attribute.
    pub(super) fn attribute_term(&mut self, name: &str) -> Outcome<TermId> {
        check_attribute_name(name).map_err(Fault::data)?;
        self.term(name)
    }

    /// A name that expands to a keyword of JSON-LD, or to a member of attributes, names nothing: it is never interned.
    #[cold]
    fn new_term(&mut self, name: &str) -> Outcome<TermId> {
        let iri = self.names.iri(name).into_owned();
        if iri.starts_with('@') {
            return Err(Fault::data(format!(
                "{name:?} is the JSON-LD keyword {iri:?} in this context, and cannot be a name"
            )));
        }
        if iri.strip_prefix(CORE).is_some_and(is_reserved) {
            return Err(Fault::data(reserved(name)));
        }
        let count = u32::try_from(self.unknown.len()).expect("a body has fewer names than 2^32");
        // Behind the reserved name of scopes, from the end.
        Ok(TermId(TermId::SCOPE.0 - 1 - *self.unknown.entry(iri).or_insert(count)))
    }

    /// Checks that an attribute is not shown under the name of a member that holds something else: the core vocabulary spells
    /// IRIs (`ngsi-ld:hasValue` as `value`), whatever a context calls them. `is_member`: of what the attribute belongs to.
    /// Cost: a look-up or two.
    pub(super) fn check_shown(&self, name: &str, term: TermId, is_member: fn(&str) -> bool) -> Outcome<()> {
        let spelled;
        let shown = if self.is_new(term) {
            spelled = self.names.compact_iri(&self.names.iri(name)).into_owned();
            spelled.as_str()
        } else {
            self.names.compact(term)
        };
        if shown != name && (is_reserved(shown) || is_member(shown)) {
            return Err(Fault::data(reserved(name)));
        }
        Ok(())
    }

    /// Whether a term is a placeholder.
    fn is_new(&self, term: TermId) -> bool {
        let order = TermId::SCOPE.0 - 1 - term.0.min(TermId::SCOPE.0 - 1);
        usize::try_from(order).is_ok_and(|order| order < self.unknown.len())
    }

    /// Whether a name is one of the core vocabulary's, be it written short or as an IRI.
    pub(super) fn is_core(&self, name: &str, core: &[&str]) -> bool {
        if !name.contains(':') {
            return core.contains(&name);
        }
        self.names.iri(name).strip_prefix(CORE).is_some_and(|local| core.contains(&local))
    }

    /// Passes over a value that is `null` or `urn:ngsi-ld:null`, where nulls remove.
    ///
    /// `false`: it is neither, and still unread.
    pub(super) fn removal(&mut self, member: &str) -> Outcome<bool> {
        if self.reader.peek()? != Kind::Null && !self.is_null_text()? {
            return Ok(false);
        }
        if !self.rules.nulls.remove() {
            return Err(self.refuse_null(member)?);
        }
        self.reader.skip()?;
        Ok(true)
    }

    /// Whether `urn:ngsi-ld:null` comes next. Written with escapes it is met again as a value.
    pub(super) fn is_null_text(&mut self) -> Outcome<bool> {
        let is_text = self.reader.peek()? == Kind::String;
        let rest = self.body.get(self.reader.position()..).filter(|_| is_text);
        Ok(rest.is_some_and(|rest| rest.starts_with(QUOTED)))
    }

    #[cold]
    pub(super) fn refuse_null(&mut self, member: &str) -> Outcome<Box<Fault>> {
        let text = if self.reader.peek()? == Kind::Null { "null" } else { NULL };
        Ok(Fault::data(format!("{member:?} must not be {text} here")))
    }

    /// Says what a member must be, and what comes instead.
    #[cold]
    pub(super) fn expected(&mut self, member: &str, expected: &str) -> Box<Fault> {
        match self.reader.raw() {
            Ok(found) => Fault::expected(member, expected, found),
            Err(error) => error.into(),
        }
    }

    /// A string member.
    pub(super) fn text(&mut self, member: &str) -> Outcome<std::borrow::Cow<'a, str>> {
        if self.reader.peek()? != Kind::String {
            return Err(self.expected(member, "a string"));
        }
        Ok(self.reader.string()?)
    }

    /// A member that holds one string or an array of strings, not empty.
    pub(super) fn texts(
        &mut self,
        member: &str,
        mut each: impl FnMut(&mut Self, &str) -> Outcome<()>,
    ) -> Outcome<()> {
        match self.reader.peek()? {
            Kind::String => {
                let text = self.reader.string()?;
                each(self, &text)
            }
            Kind::Array => {
                self.reader.begin_array()?;
                let mut empty = true;
                while self.reader.next_element()? {
                    let text = self.text(member)?;
                    each(self, &text)?;
                    empty = false;
                }
                if empty {
                    Err(Fault::data(format!("{member:?} must not be an empty array")))
                } else {
                    Ok(())
                }
            }
            _ => Err(self.expected(member, "a string or an array of strings")),
        }
    }

    /// A date-time member.
    pub(super) fn time(&mut self, member: &str) -> Outcome<model_entities::Timestamp> {
        let text = self.text(member)?;
        super::time::parse_time(&text).ok_or_else(|| {
            Fault::data(format!(
                "{member:?} must be a date-time in UTC such as 2023-04-01T12:00:00Z, with at most six decimals, not {text:?}"
            ))
        })
    }
}
