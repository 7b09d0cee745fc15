//! What is read, what is refused, and how errors say it.

use crate::data_error::DataProblem;
use crate::schema::Schema;
use crate::style::Style;
use crate::testing::{SchemaBuilder, boolean, empty, identity, instance_identifier, integer, string, union};
use crate::{
    Content, DataError, Envelope, IntegerWidth, Metadata, ReadOptions, read_json, read_xml,
    write_content_json,
};

fn schema() -> Schema {
    SchemaBuilder::new("stores", "st")
        .module("extra", "ex")
        .container("store", |store| {
            store
                .leaf("name", string())
                .list("shelf", &["id"], |shelf| {
                    shelf.leaf("id", string()).leaf("size", integer(IntegerWidth::Uint16))
                })
                .leaf_list("tags", string())
                .leaf("open", boolean())
                .leaf("gone", empty())
                .leaf("kind", identity(&[1]))
                .leaf("number", union(&[integer(IntegerWidth::Int8), string()]))
                .leaf("at", instance_identifier())
                .anydata("notes")
                .of_module("extra", |extra| extra.leaf("name", string()))
        })
        .build_with(&[
            ("stores:kind", &[]),
            ("stores:paper", &["stores:kind"]),
            ("extra:audio", &["stores:kind"]),
        ])
}

const STRICT: ReadOptions = ReadOptions::RFC7951;

fn read(text: &str, options: &ReadOptions) -> Result<Content, DataError> {
    read_xml(&schema(), None, text.as_bytes(), options)
}

/// What is read is `expected` in JSON.
#[track_caller]
fn check(text: &str, options: &ReadOptions, expected: &str) {
    let content = read(text, options).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut out = Vec::new();
    write_content_json(&schema(), &content, Style::RFC7951, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[track_caller]
fn refuse(text: &str, options: &ReadOptions, expected: &str) {
    match read(text, options) {
        Ok(content) => panic!("{text} was read: {content:?}"),
        Err(error) => assert_eq!(error.to_string(), expected, "of {text}"),
    }
}

fn store(inner: &str) -> String {
    format!("<store xmlns=\"urn:stores\" xmlns:ex=\"urn:extra\">{inner}</store>")
}

#[test]
fn entries_and_values_may_lie_apart() {
    check(
        &store(concat!(
            "<tags>b</tags><shelf><size> 2 </size><id>x</id></shelf><name>N</name><tags>a</tags>\n",
            "<!-- between --><shelf><id>w</id></shelf><open>true</open><?p i?>"
        )),
        &STRICT,
        concat!(
            r#"{"stores:store":{"name":"N","tags":["b","a"],"open":true,"#,
            r#""shelf":[{"id":"x","size":2},{"id":"w"}]}}"#
        ),
    );
    check("<store xmlns='urn:stores'/>", &STRICT, r#"{"stores:store":{}}"#);
}

#[test]
fn text_is_what_xml_says_it_is() {
    check(
        &store("<name> a&lt;&#x42;&amp;<![CDATA[<c>&lt;]]>\r\n&quot;&#13; </name>"),
        &STRICT,
        "{\"stores:store\":{\"name\":\" a<B&<c>&lt;\\n\\\"\\r \"}}",
    );
    // White space counts in strings alone; a union takes what its first member takes.
    check(
        &store("<number> 7 </number><gone> </gone><kind>\n paper</kind>"),
        &STRICT,
        r#"{"stores:store":{"gone":[null],"kind":"stores:paper","number":7}}"#,
    );
    check(&store("<number>7</number><name/>"), &STRICT, r#"{"stores:store":{"name":"","number":7}}"#);
}

#[test]
fn names_have_the_namespaces_of_their_modules() {
    check(
        "<s:store xmlns:s='urn:stores'><name xmlns='urn:extra'>b</name><s:name>a</s:name></s:store>",
        &STRICT,
        r#"{"stores:store":{"name":"a","extra:name":"b"}}"#,
    );
    refuse("<store/>", &STRICT, "\"store\" must name its module: xmlns=\"urn:stores\" (line 1, column 1)");
    refuse(
        "<store xmlns='urn:extra'/>",
        &STRICT,
        "there is no node \"store\" in the schema of urn:extra (line 1, column 1)",
    );
    refuse("<s:store xmlns='urn:stores'/>", &STRICT, "the prefix \"s\" has no namespace (line 1, column 1)");
    // CPS does without, and passes over namespaces that are no module's.
    for text in ["<store><name>a</name></store>", "<store xmlns='urn:nobody'><name>a</name></store>"] {
        check(text, &ReadOptions::CPS, r#"{"stores:store":{"name":"a"}}"#);
    }
    let error = read("<nope/>", &ReadOptions::CPS).unwrap_err();
    assert_eq!(error.problem, DataProblem::UnknownNode { name: "nope".into(), module: None });
}

#[test]
fn values_name_modules_by_prefixes() {
    let kind = |kind: &str, expected: &str| {
        check(&store(kind), &STRICT, &format!("{{\"stores:store\":{{{expected}}}}}"));
    };
    kind("<kind>ex:audio</kind>", r#""kind":"extra:audio""#);
    kind("<kind xmlns:q='urn:extra'>q:audio</kind>", r#""kind":"extra:audio""#);
    kind("<kind xmlns:ex='urn:stores'>ex:paper</kind>", r#""kind":"stores:paper""#);
    kind(
        "<at xmlns:s='urn:stores'>/s:store/s:shelf[s:id='ex:1']/s:size</at>",
        r#""at":"/stores:store/shelf[id='ex:1']/size""#,
    );
    kind("<at xmlns:s='urn:stores'>/s:store/ex:name</at>", r#""at":"/stores:store/extra:name""#);
    refuse(
        &store("<kind>q:audio</kind>"),
        &STRICT,
        "/stores:store/kind: \"q:audio\" is not an identity derived from stores:kind (line 1, column 48)",
    );
    check(
        "<store><kind>ex:audio</kind></store>",
        &ReadOptions::CPS,
        r#"{"stores:store":{"kind":"extra:audio"}}"#,
    );
}

#[test]
fn keys_are_there_and_unique_and_members_are_there_once() {
    let refuse = |inner: &str, path: &str, problem: DataProblem| {
        let error = read(&store(inner), &STRICT).unwrap_err();
        assert_eq!((&*error.path, error.problem), (path, problem));
    };
    refuse("<shelf><size>1</size></shelf>", "/stores:store/shelf", DataProblem::NoKey { key: "id".into() });
    let twice = "<shelf><id>a</id></shelf><name>n</name><shelf><id>a</id></shelf>";
    refuse(twice, "/stores:store/shelf[id='a']", DataProblem::SameKeys);
    refuse(
        "<tags>a</tags><name/><tags>a</tags>",
        "/stores:store/tags",
        DataProblem::SameValue { value: "a".into() },
    );
    refuse("<name>a</name><name>b</name>", "/stores:store/name", DataProblem::Twice);
}

#[test]
fn what_is_no_data_is_refused() {
    let inner = |inner: &str, expected: &str| refuse(&store(inner), &STRICT, expected);
    inner(
        "<name><b/></name>",
        "/stores:store/name: text for a leaf expected, got an element (line 1, column 54)",
    );
    inner(
        "<shelf>x</shelf>",
        "/stores:store/shelf: elements expected, got text in a node that holds nodes (line 1, column 55)",
    );
    inner("<open>yes</open>", "/stores:store/open: \"yes\" is not true or false (line 1, column 48)");
    refuse("", &STRICT, "an element expected, got none (line 1, column 1)");
    refuse("x", &STRICT, "elements expected, got text outside of all elements (line 1, column 1)");
    let two = "<store xmlns='urn:stores'/><store xmlns='urn:stores'/>";
    refuse(two, &STRICT, "one outermost element expected, got another (line 1, column 28)");
    refuse(two, &ReadOptions::CPS, "/stores:store: the node is given twice (line 1, column 28)");
    refuse(
        "<store xmlns='urn:stores'>",
        &STRICT,
        "/stores:store: the text ends within an element (line 1, column 27)",
    );
    let state = read(&store("<a xmlns:b='urn:c' xmlns:b='urn:c'/>"), &STRICT);
    assert!(matches!(state.unwrap_err().problem, DataProblem::Syntax(_)));
}

#[test]
fn entities_document_types_and_bad_characters_are_refused() {
    for (text, expected) in [
        (
            "<!DOCTYPE a [<!ENTITY e \"x\">]><store xmlns='urn:stores'><name>&e;</name></store>",
            "document types are not supported (line 1, column 1)",
        ),
        (
            "<store xmlns='urn:stores'><name>&e;</name></store>",
            "/stores:store/name: there is no entity \"e\" (line 1, column 33)",
        ),
        (
            "<store xmlns='urn:stores'><name>a&#1;</name></store>",
            "/stores:store/name: a character that XML does not allow (line 1, column 34)",
        ),
        (
            "<store xmlns='urn:stores'><name>a\u{1}</name></store>",
            "/stores:store/name: a character that XML does not allow (line 1, column 33)",
        ),
        (
            "<?xml version='1.0' encoding='latin1'?><store xmlns='urn:stores'/>",
            "the encoding UTF-8 expected, got another (line 1, column 1)",
        ),
    ] {
        refuse(text, &STRICT, expected);
    }
    check(
        "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<store xmlns='urn:stores'/>\n",
        &STRICT,
        r#"{"stores:store":{}}"#,
    );
}

#[test]
fn attributes_are_metadata() {
    let text = store("<name xml:lang='en' ex:a='b'>n</name>");
    refuse(&text, &STRICT, "/stores:store: metadata \"ex:a\" is not supported here (line 1, column 48)");
    check(&text, &ReadOptions { metadata: Metadata::Ignore, ..STRICT }, r#"{"stores:store":{"name":"n"}}"#);
}

#[test]
fn an_envelope_is_taken_away() {
    const DATA: Envelope = Envelope { module: "ietf-restconf", namespace: "urn:r", name: "data" };
    let options = ReadOptions { envelopes: &[DATA], ..STRICT };
    let json = r#"{"stores:store":{"name":"n"}}"#;
    check(&format!("<data xmlns='urn:r'>{}</data>", store("<name>n</name>")), &options, json);
    check(&store("<name>n</name>"), &options, json);
    assert!(read("<data xmlns='urn:s'/>", &options).is_err());
    assert!(read("<data xmlns='urn:r'><data/></data>", &options).is_err());
    let lenient = ReadOptions { envelopes: &[DATA], ..ReadOptions::CPS };
    check("<data><store><name>n</name></store></data>", &lenient, json);
}

#[test]
fn data_without_a_schema_is_json() {
    let notes = |xml: &str, json: &str| {
        check(
            &store(&format!("<notes>{xml}</notes>")),
            &STRICT,
            &format!("{{\"stores:store\":{{\"notes\":{json}}}}}"),
        );
    };
    notes("<a>1</a> <b><c/></b><a>&lt;2</a>", r#"{"a":["1","<2"],"b":{"c":""}}"#);
    notes("<ex:a><ex:b>x</ex:b><c xmlns='urn:stores'/></ex:a>", r#"{"extra:a":{"b":"x","stores:c":""}}"#);
    notes("", "{}");
    refuse(
        &store("<notes><a>x<b/></a></notes>"),
        &STRICT,
        "/stores:store/notes: elements expected, got text beside elements (line 1, column 63)",
    );
    let deep = format!("<notes>{}{}</notes>", "<a>".repeat(100), "</a>".repeat(100));
    assert_eq!(read(&store(&deep), &STRICT).unwrap_err().problem, DataProblem::TooDeep { max: 64 });
}

#[test]
fn limits_are_those_of_json() {
    let text = store("<tags>a</tags><shelf><id>x</id></shelf><tags>b</tags>");
    let json = r#"{"stores:store":{"tags":["a","b"],"shelf":[{"id":"x"}]}}"#;
    for nodes_max in 0..8 {
        let options = ReadOptions { nodes_max, ..STRICT };
        let of_json = read_json(&schema(), None, json.as_bytes(), &options);
        let problems = (read(&text, &options).err(), of_json.err());
        let expected = (nodes_max < 5).then_some(DataProblem::TooMany { max: nodes_max });
        assert_eq!(problems.0.map(|error| error.problem), expected);
        assert_eq!(problems.1.map(|error| error.problem), expected);
    }
}

#[test]
fn namespaces_are_those_of_the_text_without_its_escapes() {
    let text = "module a { namespace \"urn:a?b=1&c=<2>\"; prefix a; identity i; \
                container own { leaf x { type identityref { base i; } } } identity j { base i; } }";
    let files = [crate::YangFile { name: "a.yang".into(), text: text.into() }];
    let options = crate::CompileOptions { features: crate::Features::All };
    let schema = crate::compile(&files, &options).unwrap().schema;
    for namespace in ["urn:a?b=1&amp;c=&lt;2>", "urn:a?b=1&#38;c=&#x3C;2&gt;"] {
        let xml = format!("<own xmlns=\"{namespace}\" xmlns:p=\"{namespace}\"><x>p:j</x></own>");
        let content = read_xml(&schema, None, xml.as_bytes(), &STRICT).unwrap();
        let mut out = Vec::new();
        write_content_json(&schema, &content, Style::RFC7951, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a:own":{"x":"a:j"}}"#);
    }
}
