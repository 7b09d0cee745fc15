//! libyang as the oracle: random and changed documents are taken by both or by none, and both make the same of them.

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use yang5::data::{Data, DataFormat, DataParserFlags, DataPrinterFlags, DataTree, DataValidationFlags};

use super::any_content;
use crate::engine::Engine;
use crate::modules::ModuleSet;
use crate::schema::Schema;
use crate::style::{Defaults, Style};
use crate::{
    CompileOptions, Features, ReadOptions, YangFile, compile, read_json, read_xml, write_content_json,
    write_content_xml,
};

/// All types, lists and leaf-lists whose order is the user's (libyang sorts others), choices, augments. Nothing is mandatory: both check
/// the same then.
const FIRST: &str = r#"module first { yang-version 1.1; namespace "urn:first"; prefix f;
  identity base; identity one { base base; }
  container box {
    leaf flag { type boolean; default true; }
    leaf tiny { type int8 { range "-5..5 | 100"; } }
    leaf wide { type uint64; }
    leaf int { type int32; default 7; }
    leaf amount { type decimal64 { fraction-digits 3; range "-10..1000.5"; } }
    leaf word { type string { length "0..8"; pattern '[^x]*'; } }
    leaf colour { type enumeration { enum red; enum "dark blue"; } }
    leaf set { type bits { bit a; bit b; bit c; } }
    leaf octets { type binary; }
    leaf gone { type empty; }
    leaf kind { type identityref { base base; } }
    leaf mix { type union { type int8; type boolean; type enumeration { enum many; } type string { length "1..4"; } } }
    leaf long-mix { type union { type uint64; type decimal64 { fraction-digits 2; } type identityref { base base; } } }
    leaf place { type instance-identifier { require-instance false; } }
    leaf other { type leafref { path "../tiny"; require-instance false; } }
    leaf-list words { ordered-by user; type string; default x; default y; }
    leaf-list numbers { ordered-by user; type int16; }
    choice way { case by-road { leaf road { type string; } leaf lanes { type uint8; default 2; } }
      case by-rail { container rail { leaf gauge { type uint16; } } } leaf path { type string; } }
    container inner { leaf level { type int64; default -3; } container deep { presence "means something"; leaf x { type string; default q; } } }
    list row { key "id side"; ordered-by user; leaf id { type uint16; } leaf side { type enumeration { enum left; enum right; } }
      leaf text { type string; } list cell { key name; ordered-by user; leaf name { type string; } leaf value { type int64; } } }
  }
  container state { config false; leaf-list log { type string; } list event { leaf text { type string; } } }
  leaf-list tops { ordered-by user; type string; }
  list entry { key k; ordered-by user; leaf k { type string; } leaf v { type boolean; } } }"#;
const SECOND: &str = r#"module second { yang-version 1.1; namespace "urn:second"; prefix s;
  import first { prefix f; }
  identity two { base f:one; }
  augment "/f:box" { leaf flag { type string; } container inner { leaf level { type int8; } } }
  augment "/f:box/f:row" { leaf more { type boolean; } } }"#;

const STATE: ReadOptions = ReadOptions { takes_state: true, ..ReadOptions::RFC7951 };

struct Oracle {
    schema: Schema,
    engine: Engine,
}

impl Oracle {
    fn new() -> Self {
        let file = |name: &str, text: &str| YangFile { name: name.into(), text: text.into() };
        let files = [file("first.yang", FIRST), file("second.yang", SECOND)];
        let options = CompileOptions { features: Features::All };
        let schema = compile(&files, &options).unwrap().schema;
        let (engine, _) = Engine::load(&ModuleSet::read(&files).unwrap(), &options).unwrap();
        Self { schema, engine }
    }

    fn libyang(&self, text: &str, format: DataFormat) -> Option<DataTree<'_>> {
        let (parse, validate) = (DataParserFlags::STRICT, DataValidationFlags::empty());
        let tree = DataTree::parse_string(self.engine.context(), text, format, parse, validate);
        drop(self.engine.complaints());
        tree.ok()
    }

    /// What libyang prints, in JSON.
    fn printed(&self, tree: &DataTree<'_>, flags: DataPrinterFlags) -> Value {
        let flags = DataPrinterFlags::WITH_SIBLINGS | DataPrinterFlags::SHRINK | flags;
        let text = tree.print_string(DataFormat::JSON, flags).unwrap();
        if text.is_empty() {
            Value::Object(serde_json::Map::new())
        } else {
            serde_json::from_str(&text).unwrap()
        }
    }

    /// What both make of a JSON document; the words of an error of ours.
    fn check(&self, text: &str) -> Result<(), String> {
        let ours = read_json(&self.schema, None, text.as_bytes(), &STATE);
        let theirs = self.libyang(text, DataFormat::JSON);
        match (ours, theirs) {
            (Ok(content), Some(tree)) => {
                let defaults = [
                    (Defaults::Explicit, DataPrinterFlags::WD_EXPLICIT),
                    (Defaults::Trim, DataPrinterFlags::WD_TRIM),
                    (Defaults::All, DataPrinterFlags::WD_ALL),
                ];
                for (defaults, flags) in defaults {
                    let mut out = Vec::new();
                    write_content_json(
                        &self.schema,
                        &content,
                        Style { defaults, ..Style::RFC7951 },
                        &mut out,
                    );
                    let mut ours: Value = serde_json::from_slice(&out).unwrap();
                    let mut theirs = self.printed(&tree, flags);
                    strip(&mut ours);
                    strip(&mut theirs);
                    // The outermost nodes that are not there have no defaults of ours: what is written may be a part of a tree.
                    if defaults == Defaults::All && ours.get("first:box").is_none() {
                        theirs.as_object_mut().unwrap().remove("first:box");
                    }
                    if ours != theirs {
                        return Err(format!("{defaults:?} of {text}\nours   {ours}\ntheirs {theirs}"));
                    }
                }
                Ok(())
            }
            (Err(_), None) => Ok(()),
            (Ok(_), None) => Err(format!("libyang refuses {text}")),
            (Err(error), Some(_)) => Err(format!("libyang takes {text}\n{error}")),
        }
    }
}

/// Without containers that hold nothing, which libyang has wherever they may be, and with identities as libyang spells them.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(strip);
            members.retain(|_, value| !value.as_object().is_some_and(serde_json::Map::is_empty));
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        // Both spellings of an identity of the leaf's module are right (RFC 7951, 6.8).
        Value::String(text) if text == "first:one" => *text = "one".to_owned(),
        _ => {}
    }
}

/// Without hexadecimal and octal text, which libyang takes for an integer though RFC 7950 has it for defaults alone, and without `1.0`, which we take
/// for one since JSON does not tell it from `1`.
const SCALARS: [&str; 31] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "5",
    "-5",
    "6",
    "100",
    "1.5",
    "1e2",
    "10e-1",
    "99999999999999999999",
    "\"\"",
    "\"5\"",
    "\"+5\"",
    "\" 5 \"",
    "\"1000.500\"",
    "\"1000.501\"",
    "\"true\"",
    "\"many\"",
    "\"red\"",
    "\"b a\"",
    "\"a  a\"",
    "\"first:one\"",
    "\"second:two\"",
    "\"two\"",
    "\"one\"",
    "\"f:one\"",
    "[null]",
    "\"xyzzy\"",
];
const NAMES: [&str; 12] = [
    "first:box",
    "box",
    "second:flag",
    "flag",
    "f:flag",
    "first:flag",
    "id",
    "side",
    "road",
    "rail",
    "second:inner",
    "nope",
];

/// Changes one value or member somewhere.
fn change(value: &mut Value, random: &mut StdRng) {
    let go_down = random.random_bool(0.75);
    match value {
        Value::Object(members) if go_down && !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = names.choose(random).unwrap();
            match random.random_range(0..8) {
                0 => drop(members.remove(name)),
                1 => {
                    let moved = members.remove(name).unwrap();
                    members.insert((*NAMES.choose(random).unwrap()).into(), moved);
                }
                2 => {
                    let copy = members.get(name).unwrap().clone();
                    members.insert((*NAMES.choose(random).unwrap()).into(), copy);
                }
                _ => change(members.get_mut(name).unwrap(), random),
            }
        }
        Value::Array(items) if go_down && !items.is_empty() => {
            let at = random.random_range(0..items.len());
            match random.random_range(0..5) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => change(&mut items[at], random),
            }
        }
        other => {
            *other = match random.random_range(0..10) {
                0 => Value::Array(vec![other.clone()]),
                1 => Value::Array(Vec::new()),
                2 => Value::Object(serde_json::Map::new()),
                _ => serde_json::from_str(SCALARS.choose(random).unwrap()).unwrap(),
            };
        }
    }
}

fn document(schema: &Schema, random: &mut StdRng) -> (String, String) {
    let content = any_content(schema, None, random);
    let (mut json, mut xml) = (Vec::new(), Vec::new());
    write_content_json(schema, &content, Style::RFC7951, &mut json);
    write_content_xml(schema, &content, Style::RFC7951, &mut xml);
    (String::from_utf8(json).unwrap(), String::from_utf8(xml).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((150 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn both_make_the_same_of_random_documents(seed: u64) {
        let oracle = Oracle::new();
        let random = &mut StdRng::seed_from_u64(seed);
        let (json, xml) = document(&oracle.schema, random);
        prop_assert_eq!(oracle.check(&json), Ok(()));
        prop_assert!(read_json(&oracle.schema, None, json.as_bytes(), &STATE).is_ok(), "{}", json);
        // What we write as XML, libyang reads as what we write as JSON.
        if xml.is_empty() {
            return Ok(());
        }
        let tree = oracle.libyang(&xml, DataFormat::XML);
        prop_assert!(tree.is_some(), "libyang refuses {}", xml);
        let mut ours: Value = serde_json::from_str(&json).unwrap();
        let mut theirs = oracle.printed(&tree.expect("it was read"), DataPrinterFlags::WD_EXPLICIT);
        strip(&mut ours);
        strip(&mut theirs);
        prop_assert_eq!(ours, theirs, "{}", xml);
    }

    #[test]
    fn both_take_or_refuse_changed_documents(seed: u64) {
        let oracle = Oracle::new();
        let random = &mut StdRng::seed_from_u64(seed);
        let (json, _) = document(&oracle.schema, random);
        let whole: Value = serde_json::from_str(&json).unwrap();
        for _ in 0..20 {
            let mut value = whole.clone();
            for _ in 0..random.random_range(1..3) {
                change(&mut value, random);
            }
            prop_assert_eq!(oracle.check(&value.to_string()), Ok(()));
        }
    }


    /// What libyang prints as XML, we read as it reads its own JSON.
    #[test]
    fn xml_of_libyang_is_read(seed: u64) {
        let oracle = Oracle::new();
        let random = &mut StdRng::seed_from_u64(seed);
        let (json, _) = document(&oracle.schema, random);
        let mut theirs: Value = serde_json::from_str(&json).unwrap();
        strip(&mut theirs);
        // The binding reads a null pointer where libyang has nothing to print; and libyang does not escape carriage returns, so that
        // whoever reads its XML gets line feeds.
        if theirs == serde_json::json!({}) || json.contains("\\r") {
            return Ok(());
        }
        let tree = oracle.libyang(&json, DataFormat::JSON).expect("libyang takes what we write");
        let flags = DataPrinterFlags::WITH_SIBLINGS | DataPrinterFlags::WD_EXPLICIT;
        let xml = tree.print_string(DataFormat::XML, flags).unwrap();
        let many = ReadOptions { names: crate::NameRules::Lenient, ..STATE };
        let content = read_xml(&oracle.schema, None, xml.as_bytes(), &many)
            .unwrap_or_else(|error| panic!("{xml}: {error}"));
        let mut out = Vec::new();
        write_content_json(&oracle.schema, &content, Style::RFC7951, &mut out);
        let mut ours: Value = serde_json::from_slice(&out).unwrap();
        strip(&mut ours);
        prop_assert_eq!(ours, theirs, "{}", xml);
    }
}
