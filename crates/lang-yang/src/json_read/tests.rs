//! What is read, what is refused, and how errors say it.

use crate::data_error::DataProblem;
use crate::schema::Schema;
use crate::style::Style;
use crate::testing::{SchemaBuilder, boolean, decimal, empty, enumeration, identity, integer, string, union};
use crate::{
    Content, Envelope, IntegerWidth, Metadata, ReadOptions, ValueKind, read_json, write_content_json,
};

fn schema() -> Schema {
    SchemaBuilder::new("stores", "book-store")
        .module("extra", "ex")
        .container("bookstore", |store| {
            store
                .leaf("name", string())
                .list("categories", &["code"], |category| {
                    category.leaf("title", string()).leaf("code", string()).list(
                        "books",
                        &["lang", "title"],
                        |book| {
                            book.leaf("title", string())
                                .leaf("lang", string())
                                .leaf("price", integer(IntegerWidth::Uint64))
                                .leaf("weight", decimal(2))
                                .leaf_list("authors", string())
                        },
                    )
                })
                .leaf("open", boolean())
                .leaf("sold-out", empty())
                .leaf("kind", identity(&[1]))
                .leaf("floor", integer(IntegerWidth::Int8))
                .leaf("number", union(&[integer(IntegerWidth::Int32), enumeration(&["many"]), string()]))
                .anydata("notes")
                .choice(&[
                    |one| one.leaf("street", string()).leaf("town", string()),
                    |other| other.leaf("url", string()),
                ])
                .state(|state| {
                    state.leaf("visitors", integer(IntegerWidth::Uint32)).leaf_list("log", string())
                })
                .of_module("extra", |extra| {
                    extra.leaf("name", string()).leaf("rating", integer(IntegerWidth::Int8))
                })
        })
        .leaf_list("owners", string())
        .build_with(&[
            ("stores:kind", &[]),
            ("stores:paper", &["stores:kind"]),
            ("extra:audio", &["stores:kind"]),
        ])
}

const STRICT: ReadOptions = ReadOptions { takes_state: true, ..ReadOptions::RFC7951 };

fn read(text: &str, options: &ReadOptions) -> Result<Content, crate::DataError> {
    read_json(&schema(), None, text.as_bytes(), options)
}

/// What is read is written back as `expected`.
#[track_caller]
fn check(text: &str, options: &ReadOptions, style: Style, expected: &str) {
    let content = read(text, options).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut out = Vec::new();
    write_content_json(&schema(), &content, style, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[track_caller]
fn refuse(text: &str, options: &ReadOptions, expected: &str) {
    match read(text, options) {
        Ok(content) => panic!("{text} was read: {content:?}"),
        Err(error) => assert_eq!(error.to_string(), expected, "of {text}"),
    }
}

#[test]
fn members_come_in_the_order_of_the_schema_and_entries_in_their_own() {
    let text = r#" { "stores:owners" : ["b","a"],
        "stores:bookstore": {"extra:rating": 3, "open": true, "categories":[
            {"books":[{"price":"9","title":"Z","lang":"en","authors":["y","x"]},{"title":"A","lang":"en"}],"code":"2"},
            {"code":"1","title":"One"}], "name":"N"} } "#;
    let expected = concat!(
        r#"{"stores:owners":["b","a"],"stores:bookstore":{"name":"N","open":true,"extra:rating":3,"categories":["#,
        r#"{"code":"2","books":[{"lang":"en","title":"Z","price":"9","authors":["y","x"]},{"lang":"en","title":"A"}]},"#,
        r#"{"code":"1","title":"One"}]}}"#
    );
    check(text, &STRICT, Style::RFC7951, expected);
    // And again, from what was written.
    check(expected, &STRICT, Style::RFC7951, expected);
}

#[test]
fn names_say_their_modules() {
    let bare = |text: &str, expected| refuse(text, &STRICT, expected);
    bare(
        r#"{"bookstore":{}}"#,
        "\"bookstore\" must name its module: \"stores:bookstore\" (line 1, column 2)",
    );
    bare(
        r#"{"stores:bookstore":{"rating":1}}"#,
        "/stores:bookstore: \"rating\" must name its module: \"extra:rating\" (line 1, column 22)",
    );
    bare(
        r#"{"book-store:bookstore":{}}"#,
        "there is no node \"bookstore\" in the schema of book-store (line 1, column 2)",
    );
    // A name of two modules is the parent's, unless it says otherwise.
    let both = r#"{"stores:bookstore":{"name":"a","extra:name":"b"}}"#;
    check(both, &STRICT, Style::RFC7951, both);
    check(
        r#"{"stores:bookstore":{"stores:name":"a"}}"#,
        &STRICT,
        Style::RFC7951,
        r#"{"stores:bookstore":{"name":"a"}}"#,
    );
}

#[test]
fn cps_is_lenient_with_names() {
    for text in [
        r#"{"bookstore":{"rating":"7"}}"#,
        r#"{"book-store:bookstore":{"ex:rating":7}}"#,
        r#"{"nobody:bookstore":{"extra:rating":7}}"#,
        r#"{"stores:bookstore":{"@":{"x":1},"nobody:rating":7}}"#,
    ] {
        check(text, &ReadOptions::CPS, Style::CPS, r#"{"book-store:bookstore":{"rating":7}}"#);
    }
    // A module that is there has what it has.
    refuse(
        r#"{"extra:bookstore":{}}"#,
        &ReadOptions::CPS,
        "there is no node \"bookstore\" in the schema of extra (line 1, column 2)",
    );
    let unknown = read(r#"{"bookstore:nope":{}}"#, &ReadOptions::CPS).unwrap_err();
    let problem = DataProblem::UnknownNode { name: "nope".into(), module: Some("bookstore".into()) };
    assert_eq!((unknown.problem, &*unknown.path, unknown.place.byte), (problem, "", 1));
}

#[test]
fn cps_is_lenient_with_kinds_and_keeps_empty_leaf_lists() {
    let text = concat!(
        r#"{"bookstore":{"categories":{"code":1,"books":[{"title":2,"lang":"","price":13,"weight":1.50,"authors":[]}]},"#,
        r#""open":"true","sold-out":null}}"#
    );
    let expected = concat!(
        r#"{"book-store:bookstore":{"open":true,"sold-out":[null],"categories":[{"code":"1","books":["#,
        r#"{"lang":"","title":"2","price":13,"weight":1.5,"authors":[]}]}]}}"#
    );
    check(text, &ReadOptions::CPS, Style::CPS, expected);
    // Not so by RFC 7951.
    check(r#"{"stores:owners":[]}"#, &STRICT, Style::RFC7951, "{}");
}

#[test]
fn only_outermost_entries_may_lack_keys_that_are_known() {
    let schema = schema();
    let store = schema.child(None, None, "bookstore");
    let options = ReadOptions { outermost_without_keys: true, ..ReadOptions::RFC7951 };
    let read = |text: &str, options: &ReadOptions| read_json(&schema, store, text.as_bytes(), options);
    let text = r#"{"stores:categories":[{"title":"Fiction"}]}"#;
    assert_eq!(read(text, &options).unwrap().children[0].content.leaves.len(), 1);
    let whole = read(text, &ReadOptions::RFC7951).unwrap_err();
    assert_eq!(whole.problem, DataProblem::NoKey { key: "code".into() });
    let below = read(r#"{"stores:categories":[{"books":[{"lang":"en"}]}]}"#, &options).unwrap_err();
    assert_eq!(below.problem, DataProblem::NoKey { key: "title".into() });
}

#[test]
fn values_have_their_kinds() {
    let content = read(
        concat!(
            r#"{"stores:bookstore":{"kind":"extra:audio","number":5,"sold-out":[null],"floor":-1,"open":false,"#,
            r#""notes":{ "a" : [1.0, "\u00e9"]}}}"#
        ),
        &STRICT,
    )
    .unwrap();
    let store = &content.children[0].content;
    let values: Vec<(ValueKind, &str)> =
        store.leaves.iter().map(|leaf| (leaf.values[0].kind, &*leaf.values[0].text)).collect();
    assert_eq!(
        values,
        [
            (ValueKind::Boolean, "false"),
            (ValueKind::Empty, ""),
            (ValueKind::Identity, "extra:audio"),
            (ValueKind::Integer, "-1"),
            (ValueKind::Integer, "5"),
            (ValueKind::Json, r#"{"a":[1.0,"é"]}"#),
        ]
    );
    // A string takes the member of a union that JSON spells so.
    let content = read(r#"{"stores:bookstore":{"number":"5","kind":"paper"}}"#, &STRICT).unwrap();
    let leaves = &content.children[0].content.leaves;
    assert_eq!((leaves[1].values[0].kind, &*leaves[1].values[0].text), (ValueKind::Text, "5"));
    assert_eq!((leaves[0].values[0].kind, &*leaves[0].values[0].text), (ValueKind::Identity, "stores:paper"));
}

#[test]
fn values_that_are_none_of_their_types_are_refused() {
    let leaf = |member: &str, expected: &str| {
        let text = format!(r#"{{"stores:bookstore":{{{member}}}}}"#);
        refuse(&text, &STRICT, &format!("/stores:bookstore/{expected}"));
    };
    leaf(
        r#""floor":128"#,
        "floor: 128 is not an integer from -128 to 127 (a number in JSON) (line 1, column 30)",
    );
    leaf(
        r#""floor":"1""#,
        "floor: \"1\" is not an integer from -128 to 127 (a number in JSON) (line 1, column 30)",
    );
    leaf(r#""open":{}"#, "open: a value expected, got an object (line 1, column 29)");
    leaf(r#""open":null"#, "open: a value expected, got null (line 1, column 29)");
    leaf(
        r#""open":[true]"#,
        "open: one value, or [null] for a leaf of type empty, expected, got an array (line 1, column 30)",
    );
    leaf(
        r#""categories":{}"#,
        "categories: an array of objects for a list expected, got an object (line 1, column 35)",
    );
    leaf(
        r#""categories":[1]"#,
        "categories[1]: an object for an entry of a list expected, got a number (line 1, column 36)",
    );
    leaf(
        r#""kind":"stores:kind""#,
        "kind: \"stores:kind\" is not an identity derived from stores:kind (line 1, column 29)",
    );
    refuse(
        r#"{"stores:owners":["a",1]}"#,
        &STRICT,
        "/stores:owners[2]: 1 is not a string (line 1, column 23)",
    );
    refuse(
        r#"{"stores:owners":"a"}"#,
        &STRICT,
        "/stores:owners: an array of values for a leaf-list expected, got a string (line 1, column 18)",
    );
    refuse(r#"["stores:owners"]"#, &STRICT, "an object expected, got an array (line 1, column 1)");
}

#[test]
fn keys_are_there_and_unique() {
    let books = |books: &str| {
        format!("{{\"stores:bookstore\":{{\"categories\":[\n{{\"code\":\"it's\",\"books\":[{books}]}}]}}}}")
    };
    let at = "/stores:bookstore/categories[code=\"it's\"]/books";
    refuse(
        &books(r#"{"lang":"en"}"#),
        &STRICT,
        &format!("{at}[lang='en']: the entry has no key \"title\" (line 2, column 38)"),
    );
    refuse(&books("{}"), &STRICT, &format!("{at}[1]: the entry has no key \"lang\" (line 2, column 27)"));
    for count in [1, 7, 8, 9, 300] {
        let entry = |title: &str| format!(r#"{{"title":"{title}","lang":"en"}}"#);
        let mut entries: Vec<String> = (0..count).map(|number| entry(&number.to_string())).collect();
        read(&books(&entries.join(",")), &STRICT).unwrap();
        entries.push(entry("0"));
        let error = read(&books(&entries.join(",")), &STRICT).unwrap_err();
        assert_eq!(
            (error.problem, &*error.path),
            (DataProblem::SameKeys, &*format!("{at}[lang='en'][title='0']"))
        );
    }
}

#[test]
fn members_are_there_once() {
    refuse(
        r#"{"stores:owners":[],"stores:owners":["a"]}"#,
        &STRICT,
        "/stores:owners: the node is given twice (line 1, column 21)",
    );
    refuse(
        r#"{"stores:bookstore":{"name":"a", "name":"b"}}"#,
        &STRICT,
        "/stores:bookstore/name: the node is given twice (line 1, column 34)",
    );
    for count in [1, 7, 8, 9, 300] {
        let mut values: Vec<String> = (0..count).map(|number| format!("\"{number}\"")).collect();
        values.push("\"0\"".into());
        let list = values.join(",");
        let error = read(&format!("{{\"stores:owners\":[{list}]}}"), &STRICT).unwrap_err();
        assert_eq!(error.problem, DataProblem::SameValue { value: "0".into() });
        assert_eq!(&*error.path, "/stores:owners");
        // Values of state data may be the same.
        let state = format!("{{\"stores:bookstore\":{{\"log\":[{list}]}}}}");
        assert_eq!(read(&state, &STRICT).unwrap().children[0].content.leaves[0].values.len(), count + 1);
    }
}

#[test]
fn cases_exclude_each_other() {
    read(r#"{"stores:bookstore":{"street":"s","town":"t"}}"#, &STRICT).unwrap();
    refuse(
        r#"{"stores:bookstore":{"street":"s","url":"u"}}"#,
        &STRICT,
        "/stores:bookstore/url: \"street\" excludes it: they are of two cases of one choice (line 1, column 35)",
    );
}

#[test]
fn state_and_metadata_are_options() {
    let state = r#"{"stores:bookstore":{"visitors":1}}"#;
    check(state, &STRICT, Style::RFC7951, state);
    refuse(
        state,
        &ReadOptions::RFC7951,
        "/stores:bookstore/visitors: the node is state data, which cannot be written (line 1, column 22)",
    );
    let tagged = r#"{"stores:bookstore":{"name":"n","@name":{"a:b":[{}]}}}"#;
    refuse(
        tagged,
        &STRICT,
        "/stores:bookstore: metadata \"@name\" is not supported here (line 1, column 33)",
    );
    let ignore = ReadOptions { metadata: Metadata::Ignore, ..STRICT };
    check(tagged, &ignore, Style::RFC7951, r#"{"stores:bookstore":{"name":"n"}}"#);
}

#[test]
fn an_envelope_is_taken_away() {
    const DATA: Envelope = Envelope { module: "ietf-restconf", namespace: "urn:r", name: "data" };
    let options = ReadOptions { envelopes: &[DATA], ..STRICT };
    let inner = r#"{"stores:owners":["a"]}"#;
    check(&format!(r#"{{"ietf-restconf:data":{inner}}}"#), &options, Style::RFC7951, inner);
    check(inner, &options, Style::RFC7951, inner);
    assert!(
        read(&format!(r#"{{"ietf-restconf:data":{{"ietf-restconf:data":{inner}}}}}"#), &options).is_err()
    );
    assert!(read(&format!(r#"{{"ietf-restconf:data":{inner}}}"#), &STRICT).is_err());
    assert!(read(r#"{"stores:bookstore":{"ietf-restconf:data":{}}}"#, &options).is_err());
}

#[test]
fn limits_are_kept() {
    let text = r#"{"stores:bookstore":{"categories":[{"code":"1","books":[{"lang":"a","title":"b"}]}]}}"#;
    let with = |depth_max, nodes_max| read(text, &ReadOptions { depth_max, nodes_max, ..STRICT });
    with(3, 6).unwrap();
    assert_eq!(with(2, 6).unwrap_err().problem, DataProblem::TooDeep { max: 2 });
    assert_eq!(with(3, 5).unwrap_err().problem, DataProblem::TooMany { max: 5 });
    let deep = format!(r#"{{"stores:bookstore":{{"notes":{}{}}}}}"#, "[".repeat(500), "]".repeat(500));
    let error = read(&deep, &STRICT).unwrap_err();
    assert_eq!((error.problem, &*error.path), (DataProblem::TooDeep { max: 64 }, "/stores:bookstore/notes"));
}

#[test]
fn what_is_no_json_is_refused_where_it_ends_to_be() {
    refuse(
        "{\n \"stores:owners\":[\"é\" 1]}",
        &STRICT,
        "/stores:owners: unexpected character in JSON (line 2, column 23)",
    );
    refuse("{} x", &STRICT, "trailing characters after JSON (line 1, column 4)");
    refuse("", &STRICT, "unexpected end of JSON (line 1, column 1)");
    let bytes = b"{\"a\": \"\xff\"}";
    let error = read_json(&schema(), None, bytes, &STRICT).unwrap_err();
    assert_eq!(error.to_string(), "the text is not UTF-8 (line 1, column 8)");
}

#[test]
fn a_body_may_lie_below_a_node() {
    let schema = schema();
    let store = schema.child(None, None, "bookstore").unwrap();
    let categories = schema.child(Some(store), None, "categories").unwrap();
    let below = |parent, text: &str, options| read_json(&schema, Some(parent), text.as_bytes(), options);
    // The keys of what is around are not in the body.
    let content = below(categories, r#"{"books":[{"title":"a","lang":"b"}]}"#, &ReadOptions::CPS).unwrap();
    assert_eq!(content.children.len(), 1);
    // The outermost names of a body say their modules, by RFC 7951.
    assert!(below(store, r#"{"name":"a"}"#, &STRICT).is_err());
    let content = below(store, r#"{"stores:name":"a","extra:name":"b"}"#, &STRICT).unwrap();
    assert_eq!(content.leaves.len(), 2);
    let error = below(categories, r#"{"stores:books":[{"title":"a"}]}"#, &STRICT).unwrap_err();
    assert_eq!(&*error.path, "/stores:books[title='a']");
}
