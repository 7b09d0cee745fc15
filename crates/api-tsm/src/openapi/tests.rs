use std::collections::BTreeSet;

use api_http::{Document, Route, Tagging};
use http::Method;
use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};
use serde_json::{Value, json};

use super::*;
use crate::{Api, Limits, front_ends};

fn api() -> Api {
    let clock = Clock::manual(Timestamp(0));
    let options = store::MemoryOptions { clock: clock.clone(), feed: store::FeedOptions::recommended() };
    let strands = StrandOptions { block_points_max: 16, overlays_max: 4, overlay_points_max: 64 };
    let options_of_series = SeriesOptions {
        strands,
        tenants_max: 1_000,
        repositories_max: 1_000,
        catalogue_buckets: 1,
        definitions_cached_max: 10,
    };
    let repositories = Repositories::new(store::Store::memory(options), options_of_series);
    let limits = Limits {
        page_default: 10,
        page_max: 10,
        request_series_max: 10,
        answer_slots_max: 1_000_000,
        write_points_max: 10,
        depth_max: 10,
        item_bytes_max: 10,
        batch_bytes_max: 10,
        stall_max: std::time::Duration::from_secs(1),
        read_tasks: 1,
    };
    Api::new(repositories, clock, limits)
}

fn document() -> Value {
    let routes = front_ends(&api()).swap_remove(0).routes;
    let text = Document::new(description, routes.iter().map(Route::line)).text();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn the_document_is_of_one_piece_with_the_routes() {
    let front_ends = front_ends(&api());
    let lines = |routes: &[Route], base: &str| -> BTreeSet<_> {
        routes.iter().map(|route| format!("{} {base}{}", route.method, route.path)).collect()
    };
    let mut expected = lines(&front_ends[0].routes, "");
    api_http::testing::check_description(&document(), expected.clone());
    expected.retain(|line| !line.contains("/docs"));
    assert_eq!(lines(&front_ends[1].routes, "/tsm/v1"), expected);
}

#[test]
fn whatever_has_a_name_in_its_path_has_a_tag() {
    for route in &front_ends(&api())[0].routes {
        let expected = match (&route.method, route.path.ends_with('}')) {
            (_, true) => Tagging::One,
            (&Method::POST, _) if !route.path.contains("timeseriescollections") => Tagging::New,
            _ => Tagging::None,
        };
        assert_eq!(route.operation.tagging, expected, "{} {}", route.method, route.path);
    }
}

#[test]
fn conditions_and_what_any_operation_meets_are_described() {
    let document = document();
    let at = |path: &str, method: &str| &document["paths"][format!("/tsm/v1/repositories/{path}")][method];
    let unit = at("{repository}/units/{unit}", "get");
    assert_eq!(unit["responses"]["200"]["headers"]["ETag"]["$ref"], "#/components/headers/ETag");
    assert_eq!(unit["responses"]["304"]["$ref"], "#/components/responses/NotModified");
    let put = at("{repository}/units/{unit}", "put");
    let takes = |key: &str| {
        let reference = json!({ "$ref": format!("#/components/parameters/{key}") });
        put["parameters"].as_array().unwrap().contains(&reference)
    };
    assert!(takes("header.If-Match") && takes("header.If-None-Match") && takes("header.NGSILD-Tenant"));
    for status in ["408", "412", "413", "503", "504", "507"] {
        assert!(put["responses"][status]["$ref"].is_string(), "{status}");
    }
    let read = at("{repository}/timeseries/{series}/data", "get");
    assert!(read["responses"]["304"].is_null() && read["responses"]["507"].is_null());
    assert_eq!(
        document["components"]["responses"]["Unavailable"]["headers"]["Retry-After"]["schema"]["type"],
        "integer"
    );
}
