//! Namespaces, escapes and defaults as they are written, and read again.

use crate::schema::Schema;
use crate::style::{Defaults, Style};
use crate::testing::{SchemaBuilder, identity, instance_identifier, integer, string};
use crate::{IntegerWidth, Metadata, ReadOptions, read_json, read_xml, write_content_xml};

fn schema() -> Schema {
    SchemaBuilder::new("stores", "p")
        .module("extra", "p")
        .container("store", |store| {
            store
                .leaf_or("name", string(), "N")
                .list("shelf", &["id"], |shelf| {
                    shelf.leaf("id", string()).of_module("extra", |extra| extra.leaf("size", string()))
                })
                .leaf_list("tags", string())
                .leaf("kind", identity(&[1]))
                .leaf("at", instance_identifier())
                .anydata("notes")
                .of_module("extra", |extra| {
                    extra.container("inner", |inner| inner.leaf_or("level", integer(IntegerWidth::Int8), "1"))
                })
        })
        .build_with(&[
            ("stores:kind", &[]),
            ("stores:paper", &["stores:kind"]),
            ("extra:audio", &["stores:kind"]),
        ])
}

/// Data in JSON is written as `expected`, which is read as the same data.
#[track_caller]
fn check(json: &str, style: Style, expected: &str) {
    let schema = schema();
    let content = read_json(&schema, None, json.as_bytes(), &ReadOptions::RFC7951).unwrap();
    let mut out = Vec::new();
    write_content_xml(&schema, &content, style, &mut out);
    assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
    let options = if style == Style::CPS { ReadOptions::CPS } else { ReadOptions::RFC7951 };
    let read = read_xml(&schema, None, &out, &ReadOptions { metadata: Metadata::Ignore, ..options }).unwrap();
    if style.defaults == Defaults::Explicit {
        assert_eq!(read, content);
    }
}

const RFC: Style = Style::RFC7951;

#[test]
fn namespaces_are_declared_where_they_change() {
    check(
        r#"{"stores:store":{"name":"n","tags":["a",""],"shelf":[{"id":"1","extra:size":"x"},{"id":"2"}],"extra:inner":{}}}"#,
        RFC,
        concat!(
            "<store xmlns=\"urn:stores\"><name>n</name><tags>a</tags><tags/>",
            "<shelf><id>1</id><size xmlns=\"urn:extra\">x</size></shelf><shelf><id>2</id></shelf>",
            "<inner xmlns=\"urn:extra\"/></store>"
        ),
    );
    check(
        r#"{"stores:store":{"shelf":[{"id":"1","extra:size":"x"}],"kind":"extra:audio"}}"#,
        Style::CPS,
        "<store><kind>extra:audio</kind><shelf><id>1</id><size>x</size></shelf></store>",
    );
}

#[test]
fn values_declare_the_prefixes_that_they_have() {
    check(
        r#"{"stores:store":{"kind":"stores:paper"}}"#,
        RFC,
        "<store xmlns=\"urn:stores\"><kind>paper</kind></store>",
    );
    check(
        r#"{"stores:store":{"kind":"extra:audio"}}"#,
        RFC,
        "<store xmlns=\"urn:stores\"><kind xmlns:p=\"urn:extra\">p:audio</kind></store>",
    );
    // Two modules have the same prefix.
    check(
        r#"{"stores:store":{"at":"/stores:store/shelf[id='a/b:[c']/extra:size"}}"#,
        RFC,
        concat!(
            "<store xmlns=\"urn:stores\"><at xmlns:p=\"urn:stores\" xmlns:p1=\"urn:extra\">",
            "/p:store/p:shelf[p:id='a/b:[c']/p1:size</at></store>"
        ),
    );
    check(
        r#"{"stores:store":{"at":"/stores:store/tags[.='t.x']"}}"#,
        RFC,
        "<store xmlns=\"urn:stores\"><at xmlns:p=\"urn:stores\">/p:store/p:tags[.='t.x']</at></store>",
    );
}

#[test]
fn text_is_escaped() {
    check(
        r#"{"stores:store":{"name":"<&>\"' é\r\n\tx "}}"#,
        RFC,
        "<store xmlns=\"urn:stores\"><name>&lt;&amp;&gt;\"' é&#13;\n\tx </name></store>",
    );
}

#[test]
fn data_without_a_schema_is_elements() {
    let xml = concat!(
        "<store xmlns=\"urn:stores\"><notes><a>1</a><a>x</a><a></a><b xmlns=\"urn:extra\"><c>true</c></b>",
        "<_1_ \u{fffd}>\u{fffd}</_1_ \u{fffd}></notes></store>"
    );
    let schema = schema();
    let json = r#"{"stores:store":{"notes":{"a":["1",["x"],null],"extra:b":{"c":true,"@c":{"d":1}},"1 \u0001":"\u0001"}}}"#;
    let content = read_json(&schema, None, json.as_bytes(), &ReadOptions::RFC7951).unwrap();
    let mut out = Vec::new();
    write_content_xml(&schema, &content, RFC, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), xml.replace("_1_ \u{fffd}", "_1__"));
    check(
        r#"{"stores:store":{"notes":{"a":["1","<"],"b":{"c":""}}}}"#,
        RFC,
        "<store xmlns=\"urn:stores\"><notes><a>1</a><a>&lt;</a><b><c></c></b></notes></store>",
    );
}

#[test]
fn defaults_are_written_as_asked_for() {
    let with = |defaults, expected: &str| {
        check(r#"{"stores:store":{"name":"N"}}"#, Style { defaults, ..RFC }, expected)
    };
    let tag = "xmlns:wd=\"urn:ietf:params:xml:ns:netconf:default:1.0\" wd:default=\"true\"";
    with(Defaults::Trim, "<store xmlns=\"urn:stores\"/>");
    with(
        Defaults::All,
        "<store xmlns=\"urn:stores\"><name>N</name><inner xmlns=\"urn:extra\"><level>1</level></inner></store>",
    );
    with(
        Defaults::Tagged,
        &format!(
            "<store xmlns=\"urn:stores\"><name {tag}>N</name><inner xmlns=\"urn:extra\"><level {tag}>1</level></inner></store>"
        ),
    );
}
