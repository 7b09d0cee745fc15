//! The walls between storeys: which crate may lean on which.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use crate::process::root;

    /// Every crate, and the crates of ours that it may use. A new line needs a decision record.
    const ALLOWED: &[(&str, &[&str])] = &[
        ("lang-json", &[]),
        ("lang-time", &[]),
        ("store-contract", &[]),
        ("store-embedded", &["store-contract"]),
        ("store", &["store-contract", "store-embedded"]),
        ("lang-cps-path", &[]),
        ("lang-formula", &["lang-time"]),
        ("lang-jsonld", &["lang-json"]),
        ("lang-yang", &["lang-json"]),
        ("yang-samples", &[]),
        ("egress", &[]),
        ("delivery", &["store"]),
        ("strands", &["store"]),
        ("rasters", &["lang-formula", "strands"]),
        ("model-series", &["delivery", "lang-formula", "rasters", "store", "strands"]),
        ("entity", &["lang-json", "lang-time", "store", "strands"]),
        ("model-entities", &["entity", "store", "strands"]),
        ("tenant-contexts", &["egress", "lang-json", "lang-jsonld", "model-entities"]),
        ("lang-ngsi-ld", &["lang-json", "lang-time", "model-entities", "tenant-contexts"]),
        ("graph", &["lang-time", "store"]),
        ("graph-algorithms", &[]),
        ("config", &["lang-cps-path", "lang-yang", "store"]),
        ("model-config", &["config", "lang-cps-path", "lang-yang", "store"]),
        ("model-graph", &["graph", "store"]),
        ("access", &["model-graph", "store"]),
        ("traversals", &["graph", "graph-algorithms", "model-graph", "store"]),
        ("api-http", &[]),
        ("api-ngsi-ld", &["api-http", "lang-json", "lang-ngsi-ld", "model-entities", "tenant-contexts"]),
        ("api-tsm", &["api-http", "egress", "lang-json", "lang-time", "model-series"]),
        (
            "api-hugegraph-wire",
            &["access", "api-http", "graph", "lang-json", "lang-time", "model-graph", "traversals"],
        ),
        (
            "api-hugegraph",
            &[
                "access",
                "api-http",
                "api-hugegraph-wire",
                "graph",
                "graph-algorithms",
                "lang-json",
                "lang-time",
                "model-graph",
                "traversals",
            ],
        ),
        ("api-restconf", &["api-http", "config", "lang-json", "lang-yang", "model-config"]),
        (
            "api-cps",
            &["api-http", "config", "lang-cps-path", "lang-json", "lang-time", "lang-yang", "model-config"],
        ),
        ("campaign", &[]),
        ("campaign-graphs", &["campaign"]),
        ("campaign-config", &["campaign", "yang-samples"]),
        (
            "campaign-embedded",
            &[
                "campaign",
                "campaign-config",
                "campaign-graphs",
                "config",
                "graph",
                "graph-algorithms",
                "lang-cps-path",
                "lang-yang",
                "model-config",
                "model-graph",
                "store",
                "traversals",
                "yang-samples",
            ],
        ),
        ("campaign-peers", &["campaign"]),
        (
            "server",
            &[
                "api-cps",
                "api-http",
                "api-hugegraph",
                "api-ngsi-ld",
                "api-restconf",
                "api-tsm",
                "campaign",
                "campaign-config",
                "campaign-embedded",
                "campaign-graphs",
                "campaign-peers",
                "delivery",
                "egress",
                "model-config",
                "model-entities",
                "model-graph",
                "model-series",
                "store",
                "tenant-contexts",
            ],
        ),
    ];

    fn manifest(name: &str) -> toml::Table {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn ours() -> Vec<String> {
        let folders = fs::read_dir(root().join("crates")).expect("the folder of crates");
        let mut names: Vec<String> = folders
            .map(|folder| folder.expect("a folder").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn uses(name: &str, table: &str) -> Vec<String> {
        let known = ours();
        let manifest = manifest(name);
        let section = manifest.get(table).and_then(toml::Value::as_table);
        section.into_iter().flat_map(toml::Table::keys).filter(|key| known.contains(key)).cloned().collect()
    }

    #[test]
    fn every_crate_leans_only_on_storeys_below() {
        let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
        for name in ours() {
            let may = allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not in the floor plan"));
            for used in uses(&name, "dependencies") {
                assert!(may.contains(&used.as_str()), "{name} must not lean on {used}");
            }
        }
    }

    #[test]
    fn tests_of_a_crate_lean_on_no_crate_above_it() {
        let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
        for name in ours() {
            for used in uses(&name, "dev-dependencies") {
                let above = allowed.get(used.as_str()).is_some_and(|below| below.contains(&name.as_str()));
                assert!(!above, "the tests of {name} must not lean on {used}, which leans on {name}");
            }
        }
    }

    #[test]
    fn the_floor_plan_has_no_circle() {
        let order: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
        for (at, (name, may)) in ALLOWED.iter().enumerate() {
            for used in *may {
                let place = order.iter().position(|other| other == used).expect("a crate of the plan");
                assert!(place < at, "{name} is before {used} in the plan");
            }
        }
    }

    /// The crate that may have `unsafe` code, and its file that may; the crate has the lints of the workspace otherwise.
    const UNSAFE: (&str, &str) = ("lang-yang", "src/engine/raw.rs");

    #[test]
    fn every_crate_takes_the_lints_of_the_workspace() {
        for name in ours().into_iter().filter(|name| name != UNSAFE.0) {
            let manifest = manifest(&name);
            let shared =
                manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
            assert_eq!(shared, Some(true), "{name}");
        }
    }

    #[test]
    fn one_file_may_be_unsafe() {
        let text = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
        let workspace: toml::Table = text.parse().expect("the workspace is TOML");
        let mut wanted =
            workspace.get("workspace").and_then(|table| table.get("lints")).cloned().expect("lints");
        let rust = wanted.get_mut("rust").and_then(toml::Value::as_table_mut).expect("lints of rust");
        let forbidden = rust.insert("unsafe_code".to_owned(), "deny".into());
        assert_eq!(forbidden, Some("forbid".into()), "of all other crates");
        assert_eq!(manifest(UNSAFE.0).get("lints"), Some(&wanted), "{} has the others", UNSAFE.0);
        let folder = root().join("crates").join(UNSAFE.0);
        let mut files = Vec::new();
        crate::habits::rust_files(&folder, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a file");
            let may = text.contains("(unsafe_code");
            assert_eq!(may, file == folder.join(UNSAFE.1), "{} lets itself be unsafe", file.display());
        }
    }
}
