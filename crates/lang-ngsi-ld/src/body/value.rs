//! The value of an instance: the member that holds it, and what each kind of attribute asks of it.

use lang_json::{Kind as Json, elements, member, members, string_value, write_string};
use model_entities::Kind;

use super::fault::{Fault, Outcome};
use super::geometry::{is_geometry, read_geometry};
use super::name::{check_uri, is_language_tag};
use super::parser::Parser;
use super::rules::{NULL, Nulls, asks_removal};
use super::slot::Slot;

impl Parser<'_> {
    /// The next value as canonical text. Cost: one allocation of exactly its length.
    pub(super) fn value_text(&mut self) -> Outcome<Box<str>> {
        match self.reader.peek()? {
            Json::Number => return Ok(self.reader.finite_number()?.into()),
            Json::Bool | Json::Null => return Ok(self.reader.raw()?.into()),
            Json::String | Json::Array | Json::Object => {}
        }
        self.scratch.clear();
        self.reader.canonical(&mut self.scratch)?;
        Ok(self.scratch.as_str().into())
    }

    /// Checks the value of an attribute of `kind`, and gives it as it is stored: vocabulary
    /// expanded, lists of objects as lists of URIs.
    pub(super) fn checked(&mut self, kind: Kind, slot: &str, value: Box<str>) -> Outcome<Box<str>> {
        self.check_nulls(kind, slot, &value)?;
        match kind {
            Kind::Property => Ok(value),
            Kind::JsonProperty => check_json(&value).map(|()| value),
            Kind::GeoProperty => self.geometry(slot, value),
            Kind::Relationship => check_objects(&value).map(|()| value),
            Kind::LanguageProperty => self.check_language_map(&value).map(|()| value),
            Kind::VocabProperty => self.expanded(slot, &value),
            Kind::ListProperty if value.starts_with('[') => Ok(value),
            Kind::ListProperty => Err(Fault::expected("valueList", "an array", &value)),
            Kind::ListRelationship => object_list(&value),
        }
    }

    /// JSON null is no value; the NGSI-LD null within a value is one only where nulls remove.
    fn check_nulls(&self, kind: Kind, slot: &str, value: &str) -> Outcome<()> {
        if asks_removal(value, Nulls::Refused).is_none() || value == "null" {
            let null = if value == "null" { "null" } else { NULL };
            return Err(Fault::data(format!("{slot:?} must not be {null} here")));
        }
        if kind == Kind::JsonProperty || !holds_null(value) {
            return Ok(());
        }
        if self.rules.nulls != Nulls::Merges {
            return Err(Fault::data(format!("{slot:?} must not hold {NULL} here")));
        }
        if in_array(value) {
            return Err(Fault::data(format!("{slot:?} must not hold {NULL} in an array")));
        }
        Ok(())
    }

    /// A geometry, or the JSON text of one (4.7.2), as the object that it is.
    fn geometry(&self, slot: &str, value: Box<str>) -> Outcome<Box<str>> {
        let wrong = |error: String| Fault::data(format!("{slot:?}: {error}"));
        let Some(text) = string_value(&value) else {
            return read_geometry(&value).map(|_| value).map_err(wrong);
        };
        let object = lang_json::canonical(&text, self.rules.depth_max).map_err(|error| {
            wrong(format!("as a text it must be the JSON of a GeoJSON geometry: {error}"))
        })?;
        read_geometry(&object).map_err(wrong)?;
        Ok(object.into())
    }

    fn check_language_map(&self, value: &str) -> Outcome<()> {
        if !value.starts_with('{') {
            return Err(Fault::expected("languageMap", "an object of texts by language tag", value));
        }
        for (tag, text) in members(value) {
            if !is_language_tag(&tag) {
                return Err(Fault::data(format!("\"languageMap\": {tag:?} is not a language tag")));
            }
            let texts = text.starts_with('"')
                || text.starts_with('[') && elements(text).all(|text| text.starts_with('"'))
                || text == "null" && self.rules.nulls == Nulls::Merges;
            if !texts {
                return Err(Fault::data(format!(
                    "\"languageMap\": {tag:?} must be a string or an array of strings, not {text}"
                )));
            }
        }
        // An empty map is what a merge leaves that removes the last language.
        Ok(())
    }

    /// A canonical string or array of strings with each string expanded to an IRI.
    pub(super) fn expanded(&self, slot: &str, value: &str) -> Outcome<Box<str>> {
        let wrong = || Fault::expected(slot, "a string or an array of strings", value);
        let expand = |out: &mut String, text: &str| -> Outcome<()> {
            let name = string_value(text).filter(|name| !name.is_empty()).ok_or_else(wrong)?;
            if name == NULL {
                out.push_str(text);
            } else {
                write_string(out, &self.names.iri(&name));
            }
            Ok(())
        };
        let mut out = String::with_capacity(value.len() + 48);
        if !value.starts_with('[') {
            expand(&mut out, value)?;
            return Ok(out.into());
        }
        for text in elements(value) {
            out.push(if out.is_empty() { '[' } else { ',' });
            expand(&mut out, text)?;
        }
        if out.is_empty() {
            return Err(Fault::data(format!("{slot:?} must not be an empty array")));
        }
        out.push(']');
        Ok(out.into())
    }
}

/// The kind of an attribute that does not say it, by the slot and the value found there.
pub(super) fn inferred_kind(slot: Slot, value: &str) -> Kind {
    if slot == Slot::Value && is_geometry(value) { Kind::GeoProperty } else { slot.kind() }
}

/// An object, or an array of objects (4.5.24).
fn check_json(value: &str) -> Outcome<()> {
    let fits = value.starts_with('{')
        || value.starts_with('[') && elements(value).all(|element| element.starts_with('{'));
    if fits { Ok(()) } else { Err(Fault::expected("json", "an object or an array of objects", value)) }
}

/// Whether the NGSI-LD null is somewhere within a value.
fn holds_null(value: &str) -> bool {
    value.starts_with(['{', '[']) && memchr::memmem::find(value.as_bytes(), b"\"urn:ngsi-ld:null\"").is_some()
}

/// Whether one of the NGSI-LD nulls within a value is in an array, which no merge reaches.
fn in_array(value: &str) -> bool {
    if value.starts_with('{') {
        return members(value).any(|(_, value)| in_array(value));
    }
    holds_null(value)
}

/// A URI or a non-empty array of URIs.
fn check_objects(value: &str) -> Outcome<()> {
    if value.starts_with('"') {
        return check_object(value);
    }
    if !value.starts_with('[') {
        return Err(Fault::expected("object", "a URI or an array of URIs", value));
    }
    if value == "[]" {
        return Err(Fault::data("\"object\" must not be an empty array"));
    }
    elements(value).try_for_each(check_object)
}

fn check_object(text: &str) -> Outcome<()> {
    let uri =
        string_value(text).ok_or_else(|| Fault::expected("object", "a URI or an array of URIs", text))?;
    check_uri(&uri).map_err(|error| Fault::data(format!("\"object\": {error}")))
}

/// An array of URIs, or of objects that hold one as `object`, as an array of URIs.
fn object_list(value: &str) -> Outcome<Box<str>> {
    if !value.starts_with('[') {
        return Err(Fault::expected("objectList", "an array", value));
    }
    let mut out = String::with_capacity(value.len());
    for element in elements(value) {
        out.push(if out.is_empty() { '[' } else { ',' });
        let uri = if element.starts_with('{') { member(element, "object") } else { Some(element) };
        let uri = uri.filter(|uri| uri.starts_with('"'));
        let uri =
            uri.ok_or_else(|| Fault::data("\"objectList\" must hold URIs, or objects with an \"object\""))?;
        check_object(uri).map_err(|_| Fault::data(format!("\"objectList\": {uri} is not a URI")))?;
        out.push_str(uri);
    }
    if out.is_empty() {
        out.push('[');
    }
    out.push(']');
    Ok(out.into())
}
