//! libyang as the oracle: what a type takes, and what it makes of it, for random values of every type.

use lang_yang::{CompileOptions, Features, Kinds, Prefixes, Scalar, Schema, ValueRules, YangFile, compile};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use yang5::context::{Context, ContextFlags};
use yang5::data::{DataFormat, DataParserFlags, DataTree, DataValidationFlags};
use yang5::schema::{SchemaInputFormat, SchemaModule};

const MODULE: &str = r#"module o { yang-version 1.1; namespace urn:o; prefix o;
  identity base; identity other; identity a { base base; } identity b { base a; base other; } identity c { base other; }
  leaf int8 { type int8; }
  leaf int16 { type int16 { range "-100..-10 | 0 | 5..max"; } }
  leaf int32 { type int32; }
  leaf int64 { type int64; }
  leaf uint8 { type uint8 { range "1..10 | 20..30"; } }
  leaf uint16 { type uint16; }
  leaf uint32 { type uint32; }
  leaf uint64 { type uint64 { range "0..18446744073709551614"; } }
  leaf decimal1 { type decimal64 { fraction-digits 1; range "-1.5..10 | 20.0..max"; } }
  leaf decimal18 { type decimal64 { fraction-digits 18; } }
  leaf string { type string { length "0..3 | 5"; } }
  leaf word { type string { pattern "[a-c]*x?"; pattern "b.*" { modifier invert-match; } length 1..4; } }
  leaf date { type string { pattern '\d{4}-\d{2}(\.\d+)?(Z|[\+\-]\d{2})'; } }
  leaf literal { type string { pattern '^a$|\p{IsBasicLatin}{2}|\p{Lu}[^a-c]'; } }
  leaf boolean { type boolean; }
  leaf enumeration { type enumeration { enum one; enum "two three"; enum 4; } }
  leaf bits { type bits { bit z { position 5; } bit y; bit x { position 0; } } }
  leaf binary { type binary { length "0..2 | 4"; } }
  leaf identity { type identityref { base base; } }
  leaf both { type identityref { base base; base other; } }
  leaf reference { type leafref { path "/o:uint8"; require-instance false; } }
  leaf union { type union { type uint8 { range 1..5; } type enumeration { enum 7; } type boolean; type identityref { base base; }
    type decimal64 { fraction-digits 2; } type string { pattern "s.*"; } } }
}"#;

/// All but `both`, see below; more of what has more cases.
const LEAVES: [&str; 23] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "decimal1",
    "decimal18",
    "string",
    "word",
    "date",
    "literal",
    "boolean",
    "enumeration",
    "bits",
    "binary",
    "identity",
    "reference",
    "union",
    "union",
    "union",
];

struct Oracle {
    context: Context,
}

impl Oracle {
    fn new() -> Self {
        let context = Context::new(ContextFlags::NO_YANGLIBRARY).unwrap();
        SchemaModule::parse_string(&context, MODULE, SchemaInputFormat::YANG).unwrap();
        Self { context }
    }

    /// The canonical value of a leaf in a document; nothing if libyang refuses it.
    fn canonical(&self, document: &str, format: DataFormat) -> Option<String> {
        let flags = DataParserFlags::STRICT | DataParserFlags::NO_VALIDATION;
        let tree =
            DataTree::parse_string(&self.context, document, format, flags, DataValidationFlags::empty())
                .ok()?;
        let node = tree.reference()?;
        node.value_canonical()
    }
}

fn schema() -> Schema {
    let files = [YangFile { name: "o.yang".into(), text: MODULE.into() }];
    compile(&files, &CompileOptions { features: Features::All }).unwrap().schema
}

/// Texts that are right for some of the types, nearly right, or neither.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<i64>().prop_map(|number| number.to_string()),
        2 => any::<u64>().prop_map(|number| number.to_string()),
        6 => (-300_i32..300).prop_map(|number| number.to_string()),
        3 => "[+-]?0{0,3}[0-9]{0,3}",
        4 => "[+-]?[0-9]{1,3}\\.[0-9]{1,4}",
        1 => "[+-]?[0-9]{1,2}\\.[0-9]{16,19}",
        2 => "[ \\n\\t]?-?[0-9]{1,2}[ \\n\\t]?",
        6 => "[abcx]{0,5}",
        2 => "[s01a é€😀]{0,6}",
        3 => "[0-9]{4}-[0-9]{2}(\\.[0-9]{1,2})?(Z|[+-][0-9]{2})",
        2 => "[\\^a$A-Zé]{1,3}",
        3 => "(true|false|one|two three|4|7|True|two)",
        4 => "(x|y|z| |\\n){0,5}",
        4 => "[A-Za-z0-9+/]{0,8}={0,2}",
        4 => "(o:)?(a|b|c|base|other|d)",
        1 => any::<String>(),
    ]
}

fn rules<'a>(schema: &'a Schema, prefixes: Prefixes<'a>) -> ValueRules<'a> {
    let module = schema.module_named("o").unwrap();
    ValueRules { schema, module, prefixes, kinds: Kinds::Rfc7951 }
}

fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if u32::from(control) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

/// What libyang is known to take otherwise than RFC 7950 has it.
fn is_known(leaf: &str, text: &str, is_json: bool) -> bool {
    let number = text.trim_start_matches([' ', '\n', '\t']);
    let digits = number.trim_start_matches(['+', '-']);
    // It reads 64-bit numbers of JSON as C does, octal ones and all; only digits are of 9.2.1.
    let is_octal = is_json && leaf.ends_with("int64") && digits.starts_with('0') && digits.len() > 1;
    // A sign is a decimal of zero; 9.3.1 wants a digit after it.
    let is_sign = digits.len() < number.len() && !digits.starts_with(|digit: char| digit.is_ascii_digit());
    is_octal || (is_sign && matches!(leaf, "decimal1" | "decimal18" | "union"))
}

fn runner() -> TestRunner {
    let cases = (6_000 * Config::default().cases).div_ceil(256);
    let max_global_rejects = cases.saturating_mul(10);
    TestRunner::new(Config { cases, max_global_rejects, source_file: Some(file!()), ..Config::default() })
}

#[test]
fn json_strings_are_taken_as_by_libyang() {
    let (schema, oracle) = (schema(), Oracle::new());
    let rules = rules(&schema, Prefixes::Modules);
    runner()
        .run(&(prop::sample::select(&LEAVES[..]), text()), |(leaf, text)| {
            prop_assume!(!is_known(leaf, &text, true));
            let type_ = schema.node(schema.child(None, None, leaf).unwrap()).type_().unwrap();
            let ours = type_.check(Scalar::String(&text), &rules).ok().map(|value| value.text.into_string());
            let theirs = oracle.canonical(&format!("{{\"o:{leaf}\":{}}}", json(&text)), DataFormat::JSON);
            prop_assert_eq!(ours, theirs, "{} {:?}", leaf, text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn json_scalars_are_taken_as_by_libyang() {
    let (schema, oracle) = (schema(), Oracle::new());
    let rules = rules(&schema, Prefixes::Modules);
    let numbers = prop_oneof![
        (-300_i32..300).prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,2})\\.[0-9]{0,2}[1-9]",
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("[null]".to_owned()),
    ];
    runner()
        .run(&(prop::sample::select(&LEAVES[..]), numbers), |(leaf, text)| {
            let type_ = schema.node(schema.child(None, None, leaf).unwrap()).type_().unwrap();
            let scalar = match &*text {
                "true" => Scalar::Boolean(true),
                "false" => Scalar::Boolean(false),
                "[null]" => Scalar::Empty,
                number => Scalar::Number(number),
            };
            let ours = type_.check(scalar, &rules).ok().map(|value| value.text.into_string());
            let theirs = oracle.canonical(&format!("{{\"o:{leaf}\":{text}}}"), DataFormat::JSON);
            prop_assert_eq!(ours, theirs, "{} {}", leaf, text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn xml_texts_are_taken_as_by_libyang() {
    let (schema, oracle) = (schema(), Oracle::new());
    let module = schema.module_named("o");
    let scope = |prefix: &str| module.filter(|_| matches!(prefix, "" | "o"));
    let rules = rules(&schema, Prefixes::Xml(&scope));
    runner()
        .run(&(prop::sample::select(&LEAVES[..]), text()), |(leaf, text)| {
            // Not of XML at all.
            prop_assume!(text.chars().all(|letter| letter >= ' ' || matches!(letter, '\t' | '\n' | '\r')));
            prop_assume!(!text.contains(['\u{FFFE}', '\u{FFFF}']));
            prop_assume!(!is_known(leaf, &text, false));
            let type_ = schema.node(schema.child(None, None, leaf).unwrap()).type_().unwrap();
            let ours = type_.check(Scalar::Text(&text), &rules).ok().map(|value| value.text.into_string());
            let document = format!("<{leaf} xmlns=\"urn:o\" xmlns:o=\"urn:o\">{}</{leaf}>", xml(&text));
            let theirs = oracle.canonical(&document, DataFormat::XML);
            prop_assert_eq!(ours, theirs, "{} {:?}", leaf, text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_identity_is_derived_from_all_bases() {
    let (schema, oracle) = (schema(), Oracle::new());
    let rules = rules(&schema, Prefixes::Modules);
    let type_ = schema.node(schema.child(None, None, "both").unwrap()).type_().unwrap();
    let taken = |name: &str| type_.check(Scalar::String(name), &rules).is_ok();
    assert_eq!(["a", "b", "c", "base", "other"].map(taken), [false, true, false, false, false]);
    // libyang is content with one of the bases; RFC 7950 (9.10) wants all.
    assert_eq!(oracle.canonical("{\"o:both\":\"a\"}", DataFormat::JSON).as_deref(), Some("o:a"));
}
