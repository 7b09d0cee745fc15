//! A set of the shape of OpenConfig: 218 modules, groupings for configuration and state, keys that are references into them,
//! augments of other modules, typedefs, identities; some 10,000 data nodes in 4 MB of text.

use std::fmt::Write as _;

use crate::module::Module;

/// Modules of the set.
pub const MODULES: usize = 218;
/// Typedefs and identities that all modules share.
const TYPES: usize = 200;
/// Modules whose lists are at the top; those of others lie within the list of the module so many before.
const AT_THE_TOP: usize = 20;
const WITHIN: usize = 17;
/// Leaves of the configuration of an entry, beside its name and its kind.
const SETTINGS: usize = 18;
/// Leaves of its state beside these.
const COUNTERS: usize = 6;
/// Lines of a description, and words of a line.
const LINES: usize = 8;
const LINE_WORDS: usize = 10;
/// What descriptions are made of.
const WORDS: [&str; 32] = [
    "the",
    "device",
    "interface",
    "of",
    "configured",
    "value",
    "is",
    "applied",
    "when",
    "a",
    "neighbour",
    "policy",
    "state",
    "reported",
    "by",
    "system",
    "counter",
    "and",
    "this",
    "leaf",
    "must",
    "not",
    "be",
    "negotiated",
    "with",
    "remote",
    "timer",
    "expires",
    "before",
    "session",
    "address",
    "family",
];

/// The modules of the set, always the same. Cost: some milliseconds.
pub fn open_config() -> Vec<Module> {
    let mut words = Words { state: 1 };
    let mut modules = vec![Module::named("oc-types", &types())];
    modules
        .extend((1..MODULES).map(|index| Module::named(&format!("oc-{index}"), &module(index, &mut words))));
    modules
}

/// Words in an order that looks like text to what packs it.
struct Words {
    state: u64,
}

impl Words {
    fn next(&mut self) -> &'static str {
        // The constants of Knuth's MMIX; the upper bits are the good ones.
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let index = usize::try_from(self.state >> 59).expect("five bits are left");
        WORDS.get(index).copied().expect("there is a word for each number of five bits")
    }

    /// A description as long as they are.
    fn description(&mut self, out: &mut String) {
        out.push_str("      description\n        \"");
        for line in 0..LINES {
            out.push_str(if line == 0 { "" } else { "\n         " });
            for word in 0..LINE_WORDS {
                out.push_str(if word == 0 { "" } else { " " });
                out.push_str(self.next());
            }
        }
        out.push_str(".\";\n");
    }

    fn leaf(&mut self, out: &mut String, name: &str, type_: &str) {
        let _ = writeln!(out, "    leaf {name} {{\n      type {type_}");
        self.description(out);
        out.push_str("    }\n");
    }
}

fn types() -> String {
    let mut out = String::from(
        "module oc-types {\n  yang-version 1.1;\n  namespace urn:oc-types;\n  prefix t;\n  revision 2020-01-01;\n  identity KIND;\n",
    );
    for index in 0..TYPES {
        let _ = writeln!(out, "  identity kind-{index} {{ base KIND; }}");
        let letters = index % 60 + 1;
        let _ = writeln!(
            out,
            "  typedef name-{index} {{ type string {{ length 1..64; pattern '[a-z]{{1,{letters}}}(\\.[0-9a-f]{{1,4}})*'; }} }}"
        );
    }
    out.push_str(
        "  typedef address { type union { type name-0; type uint32 { range 1..max; } type enumeration { enum none; } } }\n}\n",
    );
    out
}

/// The modules whose lists lie around that of a module, from the outermost on: trees a dozen deep.
fn around(index: usize) -> Vec<usize> {
    let outer = |index: &usize| (*index > AT_THE_TOP).then(|| index - WITHIN);
    let mut chain: Vec<usize> = std::iter::successors(outer(&index), outer).collect();
    chain.reverse();
    chain
}

/// Module `index`: a list with configuration and state, at the top or within the list of an earlier module.
fn module(index: usize, words: &mut Words) -> String {
    let mut out = format!(
        "module oc-{index} {{\n  yang-version 1.1;\n  namespace urn:oc-{index};\n  prefix oc-{index};\n  import oc-types {{ prefix t; }}\n"
    );
    let around = around(index);
    for module in &around {
        let _ = writeln!(out, "  import oc-{module} {{ prefix oc-{module}; }}");
    }
    let _ = writeln!(
        out,
        "  revision 2024-05-01;\n  identity own-kind-{index} {{ base t:KIND; }}\n  grouping config {{"
    );
    words.leaf(&mut out, "name", &format!("t:name-{};", index % TYPES));
    let kinds = ["uint32;", "string;", "boolean;", "t:address;", "decimal64 { fraction-digits 2; }"];
    for (number, kind) in kinds.iter().cycle().take(SETTINGS).enumerate() {
        words.leaf(&mut out, &format!("setting-{number}"), kind);
    }
    words.leaf(&mut out, "kind", "identityref { base t:KIND; }");
    out.push_str("  }\n  grouping state {\n    uses config;\n");
    for number in 0..COUNTERS {
        words.leaf(&mut out, &format!("counter-{number}"), "uint64;");
    }
    out.push_str("  }\n");
    let list = format!(
        "list item-{index} {{ key name; leaf name {{ type leafref {{ path ../config/name; }} }} \
         container config {{ uses config; }} container state {{ config false; uses state; }} }}"
    );
    let _ = match around.first() {
        None => writeln!(out, "  container top-{index} {{ {list} }}\n}}"),
        Some(first) => {
            let steps: String = around.iter().map(|module| format!("/oc-{module}:item-{module}")).collect();
            writeln!(out, "  augment /oc-{first}:top-{first}{steps} {{ {list} }}\n}}")
        }
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_as_large_as_the_tree_whose_shape_it_has() {
        let modules = open_config();
        assert_eq!(modules.len(), MODULES);
        let bytes: usize = modules.iter().map(|module| module.text.len()).sum();
        assert!((3 << 20..6 << 20).contains(&bytes), "{bytes} bytes");
        for module in &modules {
            let name = module.file.strip_suffix(".yang").unwrap();
            assert!(module.text.starts_with(&format!("module {name} {{")), "{name}");
            assert_eq!(module.text.matches('{').count(), module.text.matches('}').count(), "{name}");
        }
        assert_eq!(modules, open_config(), "it is always the same");
    }

    #[test]
    fn trees_are_a_dozen_deep() {
        assert_eq!(around(20), Vec::<usize>::new());
        assert_eq!(around(50), [16, 33]);
        assert_eq!(around(MODULES - 1).len(), 12);
    }
}
