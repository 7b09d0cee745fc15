//! A set of the shape of OpenConfig: 218 modules, groupings for configuration and state, keys that are references into them,
//! augments of other modules, identities, submodules; some 10,000 nodes in 4 MB of text.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lang_yang::{CompileOptions, Features, Schema, Strict, YangFile, compile};

const MODULES: usize = 218;
/// What an upload of such a set may take.
const COMPILE_MAX: Duration = Duration::from_secs(5);

/// As long as descriptions are.
fn description(indent: usize) -> String {
    let line = "This leaf says something about the device that its user may want to know.";
    let pad = " ".repeat(indent);
    let lines = format!("\n{pad}   {line}").repeat(7);
    format!("{pad}description\n{pad}  \"{line}{lines}\";\n")
}

fn types_module() -> String {
    let mut text =
        "module oc-types { yang-version 1.1; namespace urn:oc-types; prefix t;\n revision 2020-01-01;\n"
            .to_owned();
    text.push_str(" identity KIND;\n");
    for index in 0..200 {
        writeln!(text, " identity kind-{index} {{ base KIND; }}").unwrap();
        writeln!(
            text,
            " typedef name-{index} {{ type string {{ length 1..64; pattern '[a-z]{{1,{}}}(\\.[0-9a-f]{{1,4}})*'; }} }}",
            index % 60 + 1
        )
        .unwrap();
    }
    text.push_str(" typedef address { type union { type name-0; type uint32 { range 1..max; } type enumeration { enum none; } } }\n}");
    text
}

fn leaf(text: &mut String, name: &str, type_: &str) {
    writeln!(text, "    leaf {name} {{\n      type {type_}\n{}    }}", description(6)).unwrap();
}

/// The modules whose lists lie around that of a module, from the outermost on: trees a dozen deep.
fn around(index: usize) -> Vec<usize> {
    let outer = |index: &usize| (*index > 20).then(|| index - 17);
    let mut chain: Vec<usize> = std::iter::successors(outer(&index), outer).collect();
    chain.reverse();
    chain
}

/// Module `index`: a list with configuration and state, at the top or within the list of an earlier module.
fn module(index: usize) -> String {
    let mut text =
        format!("module oc-{index} {{ yang-version 1.1; namespace urn:oc-{index}; prefix oc-{index};\n");
    text.push_str(" import oc-types { prefix t; }\n");
    let around = around(index);
    for module in &around {
        writeln!(text, " import oc-{module} {{ prefix oc-{module}; }}").unwrap();
    }
    text.push_str(" revision 2024-05-01;\n grouping config {\n");
    leaf(&mut text, "name", &format!("t:name-{};", index % 200));
    for number in 0..18 {
        let types = ["uint32;", "string;", "boolean;", "t:address;", "decimal64 { fraction-digits 2; }"];
        leaf(&mut text, &format!("setting-{number}"), types[number % types.len()]);
    }
    leaf(&mut text, "kind", "identityref { base t:KIND; }");
    text.push_str(" }\n grouping state { uses config;\n");
    for number in 0..6 {
        leaf(&mut text, &format!("counter-{number}"), "uint64;");
    }
    text.push_str(" }\n");
    let list = format!(
        "list item-{index} {{ key name; leaf name {{ type leafref {{ path ../config/name; }} }} \
         container config {{ uses config; }} container state {{ config false; uses state; }} }}"
    );
    match around.first() {
        None => write!(text, " container top-{index} {{ {list} }} }}").unwrap(),
        Some(first) => {
            let steps: String = around.iter().map(|module| format!("/oc-{module}:item-{module}")).collect();
            write!(text, " augment /oc-{first}:top-{first}{steps} {{ {list} }} }}").unwrap();
        }
    }
    text
}

fn set() -> Vec<YangFile> {
    let mut files = vec![YangFile { name: "oc-types.yang".into(), text: types_module().into() }];
    files.extend(
        (1..MODULES)
            .map(|index| YangFile { name: format!("oc-{index}.yang").into(), text: module(index).into() }),
    );
    files
}

const OPTIONS: CompileOptions = CompileOptions { features: Features::All };

#[test]
fn a_set_of_218_modules_compiles() {
    let files = set();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    assert!(bytes > 2 << 20, "{bytes} bytes");
    let begin = Instant::now();
    let schema = compile(&files, &OPTIONS).unwrap().schema;
    let took = begin.elapsed();
    assert_eq!(schema.modules.iter().filter(|module| module.is_implemented).count(), MODULES);
    assert!(schema.nodes.len() > 10_000, "{} nodes", schema.nodes.len());
    assert!(took < COMPILE_MAX, "{took:?}");
    assert_eq!(Schema::decode(&schema.encode()).unwrap(), schema);
    let strict = Strict::new(&files, &OPTIONS).unwrap();
    assert_eq!(
        strict.validate(r#"{"oc-1:top-1":{"item-1":[{"name":"a","config":{"name":"a","setting-0":5}}]}}"#),
        Ok(())
    );
    strict.validate(r#"{"oc-1:top-1":{"item-1":[{"name":"b","config":{"name":"a"}}]}}"#).unwrap_err();
}
