//! Data as it is published: the sample of RFC 8944, and the bookstore and the answers of CPS.

use std::path::PathBuf;

use lang_yang::{
    CompileOptions, Content, Features, ReadOptions, Schema, Style, YangFile, compile, read_json, read_xml,
    write_content_json, write_content_xml,
};
use serde_json::Value;

/// The folder of published files; nothing if this machine has none and need not.
#[expect(clippy::disallowed_methods, reason = "switches of the test run itself")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var("TWINFOLD_TEST_DATA").ok().map(PathBuf::from);
    assert!(
        folder.is_some() || std::env::var("TWINFOLD_TEST_STRICT").is_err(),
        "TWINFOLD_TEST_DATA names no folder with published data"
    );
    folder
}

fn schema_of(folder: &std::path::Path) -> Schema {
    let mut files: Vec<YangFile> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yang"))
        .map(|path| YangFile {
            name: path.file_name().unwrap().to_str().unwrap().into(),
            text: std::fs::read_to_string(&path).unwrap().into(),
        })
        .collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    compile(&files, &CompileOptions { features: Features::All }).unwrap().schema
}

fn json(schema: &Schema, content: &Content, style: Style) -> Value {
    let mut out = Vec::new();
    write_content_json(schema, content, style, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn nodes(content: &Content) -> usize {
    content.children.iter().map(|child| 1 + nodes(&child.content)).sum()
}

#[test]
fn the_samples_of_rfc_8944_are_read_and_written() {
    let Some(folder) = folder().map(|folder| folder.join("yang")) else { return };
    let schema = schema_of(&folder);
    for (file, count) in [("ietf-network-sample-rfc8944.json", 52), ("sample-with-l2-type.json", 54)] {
        let text = std::fs::read(folder.join(file)).unwrap();
        let sample: Value = serde_json::from_slice(&text).unwrap();
        let content = read_json(&schema, None, &text, &ReadOptions::RFC7951).unwrap();
        assert_eq!(nodes(&content), count, "{file}");
        assert_eq!(json(&schema, &content, Style::RFC7951), sample);
        // CPS reads it, and what it writes.
        assert_eq!(read_json(&schema, None, &text, &ReadOptions::CPS).unwrap(), content);
        let of_cps = json(&schema, &content, Style::CPS);
        assert_eq!(of_cps.as_object().unwrap().keys().collect::<Vec<_>>(), ["nw:networks"]);
        let link = &of_cps["nw:networks"]["network"][0]["link"][0];
        assert_eq!(link["l2-link-attributes"]["rate"], serde_json::json!(1000));
        assert_eq!(
            read_json(&schema, None, of_cps.to_string().as_bytes(), &ReadOptions::CPS).unwrap(),
            content
        );

        for (style, options) in [(Style::RFC7951, ReadOptions::RFC7951), (Style::CPS, ReadOptions::CPS)] {
            let mut xml = Vec::new();
            write_content_xml(&schema, &content, style, &mut xml);
            assert_eq!(read_xml(&schema, None, &xml, &options).unwrap(), content);
        }
    }
}

#[test]
fn the_bookstore_of_cps_is_read_and_written_as_cps_answers_it() {
    let Some(folder) = folder() else { return };
    let schema = schema_of(&folder.join("yang/bookstore"));
    let text = std::fs::read(folder.join("yang/bookstore/bookstoreData.json")).unwrap();
    let content = read_json(&schema, None, &text, &ReadOptions::CPS).unwrap();
    let ours = json(&schema, &content, Style::CPS);

    let examples = std::fs::read_to_string(folder.join("cps-examples.jsonl")).unwrap();
    let wanted = "/cps/api/v2/dataspaces/g/anchors/a/node?xpath=%2Fbookstore&descendants=all";
    let mut examples = examples.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let example = examples.find(|example| example["url"] == wanted).unwrap();
    let theirs: Value = serde_json::from_str(example["response"].as_str().unwrap()).unwrap();
    assert_eq!(sorted(&ours["book-store:bookstore"]), sorted(&theirs[0]["book-store:bookstore"]));
}

/// With arrays in an order of their own: the original does not keep that of lists.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}

#[test]
fn an_unknown_node_is_named_as_cps_names_it() {
    let Some(folder) = folder() else { return };
    let schema = schema_of(&folder.join("yang/bookstore"));
    let error = read_json(&schema, None, br#"{"bookstore:nope":{}}"#, &ReadOptions::CPS).unwrap_err();
    assert!(matches!(&error.problem, lang_yang::DataProblem::UnknownNode { name, .. } if &**name == "nope"));
    assert_eq!(&*error.path, "");
}
