use proptest::prelude::*;
use serde_json::json;

use super::define::{DEFINITIONS_DEPTH_MAX, DEFINITIONS_MAX, TERMS_MAX};
use super::*;

fn documents(documents: &[(&str, Value)]) -> Documents {
    documents.iter().map(|(url, value)| ((*url).into(), value.clone().into())).collect()
}

fn context(value: &Value, documents: &Documents) -> Context {
    parse(value, documents).unwrap_or_else(|error| panic!("{value}: {error:?}"))
}

/// Checks that each name expands to the IRI and that the IRI compacts to the name.
fn check(value: &Value, pairs: &[(&str, &str)]) {
    let context = context(value, &Documents::new());
    for (name, iri) in pairs {
        assert_eq!(context.expand(name), *iri, "expansion of {name} by {value}");
        assert_eq!(context.compact(iri), *name, "compaction of {iri} by {value}");
    }
}

fn check_invalid(value: &Value, given: &Documents, said: &str) {
    match parse(value, given) {
        Err(ParseError::Invalid(detail)) => {
            assert!(detail.contains(said), "{value}: {detail:?} lacks {said:?}")
        }
        other => panic!("{value}: {:?}", other.map(drop)),
    }
}

#[test]
fn names_without_a_context_belong_to_the_default_vocabulary() {
    check(
        &json!([]),
        &[
            ("speed", "https://uri.etsi.org/ngsi-ld/default-context/speed"),
            ("location", "https://uri.etsi.org/ngsi-ld/location"),
            ("ngsi-ld:other", "https://uri.etsi.org/ngsi-ld/other"),
            ("value", "https://uri.etsi.org/ngsi-ld/hasValue"),
            ("description", "http://purl.org/dc/terms/description"),
            ("urn:ngsi-ld:Vehicle", "urn:ngsi-ld:Vehicle"),
            ("http://example.org/x", "http://example.org/x"),
            ("id", "@id"),
        ],
    );
}

#[test]
fn terms_prefixes_and_vocabularies() {
    let value = json!({
        "@version": 1.1,
        "ex": "https://example.org/",
        "@vocab": "https://vocab.example/#",
        "Vehicle": "ex:Vehicle",
        "speed": {"@id": "ex:speed", "@type": "@vocab", "@container": ["@set", "@list"]},
        "plain": {"@type": "@id"},
        "by": {"@id": "https://by.example/x", "@prefix": true},
        "noprefix": {"@id": "https://no.example/"},
        "alias": "Vehicle",
        "ex:own": {"@type": "@id"},
    });
    check(
        &value,
        &[
            ("speed", "https://example.org/speed"),
            ("plain", "https://vocab.example/#plain"),
            ("ex:other", "https://example.org/other"),
            ("by:z", "https://by.example/xz"),
            ("https://no.example/z", "https://no.example/z"),
            ("ex:own", "https://example.org/own"),
            // The core context comes last, and with it its vocabulary.
            ("unknown", "https://uri.etsi.org/ngsi-ld/default-context/unknown"),
            // Of two terms for one IRI the shorter one is used.
            ("alias", "https://example.org/Vehicle"),
        ],
    );
}

#[test]
fn an_iri_with_an_authority_has_no_prefix() {
    check(
        &json!({"http": "http://example.org/http/"}),
        &[("http", "http://example.org/http/"), ("http://example.org/x", "http://example.org/x")],
    );
}

#[test]
fn core_terms_are_not_overridden() {
    let value = json!({
        "location": "https://example.org/location",
        "ngsi-ld": "https://example.org/",
        "spot": "https://example.org/location",
        "observed": "https://uri.etsi.org/ngsi-ld/observedAt",
    });
    check(
        &value,
        &[
            ("location", "https://uri.etsi.org/ngsi-ld/location"),
            ("spot", "https://example.org/location"),
            ("observedAt", "https://uri.etsi.org/ngsi-ld/observedAt"),
            ("ngsi-ld:x", "https://uri.etsi.org/ngsi-ld/x"),
        ],
    );
    let context = context(&value, &Documents::new());
    assert_eq!(context.expand("observed"), "https://uri.etsi.org/ngsi-ld/observedAt");
}

#[test]
fn null_keyword_and_reverse_terms_are_as_if_undefined() {
    let value = json!([
        {"speed": "https://example.org/speed"},
        {"speed": null, "nothing": {"@id": null}, "lang": "@language", "back": {"@reverse": "https://example.org/b"}},
    ]);
    let vocabulary = "https://uri.etsi.org/ngsi-ld/default-context/";
    check(&value, &[("speed", &format!("{vocabulary}speed")), ("back", &format!("{vocabulary}back"))]);
    check(
        &json!([{"speed": "https://example.org/speed"}, null]),
        &[("speed", &format!("{vocabulary}speed"))],
    );
}

#[test]
fn a_bare_name_that_means_something_else_is_not_used_for_the_default_vocabulary() {
    let context = context(&json!({"speed": "https://example.org/speed"}), &Documents::new());
    let iri = "https://uri.etsi.org/ngsi-ld/default-context/speed";
    assert_eq!(context.expand(&context.compact(iri)), iri);
    let iri = "https://uri.etsi.org/ngsi-ld/default-context/a:b";
    assert_eq!(context.expand(&context.compact(iri)), iri);
}

#[test]
fn documents_are_read_imported_and_resolved_against_each_other() {
    let given = documents(&[
        ("https://example.org/a/one.jsonld", json!({"@context": ["two.jsonld", {"b": "ex:b"}]})),
        (
            "https://example.org/a/two.jsonld",
            json!({"@context": {"ex": "https://example.org/#", "a": "ex:a"}}),
        ),
    ]);
    let one = context(&json!("https://example.org/a/one.jsonld"), &given);
    assert_eq!(one.expand("a"), "https://example.org/#a");
    assert_eq!(one.expand("b"), "https://example.org/#b");
    let imported = json!({"@import": "https://example.org/a/two.jsonld", "a": "ex:other"});
    let imported = context(&imported, &given);
    assert_eq!(imported.expand("a"), "https://example.org/#other");
    let missing = parse(&json!(["https://example.org/three"]), &given).map(drop);
    assert_eq!(missing, Err(ParseError::Missing("https://example.org/three".into())));
}

#[test]
fn built_in_documents_need_not_be_at_hand() {
    let core = "http://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.3.jsonld";
    assert!(context(&json!(core), &Documents::new()).is_core());
    let first = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.0.jsonld";
    let first = context(&json!([first]), &Documents::new());
    assert_eq!(first.expand("name"), "https://uri.etsi.org/ngsi-ld/name");
    assert_eq!(first.expand("description"), "http://purl.org/dc/terms/description");
    let fiware = context(&json!("https://fiware.github.io/data-models/context.jsonld"), &Documents::new());
    assert_eq!(fiware.expand("refDevice"), "https://uri.fiware.org/ns/data-models#refDevice");
    assert_eq!(fiware.expand("location"), "https://uri.etsi.org/ngsi-ld/location");
}

#[test]
fn built_in_documents_can_be_imported_scoped_contexts_of_the_core_included() {
    let core = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld";
    let imported = context(&json!({"@import": core, "a": "https://example.org/a"}), &Documents::new());
    assert_eq!(imported.expand("a"), "https://example.org/a");
    assert_eq!(imported.expand("ngsildproof"), "https://uri.etsi.org/ngsi-ld/ngsildproof");
    let fiware = "https://fiware.github.io/data-models/context.jsonld";
    let fiware = context(&json!({"@import": fiware}), &Documents::new());
    assert_eq!(fiware.expand("refDevice"), "https://uri.fiware.org/ns/data-models#refDevice");
}

#[test]
fn many_prefixes_of_one_iri_cost_a_name_no_more_than_one() {
    let prefixes: Map<String, Value> =
        (0..50_000).map(|at| (format!("prefix{at}"), json!("https://example.org/"))).collect();
    let context = context(&Value::Object(prefixes), &Documents::new());
    // A pass over all prefixes for each name would look at five thousand million of them.
    for at in 0..100_000 {
        let iri = format!("https://example.org/{at}");
        assert_eq!(context.compact(&iri), format!("prefix0:{at}"));
    }
}

#[test]
fn prefixes_of_more_lengths_than_are_tried_still_go_both_ways() {
    let iri = |length: usize| format!("https://example.org/{}/", "x".repeat(length));
    let prefixes: Map<String, Value> = (0..200).map(|at| (format!("p{at}"), json!(iri(at)))).collect();
    let context = context(&Value::Object(prefixes), &Documents::new());
    for at in 0..200 {
        let iri = format!("{}name", iri(at));
        assert_eq!(context.expand(&context.compact(&iri)), iri);
        assert_eq!(context.expand(&format!("p{at}:name")), iri);
    }
    assert_eq!(context.compact(&format!("{}name", iri(199))), "p199:name");
}

#[test]
fn broken_contexts_are_refused_with_a_reason() {
    let given = documents(&[
        ("https://example.org/self", json!({"@context": ["https://example.org/self"]})),
        ("https://example.org/ping", json!({"@context": "https://example.org/pong"})),
        ("https://example.org/pong", json!({"@context": "ping"})),
        ("https://example.org/array", json!({"@context": []})),
        ("https://example.org/none", json!({"context": []})),
        ("https://example.org/scoped", json!({"@context": {"a": {"@id": "x:y", "@context": "x:z"}}})),
        ("https://example.org/double", json!({"@context": {"@import": "https://example.org/array"}})),
    ]);
    for (value, said) in [
        (json!(7), "7 is neither"),
        (json!([[true]]), "true is neither"),
        (json!("not a url"), "\"not a url\" is no URL"),
        (json!("https://example.org/self"), "refers to itself"),
        (json!("https://example.org/ping"), "https://example.org/ping -> https://example.org/pong"),
        (json!("https://example.org/none"), "no member @context"),
        (json!("https://example.org/double"), "whose @context is no object"),
        (json!({"@import": 7}), "@import is 7"),
        (json!({"@version": 1.0}), "@version is 1.0"),
        (json!({"@protected": 1}), "@protected is 1"),
        (json!({"@vocab": 1}), "@vocab is 1"),
        (json!({"@vocab": "relative"}), "@vocab \"relative\" is no IRI"),
        (json!({"@id": "https://example.org/"}), "@id cannot be redefined"),
        (json!({"": "https://example.org/"}), "a term is empty"),
        (json!({"a": 7}), "the definition of \"a\" is 7"),
        (json!({"a": {"@id": 7}}), "the @id of \"a\" is 7"),
        (json!({"a": {"@id": "x:y", "@type": 7}}), "the @type of \"a\" is 7"),
        (json!({"a": {"@id": "x:y", "@container": "@bag"}}), "the @container of \"a\" is \"@bag\""),
        (json!({"a": {"@id": "x:y", "@prefix": 7}}), "@prefix of \"a\" is 7"),
        (json!({"a": {"@type": "@id"}}), "\"a\" has no IRI"),
        (json!({"a": {"@id": "x:y", "@context": {"b": "x:z"}}}), "\"a\" has a scoped @context"),
        (json!({"a": {"@id": "x:y", "@context": null}}), "\"a\" has a scoped @context"),
        (json!("https://example.org/scoped"), "@context https://example.org/scoped: \"a\" has a scoped"),
        (json!({"a": "b"}), "\"a\" stands for \"b\""),
        (json!({"a": "@context"}), "stands for @context"),
        (json!({"a": "b:x", "b": "a:x"}), "defined by each other: a, b"),
        (json!({"a": format!("http://{}", "x".repeat(IRI_BYTES_MAX))}), "longer than 2048 bytes"),
        (json!([{"@protected": true, "a": "x:y"}, {"a": "x:z"}]), "\"a\" is protected"),
        (json!([{"@protected": true, "a": "x:y"}, null]), "terms away that are protected"),
    ] {
        check_invalid(&value, &given, said);
    }
}

#[test]
fn limits_hold() {
    let chain = |length: usize| {
        let mut terms = Map::new();
        for at in 0..length {
            terms.insert(format!("t{at}"), json!(format!("t{}:x/", at + 1)));
        }
        Value::Object(terms)
    };
    context(&chain(DEFINITIONS_DEPTH_MAX), &Documents::new());
    check_invalid(&chain(DEFINITIONS_DEPTH_MAX + 2), &Documents::new(), "terms lean on each other");

    let nested = |length: usize| -> Documents {
        let url = |at: usize| format!("https://example.org/{at}");
        (0..=length)
            .map(|at| {
                let inner = if at == length { json!({}) } else { json!([url(at + 1), url(at + 1)]) };
                (url(at).into(), json!({"@context": inner}).into())
            })
            .collect()
    };
    context(&json!("https://example.org/0"), &nested(4));
    check_invalid(&json!("https://example.org/0"), &nested(NESTING_MAX - 2), "references to contexts");
    check_invalid(&json!("https://example.org/0"), &nested(NESTING_MAX + 1), "contexts within contexts");

    let large: Map<String, Value> =
        (0..DEFINITIONS_MAX / 100).map(|at| (format!("t{at}"), json!("x:y"))).collect();
    let given = documents(&[("https://example.org/large", json!({"@context": large}))]);
    check_invalid(&json!(vec!["https://example.org/large"; 101]), &given, "more than 400000 definitions");

    let many: Map<String, Value> = (0..=TERMS_MAX).map(|at| (format!("t{at}"), json!("x:y"))).collect();
    check_invalid(&Value::Object(many), &Documents::new(), "more than 100000 terms");
}

/// JSON that looks like contexts, so that random ones reach deep.
fn context_like() -> impl Strategy<Value = Value> {
    let word = || {
        prop_oneof![
            prop::sample::select(vec![
                "a",
                "b",
                "c",
                "ab",
                "@id",
                "@type",
                "@vocab",
                "@container",
                "@context",
                "@import",
                "@prefix",
                "@protected",
                "@reverse",
                "@version",
                "a:b",
                "b:c",
                "c:a",
                "location",
                "ngsi-ld",
                "ngsi-ld:x",
                "https://example.org/",
                "https://example.org/#",
                "https://example.org/a",
                "urn:x:",
                "",
                ":",
                "a:",
                ":a",
                "https://uri.etsi.org/ngsi-ld/default-context/a",
                "https://uri.etsi.org/ngsi-ld/default-context/",
            ])
            .prop_map(String::from),
            ".{0,6}",
        ]
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        Just(json!(1.1)),
        word().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Sound contexts: terms by IRIs and prefixes.
fn sound_context() -> impl Strategy<Value = Value> {
    let iri = prop_oneof![
        "[a-d]{1,3}".prop_map(|name| format!("https://example.org/{name}")),
        "[a-d]{1,3}".prop_map(|name| format!("p:{name}")),
        "[a-d]{1,3}".prop_map(|name| format!("q:{name}")),
        "[a-d]{1,3}".prop_map(|name| format!("https://uri.etsi.org/ngsi-ld/default-context/{name}")),
        "[a-d]{1,2}/".prop_map(|name| format!("https://example.org/{name}")),
    ];
    prop::collection::vec(("[a-d]{1,3}", iri), 0..12).prop_map(|terms| {
        let mut members: Map<String, Value> =
            terms.into_iter().map(|(term, iri)| (term, json!(iri))).collect();
        members.insert("p".into(), json!("https://example.org/"));
        members.insert("q".into(), json!("p:a/"));
        Value::Object(members)
    })
}

proptest! {
    #[test]
    fn random_json_never_panics_and_what_parses_goes_both_ways(value in context_like(), name in ".{0,8}") {
        let given = documents(&[("https://example.org/a", json!({"@context": &value}))]);
        if let Ok(context) = parse(&value, &given) {
            let iri = context.expand(&name).into_owned();
            let _ = context.compact(&name);
            if iri.contains(':') {
                prop_assert_eq!(context.expand(&context.compact(&iri)).into_owned(), iri);
            }
        }
    }

    #[test]
    fn names_and_iris_go_both_ways(value in sound_context(), extra in "[a-d]{1,4}") {
        let context = context(&value, &Documents::new());
        for term in value.as_object().unwrap().keys().map(String::as_str).chain([extra.as_str()]) {
            let iri = context.expand(term);
            let compact = context.compact(&iri);
            prop_assert_eq!(context.expand(&compact), iri.as_ref());
            if value.get(term).is_some() {
                prop_assert!(compact.len() <= term.len(), "{} is longer than {}", compact, term);
            }
            let again = context.expand(&compact);
            prop_assert_eq!(context.compact(&again), compact.as_ref());
        }
        for iri in ["https://example.org/x", "https://example.org/a/x", "https://example.org/", "https://other/"] {
            let name = context.compact(iri);
            prop_assert_eq!(context.expand(&name), iri);
        }
    }
}
