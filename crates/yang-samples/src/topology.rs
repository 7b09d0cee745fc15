//! Eleven modules of networks, their links and their second layer, of the shape of those of RFC 8345 and RFC 8944.

use std::fmt::Write as _;

use crate::module::Module;

/// Identities of the module of interface types: as many as the published one has.
const INTERFACE_TYPES: usize = 286;

const TOPOLOGY: [(&str, &str); 10] = [
    ("campaign-inet-types", include_str!("../yang/campaign-inet-types.yang")),
    ("campaign-yang-types", include_str!("../yang/campaign-yang-types.yang")),
    ("campaign-interfaces", include_str!("../yang/campaign-interfaces.yang")),
    ("campaign-vlan-types", include_str!("../yang/campaign-vlan-types.yang")),
    ("campaign-network", include_str!("../yang/campaign-network.yang")),
    ("campaign-network-state", include_str!("../yang/campaign-network-state.yang")),
    ("campaign-topology", include_str!("../yang/campaign-topology.yang")),
    ("campaign-topology-state", include_str!("../yang/campaign-topology-state.yang")),
    ("campaign-l2", include_str!("../yang/campaign-l2.yang")),
    ("campaign-l2-state", include_str!("../yang/campaign-l2-state.yang")),
];

/// Eleven modules that import each other as those of a layer 2 topology do.
pub fn topology() -> Vec<Module> {
    let mut modules: Vec<Module> = TOPOLOGY.iter().map(|(name, text)| Module::named(name, text)).collect();
    modules.push(Module::named("campaign-if-type", &interface_types()));
    modules
}

/// A module of many identities, most of them unused, as registries have them.
fn interface_types() -> String {
    let mut out = String::from(
        "module campaign-if-type {\n  yang-version 1.1;\n  namespace \"urn:twinfold:campaign:campaign-if-type\";\n  \
         prefix ift;\n\n  import campaign-interfaces {\n    prefix if;\n  }\n\n  description\n    \"Kinds of interfaces.\";\n\n  \
         revision 2026-01-01 {\n    description\n      \"First.\";\n  }\n\n  identity ethernet {\n    base if:interface-type;\n    \
         description\n      \"Ethernet.\";\n  }\n",
    );
    for number in 1..INTERFACE_TYPES {
        let _ = write!(
            out,
            "  identity kind-{number:03} {{\n    base if:interface-type;\n    description\n      \"The kind of interface that \
             was registered as number {number}.\";\n  }}\n"
        );
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_import_is_of_a_module_of_the_set() {
        let modules = topology();
        assert_eq!(modules.len(), 11);
        let mut imports = 0;
        for module in &modules {
            let name = module.file.strip_suffix(".yang").unwrap();
            assert!(module.text.starts_with(&format!("module {name} {{")), "{name}");
            assert_eq!(module.text.matches('{').count(), module.text.matches('}').count(), "{name}");
            for line in module.text.lines().filter_map(|line| line.trim().strip_prefix("import ")) {
                imports += 1;
                let imported = format!("{}.yang", line.trim_end_matches(" {"));
                assert!(modules.iter().any(|module| module.file == imported), "{name}: {imported}");
            }
        }
        assert!(imports >= 18, "{imports}");
        assert_eq!(interface_types().matches("  identity ").count(), INTERFACE_TYPES);
    }
}
