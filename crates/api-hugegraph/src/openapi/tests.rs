use std::collections::BTreeSet;

use api_http::{Document, Route};
use http::Method;
use model_graph::{Clock, DEFAULT_SPACE, GraphOptions, Graphs, Timestamp};
use serde_json::Value;

use super::*;
use crate::metrics::PAGES;
use crate::{AccessOptions, AlgorithmJobs, AlgorithmOptions, Api, Lane, Limits, Users, front_ends};

#[test]
fn the_document_is_of_one_piece_with_the_routes() {
    let clock = Clock::manual(Timestamp(0));
    let options = GraphOptions { tenants_max: 1, graphs_max: 1, buckets: 1 };
    let graphs = Graphs::new(store::testing::memory(clock.clone()), options);
    let limits = Limits { depth_max: 64, batch_elements_max: 1, walk_memory_bytes_max: 1 };
    let options = AlgorithmOptions { memory_bytes_max: 1 << 20, threads: std::num::NonZeroUsize::MIN };
    let algorithms = AlgorithmJobs::new(graphs.clone(), clock.clone(), options);
    let options = AccessOptions {
        is_on: false,
        admin_password: None,
        token_duration: std::time::Duration::from_secs(1),
        password_rounds: std::num::NonZeroU32::MIN,
        random: |bytes| bytes.fill(0),
    };
    let users = Users::new(graphs.clone(), clock.clone(), options);
    let routes: Vec<_> = front_ends(&Api::new((graphs, users), clock, limits, algorithms, Lane::new(1)))
        .into_iter()
        .flat_map(|front_end| front_end.routes)
        .collect();
    let is_older = |path: &str| path.starts_with("/graphs") || path.starts_with("/auth/");
    let is_newer = |path: &str| path.starts_with("/graphspaces");
    let described = routes.iter().filter(|route| !is_older(route.path) || is_newer(route.path));
    // The server has the routes of metrics.
    let metrics = PAGES.iter().map(|(path, operation, _)| (Method::GET, *path, *operation));
    let text = Document::new(description, described.clone().map(Route::line).chain(metrics)).text();
    let document: Value = serde_json::from_slice(&text).unwrap();
    let line = |route: &Route| format!("{} {}", route.method, route.path);
    let of_metrics = PAGES.iter().map(|(path, ..)| format!("GET {path}"));
    api_http::testing::check_description(&document, described.map(line).chain(of_metrics));
    let newer: BTreeSet<_> = routes.iter().filter(|route| is_newer(route.path)).map(line).collect();
    for route in routes.iter().filter(|route| is_older(route.path) && !is_newer(route.path)) {
        // Users belong to no graph, whatever graph an older path names.
        let path = route.path.replace("/graphs/{graph}/auth/", "/auth/");
        let path = ["/graphspaces/{graphspace}", &path].concat();
        assert!(newer.contains(&format!("{} {path}", route.method)), "{DEFAULT_SPACE}: {path}");
    }
}
