//! The form of names, URIs, scopes and language tags.

use super::slot::{Slot, previous_slot};

/// Checks the name of a type or attribute: a short name, `prefix:name`, or an IRI (4.6.2).
/// Cost: linear in the name.
///
/// # Errors
///
/// What is wrong, as the end of a sentence.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.bytes().all(plain) && !name.is_empty() {
        return Ok(());
    }
    if name.is_empty() {
        return Err("a name must not be empty".to_owned());
    }
    let bad = if name.contains(':') {
        name.chars().find(|found| !is_iri_char(*found))
    } else {
        name.chars().find(|found| !found.is_alphanumeric() && !matches!(found, '_' | '-' | '.'))
    };
    match bad {
        Some(found) => Err(format!("name {name:?} holds {found:?}, which no name can")),
        None => Ok(()),
    }
}

/// The namespace of the core vocabulary.
pub(super) const CORE: &str = "https://uri.etsi.org/ngsi-ld/";

/// Checks a name that is written: a short one begins with a letter (4.6.2), or with `_`. Names that are stored already are
/// found by [`check_name`]. Cost: linear in the name.
///
/// # Errors
///
/// What is wrong, as the end of a sentence.
pub(super) fn check_new_name(name: &str) -> Result<(), String> {
    check_name(name)?;
    if name.contains(':') || name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return Ok(());
    }
    Err(format!("name {name:?} must begin with a letter"))
}

/// Checks the name of an attribute that is written: a short one has no dot (4.6.2), which in queries begins a
/// sub-attribute (4.9). Cost: linear in the name.
///
/// # Errors
///
/// What is wrong, as the end of a sentence.
pub(crate) fn check_attribute_name(name: &str) -> Result<(), String> {
    check_new_name(name)?;
    if name.contains('.') && !name.contains(':') {
        return Err(format!(
            "name {name:?} holds '.', which only IRIs can: in queries it begins a sub-attribute"
        ));
    }
    if is_reserved(name) { Err(reserved(name)) } else { Ok(()) }
}

/// Whether the core vocabulary has this as a member that holds a bare value, so that no attribute can have the name (4.5.1).
pub(super) fn is_reserved(name: &str) -> bool {
    is_made_by_brokers(name)
        || matches!(
            name,
            "datasetId"
                | "entity"
                | "entityList"
                | "expiresAt"
                | "objectType"
                | "observedAt"
                | "unitCode"
                | "valueType"
        )
}

/// Says that a name is reserved.
pub(super) fn reserved(name: &str) -> String {
    format!("{name:?} is a member of the core vocabulary, and cannot be the name of an attribute or type")
}

/// Whether a member of an attribute has this name, so that no sub-attribute can.
pub(crate) fn is_attribute_member(name: &str) -> bool {
    Slot::of(name).is_some()
        || is_made_by_brokers(name)
        || matches!(
            name,
            "id" | "type"
                | "entity"
                | "entityList"
                | "observedAt"
                | "unitCode"
                | "datasetId"
                | "expiresAt"
                | "objectType"
                | "valueType"
                | "ngsildproof"
        )
}

/// Whether a broker alone makes the member of this name of an attribute.
fn is_made_by_brokers(name: &str) -> bool {
    is_stamp(name) || previous_slot(name).is_some()
}

/// Whether a broker alone makes the member of this name of any attribute: what is sent is passed over (5.2.2).
pub(super) fn is_stamp(name: &str) -> bool {
    matches!(name, "createdAt" | "modifiedAt" | "deletedAt" | "instanceId")
}

/// Whether an IRI can have a character (RFC 3987, written as it is sent).
fn is_iri_char(found: char) -> bool {
    found > ' '
        && !matches!(found, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`' | '\u{7f}'..='\u{a0}')
        && !found.is_whitespace()
}

/// Whether `text` has the form of a URI or IRI: a scheme, `:`, and something behind.
/// Cost: linear in the text.
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_char = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_' | b'.' | b'/' | b'#');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(scheme_char)
        && !rest.is_empty()
        && (rest.bytes().all(plain) || rest.chars().all(is_iri_char))
}

/// Checks a URI.
///
/// # Errors
///
/// What is wrong, as the end of a sentence that names the member.
pub fn check_uri(text: &str) -> Result<(), String> {
    if is_uri(text) { Ok(()) } else { Err(format!("{text:?} is not a URI")) }
}

/// A scope (4.18) with its leading `/`, or `None` if it is none.
pub(crate) fn scope(text: &str) -> Option<Box<str>> {
    let levels = text.strip_prefix('/').unwrap_or(text);
    if !levels.split('/').all(is_scope_level) {
        return None;
    }
    Some(if levels.len() == text.len() { format!("/{text}").into() } else { text.into() })
}

/// Whether `text` is one level of a scope (4.18): a letter, then letters, digits and `_`.
pub(crate) fn is_scope_level(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) && text.chars().all(|found| found.is_alphanumeric() || found == '_')
}

/// Whether `text` has the form of a language tag (RFC 5646), or is `@none`.
pub fn is_language_tag(text: &str) -> bool {
    text == "@none"
        || text.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_or_iris() {
        for name in
            ["name", "timed-entity", "größe", "温度", "fiware:name", "https://a.example/ns#b", "a.b", "_x"]
        {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for (name, found) in [
            ("a b", "' '"),
            ("a<b", "'<'"),
            ("a(b)", "'('"),
            ("a=b", "'='"),
            ("a;b", "';'"),
            ("x:a b", "' '"),
            ("a\"b", "'\"'"),
        ] {
            let error = check_name(name).unwrap_err();
            assert!(error.contains(&format!("holds {found}")), "{error}");
        }
        assert_eq!(check_name("").unwrap_err(), "a name must not be empty");
    }

    #[test]
    fn dots_stand_in_iris_only() {
        for name in ["a", "x:a.b", "https://a.example/ns#v1.2"] {
            assert_eq!(check_attribute_name(name), Ok(()), "{name}");
        }
        for name in ["a.b", "a."] {
            assert!(check_attribute_name(name).unwrap_err().contains("holds '.'"), "{name}");
        }
    }

    #[test]
    fn uris_have_a_scheme_and_no_space() {
        for uri in ["urn:ngsi-ld:Entity:1", "http://a/b?c=d#e", "a:b", "urn:x:(ä)", "https://例え.jp/"] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in
            ["", "a", ":b", "urn:", "1a:b", "urn:a b", "urn:a\nb", "ürn:a", "urn:<a>", "urn:a\u{2003}"]
        {
            assert!(!is_uri(text), "{text}");
        }
    }

    #[test]
    fn scopes_get_a_leading_slash() {
        assert_eq!(scope("Madrid").as_deref(), Some("/Madrid"));
        assert_eq!(scope("/Madrid/Gardens").as_deref(), Some("/Madrid/Gardens"));
        assert_eq!(scope("/größe/a_1").as_deref(), Some("/größe/a_1"));
        for text in
            ["", "/", "//a", "/a/", "/a b", "/+", "/#", "/a/#", "/9a", "/a-b", "/_a", "urn:ngsi-ld:null"]
        {
            assert_eq!(scope(text), None, "{text}");
        }
    }

    #[test]
    fn language_tags_are_short_parts() {
        assert!(is_language_tag("en") && is_language_tag("de-CH-1996") && is_language_tag("@none"));
        assert!(
            !is_language_tag("")
                && !is_language_tag("en_US")
                && !is_language_tag("ninechars")
                && !is_language_tag("*")
        );
    }
}
