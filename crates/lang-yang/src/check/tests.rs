//! Values against every built-in type, under a small schema.

use std::sync::Arc;

use super::{Kinds, Prefixes, Scalar, ValueRules};
use crate::schema::{Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode};
use crate::tree::ValueKind;
use crate::types::{IntegerWidth, Leafref, Pattern, Type, TypeKind};

fn integer(width: IntegerWidth) -> Type {
    Type::new(TypeKind::Integer { width, ranges: Box::default() })
}

fn string() -> Type {
    Type::new(TypeKind::String { lengths: Box::default(), patterns: Box::default() })
}

fn module(name: &str, prefix: &str) -> Module {
    Module {
        name: name.into(),
        revision: Box::default(),
        namespace: format!("urn:{name}").into(),
        prefix: prefix.into(),
        is_implemented: true,
        features: Box::default(),
        submodules: Box::default(),
        deviations: Box::default(),
    }
}

fn node(name: &str, parent: Option<u32>, slot: u32, kind: NodeKind) -> SchemaNode {
    SchemaNode {
        name: name.into(),
        module: ModuleId(0),
        parent: parent.map(NodeId),
        slot,
        kind,
        children: Box::default(),
        choices: Box::default(),
        is_config: true,
        is_mandatory: false,
    }
}

/// Modules `base` (prefix `b`) and `shapes` (prefix `s`); a container `top` with a list `item` that has keys `id` and `n`, and
/// with a leaf-list `tag`.
fn schema() -> Schema {
    let leaf = |type_| NodeKind::Leaf { type_, default: None };
    let mut nodes = [
        node("top", None, 0, NodeKind::Container { presence: false }),
        node("item", Some(0), 0, NodeKind::List { keys: [NodeId(2), NodeId(3)].into(), user_ordered: false }),
        node("id", Some(1), 0, leaf(string())),
        node("n", Some(1), 1, leaf(integer(IntegerWidth::Uint8))),
        node(
            "tag",
            Some(0),
            1,
            NodeKind::LeafList { type_: string(), user_ordered: false, defaults: Box::default() },
        ),
        node("far", Some(0), 2, leaf(string())),
    ];
    nodes[0].children = [NodeId(1), NodeId(4), NodeId(5)].into();
    nodes[1].children = [NodeId(2), NodeId(3)].into();
    nodes[5].module = ModuleId(1);
    let identities = [
        ("base:big".into(), Box::default()),
        ("base:shape".into(), Box::default()),
        ("shapes:circle".into(), [1].into()),
        ("shapes:disc".into(), [0, 1, 2].into()),
    ];
    let modules = [module("base", "b"), module("shapes", "s")];
    Schema::new(0, modules.into(), nodes.into(), [NodeId(0)].into(), identities.into())
}

fn rules(schema: &Schema) -> ValueRules<'_> {
    ValueRules { schema, module: ModuleId(0), prefixes: Prefixes::Modules, kinds: Kinds::Rfc7951 }
}

/// Each text with its canonical form; `None`: refused.
fn check(type_: &Type, cases: &[(&str, Option<&str>)]) {
    let schema = schema();
    for (text, canonical) in cases {
        let value = type_.check(Scalar::Text(text), &rules(&schema));
        assert_eq!(value.as_ref().ok().map(|value| &*value.text), *canonical, "{text:?}: {value:?}");
        if let Some(canonical) = canonical {
            let again = type_.check(Scalar::Text(canonical), &rules(&schema));
            assert_eq!(again, value, "{canonical:?} is canonical");
        }
    }
}

fn message(type_: &Type, scalar: Scalar<'_>) -> String {
    type_.check(scalar, &rules(&schema())).expect_err("refused").to_string()
}

#[test]
fn integers_have_bounds_and_ranges() {
    check(
        &integer(IntegerWidth::Int8),
        &[
            ("127", Some("127")),
            ("128", None),
            ("-128", Some("-128")),
            ("-129", None),
            ("+007", Some("7")),
            ("-0", Some("0")),
            (" 1\n", Some("1")),
            ("", None),
            ("-", None),
            ("+-1", None),
            ("0x1f", None),
            ("1.0", None),
            ("1 2", None),
        ],
    );
    check(
        &integer(IntegerWidth::Uint64),
        &[("18446744073709551615", Some("18446744073709551615")), ("18446744073709551616", None)],
    );
    check(
        &integer(IntegerWidth::Int64),
        &[("-9223372036854775808", Some("-9223372036854775808")), ("9223372036854775808", None)],
    );
    let ranges =
        Type::new(TypeKind::Integer { width: IntegerWidth::Uint16, ranges: [1..=5, 10..=10].into() });
    check(&ranges, &[("0", None), ("1", Some("1")), ("6", None), ("10", Some("10")), ("11", None)]);
    assert_eq!(
        message(&ranges, Scalar::Number("7")),
        "7 is not an integer from 1 to 5, or 10 (a number in JSON)"
    );
}

#[test]
fn decimals_have_fraction_digits() {
    let decimal = Type::new(TypeKind::Decimal { fraction_digits: 2, ranges: [-150..=300].into() });
    check(
        &decimal,
        &[
            ("1", Some("1.0")),
            ("1.50", Some("1.5")),
            ("+01.5000", Some("1.5")),
            ("-1.5", Some("-1.5")),
            ("-1.51", None),
            ("3.0", Some("3.0")),
            ("3.01", None),
            ("0.001", None),
            ("-0.00", Some("0.0")),
            ("1.", None),
            (".5", None),
            ("1e2", None),
        ],
    );
    assert_eq!(
        message(&decimal, Scalar::String("4")),
        "\"4\" is not a decimal number of at most 2 fraction digits from -1.5 to 3.0 (a string in JSON)"
    );
    let widest = Type::new(TypeKind::Decimal { fraction_digits: 18, ranges: Box::default() });
    check(
        &widest,
        &[
            ("-9.223372036854775808", Some("-9.223372036854775808")),
            ("9.223372036854775807", Some("9.223372036854775807")),
            ("9.223372036854775808", None),
        ],
    );
}

#[test]
fn strings_have_lengths_and_patterns() {
    let patterns = [Arc::new(Pattern::new("[a-zé]*", false)), Arc::new(Pattern::new("x.*", true))];
    let type_ = Type::new(TypeKind::String { lengths: [2..=3, 5..=5].into(), patterns: patterns.into() });
    check(
        &type_,
        &[
            ("ab", Some("ab")),
            ("ééé", Some("ééé")),
            ("abcd", None),
            ("abcde", Some("abcde")),
            ("a1", None),
            ("xy", None),
        ],
    );
    assert_eq!(
        message(&type_, Scalar::String("a")),
        "\"a\" is not a string of 2 to 3, or 5 characters that matches \"[a-zé]*\" and does not match \"x.*\""
    );
    check(&string(), &[("", Some("")), (" a\tb\r\n", Some(" a\tb\r\n")), ("\u{0}", None), ("\u{1b}", None)]);
}

#[test]
fn names_are_taken_as_they_are() {
    check(
        &Type::new(TypeKind::Boolean),
        &[("true", Some("true")), ("false", Some("false")), ("1", None), (" true", None)],
    );
    let colours = Type::new(TypeKind::Enumeration([("red".into(), 0), ("dark red".into(), 7)].into()));
    check(&colours, &[("red", Some("red")), ("dark red", Some("dark red")), ("Red", None), ("", None)]);
    assert_eq!(message(&colours, Scalar::String("blue")), "\"blue\" is not one of \"red\", \"dark red\"");
    let bits = Type::new(TypeKind::Bits([("a".into(), 0), ("b".into(), 5)].into()));
    check(&bits, &[("b a", Some("a b")), ("", Some("")), (" b\n", Some("b")), ("a a", None), ("a c", None)]);
}

#[test]
fn binary_is_base64() {
    let line = "A".repeat(64);
    let broken = format!("{line}\n{line}\nAA==");
    let joined = format!("{line}{line}AA==");
    check(
        &Type::new(TypeKind::Binary { lengths: Box::default() }),
        &[
            ("", Some("")),
            ("AQI=", Some("AQI=")),
            ("AQ", None),
            ("A===", None),
            ("AQ=I", None),
            ("A-_A", None),
            (&*broken, Some(&*joined)),
        ],
    );
    let short = Type::new(TypeKind::Binary { lengths: [2..=2].into() });
    check(&short, &[("AQI=", Some("AQI=")), ("AQ==", None), ("AQID", None)]);
    assert_eq!(message(&short, Scalar::String("AQ==")), "\"AQ==\" is not base64 of 2 octets");
}

#[test]
fn identities_are_derived_from_all_bases() {
    let shape = Type::new(TypeKind::Identity([1].into()));
    check(
        &shape,
        &[
            ("shapes:circle", Some("shapes:circle")),
            ("base:shape", None),
            ("circle", None),
            ("s:circle", None),
            ("none:circle", None),
        ],
    );
    let both = Type::new(TypeKind::Identity([0, 1].into()));
    check(&both, &[("shapes:circle", None), ("shapes:disc", Some("shapes:disc"))]);
    assert_eq!(
        message(&both, Scalar::String("x")),
        "\"x\" is not an identity derived from base:big and base:shape"
    );
    let schema = schema();
    let lenient = ValueRules { prefixes: Prefixes::Lenient, ..rules(&schema) };
    let value = shape.check(Scalar::String("s:circle"), &lenient).expect("a prefix");
    assert_eq!((value.kind, &*value.text), (ValueKind::Identity, "shapes:circle"));
    let scope = |prefix: &str| matches!(prefix, "x" | "").then_some(ModuleId(1));
    let xml = ValueRules { prefixes: Prefixes::Xml(&scope), ..rules(&schema) };
    for text in ["x:circle", "circle"] {
        assert_eq!(&*shape.check(Scalar::Text(text), &xml).expect("in scope").text, "shapes:circle");
    }
    shape.check(Scalar::Text("shapes:circle"), &xml).expect_err("a name of a module is no prefix of XML");
}

#[test]
fn instance_identifiers_name_one_node() {
    let type_ = Type::new(TypeKind::InstanceIdentifier { require_instance: true });
    check(
        &type_,
        &[
            ("/base:top", Some("/base:top")),
            (
                "/base:top/base:item[ base:n = \"07\" ][id='/[]']/id",
                Some("/base:top/item[id='/[]'][n='7']/id"),
            ),
            ("/base:top/item[id=\"it's\"][n='1']", Some("/base:top/item[id=\"it's\"][n='1']")),
            ("/base:top/tag[.='x']", Some("/base:top/tag[.='x']")),
            ("/base:top/shapes:far", Some("/base:top/shapes:far")),
            ("/base:top/far", None),
            ("/top", None),
            ("/base:top/item[id='a']", None),
            ("/base:top/item[id='a'][id='a']", None),
            ("/base:top/item[id='a'][n='300']", None),
            ("/base:top/item", None),
            ("/base:top/tag", None),
            ("/base:top/none", None),
            ("/base:top/", None),
            ("base:top", None),
            ("", None),
        ],
    );
}

#[test]
fn the_first_member_of_a_union_decides() {
    let type_ = Type::new(TypeKind::Union(
        [string_of("a.*"), integer(IntegerWidth::Int8), Type::new(TypeKind::Empty)].into(),
    ));
    check(&type_, &[("a1", Some("a1")), ("01", Some("1")), ("", Some("")), ("b", None)]);
    assert_eq!(
        message(&type_, Scalar::Boolean(true)),
        "true is not a string that matches \"a.*\", or an integer from -128 to 127 (a number in JSON), or empty ([null] in JSON, nothing in XML)"
    );
    let digits = Type::new(TypeKind::Union([string_of("[0-9]*"), integer(IntegerWidth::Int8)].into()));
    let schema = schema();
    let lenient = ValueRules { kinds: Kinds::Lenient, ..rules(&schema) };
    for (scalar, kind) in [
        (Scalar::Number("1"), ValueKind::Integer),
        (Scalar::String("1"), ValueKind::Text),
        (Scalar::Number("1000"), ValueKind::Text),
    ] {
        assert_eq!(digits.check(scalar, &lenient).expect("taken").kind, kind, "{scalar:?}");
    }
}

fn string_of(pattern: &str) -> Type {
    Type::new(TypeKind::String {
        lengths: Box::default(),
        patterns: [Arc::new(Pattern::new(pattern, false))].into(),
    })
}

#[test]
fn a_leafref_takes_what_its_target_takes() {
    let target = Type::new(TypeKind::Leafref(Leafref {
        path: "../b".into(),
        require_instance: true,
        target: integer(IntegerWidth::Uint8),
    }));
    let type_ =
        Type::new(TypeKind::Leafref(Leafref { path: "../a".into(), require_instance: false, target }));
    check(&type_, &[("07", Some("7")), ("256", None)]);
    assert_eq!(type_.check(Scalar::Number("1"), &rules(&schema())).expect("taken").kind, ValueKind::Integer);
}

#[test]
fn json_has_a_kind_for_every_type() {
    let schema = schema();
    let all = [Scalar::String("1"), Scalar::Number("1"), Scalar::Boolean(true), Scalar::Empty];
    let checked = |type_: &Type, kinds| {
        let rules = ValueRules { kinds, ..rules(&schema) };
        all.map(|scalar| type_.check(scalar, &rules).is_ok())
    };
    let cases = [
        (integer(IntegerWidth::Uint32), [false, true, false, false], [true, true, false, false]),
        (integer(IntegerWidth::Uint64), [true, false, false, false], [true, true, false, false]),
        (
            Type::new(TypeKind::Decimal { fraction_digits: 1, ranges: Box::default() }),
            [true, false, false, false],
            [true, true, false, false],
        ),
        (string(), [true, false, false, false], [true, true, true, false]),
        (Type::new(TypeKind::Boolean), [false, false, true, false], [false, false, true, false]),
        (Type::new(TypeKind::Empty), [false, false, false, true], [false, false, false, true]),
    ];
    for (type_, strict, lenient) in cases {
        assert_eq!(checked(&type_, Kinds::Rfc7951), strict, "{type_:?}");
        assert_eq!(checked(&type_, Kinds::Lenient), lenient, "{type_:?}");
    }
}

#[test]
fn a_long_value_is_cut_in_an_error() {
    let text = "é".repeat(100);
    let message = message(&Type::new(TypeKind::Boolean), Scalar::String(&text));
    assert_eq!(message, format!("\"{}…\" is not true or false", "é".repeat(80)));
}

#[test]
fn numbers_of_json_are_written_out() {
    let schema = schema();
    let rules = ValueRules { kinds: Kinds::Lenient, ..rules(&schema) };
    let decimal = Type::new(TypeKind::Decimal { fraction_digits: 3, ranges: Box::default() });
    let long = integer(IntegerWidth::Int64);
    for (type_, number, expected) in [
        (&long, "5.0", Some("5")),
        (&long, "1.5", None),
        (&long, "12e1", Some("120")),
        (&long, "-1.2E+1", Some("-12")),
        (&long, "120e-1", Some("12")),
        (&long, "125e-1", None),
        (&long, "0e99", None),
        (&long, "1e99999999999", None),
        (&long, "-0.0", Some("0")),
        (&decimal, "1.250e-1", Some("0.125")),
        (&decimal, "-25e-2", Some("-0.25")),
        (&decimal, "1e-4", None),
        (&decimal, "1e3", Some("1000.0")),
    ] {
        let value = type_.check(Scalar::Number(number), &rules).ok();
        assert_eq!(value.as_ref().map(|value| &*value.text), expected, "{number}");
    }
    long.check(Scalar::String("5.0"), &rules).expect_err("a text is taken as it is");
}

#[test]
fn a_value_that_is_too_long_for_patterns_is_told_so() {
    let type_ = Type::new(TypeKind::Union([integer(IntegerWidth::Int8), string_of("[a-z]+")].into()));
    let long = "a".repeat(262_145);
    let shown = message(&type_, Scalar::String(&long));
    assert!(
        shown.ends_with(
            "; patterns are applied to values of at most 262144 bytes (PATTERN_WORK_MAX), this one has 262145"
        ),
        "{shown}"
    );
    check(&type_, &[(&long[1..], Some(&long[1..]))]);
    assert!(!message(&type_, Scalar::String(&"A".repeat(100))).contains("PATTERN_WORK_MAX"));
    check(&string(), &[(&long, Some(&long))]);
}
