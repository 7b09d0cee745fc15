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

/// Modules each of which imports all before it.
fn importing_all_before(count: usize) -> Vec<YangFile> {
    let module = |number: usize| {
        let imports: String =
            (0..number).map(|other| format!("import m{other} {{ prefix p{other}; }} ")).collect();
        let text = format!("module m{number} {{ namespace 'urn:m{number}'; prefix m; {imports} }}");
        YangFile { name: format!("m{number}.yang").into(), text: text.into() }
    };
    (0..count).map(module).collect()
}

#[test]
fn imports_do_not_branch_without_end() {
    let check = |count| {
        let files = importing_all_before(count);
        ModuleSet::read(&files).unwrap().check_dependencies(|_| false).map_err(|error| error.to_string())
    };
    check(20).unwrap();
    let error = check(60).unwrap_err();
    assert!(error.contains("more than 50000000 ways from modules to those that they import"), "{error}");
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
        (0..500).map(|level| format!(" grouping g{level} {{ uses g{}; }}", level + 1)).collect();
    refused(
        &[("a.yang", &format!("module a {{{chain} uses g0; }}"))],
        "a.yang: with the groupings and types that it uses, statements nest deeper than 400",
    );
    // In an order that lets each be counted after what it uses.
    let uses: String = (0..500).rev().map(|level| format!(" uses g{level};")).collect();
    refused(
        &[("a.yang", &format!("module a {{{chain}{uses} }}"))],
        "a.yang: with the groupings and types that it uses, statements nest deeper than 400",
    );
    // Of another module, by its prefix.
    let types =
        doubling(16).replacen("module a { prefix a;", "module t { prefix a;", 1).replace(" uses g16;", "");
    assert_eq!(problem(&[("t.yang", &types)]), None);
    let user = "module u { prefix u; import t { prefix p; } uses p:g16; container c { uses p:g16; } container d { uses p:g16; } }";
    refused(
        &[("t.yang", &types), ("u.yang", user)],
        "u.yang: with it the modules have more than 500000 nodes",
    );
    refused(
        &[("a.yang", &doubling(40).replace(" uses g40;", ""))],
        "with grouping a:g17 the modules have more than 500000 nodes",
    );
    let endless = "module a { grouping g { uses h; } grouping h { uses g; } uses g; }";
    assert_eq!(problem(&[("a.yang", endless)]), None, "the engine names circles of groupings");
}

/// Typedefs `t0` to the one of this number, each a union of twice the one before.
fn doubling_unions(levels: usize) -> String {
    let union =
        |level: usize| format!("typedef t{level} {{ type union {{ type t{0}; type a:t{0}; }} }}", level - 1);
    "typedef t0 { type int8; }".to_owned() + &(1..=levels).map(union).collect::<String>()
}

#[test]
fn unions_do_not_multiply_without_end() {
    const TOO_MANY: &str = "the modules have more than 2000000 statements and members of unions";
    let with = |types: &str, rest: &str| format!("module a {{ prefix a; {types} {rest} }}");
    assert_eq!(problem(&[("a.yang", &with(&doubling_unions(15), "leaf x { type t15; }"))]), None);
    let large = doubling_unions(30);
    let refused_with = |text: &str, place: &str| refused(&[("a.yang", text)], &format!("{place} {TOO_MANY}"));
    refused_with(&with(&large, "leaf x { type t30; }"), "a.yang: with it");
    refused_with(&with(&large, "leaf x { type union { type union { type a:t30; } } }"), "a.yang: with it");
    refused_with(&with(&large, ""), "with type a:t20");
    // Definitions in a grouping and in a container, and one that is used by its module alone.
    refused_with(
        &with(&format!("grouping g {{ {large} leaf x {{ type t30; }} }}"), "uses g;"),
        "a.yang: with it",
    );
    refused_with(&with(&format!("container c {{ {large} leaf x {{ type t30; }} }}"), ""), "a.yang: with it");
    // Of another module.
    let user = "module u { prefix u; import a { prefix p; } leaf x { type p:t17; } leaf y { type p:t17; } }";
    let types = with(&doubling_unions(17), "");
    assert_eq!(problem(&[("a.yang", &types), ("u.yang", user)]), None);
    let leaves: String = (0..20).map(|leaf| format!("leaf x{leaf} {{ type p:t17; }}")).collect();
    let user = format!("module u {{ prefix u; import a {{ prefix p; }} {leaves} }}");
    refused(&[("a.yang", &types), ("u.yang", &user)], &format!("u.yang: with it {TOO_MANY}"));
    // Each typedef has the members of the one before, and is kept.
    let members = "type int8;".repeat(20_000);
    let chain: String = (1..150)
        .map(|level| format!("typedef t{level} {{ type union {{ type t{}; }} }}", level - 1))
        .collect();
    let chain = format!("typedef t0 {{ type union {{ {members} }} }} {chain}");
    refused_with(&with(&chain, "leaf x { type t149; }"), "with type a:t98");
    let endless =
        "typedef t { type union { type u; } } typedef u { type union { type t; } } leaf x { type t; }";
    assert_eq!(problem(&[("a.yang", &with(endless, ""))]), None, "the engine names circles of types");
}

#[test]
fn what_groupings_hold_is_counted_with_each_copy() {
    let names: String = (0..3_000).map(|name| format!("enum e{name};")).collect();
    let copies = |count: usize, before: &str, type_: &str| {
        let uses: String = (0..count).map(|copy| format!("container c{copy} {{ uses g; }}")).collect();
        format!("module a {{ prefix a; {before} grouping g {{ leaf x {{ {type_} }} }} {uses} }}")
    };
    let inside = format!("type enumeration {{ {names} }}");
    assert_eq!(problem(&[("a.yang", &copies(600, "", &inside))]), None);
    let too_many = "a.yang: with it the modules have more than 2000000 statements and members of unions";
    refused(&[("a.yang", &copies(700, "", &inside))], too_many);
    // A typedef is shared, unless something is added to it.
    let typedef = format!("typedef e {{ {inside} }}");
    assert_eq!(problem(&[("a.yang", &copies(700, &typedef, "type e;"))]), None);
    refused(&[("a.yang", &copies(700, &typedef, "type e { a:extended; }"))], too_many);
}

#[test]
fn names_of_several_scopes_hide_no_union() {
    // By their names they use each other in a circle; in truth none does.
    let first = doubling_unions(30);
    let other = "typedef t0 { type union { type t30; } } typedef t30 { type int8; }";
    let text = format!(
        "module a {{ prefix a; container a {{ {first} leaf x {{ type t5; }} leaf y {{ type t30; }} }} container b {{ {other} }} }}"
    );
    let message = problem(&[("a.yang", &text)]).unwrap();
    assert_eq!(
        message,
        "a.yang: type a:t30 has several definitions, which by their names use each other in a circle: give them names of their own"
    );
}

#[test]
fn identities_are_not_derived_without_end() {
    let chain = |count: usize| {
        let next = |at: usize| format!("identity i{at} {{ base a:i{}; }}", at + 1);
        format!("module a {{ prefix a; {} identity i{count}; }}", (0..count).map(next).collect::<String>())
    };
    assert_eq!(problem(&[("a.yang", &chain(600))]), None);
    let too_many = "identities are derived from each other more than 200000 times, in all steps together";
    refused(&[("a.yang", &chain(700))], too_many);
    let flat: String = (0..15_000).map(|at| format!("identity i{at} {{ base r; }}")).collect();
    assert_eq!(problem(&[("a.yang", &format!("module a {{ identity r; {flat} }}"))]), None);
    // The same base again and again is walked again and again.
    let bases = "base s;".repeat(100);
    let repeated = format!("module a {{ identity s; identity r {{ {bases} }} {flat} }}");
    refused(&[("a.yang", &repeated)], too_many);
    // Over modules, by their prefixes.
    let user = "module u { import a { prefix p; } identity x { base p:i0; } }";
    let chained = chain(631);
    assert_eq!(problem(&[("a.yang", &chained)]), None);
    refused(&[("a.yang", &chained), ("u.yang", user)], too_many);
    let many: String = (0..20_001).map(|at| format!("identity i{at};")).collect();
    refused(
        &[("a.yang", &format!("module a {{ {many} }}"))],
        "a.yang: with it the modules have more than 20000 identities",
    );
    let circle = "module a { identity i { base j; } identity j { base i; } }";
    assert_eq!(problem(&[("a.yang", circle)]), None, "the engine names circles of identities");
}

/// Refused for the names that would be compared, at this place and for this.
fn compared_too_often(texts: &[(&str, &str)], place: &str, most: &str) {
    let expected = format!("{place}: the modules take more than 250000000 comparisons of names, most {most}");
    refused(texts, &expected);
}

/// A module `a` of this body, which begins in line 2.
fn body(body: &str) -> String {
    format!("module a {{ prefix a; namespace urn:a;\n{body}\n}}")
}

fn repeat(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// So many leaves in lists of a hundred, each of this body.
fn leaves(count: usize, of: impl Fn(usize) -> String) -> String {
    repeat(count / 100, |list| {
        let leaves = repeat(100, |leaf| format!("leaf l{leaf} {{ {} }}", of(100 * list + leaf)));
        format!("container c{list} {{ {leaves} }}\n")
    })
}

#[test]
fn nodes_beside_each_other_are_bounded() {
    let many = |count: usize, text: &str| repeat(count, |number| text.replace('#', &number.to_string()));
    let fits = |text: &str| assert_eq!(problem(&[("a.yang", &body(text))]), None);
    let refused = |text: &str, line: u32, length: u32| {
        let most = format!("of the {length} nodes that come to be beside each other here");
        compared_too_often(&[("a.yang", &body(text))], &format!("a.yang, line {line}"), &most);
    };
    const LEAF: &str = "leaf l# { type int8; }";
    fits(&many(15_000, LEAF));
    refused(&many(50_000, LEAF), 1, 50_000);
    fits(&format!("list c {{ key l0; {} }}", many(15_000, LEAF)));
    refused(&format!("\nlist c {{ key l0; {} }}", many(50_000, LEAF)), 3, 50_000);
    // Many of some length are as much as one that is long.
    fits(&leaves(50_000, |_| "type int8;".into()));
    refused(&repeat(50, |list| format!("\nlist c{list} {{ {} }}", many(3_000, LEAF))), 3, 3_000);
    // Cases, choices and what is in them are beside what is beside the choice.
    fits(&format!("choice c {{ {} }}", many(7_000, "case c# { leaf l# { type int8; } }")));
    refused(&format!("choice c {{ {} }}", many(8_000, "case c# { leaf l# { type int8; } }")), 1, 16_001);
    refused(&many(6_000, "choice c# { leaf l# { type int8; } }"), 1, 18_000);
    refused(&format!("choice c {{ {} }}", many(8_000, LEAF)), 1, 16_001);
    // Of groupings, where they are used; and of one that nobody uses.
    let grouping = format!("grouping g {{ {} }}", many(2_000, LEAF));
    fits(&format!("{grouping} container c {{ {} }}", "uses g;".repeat(7)));
    refused(&format!("{grouping}\ncontainer c {{ {} }}", "uses g;".repeat(8)), 3, 16_008);
    let unused = format!("grouping g {{ {} }}", many(16_000, LEAF));
    compared_too_often(
        &[("a.yang", &body(&unused))],
        "a.yang, line 2",
        "of the 16000 nodes that come to be beside each other here",
    );
    refused(&many(16_000, "rpc r#;"), 1, 16_000);
    refused(&format!("container c {{ {} }}", many(16_000, "action r#;")), 2, 16_000);
}

#[test]
fn nodes_of_augments_of_one_target_are_beside_each_other() {
    let target = body("container c { leaf x { type int8; } }");
    let augments = |module: &str, count: usize| {
        let augments = repeat(count, |at| format!("augment /p:c {{ leaf l{at} {{ type int8; }} }}"));
        (
            format!("{module}.yang"),
            format!("module {module} {{ prefix {module}; import a {{ prefix p; }}\n{augments} }}"),
        )
    };
    let check = |modules: &[(String, String)]| {
        let mut texts = vec![("a.yang", &*target)];
        texts.extend(modules.iter().map(|(name, text)| (&**name, &**text)));
        problem(&texts)
    };
    assert_eq!(check(&[augments("b", 10_000)]), None);
    let expected = "b.yang, line 2: the modules take more than 250000000 comparisons of names, most of the 16000 nodes that come to be beside each other here";
    assert_eq!(check(&[augments("b", 16_000)]).as_deref(), Some(expected));
    assert_eq!(check(&[augments("b", 8_000), augments("c", 8_000)]).as_deref(), Some(expected));
    // Each node is compared with each augment and deviation.
    let spread = body(&leaves(50_000, |_| "type int8;".into()));
    let deviations = |count: usize| {
        let deviation =
            |at: usize| format!("deviation /p:c{}/p:l{} {{ deviate not-supported; }}\n", at / 100, at % 100);
        format!("module b {{ prefix b; import a {{ prefix p; }}\n{} }}", repeat(count, deviation))
    };
    assert_eq!(problem(&[("a.yang", &spread), ("b.yang", &deviations(8_000))]), None);
    let most = "to find the nodes of 20000 augments and deviations like this one";
    compared_too_often(&[("a.yang", &spread), ("b.yang", &deviations(20_000))], "b.yang, line 2", most);
    let refines = repeat(30_000, |at| format!("refine c{}/l{} {{ default 1; }}", at / 100, at % 100));
    let used = body(&format!(
        "grouping g {{ {} }}\nuses g {{ {refines} }}",
        leaves(50_000, |_| "type int8;".into())
    ));
    let problem = problem(&[("a.yang", &used)]).unwrap();
    assert!(
        problem.contains("comparisons of names, most to find what is used here by its name"),
        "{problem}"
    );
}

#[test]
fn values_of_types_are_bounded() {
    let fits = |text: &str| assert_eq!(problem(&[("a.yang", &body(text))]), None);
    let refused = |text: &str, line: u32, length: u32| {
        let most = format!("of the {length} values of a type here");
        compared_too_often(&[("a.yang", &body(text))], &format!("a.yang, line {line}"), &most);
    };
    let enums = |count: usize| repeat(count, |at| format!("enum e{at};"));
    let numbered = |count: usize| repeat(count, |at| format!("bit b{at} {{ position {at}; }}"));
    fits(&format!("leaf x {{ type enumeration {{ {} }} }}", enums(15_000)));
    refused(&format!("\nleaf x {{ type enumeration {{ {} }} }}", enums(16_000)), 3, 16_000);
    fits(&format!("typedef t {{ type bits {{ {} }} }}", numbered(11_000)));
    refused(&format!("typedef t {{ type bits {{ {} }} }}", numbered(12_000)), 2, 12_000);
    // Those with numbers are compared again with each copy.
    let copies = |count: usize| {
        let uses = repeat(count, |at| format!("container c{at} {{ uses g; }}"));
        format!("grouping g {{ leaf x {{ type bits {{ {} }} }} }}\n{uses}", numbered(2_000))
    };
    fits(&copies(50));
    refused(&copies(70), 2, 2_000);
    // Those of a derived type are looked for among those of its base.
    let derived = |count: usize| {
        format!("typedef t {{ type enumeration {{ {0} }} }} leaf x {{ type t {{ {0} }} }}", enums(count))
    };
    fits(&derived(8_000));
    assert!(problem(&[("a.yang", &body(&derived(10_000)))]).is_some());
    // Defaults are looked for, word by word, by each leaf that has them of its type.
    let inherited = |count: usize| {
        let words = repeat(1_000, |at| format!("b{at} "));
        format!(
            "typedef t {{ type bits {{ {} }} default '{words}'; }}\n{}",
            numbered(1_000),
            leaves(count, |_| "type t;".into())
        )
    };
    fits(&inherited(200));
    assert!(problem(&[("a.yang", &body(&inherited(300)))]).unwrap().contains("comparisons of names"));
}

#[test]
fn what_is_found_by_its_name_is_bounded() {
    let check = |text: &str| problem(&[("a.yang", &body(text))]);
    let refused = |text: &str, line: u32| {
        compared_too_often(
            &[("a.yang", &body(text))],
            &format!("a.yang, line {line}"),
            "to find what is used here by its name",
        );
    };
    let defined =
        |keyword: &str, inside: &str| repeat(12_000, |at| format!("{keyword} d{at} {{ {inside} }}"));
    let typedefs = defined("typedef", "type int8;");
    assert_eq!(check(&format!("{typedefs}\n{}", leaves(15_000, |_| "type d7;".into()))), None);
    refused(&format!("{typedefs}\n{}", leaves(22_000, |_| "type a:d7;".into())), 3);
    // All that a type is derived from is looked for again by each leaf.
    let chain = repeat(100, |at| format!("typedef t{} {{ type t{at}; }}", at + 1));
    let chain = format!("typedef t0 {{ type int8; }} {chain}\n");
    assert_eq!(check(&format!("{chain}{}", leaves(10_000, |_| "type t100;".into()))), None);
    refused(&format!("{chain}{}", leaves(50_000, |_| "type t100;".into())), 3);
    let uses = repeat(300, |list| {
        format!("container c{list} {{ {} }}", repeat(500, |at| format!("container c{at} {{ uses d0; }}")))
    });
    refused(&format!("{}\n{uses}", defined("grouping", "")), 3);
    refused(
        &format!(
            "{}\n{}",
            defined("identity", ""),
            leaves(22_000, |_| "type identityref { base d0; }".into())
        ),
        3,
    );
    refused(
        &format!("{}\n{}", defined("feature", ""), leaves(22_000, |_| "if-feature 'not (d0)';".into())),
        3,
    );
    refused(&format!("{}\n{}", defined("extension", ""), "a:d7;".repeat(22_000)), 3);
    // Features are compared with all that they depend on.
    let features = |count: usize| repeat(count, |at| format!("feature f{at} {{ if-feature f{}; }}", at + 1));
    assert_eq!(check(&features(2_000)), None);
    refused(&features(4_000), 2);
}

#[test]
fn paths_are_bounded() {
    let check = |text: &str| problem(&[("a.yang", &body(text))]);
    let refused = |text: &str, line: u32, most: &str| {
        compared_too_often(&[("a.yang", &body(text))], &format!("a.yang, line {line}"), most);
    };
    let list = format!("container c {{ {} }}\n", repeat(2_000, |at| format!("leaf l{at} {{ type int8; }}")));
    let leafref = |_| "type leafref { path /a:c/a:l1999; }".to_owned();
    assert_eq!(check(&format!("{list}{}", leaves(10_000, leafref))), None);
    let of_paths = "for paths of XPath such as this one";
    refused(&format!("{list}{}", leaves(40_000, leafref)), 3, of_paths);
    // What selects everything is compared with everything.
    let all =
        |count: usize| leaves(count, |_| "type int8;".into()) + "container x { must 'not(//*[. = 1])'; }";
    assert_eq!(check(&all(50_000)), None);
    let error = check(&all(130_000)).unwrap();
    assert!(error.ends_with(of_paths), "{error}");
    assert_eq!(
        check(&format!("{} container x {{ must '2 * 3 = 6'; }}", leaves(130_000, |_| "type int8;".into()))),
        None
    );
    let keys = repeat(10_000, |at| format!("l{at} "));
    let keyed =
        format!("list c {{ key '{keys}'; {} }}", repeat(10_000, |at| format!("leaf l{at} {{ type int8; }}")));
    assert!(check(&keyed).unwrap().contains("of the 10000 nodes"));
}
