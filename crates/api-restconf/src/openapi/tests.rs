use std::collections::BTreeSet;

use api_http::{Document, Tagging};
use http::Method;
use serde_json::Value;

use super::*;
use crate::{Api, Limits};

/// The lines of all routes.
fn lines() -> Vec<api_http::Line> {
    let clock = model_config::Clock::manual(model_config::Timestamp(0));
    let store = store::testing::memory(clock.clone());
    let configs = model_config::Configs::new(store, clock, model_config::ConfigOptions::recommended());
    let limits = Limits { depth_max: 1, body_nodes_max: 1, stall_max: std::time::Duration::ZERO };
    crate::table(&Api::new(configs, limits, None)).lines
}

#[test]
fn the_document_is_of_one_piece_with_the_routes() {
    let lines = lines();
    let text = Document::new(description, lines.iter().cloned()).text();
    let document: Value = serde_json::from_slice(&text).unwrap();
    let routes: BTreeSet<_> = lines.iter().map(|(method, path, _)| format!("{method} {path}")).collect();
    api_http::testing::check_description(&document, routes);
}

#[test]
fn data_has_tags() {
    for (method, path, operation) in lines() {
        let has_tags = path.contains("/data");
        let expected = if has_tags { Tagging::One } else { Tagging::None };
        assert_eq!(operation.tagging, expected, "{method} {path}");
        let is_patch = method == Method::PATCH;
        assert_eq!(operation.accept_patch.is_some(), is_patch, "{method} {path}");
    }
}
