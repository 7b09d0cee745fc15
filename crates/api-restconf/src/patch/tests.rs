//! Patches in both forms, and what is none.

use super::*;

const JSON: &str = r#"{"ietf-yang-patch:yang-patch":{"patch-id":"p","comment":"c","edit":[
  {"edit-id":"1","operation":"insert","target":"/song=1","where":"before","point":"/song=2","value":{"song":[{"index":1}]}},
  {"edit-id":"2","operation":"remove","target":"/"}]}}"#;

const XML: &str = r#"<?xml version="1.0"?><p:yang-patch xmlns:p="urn:ietf:params:xml:ns:yang:ietf-yang-patch" xmlns="urn:a" xmlns:x="urn:x">
  <p:patch-id>p</p:patch-id> <!-- c --> <p:comment/>
  <p:edit><p:edit-id>1</p:edit-id><p:operation>insert</p:operation><p:target>/song=a&amp;b</p:target><p:where>before</p:where>
    <p:point>/song=2</p:point><p:value> <song xmlns:x="urn:y" a="1"><id>x:i</id></song> </p:value></p:edit>
</p:yang-patch>"#;

fn parse(form: Form, text: &str) -> Result<Patch, Problem> {
    parse_patch(form, text.as_bytes(), 32)
}

#[test]
fn edits_have_what_they_need() {
    let Patch { id, edits } = parse(Form::Json, JSON).unwrap();
    assert_eq!((&*id, edits.len()), ("p", 2));
    assert_eq!((&*edits[0].id, edits[0].operation, &*edits[0].target), ("1", Operation::Insert, "/song=1"));
    assert_eq!(edits[0].insert(), Some(Insert::Before("/song=2")));
    assert_eq!(edits[0].value.as_deref(), Some(r#"{"song":[{"index":1}]}"#));
    assert_eq!((edits[1].operation, edits[1].insert(), &edits[1].value), (Operation::Remove, None, &None));
}

#[test]
fn values_keep_their_namespaces() {
    let Patch { id, edits } = parse(Form::Xml, XML).unwrap();
    assert_eq!((&*id, edits.len(), &*edits[0].target), ("p", 1, "/song=a&b"));
    let value = edits[0].value.as_deref().unwrap();
    assert!(value.starts_with("<song ") && value.ends_with(" a=\"1\"><id>x:i</id></song>"), "{value}");
    assert!(value.contains(" xmlns=\"urn:a\"") && value.contains(" xmlns:x=\"urn:y\""), "{value}");
    assert!(!value.contains("urn:x\""), "{value}");
}

fn check_refused(form: Form, text: &str, (tag, expected): (Tag, &str)) {
    let problem = parse(form, text).expect_err(text);
    assert!(problem.message.contains(expected), "{text}: {}", problem.message);
    assert_eq!(problem.tag, tag, "{text}");
}

fn edit(members: &str) -> String {
    format!(r#"{{"ietf-yang-patch:yang-patch":{{"patch-id":"p","edit":[{{{members}}}]}}}}"#)
}

#[test]
fn what_is_no_patch_is_refused() {
    let json = |text: &str, tag, expected| check_refused(Form::Json, text, (tag, expected));
    json("{}", Tag::MalformedMessage, "the one member \"ietf-yang-patch:yang-patch\"");
    json("{", Tag::MalformedMessage, "the body: ");
    json(r#"{"ietf-yang-patch:yang-patch":{}}"#, Tag::MissingElement, "no \"patch-id\"");
    json(r#"{"ietf-yang-patch:yang-patch":{"patch":1}}"#, Tag::UnknownElement, "no member \"patch\"");
    json(
        r#"{"ietf-yang-patch:yang-patch":{"patch-id":"p"},"a":1}"#,
        Tag::MalformedMessage,
        "no member beside",
    );
    json(&edit(""), Tag::MissingElement, "edit number 1 has no \"edit-id\"");
    json(&edit(r#""edit-id":"a""#), Tag::MissingElement, "edit \"a\" has no \"operation\"");
    let with = |more: &str| edit(&format!(r#""edit-id":"a","target":"/b",{more}"#));
    json(&with(r#""operation":"destroy""#), Tag::InvalidValue, "create, delete, insert");
    json(&with(r#""operation":"create""#), Tag::MissingElement, "edit \"a\" needs \"value\"");
    json(&with(r#""operation":"delete","value":{}"#), Tag::InvalidValue, "\"value\" does not go with");
    json(&with(r#""operation":"move","where":"before""#), Tag::MissingElement, "needs \"point\"");
    json(&with(r#""operation":"move","point":"/x""#), Tag::InvalidValue, "\"point\" does not go with");
    json(&with(r#""operation":"move","where":"there""#), Tag::InvalidValue, "before, after, first or last");
    json(&with(r#""operation":"delete","where":"first""#), Tag::InvalidValue, "with insert and move alone");
    json(&with(r#""operation":"delete","operation":"delete""#), Tag::MalformedMessage, "");
    json(&with(r#""operation":1"#), Tag::MalformedMessage, "must be a string");
    let twice = r#"{"edit-id":"a","target":"/b","operation":"remove"}"#;
    let twice = format!(r#"{{"ietf-yang-patch:yang-patch":{{"patch-id":"p","edit":[{twice},{twice}]}}}}"#);
    json(&twice, Tag::BadElement, "two edits have the edit-id \"a\"");
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let deep = with(&format!(r#""operation":"merge","value":{{"a":{deep}}}"#));
    json(&deep, Tag::TooBig, "deeper than 32 nodes");
    let many = vec!["{}"; EDITS_MAX + 1].join(",");
    let many = format!(r#"{{"ietf-yang-patch:yang-patch":{{"edit":[{many}]}}}}"#);
    json(&many, Tag::TooBig, "1000 edits at the most");
}

#[test]
fn what_is_no_patch_as_xml_is_refused() {
    let refused = |text: &str, tag, expected| check_refused(Form::Xml, text, (tag, expected));
    let patch = |inner: &str| format!("<yang-patch xmlns=\"{NAMESPACE}\">{inner}</yang-patch>");
    refused("", Tag::MalformedMessage, "the body is empty");
    refused("<yang-patch/>", Tag::MalformedMessage, "the outermost element must be yang-patch of urn:ietf");
    refused(&patch("x"), Tag::MalformedMessage, "an element expected, got the text \"x\"");
    refused(
        &patch("<patch-id><a/></patch-id>"),
        Tag::MalformedMessage,
        "text expected, got the element \"a\"",
    );
    refused(&patch("<patch-id xmlns=\"\"/>"), Tag::UnknownElement, "no member \"patch-id\"");
    refused(&patch("<edit><value/></edit>"), Tag::MalformedMessage, "a value must hold an element");
    refused(&patch("<edit><value><a/><b/></value></edit>"), Tag::MalformedMessage, "not several");
    refused(&patch("<patch-id>&none;</patch-id>"), Tag::MalformedMessage, "no entity");
    refused("<!DOCTYPE a>", Tag::MalformedMessage, "document types");
    let edit = "<edit><value><a/></value></edit>".repeat(5);
    let long = "x".repeat(xml::TAG_BYTES_MAX / 4);
    let around = format!("<yang-patch xmlns=\"{NAMESPACE}\" xmlns:l=\"{long}\">{edit}</yang-patch>");
    check_refused(Form::Xml, &around, (Tag::TooBig, "more than 4194304 bytes"));
    refused(XML.split_once("</p:value>").unwrap().0, Tag::MalformedMessage, "ends within an element");
    refused("<yang-patch", Tag::MalformedMessage, "the body: ");
    refused(&format!("{}<a/>", patch("")), Tag::MalformedMessage, "one outermost element");
}
