use proptest::prelude::*;

use super::canonical;
use crate::{Problem, Reader, elements, member, members, string_to, string_value};

fn check(input: &str, expected: Result<&str, Problem>) {
    let found = canonical(input, 8);
    assert!(found.as_ref().err().is_none_or(|error| error.at <= input.len()), "{input}: {found:?}");
    let found = found.map_err(|error| error.problem);
    assert_eq!(found.as_deref(), expected.as_ref().copied(), "{input}");
}

#[test]
fn canonical_text_keeps_digits_order_and_drops_space() {
    check(
        " { \"b\" : 1.0 , \"a\" : [ 1e3 , -0.0 , 12345678901234567890 ] } ",
        Ok("{\"b\":1.0,\"a\":[1e3,-0.0,12345678901234567890]}"),
    );
    check("\"\\u00e9\\/\\n\\u0001\\ud83d\\ude00\"", Ok("\"é/\\n\\u0001😀\""));
    check("[]", Ok("[]"));
    check("{}", Ok("{}"));
    check("[true,false,null]", Ok("[true,false,null]"));
}

#[test]
fn numbers_beyond_doubles_are_refused() {
    for beyond in ["1e400", "-1E+309", "[1,{\"a\":2e308}]", "1.8e308"] {
        check(beyond, Err(Problem::Range));
    }
    check(&"9".repeat(310), Err(Problem::Range));
    for number in ["1.7976931348623157e308", "-1e308", "1e-400", "0e999"] {
        check(number, Ok(number));
    }
    check(&"9".repeat(300), Ok(&"9".repeat(300)));
    // What is passed over is not stored, and may be larger than any double.
    assert!(Reader::new("[1e400]", 8).skip().is_ok());
}

#[test]
fn malformed_text_is_refused_with_its_problem() {
    check("", Err(Problem::End));
    check("[1,]", Err(Problem::Unexpected));
    check("[,1]", Err(Problem::Unexpected));
    check("{\"a\":1,}", Err(Problem::Unexpected));
    check("{\"a\" 1}", Err(Problem::Unexpected));
    check("[1 2]", Err(Problem::Unexpected));
    check("01", Err(Problem::Number));
    check("1.", Err(Problem::Number));
    check("-", Err(Problem::Number));
    check("tru", Err(Problem::Unexpected));
    check("\"\\x\"", Err(Problem::String));
    check("\"\\ud800\"", Err(Problem::String));
    check("\"a\nb\"", Err(Problem::String));
    check("\"abc", Err(Problem::End));
    check("\"abc\\", Err(Problem::End));
    check("1 1", Err(Problem::Trailing));
    check("[[[[[[[[[1]]]]]]]]]", Err(Problem::Depth));
}

#[test]
fn walks_find_members_and_elements() {
    let text = "{\"a\":1,\"b\":{\"c\":[1,\"x\"]}}";
    assert_eq!(member(text, "b"), Some("{\"c\":[1,\"x\"]}"));
    assert_eq!(member(text, "z"), None);
    assert_eq!(members(text).count(), 2);
    assert_eq!(elements("[1,\"x\",[2]]").collect::<Vec<_>>(), ["1", "\"x\"", "[2]"]);
    assert_eq!(elements("7").count(), 0);
}

fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".{0,6}", inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn plain_bytes_are_passed_over_as_one_by_one(
        bytes in prop::collection::vec(prop_oneof![9 => any::<u8>(), 1 => Just(b'"'), 1 => Just(b'\\'), 2 => 0x1e_u8..0x24], 0..40),
        at in 0_usize..44,
    ) {
        let rest = bytes.get(at..).unwrap_or_default();
        let first = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
        prop_assert_eq!(crate::text::plain_until(&bytes, at), at + first.min(rest.len() / 8 * 8));
    }

    #[test]
    fn a_likely_name_is_read_as_any_other(text in "[{},:\"a01 ]{0,8}", guesses in proptest::collection::vec(any::<bool>(), 8)) {
        let text = format!("{{\"a\":1,\"b\":2{text}}}");
        let names = |guesses: &[bool]| {
            let (mut reader, mut names, mut guesses) = (Reader::new(&text, 8), Vec::new(), guesses.iter());
            reader.begin_object()?;
            loop {
                if guesses.next().is_some_and(|guess| *guess && reader.take_key("a")) {
                    names.push("a".to_owned());
                } else {
                    let Some(name) = reader.next_key()? else { return Ok((names, reader.position())) };
                    names.push(name.into_owned());
                }
                reader.skip()?;
            }
        };
        let found: Result<_, crate::Error> = names(&guesses);
        prop_assert_eq!(found, names(&[]));
    }

    #[test]
    fn says_what_an_independent_parser_says(text in "[\\[\\]{}:,\"\\\\a-f0-9eE.+ untrlsx-]{0,40}") {
        let ours = canonical(&text, 100);
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
    }

    #[test]
    fn canonical_text_means_the_same_and_is_stable(tree in tree()) {
        let pretty = serde_json::to_string_pretty(&tree).expect("a tree prints");
        let once = canonical(&pretty, 100).expect("well-formed");
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&once).expect("well-formed"), tree);
        prop_assert_eq!(canonical(&once, 100).expect("well-formed"), once);
    }

    #[test]
    fn strings_come_back(value in ".*") {
        let text = string_to(&value);
        prop_assert_eq!(string_value(&text).expect("a string"), value);
    }
}
