//! Every target, for a number of cases or a time.

mod parsers;

use std::collections::BTreeSet;
use std::time::Duration;

use fuzz::{Plan, TARGETS, check, target};

/// Cases of a target, if no time is given.
const CASES: u64 = 2_000;

#[expect(clippy::disallowed_methods, reason = "switches of the test run itself")]
fn plan() -> Plan {
    let number = |name: &str| -> Option<f64> {
        let value = std::env::var(name).ok()?;
        Some(value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
    };
    let time = number("TWINFOLD_FUZZ_SECONDS").map(Duration::from_secs_f64);
    let seed = std::env::var("TWINFOLD_FUZZ_SEED")
        .ok()
        .map(|seed| seed.parse().expect("TWINFOLD_FUZZ_SEED is a number"));
    // A run that has time sees something new each time; what it finds names its seed.
    let seed = seed.unwrap_or_else(|| if time.is_some() { rand::random() } else { 1 });
    Plan { seed, cases: CASES, time }
}

/// A test for each target, so that they run side by side and are told apart.
macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let target = target(stringify!($name)).expect("a target of this name");
            check(&target, plan());
        })*

        #[test]
        fn every_target_is_run() {
            let run: BTreeSet<&str> = [$(stringify!($name)),*].into();
            let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(run, known);
        }
    };
}

targets! {
    graph_predicate graph_edge_id graph_row graph_element graph_schema graph_records config_rows
    json json_string formula cps_path context time duration
    yang_text yang_archive yang_pattern yang_schema yang_value
    yang_json yang_xml
    parameters percent route headers egress_url credentials
    restconf_path restconf_fields restconf_patch
    ngsi_ld_entity ngsi_ld_fragment ngsi_ld_attribute ngsi_ld_q ngsi_ld_types ngsi_ld_scopes ngsi_ld_geometry ngsi_ld_time
    ngsi_ld_parameters ngsi_ld_query_body ngsi_ld_link ngsi_ld_batch ngsi_ld_past
    cps_parameters cps_bodies
    points_json points_csv points_arrow points_rendered
    tsm_parameters tsm_master_data tsm_moment
    stored_entity entity_changes
    block block_of_points stored_numbers catalogue series_changes cursor config_tree
    strand_rows delivery_rows history_rows store_key entity_keys tenant_rows engine_rows
}
