use std::collections::BTreeSet;

use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};

use super::*;
use crate::{Api, Limits, front_ends};

fn api() -> Api {
    let clock = Clock::manual(Timestamp(0));
    let options = store::MemoryOptions { clock: clock.clone(), feed_records_max: 10 };
    let strands = StrandOptions { block_points_max: 16, overlays_max: 4, overlay_points_max: 64 };
    let options_of_series = SeriesOptions { strands, definitions_cached_max: 10 };
    let repositories = Repositories::new(store::Store::memory(options), options_of_series);
    let limits = Limits {
        page_default: 10,
        page_max: 10,
        request_series_max: 10,
        write_points_max: 10,
        depth_max: 10,
        item_bytes_max: 10,
        batch_bytes_max: 10,
        stall_max: std::time::Duration::from_secs(1),
        read_tasks: 1,
    };
    let room = api_http::Room::new(1 << 20, 1 << 20, std::time::Duration::ZERO);
    Api::new(repositories, clock, limits, room)
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let front_ends = front_ends(&api());
    let routes: BTreeSet<_> =
        front_ends[0].routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    let described: BTreeSet<_> =
        OPERATIONS.iter().map(|operation| format!("{} {}", operation.method, operation.path)).collect();
    assert_eq!(described, routes);
    assert_eq!(OPERATIONS.len(), routes.len(), "an operation is described twice");
    let plain: BTreeSet<_> =
        front_ends[1].routes.iter().map(|route| format!("{} /tsm/v1{}", route.method, route.path)).collect();
    let expected: BTreeSet<_> = routes.into_iter().filter(|line| !line.contains("/docs")).collect();
    assert_eq!(plain, expected);
    let ids: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.id).collect();
    assert_eq!(ids.len(), OPERATIONS.len(), "an operation's id is given twice");
}

/// All texts under the key `$ref`, and whether they lead somewhere.
#[test]
fn every_reference_leads_somewhere() {
    fn walk(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| match (name.as_str(), value) {
                ("$ref", Value::String(target)) => _ = found.insert(target.clone()),
                _ => walk(value, found),
            }),
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    walk(document, &mut found);
    assert!(found.len() > 40);
    for target in &found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    for kind in ["schemas", "parameters"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            let target = format!("#/components/{kind}/{name}");
            assert!(found.contains(&target), "{target} is never used");
        }
    }
}

#[test]
fn parameters_in_paths_are_described() {
    for operation in OPERATIONS {
        let described = &document()["paths"][operation.path][operation.method.to_ascii_lowercase()];
        let expected = operation.path.matches('{').count()
            + operation.query.iter().map(|names| names.len()).sum::<usize>();
        assert_eq!(described["parameters"].as_array().unwrap().len(), expected, "{}", operation.id);
        assert!(described["responses"].as_object().unwrap().len() > 1, "{}", operation.id);
    }
}
