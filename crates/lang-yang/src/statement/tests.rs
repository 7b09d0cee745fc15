//! Texts and the statements they hold.

use super::{Statements, is_identifier};

/// Each statement as `depth keyword argument @line`.
fn check(text: &str, expected: &[&str]) {
    let read: Vec<String> = Statements::new(text)
        .map(|statement| {
            let statement = statement.expect("a statement");
            let (depth, keyword, line) = (statement.depth, statement.keyword, statement.line);
            if let Some(body) = statement.body {
                assert_eq!(text.as_bytes()[body - 1], b'{');
            }
            let at = &text[statement.argument_at.clone()];
            match &statement.argument {
                None => assert_eq!(at, ""),
                Some(argument) if at.starts_with(['"', '\'']) => {
                    assert!(at.len() >= argument.len() + 2 && at.ends_with(['"', '\'']), "{at}");
                }
                Some(argument) => assert_eq!(at, argument),
            }
            match &statement.argument {
                Some(argument) => format!("{depth} {keyword} {argument:?} @{line}"),
                None => format!("{depth} {keyword} @{line}"),
            }
        })
        .collect();
    assert_eq!(read, expected, "{text}");
}

fn refused(text: &str, expected: &str) {
    let mut statements = Statements::new(text);
    let error = statements.find_map(Result::err).expect(text);
    assert_eq!(error.to_string(), expected, "{text}");
    assert_eq!(statements.next(), None, "nothing follows an error");
}

#[test]
fn statements_nest_and_have_lines() {
    check(
        "\u{FEFF}module a {\n  prefix a;\n  container c {\n    ext:thing;\n  }\n}\n",
        &["0 module \"a\" @1", "1 prefix \"a\" @2", "1 container \"c\" @3", "2 ext:thing @4"],
    );
    check("", &[]);
    check("input{}output;", &["0 input @1", "0 output @1"]);
}

#[test]
fn arguments_are_joined_and_unescaped() {
    check(r#"a "x\n\"\\\d" + 'y\n' + "z";"#, &[r#"0 a "x\n\"\\\\dy\\nz" @1"#]);
    check("a 'one' /* + */ + // two\n \"two\"; b;", &["0 a \"onetwo\" @1", "0 b @2"]);
    check(r#"a "\\" ; b "\"" ;"#, &[r#"0 a "\\" @1"#, r#"0 b "\"" @1"#]);
    refused(r#"a "\"#, "line 1: a double quote that is not closed");
}

#[test]
fn comments_end_words() {
    check("/* a\n*/ leaf//b\nx/*c*/;", &["0 leaf \"x\" @2"]);
    check("path a/b;", &["0 path \"a/b\" @1"]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    refused("a {\n b;\n", "line 3: the statement of line 1 has no \"}\"");
    refused("a;\n}", "line 2: \"}\" without \"{\"");
    refused("a b c;", "line 1: \";\" or \"{\" is expected after \"a\"");
    refused("a {\n  leaf x }", "line 2: \";\" or \"{\" is expected after \"leaf\"");
    refused("a 'x", "line 1: \"'\" that is not closed");
    refused("a \"x\\\"", "line 1: a double quote that is not closed");
    refused("\n/* x", "line 2: \"/*\" without \"*/\"");
    refused("a 'b' + c;", "line 1: a string in quotes is expected after \"+\"");
    refused("1a b;", "line 1: a keyword is expected, got \"1a\"");
    refused("<module>", "line 1: a keyword is expected, got \"<module>\"");
    refused("\"a\" b;", "line 1: a keyword or an argument is expected, got \"\"\"");
    refused("a", "line 1: \";\" or \"{\" is expected after \"a\"");
    refused(&"a {".repeat(101), "line 1: statements nest deeper than 100");
}

#[test]
fn identifiers_are_those_of_the_standard() {
    for text in ["a", "_a", "a-b.c_9"] {
        assert!(is_identifier(text), "{text}");
    }
    for text in ["", "9a", "a b", "a/b", "é", ".a", "a:b"] {
        assert!(!is_identifier(text), "{text}");
    }
}
