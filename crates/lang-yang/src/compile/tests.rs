//! Sets of modules and what becomes of them.

use super::*;

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
        "container x {\n leaf y { type strin; } }",
        "a.yang, line 3: /a:x/y: Referenced type \"strin\" not found",
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
    body_refused("revision 2020-13-01;", "a.yang, line 2: Invalid value \"2020-13-01\" of \"revision\"");
    body_refused(
        "leaf y { type string {\n pattern \"(?=x)\"; } }",
        "a.yang, line 3: pattern \"(?=x)\": \"(?\" is not of XML Schema (character 2)",
    );
}
