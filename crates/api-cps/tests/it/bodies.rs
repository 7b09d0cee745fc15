//! Bodies that are long to read, and answers of many values: where they are made, and the memory that they ask for.

use std::fmt::Write as _;
use std::time::Duration;

use api_http::{MemoryBudget, testing};
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt as _;
use lang_yang::{Features, YangFile};
use model_config::{Mode, SchemaSetOptions};

use crate::service::Service;

const LAMPS: &str = r#"module lamps {
  namespace "urn:example:lamps"; prefix l;
  container street { list lamp { key id; leaf id { type string; } leaf watts { type uint16; } } }
}"#;
const NODES: &str = "/cps/api/v2/dataspaces/d/anchors/a/nodes";

/// A service with the anchor `a` of lamps.
async fn service() -> Service {
    let service = Service::new();
    let configs = &service.configs;
    configs.create_dataspace("d").await.unwrap();
    let files = [YangFile { name: "lamps.yang".into(), text: LAMPS.into() }];
    let options = SchemaSetOptions { mode: Mode::Lenient, features: Features::All };
    configs.create_schema_set("d", "s", &files, options).await.unwrap();
    configs.create_anchor("d", "s", "a").await.unwrap();
    service
}

/// A street with few lamps and much blank between them, or nearly none.
fn street(lamps: usize, blanks: usize) -> String {
    let mut text = String::from("{\"street\":{\"lamp\":[");
    for number in 0..lamps {
        let comma = if number > 0 { "," } else { "" };
        write!(text, "{comma}{}{{\"id\":\"{number}\",\"watts\":60}}", " ".repeat(blanks)).unwrap();
    }
    text + "]}}"
}

fn json() -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))])
}

#[tokio::test]
async fn large_bodies_are_read_in_a_slot_for_long_work() {
    let service = service().await;
    let slots = async |method: &str, target: &str, body: String| {
        let before = service.configs.lane().taken();
        let answer = service.respond(method, target, json(), body).await;
        assert!(answer.status().is_success(), "{method} {target}: {}", answer.status());
        service.configs.lane().taken() - before
    };
    let report = |data: &str| {
        format!(r#"[{{"action":"replace","xpath":"/","source-data":{data},"target-data":{data}}}]"#)
    };
    let apply = "/cps/api/v2/dataspaces/d/anchors/a/applyChangesInDeltaReport";
    let (small, large) = (street(10, 0), street(10, 7_000));
    assert!(small.len() < 64 << 10 && large.len() > 64 << 10);
    assert_eq!(slots("POST", NODES, small.clone()).await, 0);
    // To read it, to tell what is changed, and to change it.
    assert_eq!(slots("PUT", NODES, large.clone()).await, 3);
    assert_eq!(slots("PATCH", NODES, large.clone()).await, 3);
    assert_eq!(slots("PATCH", NODES, small.clone()).await, 0);
    assert_eq!(slots("POST", apply, report(&small)).await, 0);
    assert_eq!(slots("POST", apply, report(&large)).await, 1);
}

#[tokio::test]
async fn memory_is_reserved_for_what_is_made_of_a_body() {
    let service = service().await;
    let ask = async |lamps: usize, blanks: usize| {
        // No more than this for bodies and what is made of them, and nobody waits.
        let budget = MemoryBudget::new(1 << 20, 0, Duration::ZERO);
        // Another has the part that is never refused.
        let mut other = budget.reservation();
        other.grow(2 << 20).await.unwrap();
        let memory = budget.request();
        let dry = format!("{NODES}?dry-run=true");
        let answer =
            testing::respond_within(&service.router, memory, ("POST", &dry), json(), street(lamps, blanks));
        answer.await.1.status().as_u16()
    };
    assert_eq!(ask(1, 200_000).await, 200, "few nodes");
    assert_eq!(ask(20_000, 0).await, 503, "many nodes");
}

#[tokio::test]
async fn values_of_a_leaf_count_in_the_memory_of_their_request() {
    const LAMPS: usize = 86_000;
    let service = service().await;
    let answer = service.respond("POST", NODES, json(), street(LAMPS, 0)).await;
    assert_eq!(answer.status(), 201);
    let ask = async |bytes_max: usize| {
        let budget = MemoryBudget::new(bytes_max, 0, Duration::ZERO);
        let mut other = budget.reservation();
        other.grow(bytes_max + (1 << 20)).await.unwrap();
        let target = format!("{NODES}/query?cps-path=/street/lamp/@id");
        let get = ("GET", &*target);
        testing::respond_within(&service.router, budget.request(), get, HeaderMap::new(), "").await.1
    };
    assert_eq!(ask(1 << 20).await.status(), 503);
    let before = service.configs.lane().taken();
    let answer = ask(64 << 20).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(service.configs.lane().taken(), before + 1, "it is written in a slot for long work");
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let values: Vec<serde_json::Value> = serde_json::from_slice(&body).unwrap();
    assert_eq!((values.len(), &values[LAMPS - 1]["id"]), (LAMPS, &"85999".into()));
}
