//! Sets of files, and what is missing from them.

use super::{ModuleSet, YangFile};

fn files(texts: &[(&str, &str)]) -> Vec<YangFile> {
    texts.iter().map(|(name, text)| YangFile { name: (*name).into(), text: (*text).into() }).collect()
}

/// What is wrong with a set, if the engine brings a module `built-in`.
fn problem(texts: &[(&str, &str)]) -> Option<String> {
    let files = files(texts);
    let read = ModuleSet::read(&files).and_then(|set| set.check_dependencies(|name| name == "built-in"));
    read.err().map(|error| error.to_string())
}

fn refused(texts: &[(&str, &str)], expected: &str) {
    assert_eq!(problem(texts).as_deref(), Some(expected));
}

#[test]
fn what_is_no_module_is_refused() {
    refused(&[], "a set needs at least one module");
    refused(&[("a.yang", " // nothing\n")], "a.yang, line 1: the file holds no module");
    refused(
        &[("a.yang", "\ncontainer x {}")],
        "a.yang, line 2: a module or a submodule is expected, got \"container\"",
    );
    refused(&[("a.yang", "module a;")], "a.yang, line 1: \"module\" needs a body in braces");
    refused(
        &[("a.yang", "module a {}\nmodule b {}")],
        "a.yang, line 2: a file holds one module, and nothing follows it",
    );
    refused(
        &[("a.yang", "module ../a {}")],
        "a.yang, line 1: \"module\" needs a name of at most 200 letters",
    );
    refused(&[("a.yang", "module a {\n\0}")], "a.yang, line 2: a zero byte is not of YANG");
    refused(
        &[("a.yang", "module a {\n revision 2020-1-1;}")],
        "a.yang, line 2: \"revision\" needs a date as 2013-07-15",
    );
    refused(
        &[("a.yang", "module a {\n leaf x { type }}")],
        "a.yang, line 2: \";\" or \"{\" is expected after \"type\"",
    );
}

#[test]
fn a_module_is_there_once() {
    assert_eq!(problem(&[("a.yang", "module a {}"), ("x/a.yang", "module a {}")]), None, "the same text");
    refused(
        &[("a.yang", "module a {}"), ("b.yang", "module a { }")],
        "b.yang, line 1: a.yang is another text of \"a\" without revision",
    );
    let old = "module a { revision 2020-01-01; }";
    let new = "module a { revision 2021-01-01; revision 2020-01-01; }";
    let files = files(&[("old", old), ("new", new)]);
    let set = ModuleSet::read(&files).unwrap();
    assert_eq!(&*set.newest("a").unwrap().file.name, "new");
    assert_eq!(set.modules().count(), 1);
    assert_eq!(set.members.len(), 2);
}

#[test]
fn what_is_imported_is_there() {
    refused(
        &[("a.yang", "module a {\n import b { prefix b; }\n}")],
        "a.yang, line 2: module \"a\" imports module \"b\", which is not among the files",
    );
    refused(
        &[("a.yang", "module a {\n include b; }")],
        "a.yang, line 2: module \"a\" includes submodule \"b\", which is not among the files",
    );
    refused(
        &[("b.yang", "submodule b {\n belongs-to a { prefix a; } }")],
        "b.yang, line 2: submodule \"b\" belongs to module \"a\", which is not among the files",
    );
    refused(
        &[
            ("a.yang", "module a { import b { prefix b; revision-date 2019-01-01; } }"),
            ("b.yang", "module b { revision 2020-01-01; }"),
        ],
        "a.yang, line 1: module \"a\" imports module \"b\" of revision 2019-01-01, which is not among the files; there is 2020-01-01",
    );
    refused(
        &[
            ("a.yang", "module a { import b { prefix b; } }"),
            ("b.yang", "submodule b { belongs-to a { prefix a; } }"),
        ],
        "a.yang, line 1: module \"a\" imports module \"b\", which is not among the files",
    );
    assert_eq!(problem(&[("a.yang", "module a { import built-in { prefix b; } }")]), None);
    assert_eq!(
        problem(&[
            ("a.yang", "module a { include b; }"),
            ("b.yang", "submodule b { belongs-to a { prefix a; } }")
        ]),
        None
    );
}

#[test]
fn circles_of_imports_are_shown() {
    refused(
        &[
            ("a.yang", "module a {\n import b { prefix b; } }"),
            ("b.yang", "module b {\n import d { prefix d; }\n import c { prefix c; } }"),
            ("c.yang", "module c { import a { prefix a; } }"),
            ("d.yang", "module d {}"),
        ],
        "c.yang, line 1: modules import each other in a circle: a, b, c, a",
    );
    refused(
        &[("a.yang", "module a {\n\n import a { prefix x; } }")],
        "a.yang, line 3: modules import each other in a circle: a, a",
    );
}

#[test]
fn imports_are_pinned_to_the_set() {
    let a = "module a {\n import b { prefix b; }\n import c { prefix c; revision-date 2019-01-01; }\n import d { prefix d; } }";
    let files = files(&[
        ("a", a),
        ("b1", "module b { revision 2020-01-01; }"),
        ("b2", "module b { revision 2021-01-01; }"),
        ("c1", "module c { revision 2019-01-01; }"),
        ("c2", "module c { revision 2020-01-01; }"),
        ("d", "module d {}"),
    ]);
    let set = ModuleSet::read(&files).unwrap();
    let pinned = set.for_engine(set.newest("a").unwrap());
    assert_eq!(pinned, a.replacen("b {", "b { revision-date 2021-01-01;", 1));
    let d = set.newest("d").unwrap();
    assert!(matches!(set.for_engine(d), std::borrow::Cow::Borrowed(_)), "nothing to add");
}

#[test]
fn what_is_for_people_is_left_out_and_no_line_moves() {
    let text = "module a { organization 'one\n two'; contact word;\n description \"x \\\" {\n\" + // and\n 'y';\n leaf b {\n \
                type string { pattern \"p\\n\"; }\n reference \"z\" { x:y \"kept\"; } x:description \"kept\"; } }";
    let files = files(&[("a", text)]);
    let set = ModuleSet::read(&files).unwrap();
    let read = set.for_engine(set.newest("a").unwrap());
    assert_eq!(
        read,
        "module a { organization \"\n\"; contact word;\n description \"\n\n\";\n leaf b {\n \
         type string { pattern \"p\\n\"; }\n reference \"\" { x:y \"kept\"; } x:description \"kept\"; } }"
    );
    assert_eq!(read.matches('\n').count(), text.matches('\n').count());
}

#[test]
fn groupings_do_not_multiply_without_end() {
    let doubling = |levels: usize| {
        let mut text = "module a { prefix a; grouping g0 { leaf x { type int8; } }".to_owned();
        for level in 1..=levels {
            let below = level - 1;
            text += &format!(
                " grouping g{level} {{ container l {{ uses g{below}; }} container r {{ uses a:g{below}; }} }}"
            );
        }
        text + &format!(" uses g{levels}; }}")
    };
    assert_eq!(problem(&[("a.yang", &doubling(10))]), None);
    refused(&[("a.yang", &doubling(40))], "a.yang: with it the modules have more than 500000 nodes");
    let chain: String =
        (0..300).map(|level| format!(" grouping g{level} {{ uses g{}; }}", level + 1)).collect();
    refused(
        &[("a.yang", &format!("module a {{{chain} uses g0; }}"))],
        "a.yang: its groupings use each other more than 200 times, one after the other",
    );
    // Of another module, by its prefix.
    let types =
        doubling(18).replacen("module a { prefix a;", "module t { prefix a;", 1).replace(" uses g18;", "");
    assert_eq!(problem(&[("t.yang", &types)]), None, "a grouping that nobody uses is not copied");
    let user = "module u { prefix u; import t { prefix p; } uses p:g18; }";
    refused(
        &[("t.yang", &types), ("u.yang", user)],
        "u.yang: with it the modules have more than 500000 nodes",
    );
    let endless = "module a { grouping g { uses h; } grouping h { uses g; } uses g; }";
    assert_eq!(problem(&[("a.yang", endless)]), None, "the engine names circles of groupings");
}
