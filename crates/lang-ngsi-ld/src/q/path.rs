//! Paths in queries: attributes, sub-attributes, members of values, linked entities.

use model_entities::{LinkedPath, Meta, Path, TermId};
use tenant_contexts::Names;

use super::{Cursor, DEPTH_MAX};
use crate::body::{check_name, is_attribute_member};
use crate::error::Error;

/// The namespace of the core vocabulary.
const CORE: &str = "https://uri.etsi.org/ngsi-ld/";

/// Reads a path: `attr.sub[member.member]`, `relationship{Type:path}`.
///
/// # Errors
///
/// [`Error::Invalid`] says what was expected where.
pub fn parse_path(cursor: &mut Cursor<'_>, names: &Names, depth: usize) -> Result<Path, Error> {
    if depth >= DEPTH_MAX {
        return Err(Error::TooComplex(format!("a path nests more than {DEPTH_MAX} deep")));
    }
    let mut path = match bracketed_iri(cursor)? {
        Some(iri) => named(cursor, iri, names)?,
        None => {
            let word = cursor.word();
            if word.is_empty() {
                return Err(cursor.expected("an attribute name"));
            }
            named(cursor, word, names)?
        }
    };
    while cursor.eat('[') {
        trailing(cursor, &mut path)?;
    }
    if path.json.is_empty() && cursor.eat('{') {
        let types = types(cursor, names)?;
        path.linked = Some(Box::new(LinkedPath { types, path: parse_path(cursor, names, depth + 1)? }));
        if !cursor.eat('}') {
            return Err(cursor.expected("\"}\""));
        }
    }
    Ok(path)
}

/// Whether values of this member are times.
pub(super) fn is_time(meta: Meta) -> bool {
    match meta {
        Meta::CreatedAt | Meta::ModifiedAt | Meta::ObservedAt => true,
        Meta::UnitCode | Meta::DatasetId => false,
    }
}

/// `<iri>`
fn bracketed_iri<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a str>, Error> {
    if !cursor.eat('<') {
        return Ok(None);
    }
    let end = cursor.rest().find('>');
    let Some(end) = end else { return Err(cursor.expected("an IRI and \">\"")) };
    let iri = cursor.take(end);
    cursor.eat('>');
    Ok(Some(iri))
}

/// The path of dotted names that `word` holds.
fn named(cursor: &Cursor<'_>, word: &str, names: &Names) -> Result<Path, Error> {
    let (first, rest) = split_name(word, names);
    let mut path = Path {
        attribute: names.term(first),
        members: Vec::new(),
        meta: None,
        json: Vec::new(),
        linked: None,
    };
    let check = |name: &str| check_name(name).map_err(|error| cursor.wrong(&format!("{word:?}: {error}")));
    check(first)?;
    entity_member(first).map_or(Ok(()), |why| Err(cursor.wrong(&why)))?;
    let Some(rest) = rest else {
        path.meta = entity_meta(first);
        return Ok(path);
    };
    let mut members = rest.split('.').peekable();
    while let Some(name) = members.next() {
        check(name)?;
        match meta(name).filter(|_| members.peek().is_none()) {
            // Without an attribute the member would be the entity's; a name that is nowhere used has none.
            Some(meta) => path.meta = path.attribute.map(|_| meta),
            None if is_attribute_member(name.strip_prefix(CORE).unwrap_or(name)) => {
                return Err(cursor.wrong(&attribute_member(word, name)));
            }
            None => path.members.push(names.term(name)),
        }
    }
    Ok(path)
}

/// The attribute's name at the start of a dotted word, and the names behind it. An IRI may hold
/// dots: the longest name in use counts, or else, in a whole IRI, all of it.
fn split_name<'a>(word: &'a str, names: &Names) -> (&'a str, Option<&'a str>) {
    let local = word.rfind(['/', '#', ':']).map_or(0, |at| at + 1);
    if local > 0 {
        let mut end = word.len();
        loop {
            let (first, rest) = word.split_at(end);
            if names.term(first).is_some() {
                return (first, rest.strip_prefix('.'));
            }
            match first.rfind('.').filter(|dot| *dot > local) {
                Some(dot) => end = dot,
                None => break,
            }
        }
        if word.contains("//") || word.starts_with("urn:") {
            return (word, None);
        }
    }
    match word.get(local..).and_then(|word| word.find('.')) {
        Some(dot) => {
            let (first, rest) = word.split_at(local + dot);
            (first, rest.strip_prefix('.'))
        }
        None => (word, None),
    }
}

/// `member.member]`, members of the value.
fn trailing(cursor: &mut Cursor<'_>, path: &mut Path) -> Result<(), Error> {
    let Some(end) = cursor.rest().find(']') else { return Err(cursor.expected("a member and \"]\"")) };
    let inner = cursor.rest().get(..end).expect("a bracket was found there");
    for member in inner.split('.').map(str::trim) {
        if member.is_empty() {
            return Err(cursor.expected("a member's name"));
        }
        path.json.push(member.into());
    }
    cursor.take(end);
    cursor.eat(']');
    Ok(())
}

/// The types of `Type,Type:` in front of a path in a linked entity; none where there is no such thing.
fn types(cursor: &mut Cursor<'_>, names: &Names) -> Result<Vec<Option<TermId>>, Error> {
    let mut types = Vec::new();
    loop {
        let mut look = cursor.clone();
        let word = look.word();
        if look.eat(',') {
            check_name(word).map_err(|error| cursor.wrong(&error))?;
            types.push(names.term(word));
            *cursor = look;
            continue;
        }
        let colon =
            word.rfind(':').filter(|at| !word.get(at + 1..).is_none_or(|name| name.starts_with("//")));
        // A prefix of a name that is in use is no type, unless types came before it.
        let is_name = types.is_empty() && names.term(word).is_some();
        let Some(colon) = colon.filter(|_| !is_name) else {
            return if types.is_empty() {
                Ok(types)
            } else {
                Err(cursor.expected("a type, \":\" and a path"))
            };
        };
        cursor.rest();
        let name = cursor.take(colon);
        check_name(name).map_err(|error| cursor.wrong(&error))?;
        types.push(names.term(name));
        cursor.eat(':');
        return Ok(types);
    }
}

fn meta(name: &str) -> Option<Meta> {
    Some(match name.strip_prefix(CORE).unwrap_or(name) {
        "createdAt" => Meta::CreatedAt,
        "modifiedAt" => Meta::ModifiedAt,
        "observedAt" => Meta::ObservedAt,
        "unitCode" => Meta::UnitCode,
        "datasetId" => Meta::DatasetId,
        _ => return None,
    })
}

/// Why a member of entities, which is no attribute, cannot be asked for; `None` if the name is none.
fn entity_member(name: &str) -> Option<String> {
    let instead = match name.strip_prefix(CORE).unwrap_or(name) {
        "id" | "@id" => "the parameters id and idPattern choose by it",
        "type" | "@type" => "the parameter type chooses by it",
        "scope" => "the parameter scopeQ chooses by it",
        "expiresAt" => "nothing chooses by it",
        _ => return None,
    };
    Some(format!("{name:?} is a member of the entity, not an attribute; {instead}"))
}

/// Why a member of an attribute that is no sub-attribute cannot be asked for.
fn attribute_member(word: &str, name: &str) -> String {
    format!(
        "{word:?}: {name:?} is a member of the attribute, not a sub-attribute; of members only createdAt, modifiedAt, \
         observedAt, unitCode and datasetId can be compared, at the end of a path, and the value by the attribute's name"
    )
}

/// The member of an entity, not of an attribute, that a name alone is.
fn entity_meta(name: &str) -> Option<Meta> {
    meta(name).filter(|meta| matches!(meta, Meta::CreatedAt | Meta::ModifiedAt))
}
