//! Data under a schema, as JSON and as XML.

use std::sync::LazyLock;

use lang_yang::testing::{
    SchemaBuilder, boolean, decimal, empty, enumeration, identity, instance_identifier, integer, string,
    union,
};
use lang_yang::{
    Content, DataError, IntegerWidth, Metadata, NameRules, ReadOptions, Schema, Style, ValueKind, read_json,
    read_xml, write_content_json, write_content_xml,
};

use crate::{Target, texts};

/// Data that is read as JSON and written in any style is the same when it is read again.
pub(crate) const JSON: Target = Target { name: "yang_json", run: json, seeds: json_seeds };
/// Data that is read as XML is the same when it is written and read again, as XML or as JSON.
pub(crate) const XML: Target = Target { name: "yang_xml", run: xml, seeds: xml_seeds };

const OPTIONS: ReadOptions = ReadOptions {
    names: NameRules::Lenient,
    metadata: Metadata::Ignore,
    takes_state: true,
    depth_max: 12,
    nodes_max: 10_000,
    ..ReadOptions::RFC7951
};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    SchemaBuilder::new("shop", "s")
        .module("more", "m")
        .container("store", |store| {
            store
                .leaf_or("name", string(), "N")
                .leaf("open", boolean())
                .leaf("gone", empty())
                .leaf("long", integer(IntegerWidth::Int64))
                .leaf("weight", decimal(3))
                .leaf("colour", enumeration(&["red", "dark blue"]))
                .leaf("kind", identity(&[1]))
                .leaf("at", instance_identifier())
                .leaf("mix", union(&[integer(IntegerWidth::Int8), boolean(), string()]))
                .leaf_list("tags", string())
                .anydata("notes")
                .choice(&[
                    |one| one.leaf("road", string()),
                    |two| two.container("rail", |rail| rail.leaf("x", string())),
                ])
                .list("shelf", &["id", "side"], |shelf| {
                    shelf.leaf("id", integer(IntegerWidth::Uint8)).leaf("side", string()).list(
                        "box",
                        &["n"],
                        |inner| inner.leaf("n", string()),
                    )
                })
                .state(|state| state.leaf_list("log", string()))
                .of_module("more", |more| {
                    more.leaf("name", string()).leaf("extra", integer(IntegerWidth::Uint32))
                })
        })
        .leaf_list("owners", string())
        .build_with(&[("more:b", &["shop:base"]), ("shop:base", &[]), ("shop:one", &["shop:base"])])
});

fn json_seeds() -> Vec<Vec<u8>> {
    texts(&[
        concat!(
            r#"{"shop:store":{"name":"a\n","open":true,"gone":[null],"long":"-9","weight":"1.5","colour":"red","kind":"more:b","#,
            r#""at":"/shop:store/shelf[id='1'][side='l']/side","mix":5,"tags":["x","y"],"notes":{"a":[1,{"b":null}]},"road":"r"}}"#
        ),
        r#"{"owners":["o"],"s:store":{"shelf":[{"id":1,"side":"l","box":[{"n":"1"}]},{"id":1,"side":"r"}],"m:name":"z","extra":7}}"#,
        r#"{"shop:store":{"rail":{"x":"y"},"log":["a","a"],"@name":{"x:y":1},"mix":"true"}}"#,
    ])
}

fn xml_seeds() -> Vec<Vec<u8>> {
    texts(&[
        concat!(
            "<?xml version='1.0'?><store xmlns='urn:shop' xmlns:m='urn:more'><name>a &lt;<![CDATA[&]]>&#x41;</name><gone/>",
            "<kind>m:b</kind><at xmlns:s='urn:shop'>/s:store/s:shelf[s:id='1'][s:side='l']</at><tags>x</tags><m:extra> 7 </m:extra>",
            "<shelf><side>l</side><id>1</id><box><n/></box></shelf><tags>y</tags><shelf><id>1</id><side>r</side></shelf></store>"
        ),
        "<owners>o</owners><store><notes><a>1</a><a><b xmlns='urn:more'/></a></notes><log>a</log><rail><x>y</x></rail></store>",
    ])
}

/// What was refused has a place in the text, and words.
fn refused(error: &DataError, bytes: &[u8]) {
    assert!(error.place.byte <= bytes.len() && error.place.line > 0 && error.place.column > 0);
    assert!(!error.to_string().is_empty());
}

fn json(bytes: &[u8]) {
    for options in [
        OPTIONS,
        ReadOptions { depth_max: 12, ..ReadOptions::RFC7951 },
        ReadOptions { nodes_max: 100, ..ReadOptions::CPS },
    ] {
        let content = match read_json(&SCHEMA, None, bytes, &options) {
            Ok(content) => content,
            Err(error) => {
                refused(&error, bytes);
                continue;
            }
        };
        let again = ReadOptions { takes_state: true, ..options };
        let mut out = Vec::new();
        write_content_json(&SCHEMA, &content, Style::RFC7951, &mut out);
        same(&content, read_json(&SCHEMA, None, &out, &again), &out);
        out.clear();
        write_content_xml(&SCHEMA, &content, Style::RFC7951, &mut out);
    }
}

fn xml(bytes: &[u8]) {
    let mut content = match read_xml(&SCHEMA, None, bytes, &OPTIONS) {
        Ok(content) => content,
        Err(error) => return refused(&error, bytes),
    };
    let mut out = Vec::new();
    write_content_json(&SCHEMA, &content, Style::RFC7951, &mut out);
    same(&content, read_json(&SCHEMA, None, &out, &OPTIONS), &out);
    // Names that are none in XML are changed in data without a schema.
    without_json(&mut content);
    out.clear();
    write_content_xml(&SCHEMA, &content, Style::RFC7951, &mut out);
    if !out.is_empty() {
        same(&content, read_xml(&SCHEMA, None, &out, &OPTIONS), &out);
    }
}

fn without_json(content: &mut Content) {
    content.leaves.retain(|leaf| leaf.values.iter().all(|value| value.kind != ValueKind::Json));
    content.children.iter_mut().for_each(|child| without_json(&mut child.content));
}

fn same(content: &Content, again: Result<Content, DataError>, written: &[u8]) {
    let written = String::from_utf8_lossy(written);
    let again = again.unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(&again, content, "{written}");
}
