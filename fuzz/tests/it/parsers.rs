//! Every function that takes text or stored bytes apart, and the target that reaches it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fuzz::target;

/// Crate and function (with the type that it is of), and the target that reaches it.
const TRIED: &[(&str, &str)] = &[
    ("access parsed", "credentials"),
    ("api-cps parse_descendants", "cps_parameters"),
    ("api-cps parse_flag", "cps_parameters"),
    ("api-cps parse_mode", "cps_parameters"),
    ("api-cps parse_observed", "cps_parameters"),
    ("api-http Given::parse", "tsm_parameters"),
    ("api-http Params::parse", "parameters"),
    ("api-http decode_into", "percent"),
    ("api-http parse_date", "headers"),
    ("api-ngsi-ld parse_direction", "ngsi_ld_parameters"),
    ("api-ngsi-ld parse_query_body", "ngsi_ld_query_body"),
    ("api-ngsi-ld parse_temporal_body", "ngsi_ld_query_body"),
    ("api-restconf parse_depth", "restconf_fields"),
    ("api-restconf parse_fields", "restconf_fields"),
    ("api-restconf parse_identifier", "restconf_path"),
    ("api-restconf parse_json", "restconf_patch"),
    ("api-restconf parse_patch", "restconf_patch"),
    ("api-restconf parse_segment", "restconf_path"),
    ("api-restconf parse_xml", "restconf_patch"),
    ("api-tsm CsvReader::parse", "points_csv"),
    ("api-tsm JsonReader::parse", "points_json"),
    ("api-tsm parse_aggregation", "tsm_parameters"),
    ("api-tsm parse_alignment", "tsm_parameters"),
    ("api-tsm parse_bool", "tsm_parameters"),
    ("api-tsm parse_day_start", "tsm_moment"),
    ("api-tsm parse_form", "tsm_parameters"),
    ("api-tsm parse_gaps", "tsm_parameters"),
    ("api-tsm parse_instant", "tsm_moment"),
    ("api-tsm parse_interval_unit", "tsm_parameters"),
    ("api-tsm parse_moment", "tsm_moment"),
    ("api-tsm parse_quotation", "tsm_parameters"),
    ("config Attempt::from_bytes", "config_tree"),
    ("config Label::from_bytes", "config_tree"),
    ("config Order::from_bytes", "config_tree"),
    ("config Page::from_bytes", "config_tree"),
    ("config Root::decode", "config_tree"),
    ("delivery Message::of_row", "delivery_rows"),
    ("delivery Position::of_value", "delivery_rows"),
    ("delivery Status::of_value", "delivery_rows"),
    ("egress parse", "egress_url"),
    ("entity Collation::parse", "ngsi_ld_parameters"),
    ("entity EntityView::parse", "stored_entity"),
    ("entity Header::parse", "history_rows"),
    ("entity Period::parse", "ngsi_ld_parameters"),
    ("entity attribute_of_key", "entity_keys"),
    ("entity consumer_of_key", "entity_keys"),
    ("entity head_of_key", "entity_keys"),
    ("entity id_bytes_of_key", "entity_keys"),
    ("entity id_of_key", "entity_keys"),
    ("entity parse", "ngsi_ld_entity"),
    ("entity parse_geometry", "ngsi_ld_entity"),
    ("entity parse_moment", "ngsi_ld_q"),
    ("entity parse_number", "ngsi_ld_q"),
    ("entity type_of_key", "entity_keys"),
    ("graph EdgeKey::parse", "graph_row"),
    ("graph EdgeKey::parse_behind", "graph_row"),
    ("graph EdgeLabel::parse", "graph_schema"),
    ("graph EdgeView::parse", "graph_element"),
    ("graph IndexLabel::parse", "graph_schema"),
    ("graph Numbers::parse", "graph_schema"),
    ("graph PredicateCall::parse", "graph_predicate"),
    ("graph PredicateCall::parse_call", "graph_predicate"),
    ("graph PropertyKey::parse", "graph_schema"),
    ("graph SchemaPart::parse", "graph_schema"),
    ("graph VertexLabel::parse", "graph_schema"),
    ("graph VertexView::parse", "graph_element"),
    ("lang-cps-path parse", "cps_path"),
    ("lang-formula parse", "formula"),
    ("lang-ngsi-ld parse_attribute", "ngsi_ld_attribute"),
    ("lang-ngsi-ld parse_entity", "ngsi_ld_entity"),
    ("lang-ngsi-ld parse_fragment", "ngsi_ld_fragment"),
    ("lang-ngsi-ld parse_id", "ngsi_ld_batch"),
    ("lang-ngsi-ld parse_ids", "ngsi_ld_batch"),
    ("lang-ngsi-ld parse_instance", "ngsi_ld_entity"),
    ("lang-ngsi-ld parse_history", "ngsi_ld_past"),
    ("lang-ngsi-ld parse_history_instance", "ngsi_ld_attribute"),
    ("lang-ngsi-ld parse_query", "ngsi_ld_q"),
    ("lang-ngsi-ld parse_relation", "ngsi_ld_parameters"),
    ("lang-ngsi-ld parse_scopes", "ngsi_ld_scopes"),
    ("lang-ngsi-ld parse_shape", "ngsi_ld_geometry"),
    ("lang-ngsi-ld parse_time", "ngsi_ld_time"),
    ("lang-ngsi-ld parse_types", "ngsi_ld_types"),
    ("lang-yang Schema::decode", "yang_schema"),
    ("lang-time Date::parse", "time"),
    ("lang-time Duration::parse", "duration"),
    ("lang-time parse", "time"),
    ("lang-time parse_fraction", "time"),
    ("model-config AnchorRow::parse", "config_rows"),
    ("model-config ConfigChange::parse", "config_rows"),
    ("model-config Counts::parse", "config_rows"),
    ("model-config DataspaceRow::parse", "config_rows"),
    ("model-config SchemaSetRow::parse", "config_rows"),
    ("model-config Subscriptions::parse", "config_rows"),
    ("model-config VersionRow::parse", "config_rows"),
    ("model-config blob_of_key", "config_rows"),
    ("model-config page_of_key", "config_rows"),
    ("model-config parse_first", "config_rows"),
    ("model-config parse_removal", "config_rows"),
    ("model-config version_of_key", "config_rows"),
    ("model-graph parse", "graph_records"),
    ("model-graph part_of_key", "graph_records"),
    ("model-series Body::parse", "catalogue"),
    ("model-series Head::parse", "catalogue"),
    ("model-series name_of_key", "catalogue"),
    ("model-series number_of_key", "catalogue"),
    ("model-series parsed", "formula"),
    ("store-contract Entry::parse", "tenant_rows"),
    ("store-contract name_of_key", "tenant_rows"),
    ("store-contract number_of_key", "tenant_rows"),
    ("store-contract parse_number", "tenant_rows"),
    ("store-contract parse_record", "tenant_rows"),
    ("store-contract part_of_key", "tenant_rows"),
    ("store-embedded Shared::parse_change", "engine_rows"),
    ("store-embedded Stored::parse", "engine_rows"),
    ("store-embedded parse_change", "engine_rows"),
    ("store-embedded parse_incarnation", "engine_rows"),
    ("store-embedded parse_mark", "engine_rows"),
    ("store-embedded parse_sequence", "engine_rows"),
    ("store-embedded sequence_of_key", "engine_rows"),
    ("strands AuditPart::parse", "strand_rows"),
    ("strands Block::parse", "block"),
    ("strands EncodedLayer::parse", "strand_rows"),
    ("strands Outline::parse", "strand_rows"),
    ("strands State::parse", "strand_rows"),
    ("strands decode", "block"),
    ("strands decode_all", "block"),
    ("strands decode_integers", "block"),
];

/// Those that no target reaches, and why.
const UNTRIED: &[(&str, &str)] = &[
    ("api-http Decoder::decode", "gzip and zstd are unpacked by their libraries"),
    ("api-http Gunzip::decode", "gzip and zstd are unpacked by their libraries"),
    ("api-http Unzstd::decode", "gzip and zstd are unpacked by their libraries"),
    ("model-entities Created::parse", "rows of a fixed form and few bytes"),
    ("model-entities Register::parse", "rows of a fixed form and few bytes"),
    ("model-entities StoredLayout::parse", "rows of a fixed form and few bytes"),
    (
        "server parse_with_unit",
        "settings are the operator's, and lie in a program, which no other crate can link",
    ),
    ("store number_of_key", "a number of four bytes"),
    ("store-embedded Fragment::parse", "the log of RocksDB: the torture test tears it"),
    ("tenant-contexts decode", "a time and a text"),
];

/// How the names of such functions begin, or what they are.
const BEGINNINGS: [&str; 2] = ["parse", "decode"];
const NAMES: [&str; 3] = ["of_value", "of_row", "from_bytes"];
/// Types of what they take, and of what they give.
const TAKEN: [&str; 5] = ["[u8]", "[u8; ", "Bytes", "str", "Reader<"];
const GIVEN: [&str; 2] = ["Option", "Result"];

#[test]
fn every_parser_has_a_target() {
    let listed: BTreeSet<&str> = TRIED.iter().chain(UNTRIED).map(|(name, _)| *name).collect();
    let found = parsers();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let (missing, gone): (Vec<_>, Vec<_>) =
        (found.difference(&listed).collect(), listed.difference(&found).collect());
    assert!(missing.is_empty(), "parsers without a target; add one, and a line to TRIED: {missing:#?}");
    assert!(gone.is_empty(), "no longer there: {gone:#?}");
    for (name, by) in TRIED {
        assert!(target(by).is_some(), "{name}: {by} is no target");
    }
}

fn parsers() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = BTreeSet::new();
    for folder in fs::read_dir(&crates).expect("the folder of crates") {
        let folder = folder.expect("a crate");
        let name = folder.file_name().to_string_lossy().into_owned();
        // What load tests read are the answers of servers that they measure.
        if name.starts_with("campaign") {
            continue;
        }
        let mut files = Vec::new();
        walk(&folder.path().join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a file");
            found.extend(parsers_of(&text).into_iter().map(|parser| format!("{name} {parser}")));
        }
    }
    found
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if stem == "tests" || stem == "testing" {
            continue;
        }
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The functions of a file that look like parsers, with the types that they are of.
fn parsers_of(text: &str) -> Vec<String> {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().expect("a part");
    let (mut of, mut found, mut at) = (None, Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let rest = text.get(at..).expect("a line begins here");
        at += line.len();
        if line.starts_with("impl") {
            of = type_of(rest);
        } else if line.starts_with('}') {
            of = None;
        }
        let Some((before, signature)) = line.split_once("fn ") else { continue };
        let is_function = matches!(before.trim(), "" | "const") || before.trim_start().starts_with("pub");
        let name = signature.split(['(', '<']).next().expect("a part");
        let is_named = BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || NAMES.contains(&name)
            || name.ends_with("_of_key");
        if is_function && is_named && takes_and_gives(rest) {
            found.push(of.as_ref().map_or_else(|| name.to_owned(), |of| format!("{of}::{name}")));
        }
    }
    found
}

/// The type of an `impl`.
fn type_of(text: &str) -> Option<String> {
    let head = text.split('{').next()?;
    let named = match head.rsplit_once(" for ") {
        Some((_, named)) => named,
        // Behind the parameters of the `impl` itself.
        None => head.strip_prefix("impl")?.trim_start_matches(|sign| sign != ' ').trim_start(),
    };
    let end = named.find(|sign: char| !sign.is_alphanumeric()).unwrap_or(named.len());
    named.get(..end).map(str::to_owned)
}

fn takes_and_gives(text: &str) -> bool {
    let body = text.find('{').unwrap_or(text.len());
    let end = text.find(";\n").unwrap_or(text.len());
    let signature = text.get(..body.min(end)).expect("the beginning");
    let Some((takes, gives)) = signature.rsplit_once("->") else { return false };
    TAKEN.iter().any(|taken| takes.contains(taken)) && GIVEN.iter().any(|given| gives.contains(given))
}
