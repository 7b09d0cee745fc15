use std::collections::BTreeSet;
use std::time::Duration;

use api_http::{Document, Route};
use model_config::{Clock, ConfigOptions, Configs, Timestamp};
use serde_json::{Value, json};

use super::*;
use crate::{Api, Limits, front_ends};

fn api() -> Api {
    let clock = Clock::manual(Timestamp(0));
    let store = store::testing::memory(clock.clone());
    let limits = Limits {
        depth_max: 10,
        body_nodes_max: 10,
        upload_bytes_max: 10,
        unpacked_bytes_max: 10,
        query_nodes_max: 10,
        query_anchors_max: 10,
        stall_max: Duration::from_secs(1),
    };
    Api::new(Configs::new(store, clock, ConfigOptions::recommended()), limits)
}

fn lines(routes: &[Route]) -> BTreeSet<String> {
    routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect()
}

fn document() -> (Value, BTreeSet<String>) {
    let routes = front_ends(&api()).swap_remove(0).routes;
    // What is the same in version 1 is described once.
    let all = lines(&routes);
    let is_older = |route: &&Route| {
        let newer = format!("{} {}", route.method, route.path).replacen("/v1/", "/v2/", 1);
        let has_own = ["V1", "ByDataspaceAndAnchor", "CpsPath", "deleteListOrListElement"]
            .iter()
            .any(|end| route.operation.id.ends_with(end));
        route.path.contains("/v1/") && all.contains(&newer) && !has_own
    };
    let described: Vec<Route> = routes.iter().filter(|route| !is_older(route)).cloned().collect();
    let text = Document::new(description, described.iter().map(Route::line)).text();
    (serde_json::from_slice(&text).unwrap(), lines(&described))
}

#[test]
fn the_document_is_of_one_piece_with_the_routes() {
    let (document, described) = document();
    api_http::testing::check_description(&document, described);
}

#[test]
fn what_a_write_takes_is_described() {
    let (document, _) = document();
    let post = &document["paths"]["/cps/api/v2/dataspaces/{dataspace}/anchors/{anchor}/nodes"]["post"];
    for key in ["path.anchor", "xpath", "dry-run", "observed-timestamp", "header.NGSILD-Tenant"] {
        let reference = json!({ "$ref": format!("#/components/parameters/{key}") });
        assert!(post["parameters"].as_array().unwrap().contains(&reference), "{key}");
    }
    for status in ["200", "201", "400", "409", "413", "503", "507"] {
        assert!(post["responses"][status].is_object(), "{status}");
    }
    assert!(post["requestBody"]["content"]["application/xml"].is_object());
}
