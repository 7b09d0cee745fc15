//! Long answers of walks: the memory that they reserve, and where they are written.

use std::fmt::Write as _;
use std::time::Duration;

use api_http::testing::{respond, respond_within};
use api_http::{MemoryBudget, RequestMemory, Router};
use api_hugegraph::{Lane, Limits};
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt as _;

use crate::service::{Service, limits};

/// So many vertices are joined with vertex 0: their ids are more than a small answer.
const LEAVES: usize = 20_000;

async fn post(router: &Router, path: &str, body: String) {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let (_, response) = respond(router, "POST", &format!("/graphs/hugegraph/{path}"), headers, body).await;
    let status = response.status();
    let said = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(status.is_success(), "{path}: {status} {said:?}");
}

/// A graph of a hub and its leaves.
async fn hub(router: &Router, leaves: usize) {
    let label = r#"{"name":"v","id_strategy":"CUSTOMIZE_NUMBER"}"#;
    post(router, "schema/vertexlabels", label.into()).await;
    let label = r#"{"name":"e","source_label":"v","target_label":"v"}"#;
    post(router, "schema/edgelabels", label.into()).await;
    let (mut vertices, mut edges) =
        (r#"[{"label":"v","id":0,"properties":{}}"#.to_owned(), String::from("["));
    for leaf in 1..=leaves {
        write!(vertices, r#",{{"label":"v","id":{leaf},"properties":{{}}}}"#).expect("a text");
        let comma = if leaf > 1 { "," } else { "" };
        let ends = format!(r#""outV":0,"outVLabel":"v","inV":{leaf},"inVLabel":"v""#);
        write!(edges, r#"{comma}{{"label":"e",{ends},"properties":{{}}}}"#).expect("a text");
    }
    post(router, "graph/vertices/batch", vertices + "]").await;
    post(router, "graph/edges/batch?check_vertex=false", edges + "]").await;
}

#[tokio::test]
async fn a_walk_that_remembers_too_much_names_the_limit() {
    let limits = Limits { batch_elements_max: 5_000, walk_memory_bytes_max: 100_000, ..limits() };
    let service = Service::within(limits, Lane::new(1));
    hub(service.router(), 4_000).await;
    let target = "/graphs/hugegraph/traversers/rays?source=0&max_depth=1&limit=-1";
    let (_, response) = respond(service.router(), "GET", target, HeaderMap::new(), "").await;
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let said = String::from_utf8_lossy(&body);
    assert_eq!(status, 400, "{said}");
    assert!(said.contains("the walk needs more than walk_memory_bytes_max, 100000 bytes; lower"), "{said}");
}

#[tokio::test]
async fn long_answers_reserve_memory_and_are_written_in_the_lane() {
    let lane = Lane::new(1);
    let service = Service::within(Limits { batch_elements_max: 2 * LEAVES, ..limits() }, lane.clone());
    let router = service.router();
    hub(router, LEAVES).await;
    for (target, bytes_min) in [
        ("traversers/kneighbor?source=0&max_depth=1&max_degree=-1", 5 * LEAVES),
        ("traversers/rays?source=0&max_depth=1&max_degree=-1&limit=-1&with_vertex=true", 50 * LEAVES),
        ("graph/vertices?label=v&limit=-1", 40 * LEAVES),
    ] {
        let target = format!("/graphs/hugegraph/{target}");
        let get = async |memory: RequestMemory| {
            let asked = ("GET", target.as_str());
            respond_within(router, memory, asked, HeaderMap::new(), "").await.1
        };
        let taken = lane.taken();
        let response = get(RequestMemory::default()).await;
        assert!(response.status().is_success(), "{target}: {}", response.status());
        let bytes = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(bytes.len() > bytes_min, "{target}: {}", bytes.len());
        assert!(lane.taken() > taken, "{target}");
        let budget = MemoryBudget::new(80 << 10, 0, Duration::ZERO);
        // Another has the reserve, with which it takes what it needs.
        let mut other = budget.reservation();
        other.grow(1 << 20).await.expect("the reserve is free");
        assert_eq!(get(budget.request()).await.status(), 503, "{target}");
        drop(other);
    }
}
