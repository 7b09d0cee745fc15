//! Sets of modules and what becomes of them.

use super::*;
use crate::types::{IntegerWidth, TypeKind};

fn file(name: &str, text: &str) -> YangFile {
    YangFile { name: name.into(), text: text.into() }
}

const OPTIONS: CompileOptions = CompileOptions { features: Features::All };

/// Refused, with this message.
fn refused(files: &[(&str, &str)], expected: &str) {
    let files: Vec<YangFile> = files.iter().map(|(name, text)| file(name, text)).collect();
    let error = compile(&files, &OPTIONS).map(|_| ()).expect_err(expected);
    assert_eq!(error.to_string(), expected);
}

/// A module `a` of this body, which begins in line 2.
fn body_refused(body: &str, expected: &str) {
    refused(&[("a.yang", &format!("module a {{ namespace urn:a; prefix a;\n{body}\n}}"))], expected);
}

#[test]
fn errors_name_file_and_line() {
    body_refused(
        "\n container x { leef y; }",
        "a.yang, line 3: Invalid character sequence \"leef\", expected a keyword",
    );
    body_refused(
        "container x {\n leaf y { type texts; } }",
        "a.yang, line 3: /a:x/y: Referenced type \"texts\" not found",
    );
    body_refused(
        "container y {}\n container x {\n uses g; }",
        "a.yang, line 4: /a:x/{uses='g'}: Grouping \"g\" referenced by a uses statement not found",
    );
    body_refused(
        "\ncontainer x {\n leaf y { type leafref { path ../z; } } }",
        "a.yang, line 4: /a:x/y: Not found node \"z\" in path",
    );
    body_refused(
        "grouping g { leaf z { type int8; }\n leaf y { type uint8; default 300; } }\n uses g;",
        "a.yang, line 3: /a:y: Invalid default - value does not fit the type (Value \"300\" is out of type uint8 min/max bounds.)",
    );
    body_refused(
        "\n augment /a:b/c {\n leaf x { type string; } }",
        "a.yang, line 3: /a:{augment='/a:b/c'}: Augment target node \"/a:b/c\" from module \"a\" was not found",
    );
    body_refused(
        "description \"What\n is\n\n meant.\";\n leaf y { type texts; }",
        "a.yang, line 6: /a:y: Referenced type \"texts\" not found",
    );
    body_refused(
        "description \"What\n is meant.\";\n leef y;",
        "a.yang, line 4: Invalid character sequence \"leef\", expected a keyword",
    );
    body_refused("revision 2020-13-01;", "a.yang, line 2: Invalid value \"2020-13-01\" of \"revision\"");
    body_refused(
        "leaf y { type string {\n pattern \"(?=x)\"; } }",
        "a.yang, line 3: pattern \"(?=x)\": \"(?\" is not of XML Schema (character 2)",
    );
}

/// Compiles modules, each of its file's name.
fn schema_of(files: &[(&str, &str)], features: Features) -> Schema {
    let files: Vec<YangFile> = files.iter().map(|(name, text)| file(name, text)).collect();
    let schema = compile(&files, &CompileOptions { features }).unwrap().schema;
    assert_eq!(Schema::decode(&schema.encode()).unwrap(), schema);
    schema
}

/// A module of this name as its own prefix, with a body.
fn module(name: &str, body: &str) -> String {
    format!("module {name} {{ yang-version 1.1; namespace urn:{name}; prefix {name}; {body} }}")
}

fn paths(schema: &Schema) -> Vec<String> {
    (0..schema.nodes.len()).map(|index| schema.path(NodeId(u32::try_from(index).unwrap()))).collect()
}

#[test]
fn modules_augment_and_deviate_each_other() {
    let a = module("a", "container c { leaf x { type int8; } leaf y { type int8; } leaf z { type int8; } }");
    let b = module(
        "b",
        "import a { prefix p; } augment /p:c { leaf x { type string; } container d { config false; leaf e { type p:t; } } }",
    );
    let a = a.replacen("container c", "typedef t { type uint8 { range 1..5; } } container c", 1);
    let c = module(
        "c",
        "import a { prefix a; } deviation /a:c/a:y { deviate not-supported; } \
         deviation /a:c/a:z { deviate replace { type int64; } deviate add { default 7; } }",
    );
    let schema = schema_of(&[("c", &c), ("b", &b), ("a", &a)], Features::All);
    assert_eq!(paths(&schema), ["/a:c", "/a:c/x", "/a:c/z", "/a:c/b:x", "/a:c/b:d", "/a:c/b:d/e"]);
    let z = schema.node(schema.by_name("z")[0]);
    let NodeKind::Leaf { type_, default: Some(default) } = &z.kind else { panic!("a leaf with a default") };
    assert_eq!(&**default, "7");
    assert!(matches!(type_.kind(), TypeKind::Integer { width: IntegerWidth::Int64, .. }));
    let e = schema.node(schema.by_name("e")[0]);
    assert!(!e.is_config, "inherited");
    let TypeKind::Integer { width: IntegerWidth::Uint8, ranges } = e.type_().unwrap().kind() else {
        panic!("uint8")
    };
    assert_eq!(**ranges, [1..=5]);
    let deviations = |name: &str| &schema.module(schema.module_named(name).unwrap()).deviations;
    assert_eq!(deviations("a").iter().map(|name| &**name).collect::<Vec<_>>(), ["c"]);
    assert!(deviations("b").is_empty() && deviations("c").is_empty());
}

#[test]
fn submodules_are_part_of_their_module() {
    let a = module("a", "include s; include s2; container c { uses g; }");
    let s = "submodule s { yang-version 1.1; belongs-to a { prefix p; } include s2; grouping g { leaf x { type p:t; } } }";
    let s2 = "submodule s2 { yang-version 1.1; belongs-to a { prefix a; } revision 2024-05-06; typedef t { type boolean; } leaf top { type t; } }";
    let schema = schema_of(&[("a", &a), ("s", s), ("s2", s2)], Features::All);
    assert_eq!(schema.modules.len(), 1);
    assert_eq!(paths(&schema), ["/a:c", "/a:c/x", "/a:top"]);
    let submodules: Vec<_> = schema.modules[0].submodules.iter().map(|(name, at)| (&**name, &**at)).collect();
    assert_eq!(submodules, [("s", ""), ("s2", "2024-05-06")]);
}

#[test]
fn features_are_on_unless_others_are_listed() {
    let a = module(
        "a",
        "feature f; feature g; leaf x { if-feature f; type int8; } leaf y { if-feature g; type int8; } \
         leaf z { if-feature 'not f'; type int8; }",
    );
    let of = |features| paths(&schema_of(&[("a", &a)], features));
    let listed =
        |names: &[&str]| Features::Listed(names.iter().map(|name| ("a".into(), (*name).into())).collect());
    assert_eq!(of(Features::All), ["/a:x", "/a:y"]);
    assert_eq!(of(listed(&["g"])), ["/a:y", "/a:z"]);
    assert_eq!(of(listed(&[])), ["/a:z"]);
    let on = |features| schema_of(&[("a", &a)], features).modules[0].features.join(" ");
    assert_eq!((&*on(Features::All), &*on(listed(&["g"])), &*on(listed(&[]))), ("f g", "g", ""));
    let files = [file("a", &a)];
    let error = compile(&files, &CompileOptions { features: listed(&["h"]) }).unwrap_err();
    assert!(error.message.contains("\"h\""), "{error}");
}

#[test]
fn the_newest_revision_is_used_and_older_ones_can_be_imported() {
    let old = module("t", "revision 2020-01-01; typedef n { type int8; } leaf was { type n; }");
    let new = module("t", "revision 2021-01-01; typedef n { type int16; } leaf is { type n; }");
    let a = module("a", "import t { prefix t; revision-date 2020-01-01; } leaf x { type t:n; }");
    let b = module("b", "import t { prefix t; } leaf y { type t:n; }");
    let schema = schema_of(&[("t@2021", &new), ("t@2020", &old), ("a", &a), ("b", &b)], Features::All);
    assert_eq!(paths(&schema), ["/a:x", "/b:y", "/t:is"]);
    let modules: Vec<(&str, &str, bool)> = schema
        .modules
        .iter()
        .map(|module| (&*module.name, &*module.revision, module.is_implemented))
        .collect();
    assert_eq!(
        modules,
        [("a", "", true), ("b", "", true), ("t", "2020-01-01", false), ("t", "2021-01-01", true)]
    );
    let width = |name| match schema.node(schema.by_name(name)[0]).type_().unwrap().kind() {
        TypeKind::Integer { width, .. } => *width,
        _ => panic!("an integer"),
    };
    assert_eq!((width("x"), width("y")), (IntegerWidth::Int8, IntegerWidth::Int16));
}

#[test]
fn uploaded_types_win_over_those_of_libyang() {
    let inet = "module ietf-inet-types { namespace \"urn:ietf:params:xml:ns:yang:ietf-inet-types\"; prefix inet; \
                revision 2013-07-15; typedef uri { type string; } }";
    let a = module("a", "import ietf-inet-types { prefix inet; } leaf x { type inet:uri; }");
    let patterns = |schema: &Schema| match schema.node(schema.by_name("x")[0]).type_().unwrap().kind() {
        TypeKind::String { patterns, .. } => patterns.len(),
        _ => panic!("a string"),
    };
    assert_eq!(patterns(&schema_of(&[("inet", inet), ("a", &a)], Features::All)), 0);
    let built_in = schema_of(&[("a", &a)], Features::All);
    assert_eq!(patterns(&built_in), 1, "that of libyang, if none is uploaded");
    let module = built_in.module(built_in.module_named("ietf-inet-types").unwrap());
    assert!(!module.is_implemented);
}

#[test]
fn choices_are_flat_and_told_by_their_nodes() {
    let a = module(
        "a",
        "container c { leaf before { type int8; } choice one { case x { leaf a { type int8; } \
         choice two { leaf b { type int8; } container d { leaf e { type int8; } } } } leaf f { type int8; } } }",
    );
    let schema = schema_of(&[("a", &a)], Features::All);
    let choices = |name: &str| -> Vec<(u32, u32)> {
        let node = schema.node(schema.by_name(name)[0]);
        node.choices.iter().map(|within| (within.choice, within.case)).collect()
    };
    assert_eq!(paths(&schema), ["/a:c", "/a:c/before", "/a:c/a", "/a:c/b", "/a:c/d", "/a:c/d/e", "/a:c/f"]);
    assert_eq!((choices("before"), choices("e")), (vec![], vec![]));
    let (a, b, d, f) = (choices("a"), choices("b"), choices("d"), choices("f"));
    assert_eq!((a.len(), b.len(), d.len(), f.len()), (1, 2, 2, 1));
    assert!(b[0] == a[0] && d[0] == a[0], "around the inner choice");
    assert!(b[1].0 == d[1].0 && b[1].1 != d[1].1 && b[1].0 != a[0].0);
    assert!(f[0].0 == a[0].0 && f[0].1 != a[0].1);
}

#[test]
fn default_cases_count_until_another_is_chosen() {
    let a = module(
        "a",
        "choice one { default y; case x { leaf p { type int8; } } case y { leaf q { type int8; default 1; } \
         choice two { default s; leaf r { type int8; default 2; } container s { leaf t { type int8; default 3; } } } } }",
    );
    let schema = schema_of(&[("a", &a)], Features::All);
    let id = |name: &str| schema.by_name(name)[0];
    let defaults =
        |name: &str| schema.node(id(name)).choices.iter().map(|within| within.is_default).collect::<Vec<_>>();
    assert_eq!((defaults("p"), defaults("q")), (vec![false], vec![true]));
    assert_eq!((defaults("r"), defaults("s"), defaults("t")), (vec![true, false], vec![true, true], vec![]));
    let counts = |name: &str, present: &[&str]| {
        let present = || present.iter().map(|name| id(name));
        schema.node(id(name)).choices.iter().all(|case| schema.is_chosen(case, present()))
    };
    for (present, counting) in [
        (&[][..], [false, true, false, true]),
        (&["p"], [true, false, false, false]),
        (&["q"], [false, true, false, true]),
        (&["r"], [false, true, true, false]),
        (&["s"], [false, true, false, true]),
    ] {
        let found = ["p", "q", "r", "s"].map(|name| counts(name, present));
        assert_eq!(found, counting, "{present:?}");
    }
    assert!(schema.holds_defaults(id("s")));
}

#[test]
fn kinds_and_defaults_are_those_of_the_statements() {
    let a = module(
        "a",
        "identity i; identity j { base i; } typedef seven { type uint8; default 0x07; } \
         list keyless { config false; leaf x { type int8; } } \
         list user { key \"b a\"; ordered-by user; leaf a { type int8; } leaf c { type int8; } leaf b { type int8; } } \
         leaf-list many { type decimal64 { fraction-digits 2; } default 1.50; default 2; ordered-by user; } \
         leaf inherited { type seven; } leaf id { type identityref { base i; } default a:j; } \
         anydata free; anyxml text; container p { presence yes; } rpc r { input { leaf in { type int8; } } } notification n;",
    );
    let schema = schema_of(&[("a", &a)], Features::All);
    let kind = |name: &str| &schema.node(schema.child(None, None, name).unwrap()).kind;
    assert!(matches!(kind("keyless"), NodeKind::List { keys, user_ordered: true } if keys.is_empty()));
    let NodeKind::List { keys, user_ordered: true } = kind("user") else {
        panic!("a list of its user's order")
    };
    let names: Vec<&str> = keys.iter().map(|key| &*schema.node(*key).name).collect();
    assert_eq!(names, ["b", "a"]);
    let children = schema.children(schema.child(None, None, "user"));
    assert_eq!(children[..2], **keys, "keys come first");
    let NodeKind::LeafList { user_ordered: true, defaults, .. } = kind("many") else { panic!("a leaf-list") };
    assert_eq!(defaults.iter().map(|value| &**value).collect::<Vec<_>>(), ["1.5", "2.0"]);
    let default = |name| match kind(name) {
        NodeKind::Leaf { default, .. } => default.as_deref(),
        _ => panic!("a leaf"),
    };
    assert_eq!((default("inherited"), default("id")), (Some("7"), Some("a:j")));
    assert_eq!((kind("free"), kind("text")), (&NodeKind::Any(Any::Data), &NodeKind::Any(Any::Xml)));
    assert_eq!(kind("p"), &NodeKind::Container { presence: true });
    assert!(schema.by_name("in").is_empty() && schema.by_name("n").is_empty(), "no data");
}

#[test]
fn identities_know_all_that_they_are_derived_from() {
    let a = module("a", "identity x; identity y { base x; }");
    let b = module("b", "import a { prefix p; } identity z { base p:y; base w; } identity w;");
    let schema = schema_of(&[("a", &a), ("b", &b)], Features::All);
    let of = |name: &str| -> Vec<&str> {
        let (_, derived) = schema.identities.iter().find(|(known, _)| **known == *name).unwrap();
        derived.iter().map(|position| &*schema.identities[*position as usize].0).collect()
    };
    assert_eq!(of("b:z"), ["a:x", "a:y", "b:w"]);
    assert_eq!((of("a:y"), of("a:x"), of("b:w")), (vec!["a:x"], vec![], vec![]));
}

#[test]
fn the_hash_is_of_all_that_decides() {
    let (a, b) = (module("a", "feature f; leaf x { type int8; }"), module("b", ""));
    let hash = |files: &[(&str, &str)], features| schema_of(files, features).hash;
    let whole = hash(&[("a", &a), ("b", &b)], Features::All);
    assert_eq!(
        whole,
        hash(&[("other-b", &b), ("other-a", &a)], Features::All),
        "names of files and their order do not"
    );
    assert_ne!(whole, hash(&[("a", &a)], Features::All));
    assert_ne!(whole, hash(&[("a", &a), ("b", &b)], Features::Listed(vec![])));
    assert_ne!(whole, hash(&[("a", &a.replace("int8", "int16")), ("b", &b)], Features::All));
}

#[test]
fn many_threads_compile_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for round in 0..20 {
                    let name = format!("m-{thread}-{round}");
                    let good = module(&name, "leaf x { type int8; }");
                    assert_eq!(schema_of(&[("good", &good)], Features::All).nodes.len(), 1);
                    let bad = module(&name, &format!("leaf x {{ type none-{thread}; }}"));
                    let error = compile(&[file("bad", &bad)], &OPTIONS).unwrap_err().to_string();
                    assert_eq!(
                        error,
                        format!("bad, line 1: /{name}:x: Referenced type \"none-{thread}\" not found")
                    );
                }
            });
        }
    });
}

#[test]
fn patterns_are_bounded_one_by_one_and_together() {
    body_refused(
        "leaf y { type string {\n pattern \"a{60000}\"; } }",
        "a.yang, line 3: pattern \"a{60000}\": it compiles to more than 1048576 bytes",
    );
    // Of a type that nobody uses, and that no leaf has.
    body_refused(
        "\ntypedef y { type string {\n pattern \"a{60000}\"; } }",
        "a.yang, line 4: pattern \"a{60000}\": it compiles to more than 1048576 bytes",
    );
    let patterns: String = (0..80)
        .map(|number| format!("\nleaf l{number} {{ type string {{ pattern 'x{number}a{{4000}}'; }} }}"))
        .collect();
    body_refused(
        &patterns,
        "a.yang, line 67: with it the patterns of the modules compile to more than 33554432 bytes",
    );
    let others: String = (0..600)
        .map(|number| format!("typedef t{number} {{ type string {{ pattern '{number}(?=x)'; }} }}\n"))
        .collect();
    body_refused(
        &others,
        "a.yang, line 514: with it the patterns of the modules compile to more than 33554432 bytes",
    );
    // One that is written often counts once.
    let same: String = (0..80)
        .map(|number| format!("leaf l{number} {{ type string {{ pattern 'xa{{4000}}'; }} }}"))
        .collect();
    let schema = schema_of(&[("a", &module("a", &same))], Features::All);
    assert!((500_000..2_000_000).contains(&schema.pattern_bytes()), "{}", schema.pattern_bytes());
}

#[test]
fn what_is_as_deep_as_it_may_be_ends_well() {
    let groupings: String = (1..190)
        .map(|level| format!("grouping g{level} {{ container c {{ uses g{}; }} }}\n", level - 1))
        .collect();
    let nodes = format!("grouping g0 {{ leaf x {{ type int8; }} }}\n{groupings} uses g189;");
    let typedefs: String = (1..190)
        .map(|level| format!("typedef t{level} {{ type union {{ type t{}; type string; }} }}\n", level - 1))
        .collect();
    let types = format!("typedef t0 {{ type int8; }} {typedefs} leaf y {{ type t189; }}");
    let schema = schema_of(&[("a", &module("a", &format!("{nodes} {types}")))], Features::All);
    assert_eq!(schema.nodes.len(), 191);
    let nested = |level: usize, inside: &str| {
        format!("grouping g{level} {{ {} {inside} {} }}\n", "container c {".repeat(95), "}".repeat(95))
    };
    let groupings: String = (1..4).map(|level| nested(level, &format!("uses g{};", level - 1))).collect();
    let text = module("a", &format!("{} {groupings} uses g3;", nested(0, "leaf x { type int8; }")));
    let error = compile(&[file("a.yang", &text)], &OPTIONS).unwrap_err().to_string();
    assert!(error.ends_with("c: nodes nest deeper than 200"), "{error}");
}

#[test]
fn namespaces_are_there_and_one_modules_own() {
    const URI: &str = "\"namespace\" needs a URI, which is not empty and has no white space";
    for namespace in ["''", "' '", "\"urn:a\\n\"", "'urn:a b'"] {
        let text = format!("module a {{\n namespace {namespace};\n prefix a; leaf x {{ type int8; }} }}");
        refused(&[("a.yang", &text)], &format!("a.yang, line 2: {URI}"));
    }
    refused(
        &[("a.yang", "\nmodule a { namespace urn:ietf:params:xml:ns:yang:ietf-inet-types; prefix a; }")],
        "a.yang, line 2: the namespace of module \"a\" is that of module \"ietf-inet-types\"",
    );
    refused(
        &[
            ("a.yang", "module a { namespace urn:x; prefix a; }"),
            ("b.yang", "module b { namespace urn:x; prefix b; }"),
        ],
        "b.yang: Two different modules (\"a\" and \"b\") have the same namespace \"urn:x\"",
    );
}

#[test]
fn what_is_uploaded_is_used_or_refused() {
    let text = |name: &str, namespace: &str, revision: &str| {
        format!(
            "module {name} {{ namespace {namespace}; prefix p; {revision} container own {{ leaf x {{ type int8; }} }} }}"
        )
    };
    let own = |name: &str, revision: &str| {
        let text = text(name, &format!("urn:ietf:params:xml:ns:yang:{name}"), revision);
        compile(&[file("m.yang", &text)], &OPTIONS)
            .map(|compiled| paths(&compiled.schema))
            .map_err(|error| error.to_string())
    };
    // Of these another revision may be there; without one that of libyang would be used.
    for (name, revision) in [
        ("ietf-inet-types", "2025-12-22"),
        ("ietf-yang-types", "2025-12-22"),
        ("ietf-yang-structure-ext", "2020-06-17"),
    ] {
        let mut nodes = own(name, "revision 2013-07-15;").unwrap();
        nodes.truncate(1);
        assert_eq!(nodes, [format!("/{name}:own")]);
        let namespace = format!("urn:ietf:params:xml:ns:yang:{name}");
        let expected = format!(
            "m.yang, line 1: module \"{name}\" is built in, of revision {revision} and namespace \"{namespace}\": another of its name needs another revision"
        );
        assert_eq!(own(name, ""), Err(expected.clone()));
        refused(&[("m.yang", &text(name, "urn:x", &format!("revision {revision};")))], &expected);
    }
    // libyang works by these.
    for (name, revision, namespace) in [
        ("yang", "2025-01-29", "urn:ietf:params:xml:ns:yang:1"),
        ("default", "2025-06-18", "urn:ietf:params:xml:ns:netconf:default:1.0"),
        ("ietf-yang-metadata", "2016-08-05", "urn:ietf:params:xml:ns:yang:ietf-yang-metadata"),
        ("ietf-yang-schema-mount", "2019-01-14", "urn:ietf:params:xml:ns:yang:ietf-yang-schema-mount"),
    ] {
        let expected = format!(
            "m.yang, line 1: module \"{name}\" is built in, of revision {revision} and namespace \"{namespace}\": no other of its name can be used"
        );
        for other in ["", "revision 2001-01-01;", "revision 2031-01-01;"] {
            refused(&[("m.yang", &text(name, namespace, other))], &expected);
        }
        refused(&[("m.yang", &text(name, "urn:x", &format!("revision {revision};")))], &expected);
        // That of libyang itself, as people upload it with all that they have.
        let same = text(name, namespace, &format!("revision {revision};"));
        let user = module("a", &format!("import {name} {{ prefix q; }} leaf y {{ type int8; }}"));
        let schema = schema_of(&[("m", &same), ("a", &user)], Features::All);
        assert!(schema.child(None, None, "y").is_some());
    }
    // These are not loaded, but where they are uploaded.
    for name in ["ietf-yang-library", "ietf-datastores", "ietf-netconf-with-defaults", "ietf-origin"] {
        assert_eq!(own(name, ""), Ok(vec![format!("/{name}:own"), format!("/{name}:own/x")]));
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let text =
        format!("\u{FEFF}{}", module("a", "import b { prefix b; } description 'x'; leaf x { type b:t; }"));
    let plain = format!("\u{FEFF}{}", module("b", "revision 2020-01-01; typedef t { type int8; }"));
    assert_eq!(paths(&schema_of(&[("a", &text), ("b", &plain)], Features::All)), ["/a:x"]);
    refused(
        &[("a.yang", "\u{FEFF}module a {\n leef y; }")],
        "a.yang, line 2: Invalid character sequence \"leef\", expected a keyword",
    );
}

#[test]
fn the_longest_chain_of_identities_compiles() {
    let chain: String = (0..630).map(|at| format!("identity i{at} {{ base i{}; }}\n", at + 1)).collect();
    let schema = schema_of(&[("a", &module("a", &format!("{chain} identity i630;")))], Features::All);
    let first = schema.identity_named("a", "i0").unwrap();
    assert_eq!(schema.identities[first as usize].1.len(), 630);
}
