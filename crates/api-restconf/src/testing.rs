//! Doors for fuzzing: readers of paths and parameters, which are private. Not part of the API.

use lang_yang::Schema;

use crate::fields::{Selection, parse_fields};
use crate::identifier::parse_identifier;
use crate::library::library_schema;
use crate::media::Form;
use crate::params::parse_depth;
use crate::patch::{NAMESPACE, parse_patch};
use crate::place::ErrorPath;
use crate::target::Target;

/// Reads the path of a resource under a schema, writes what it means, and reads that again; whether it means anything.
///
/// # Panics
///
/// If what is written is not read, or means something else.
pub fn path(text: &str) -> bool {
    let schema: &Schema = library_schema();
    let Ok(segments) = parse_identifier(text) else { return false };
    let Ok(target) = Target::of(schema, &segments) else { return false };
    let mut url = String::new();
    target.put_url(&mut url, schema);
    let again = parse_identifier(&url).expect("what is written is a path");
    assert_eq!(Target::of(schema, &again).ok(), Some(target), "{url}");
    true
}

/// Reads an expression of fields; whether it means anything.
pub fn fields(text: &str) -> bool {
    let schema = library_schema();
    parse_fields(text).is_ok_and(|fields| Selection::of(schema, None, &fields).is_ok())
}

/// Reads how many levels are asked for: `None` if the text says nothing, `Some(None)` for all.
pub fn depth(text: &str) -> Option<Option<u16>> {
    parse_depth(text).ok()
}

/// Reads a list of edits in both forms; whether it is one.
///
/// # Panics
///
/// If a value of XML cannot be sent as the value of a patch again.
pub fn patch(bytes: &[u8]) -> bool {
    const DEPTH_MAX: usize = 16;
    let json = parse_patch(Form::Json, bytes, DEPTH_MAX);
    let xml = parse_patch(Form::Xml, bytes, DEPTH_MAX);
    for value in xml.iter().flat_map(|patch| &patch.edits).filter_map(|edit| edit.value.as_ref()) {
        let again = format!(
            "<p:yang-patch xmlns:p=\"{NAMESPACE}\"><p:patch-id/><p:edit><p:edit-id/><p:operation>merge</p:operation>\
             <p:target>/</p:target><p:value>{value}</p:value></p:edit></p:yang-patch>"
        );
        assert!(parse_patch(Form::Xml, again.as_bytes(), DEPTH_MAX).is_ok(), "{value}");
    }
    json.is_ok() || xml.is_ok()
}

/// Spells a place in the data for XML.
pub fn place(text: &str) -> String {
    ErrorPath::of(library_schema(), text.to_owned()).for_xml()
}
