use proptest::prelude::*;

use crate::{
    COMPOSITE_DEPTH_MAX, CONDITIONS_MAX, Comparison, CompositeError, CompositeQuery, Contains, CpsPath,
    LeafCondition, Literal, Name, Operator, Origin, Predicate, STEPS_MAX, Step, TEXT_BYTES_MAX,
    TextCondition, parse, push_step,
};

/// The printed form of a path; parsing it gives the same path, and normalizing it again changes nothing.
#[track_caller]
fn check(text: &str, printed: &str) -> CpsPath {
    let path = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(path.to_string(), printed, "{text}");
    assert_eq!(parse(printed).as_ref(), Ok(&path), "{text}");
    let normalized = path.normalized();
    assert_eq!(parse(&normalized).map(|again| again.normalized()), Ok(normalized), "{text}");
    path
}

#[track_caller]
fn check_normalized(text: &str, normalized: &str) {
    let path = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(path.normalized(), normalized, "{text}");
}

#[track_caller]
fn check_error(text: &str, position: usize, detail: &str) -> String {
    let error = parse(text).expect_err(text);
    assert_eq!((error.position, error.detail().as_str()), (position, detail), "{text}");
    assert!(!error.expected.is_empty(), "{text}");
    error.to_string()
}

fn name(local: &str) -> Name {
    Name { prefix: None, local: local.into() }
}

#[test]
fn steps_go_from_the_top_or_from_anywhere() {
    let path = check("/bookstore/categories/books", "/bookstore/categories/books");
    assert_eq!((path.origin, path.steps.len()), (Origin::Absolute, 3));
    assert!(path.is_address() && !path.is_root());
    let path = check(" / bookstore\t/\r\ncategories ", "/bookstore/categories");
    assert_eq!(path.steps.len(), 2);
    let path = check("//books", "//books");
    assert_eq!(path.origin, Origin::Descendant);
    assert!(!path.is_address());
    assert!(check("/", "/").is_root());
    check("/ancestor/contains/and/or/text", "/ancestor/contains/and/or/text");
    check("/Größe/日本.x-1_", "/Größe/日本.x-1_");
    let prefixed = check("/nw:networks//".trim_end_matches('/'), "/nw:networks");
    let expected = Name { prefix: Some("nw".into()), local: "networks".into() };
    assert_eq!(prefixed.steps.first().map(|step| &step.name), Some(&expected));
}

#[test]
fn conditions_bind_and_before_or() {
    let path = check(
        "//books[ @price > 10 and @lang = 'English' or @code=1 ]",
        "//books[@price>10 and @lang='English' or @code=1]",
    );
    let condition = |leaf: &str, comparison, value| LeafCondition { leaf: name(leaf), comparison, value };
    let expected = vec![
        vec![
            condition("price", Comparison::Greater, Literal::Integer(10)),
            condition("lang", Comparison::Equal, Literal::Text("English".into())),
        ],
        vec![condition("code", Comparison::Equal, Literal::Integer(1))],
    ];
    let step = path.steps.first().expect("one step");
    assert_eq!(step.predicate.alternatives, expected);
    assert_eq!(step.predicate.equalities(), None);
    check("//a[@x>=1 and @y<=-2 or @z<3]", "//a[@x>=1 and @y<=-2 or @z<3]");
    check("//a[@and='x' and @or=1 or @contains=2]", "//a[@and='x' and @or=1 or @contains=2]");
    check("//a[@b=18446744073709551615]", "//a[@b=18446744073709551615]");
    check("//a[@b=007]", "//a[@b=7]");
}

#[test]
fn keys_hold_anything() {
    for value in
        ["a/b", "a[b", "]", "[@hello=world]", "//", "'", "\"", "it''s", "a and b", "", " ", "ä\n日", "\\"]
    {
        let single = format!("/p/c[@k='{}']/d", value.replace('\'', "''"));
        let double = format!("/p/c[@k=\"{}\"]/d", value.replace('"', "\"\""));
        let path = check(&single, &single);
        assert_eq!(path, check(&double, &single));
        let keys = path.steps.get(1).and_then(|step| step.predicate.equalities()).expect("a key");
        assert_eq!(keys.first().map(|key| &key.value), Some(&Literal::Text(value.into())));
        let mut built = String::new();
        push_step(&mut built, "p", &mut []);
        push_step(&mut built, "c", &mut [("k", value)]);
        push_step(&mut built, "d", &mut []);
        assert_eq!(built, single);
    }
}

#[test]
fn functions_and_axes_end_a_path() {
    let path = check("//books/title[text()=\"Matilda\"]", "//books/title[text()='Matilda']");
    let text = TextCondition { leaf: name("title"), value: "Matilda".into() };
    assert_eq!((path.steps.len(), path.text), (1, Some(text)));
    let path = check("//categories[contains( @name , 'Sci' )]", "//categories[contains(@name,'Sci')]");
    assert_eq!(path.contains, Some(Contains { leaf: name("name"), part: "Sci".into() }));
    let path =
        check("//book/ancestor::categories[@code='1']/books", "//book/ancestor::categories[@code='1']/books");
    assert_eq!((path.steps.len(), path.ancestor.len()), (1, 2));
    let path = check("//categories/@name", "//categories/@name");
    assert_eq!(path.attribute, Some(name("name")));
    check("//a[@x=1][contains(@y,'z')]", "//a[@x=1][contains(@y,'z')]");
    check("//a[@x=1]/l[text()='v'][contains(@y,'z')]", "//a[@x=1]/l[text()='v'][contains(@y,'z')]");
    check(
        "//a[@x=1]/l[text()='v'][contains(@y,'z')] /ancestor:: b/c[@d=2] / @ e",
        "//a[@x=1]/l[text()='v'][contains(@y,'z')]/ancestor::b/c[@d=2]/@e",
    );
    check("/a/ancestor/@ancestor", "/a/ancestor/@ancestor");
    check("/a/ancestor:parent[@key=1]", "/a/ancestor:parent[@key=1]");
}

#[test]
fn normalized_paths_are_those_of_cps() {
    check_normalized("/parent/child[@common-leaf-name=123]", "/parent/child[@common-leaf-name='123']");
    check_normalized("/parent/child[@code=\"'1'\"]/child2", "/parent/child[@code='''1''']/child2");
    check_normalized("/p[@b=2 and @a=1]/c[@z=9 and @m=5]", "/p[@a='1' and @b='2']/c[@m='5' and @z='9']");
    check_normalized("/a[@CN=0 and @SRN=61 and @SN=0]", "/a[@CN='0' and @SN='0' and @SRN='61']");
    check_normalized("//cps-path[@key>9]", "//cps-path[@key>9]");
    check_normalized("/c[@key2=1 or @key1=\"abc\"]", "/c[@key2='1' or @key1='abc']");
    check_normalized("//b/ancestor::c[@y=1 and @x=2]/@n", "//b/ancestor::c[@x='2' and @y='1']/@n");
    check_normalized("/", "/");
}

#[test]
fn errors_say_where_and_what_would_be_right() {
    let observed = "Failed to parse at line 1 due to no viable alternative at input '['";
    let whole = check_error("/bookstore[", 11, observed);
    let advice =
        "(column 12): `[` is followed by `@` and a leaf, as in [@code='1'], or by contains(@leaf,'part')";
    assert_eq!(whole, format!("{observed} {advice}"));
    let mismatch = |input: &str, expecting: &str| {
        format!("Failed to parse at line 1 due to mismatched input '{input}' expecting {expecting}")
    };
    check_error("", 0, &mismatch("<EOF>", "'/'"));
    check_error("invalid/child", 0, &mismatch("invalid", "'/'"));
    check_error("//", 2, &mismatch("<EOF>", "QName"));
    check_error("///cps-path", 2, &mismatch("/", "QName"));
    check_error("//*", 2, &mismatch("*", "QName"));
    check_error("/a/", 3, &mismatch("<EOF>", "QName"));
    check_error("/a[]", 3, "Failed to parse at line 1 due to no viable alternative at input '[]'");
    check_error("/a[b=1]", 3, "Failed to parse at line 1 due to no viable alternative at input '[b'");
    check_error("/a[@b!=1]", 5, &mismatch("!", "{'=', '>', '<', '>=', '<='}"));
    check_error("/a[@b]", 5, &mismatch("]", "{'=', '>', '<', '>=', '<='}"));
    check_error("/a[@b=2", 7, &mismatch("<EOF>", "{']', 'and', 'or'}"));
    check_error("/a[@b=2]]", 8, &mismatch("]", "<EOF>"));
    check_error("/a[@b=2]x", 8, &mismatch("x", "<EOF>"));
    check_error("/a[@b=2][@c=3]", 8, &mismatch("[", "{<EOF>, '/', '['}"));
    let decimal = check_error("/a[@b=5.0]", 6, &mismatch("5.0", "{IntegerLiteral, StringLiteral}"));
    assert!(decimal.ends_with("a decimal stands in quotes, as in '9.5'"), "{decimal}");
    check_error("/a[@b=1e5]", 6, &mismatch("1e5", "{IntegerLiteral, StringLiteral}"));
    check_error("/a[@b=\"x']", 6, &mismatch("\"x']", "{IntegerLiteral, StringLiteral}"));
    check_error("/a[@b='x\"]", 6, &mismatch("'x\"]", "{IntegerLiteral, StringLiteral}"));
    check_error(
        "/a[@b=99999999999999999999]",
        6,
        "Failed to parse at line 1 due to number '99999999999999999999'",
    );
    check_error("//books/ancestor::", 18, &mismatch("<EOF>", "QName"));
    check_error("//child[@int-leaf=5 and @name]", 29, &mismatch("]", "{'=', '>', '<', '>=', '<='}"));
    check_error("//a[contains(@b,'c')]/d", 22, &mismatch("d", "{'@', 'ancestor'}"));
    check_error("//a/b[text()=1]", 13, &mismatch("1", "StringLiteral"));
    check_error("/@name", 1, &mismatch("@", "QName"));
    check_error("//a/@b/c", 6, &mismatch("/", "<EOF>"));
    check_error("//b[text()='x']", 2, "Failed to parse at line 1 due to mismatched input 'b'");
    let lines = check_error(
        "//a[\n@ä=1 and\n @b ?]",
        19,
        "Failed to parse at line 3 due to mismatched input '?' expecting {'=', '>', '<', '>=', '<='}",
    );
    assert!(lines.contains("(column 5)"), "{lines}");
}

#[test]
fn limits_are_kept_to_the_last_byte() {
    let long = format!("/{}", "a".repeat(TEXT_BYTES_MAX - 1));
    assert!(parse(&long).is_ok());
    assert!(parse(&format!("{long}a")).is_err());
    let steps = "/a".repeat(STEPS_MAX);
    assert!(parse(&steps).is_ok());
    assert!(parse(&format!("{steps}/a")).is_err());
    let ancestors = format!("{}/ancestor::a", "/a".repeat(STEPS_MAX - 1));
    assert!(parse(&ancestors).is_ok());
    assert!(parse(&format!("{ancestors}/a")).is_err());
    let conditions = vec!["@a=1"; CONDITIONS_MAX].join(" or ");
    assert!(parse(&format!("//a[{conditions}]")).is_ok());
    assert!(parse(&format!("//a[{conditions} or @a=1]")).is_err());
}

#[test]
fn composite_queries_are_checked_whole() {
    let leaf = || CompositeQuery::new("//a", None, Vec::new()).expect("a path");
    let both = CompositeQuery::new("/b", Some(" OR "), vec![leaf(), leaf()]).expect("two conditions");
    assert_eq!((both.operator(), both.conditions().len()), (Operator::Or, 2));
    assert_eq!(both.path().to_string(), "/b");
    assert_eq!(leaf().operator(), Operator::And);
    let error =
        |path: &str, operator: &str| CompositeQuery::new(path, Some(operator), Vec::new()).unwrap_err();
    assert_eq!(error(" ", "and"), CompositeError::MissingPath);
    assert_eq!(error("/a", "xor"), CompositeError::Operator("xor".into()));
    assert!(matches!(error("/a[", "and"), CompositeError::Path(_)));
    let mut nested = leaf();
    for _ in 0..COMPOSITE_DEPTH_MAX {
        nested = CompositeQuery::new("/b", None, vec![nested]).expect("within the depth");
    }
    assert_eq!(CompositeQuery::new("/b", None, vec![nested]), Err(CompositeError::TooDeep));
    let many = vec![leaf(); crate::COMPOSITE_QUERIES_MAX];
    assert_eq!(CompositeQuery::new("/b", None, many), Err(CompositeError::TooMany));
}

fn any_name() -> impl Strategy<Value = Name> {
    let local = prop_oneof![
        "[a-z_][a-z0-9._-]{0,6}",
        Just("ancestor".to_owned()),
        Just("and".to_owned()),
        Just("text".to_owned())
    ];
    (proptest::option::of("[a-z][a-z0-9-]{0,3}"), local)
        .prop_map(|(prefix, local)| Name { prefix: prefix.map(Into::into), local: local.into() })
}

fn any_text() -> impl Strategy<Value = Box<str>> {
    prop_oneof!["\\PC{0,8}", "['\"/\\[\\]@= ]{0,6}"].prop_map(Into::into)
}

fn any_predicate() -> impl Strategy<Value = Predicate> {
    let comparison = prop_oneof![
        4 => Just(Comparison::Equal),
        1 => Just(Comparison::Greater),
        1 => Just(Comparison::Less),
        1 => Just(Comparison::GreaterOrEqual),
        1 => Just(Comparison::LessOrEqual),
    ];
    let literal = prop_oneof![
        any_text().prop_map(Literal::Text),
        (i64::MIN..=i64::MAX).prop_map(|number| Literal::Integer(number.into())),
    ];
    let condition = (any_name(), comparison, literal).prop_map(|(leaf, comparison, value)| LeafCondition {
        leaf,
        comparison,
        value,
    });
    let all = proptest::collection::vec(condition, 1..4);
    proptest::collection::vec(all, 0..3).prop_map(|alternatives| Predicate { alternatives })
}

fn any_steps(fewest: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (any_name(), any_predicate()).prop_map(|(name, predicate)| Step { name, predicate });
    proptest::collection::vec(step, fewest..4)
}

fn any_path() -> impl Strategy<Value = CpsPath> {
    let origin = prop_oneof![Just(Origin::Absolute), Just(Origin::Descendant)];
    let text = (any_name(), any_text()).prop_map(|(leaf, value)| TextCondition { leaf, value });
    let contains = (any_name(), any_text()).prop_map(|(leaf, part)| Contains { leaf, part });
    (
        origin,
        any_steps(1),
        proptest::option::of(text),
        proptest::option::of(contains),
        any_steps(0),
        proptest::option::of(any_name()),
    )
        .prop_map(|(origin, steps, text, contains, ancestor, attribute)| CpsPath {
            origin,
            steps,
            text,
            contains,
            ancestor,
            attribute,
        })
}

proptest! {
    #[test]
    fn printed_paths_parse_to_the_same_path(path in any_path()) {
        let printed = path.to_string();
        prop_assert_eq!(parse(&printed), Ok(path.clone()), "{}", printed);
        let normalized = path.normalized();
        prop_assert_eq!(parse(&normalized).map(|again| again.normalized()), Ok(normalized));
    }

    #[test]
    fn space_between_tokens_means_nothing(path in any_path(), space in "[ \t\r\n]{1,3}") {
        let printed = path.to_string();
        if !printed.contains(['\'', '>', '<']) {
            let spaced: String = printed.split_inclusive(['/', '[', ']', '@', '=']).map(|piece| format!("{piece}{space}")).collect();
            prop_assert_eq!(parse(&spaced), Ok(path), "{}", spaced);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", piece in "[-/\\[\\]@=<>'\"a1.:() ]{0,40}") {
        for text in [text, piece] {
            if let Err(error) = parse(&text) {
                prop_assert!(text.is_char_boundary(error.position) && error.line == 1);
            }
        }
    }
}
