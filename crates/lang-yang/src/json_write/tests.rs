//! Names, numbers and defaults as they are written.

use crate::schema::Schema;
use crate::style::{Defaults, Names, Style};
use crate::testing::{SchemaBuilder, boolean, integer, string};
use crate::{IntegerWidth, JsonWriter, ReadOptions, ValueRef, read_json, write_content_json};

fn schema() -> Schema {
    SchemaBuilder::new("base", "b")
        .module("more", "m")
        .container("box", |one| {
            one.leaf_or("lid", boolean(), "true")
                .leaf_list_or("tags", string(), &["a", "b"])
                .leaf("long", integer(IntegerWidth::Int64))
                .container("inner", |inner| inner.leaf_or("level", integer(IntegerWidth::Int64), "3"))
                .presence("present", |present| present.leaf_or("level", integer(IntegerWidth::Int8), "4"))
                .list("slot", &["id"], |slot| {
                    slot.leaf_or("id", integer(IntegerWidth::Int8), "1").leaf_or("x", string(), "y")
                })
                .choice(&[
                    |one| one.leaf("p", string()).leaf_or("q", string(), "r"),
                    |two| two.leaf("s", string()),
                ])
                .of_module("more", |more| {
                    more.leaf_or("lid", boolean(), "false").list("slot", &["id"], |s| s.leaf("id", string()))
                })
        })
        .build()
}

#[track_caller]
fn check(defaults: Defaults, text: &str, expected: &str) {
    let schema = schema();
    let content = read_json(&schema, None, text.as_bytes(), &ReadOptions::RFC7951).unwrap();
    let mut out = Vec::new();
    write_content_json(&schema, &content, Style { defaults, ..Style::RFC7951 }, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

const TEXT: &str = r#"{"base:box":{"lid":true,"tags":["b","a"],"long":"-9","slot":[{"id":1,"x":"y"}]}}"#;

#[test]
fn what_was_set_is_written() {
    check(Defaults::Explicit, TEXT, TEXT);
}

#[test]
fn defaults_are_left_out() {
    let trimmed = r#"{"base:box":{"tags":["b","a"],"long":"-9","slot":[{"id":1}]}}"#;
    check(Defaults::Trim, TEXT, trimmed);
    check(Defaults::Trim, r#"{"base:box":{"tags":["a","b"]}}"#, r#"{"base:box":{}}"#);
}

#[test]
fn all_defaults_are_written() {
    let all = concat!(
        r#"{"base:box":{"lid":true,"tags":["b","a"],"long":"-9","slot":[{"id":1,"x":"y"}],"#,
        r#""inner":{"level":"3"},"more:lid":false}}"#
    );
    check(Defaults::All, TEXT, all);
    // Of a choice those of the case that is there; of containers with presence those that are there.
    check(
        Defaults::All,
        r#"{"base:box":{"p":"1","present":{}}}"#,
        concat!(
            r#"{"base:box":{"p":"1","present":{"level":4},"lid":true,"tags":["a","b"],"inner":{"level":"3"},"#,
            r#""q":"r","more:lid":false}}"#
        ),
    );
    check(Defaults::All, "{}", "{}");
}

#[test]
fn defaults_of_default_cases_are_written() {
    let schema = SchemaBuilder::new("m", "m")
        .container("c", |c| {
            c.choice_or(
                &[
                    |case| case.leaf_or("a", string(), "1"),
                    |case| {
                        case.leaf_or("b", string(), "2").choice_or(
                            &[
                                |case| case.container("d", |d| d.leaf_or("e", string(), "3")),
                                |case| case.leaf("f", string()),
                            ],
                            0,
                        )
                    },
                ],
                1,
            )
        })
        .build();
    for (text, expected) in [
        (r#"{"m:c":{}}"#, r#"{"m:c":{"b":"2","d":{"e":"3"}}}"#),
        (r#"{"m:c":{"a":"x"}}"#, r#"{"m:c":{"a":"x"}}"#),
        (r#"{"m:c":{"f":"x"}}"#, r#"{"m:c":{"f":"x","b":"2"}}"#),
    ] {
        let content = read_json(&schema, None, text.as_bytes(), &ReadOptions::RFC7951).unwrap();
        let mut out = Vec::new();
        let style = Style { defaults: Defaults::All, ..Style::RFC7951 };
        write_content_json(&schema, &content, style, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn defaults_are_tagged() {
    let tag = r#"{"ietf-netconf-with-defaults:default":true}"#;
    check(
        Defaults::Tagged,
        r#"{"base:box":{"lid":false,"slot":[{"id":1,"x":"y"}]}}"#,
        &[
            r#"{"base:box":{"lid":false,"slot":[{"id":1,"x":"y","@x":"#,
            tag,
            r#"}],"tags":["a","b"],"@tags":["#,
            tag,
            ",",
            tag,
            r#"],"inner":{"level":"3","@level":"#,
            tag,
            r#"},"more:lid":false,"@more:lid":"#,
            tag,
            "}}",
        ]
        .concat(),
    );
}

#[test]
fn cps_has_entries_by_themselves_and_prefixes_of_the_outermost_node() {
    let schema = schema();
    let id = |parent, module, name| schema.child(parent, Some(module), name).unwrap();
    let slot = id(Some(id(None, "base", "box")), "more", "slot");
    let key = id(Some(slot), "more", "id");
    for (names, expected) in [(Names::Cps, "b:slot"), (Names::Rfc7951, "more:slot"), (Names::Bare, "slot")] {
        let (mut writer, mut out) = (JsonWriter::new(Style { names, ..Style::CPS }), Vec::new());
        writer.begin(&mut out);
        writer.open_alone(&mut out, &schema, slot);
        let value = crate::Value { kind: crate::ValueKind::Text, text: "\"\u{1}é".into() };
        writer.leaf(&mut out, &schema, key, std::iter::once(ValueRef::from(&value)));
        writer.close(&mut out, &schema);
        writer.end(&mut out);
        let expected = format!("{{\"{expected}\":{{\"id\":\"\\\"\\u0001é\"}}}}");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn members_of_one_name_are_told_apart() {
    let schema = schema();
    let text =
        r#"{"base:box":{"lid":false,"slot":[{"id":1}],"more:lid":true,"more:slot":[{"id":"a"},{"id":"b"}]}}"#;
    let content = read_json(&schema, None, text.as_bytes(), &ReadOptions::RFC7951).unwrap();
    let mut out = Vec::new();
    write_content_json(&schema, &content, Style::CPS, &mut out);
    let expected =
        r#"{"b:box":{"lid":false,"m:lid":true,"slot":[{"id":1}],"m:slot":[{"id":"a"},{"id":"b"}]}}"#;
    assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
    assert_eq!(read_json(&schema, None, &out, &ReadOptions::CPS).unwrap(), content);
}
