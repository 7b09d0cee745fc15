//! Limits with names: what goes beyond them is refused, and nothing is changed.

use api_http::testing::{Got, Sent};

use crate::broker::Broker;

async fn post(broker: &Broker, path: &str, body: String) -> Got {
    let line = format!("POST /ngsi-ld/v1/{path}");
    broker.answer(&Sent::line(&line).body("application/json", body)).await.1
}

async fn get(broker: &Broker, target: &str) -> Got {
    broker.answer(&Sent::line(&format!("GET /ngsi-ld/v1/{target}"))).await.1
}

#[track_caller]
fn check(got: &Got, status: u16, kind: &str) {
    assert_eq!(got.status, status, "{}", got.body);
    assert!(got.body.contains(kind), "{}", got.body);
}

fn batch(count: usize) -> String {
    let entities = (0..count).map(|n| format!(r#"{{"id":"urn:x:{n}","type":"T","n":{n}}}"#));
    format!("[{}]", entities.collect::<Vec<_>>().join(","))
}

#[tokio::test]
async fn a_batch_has_a_limit() {
    let broker = Broker::new();
    check(&post(&broker, "entityOperations/create", batch(1001)).await, 400, "more than 1000");
    check(&get(&broker, "entities/urn:x:0").await, 404, "ResourceNotFound");
    check(&post(&broker, "entityOperations/create", batch(1000)).await, 201, "urn:x:999");
    let got = get(&broker, "entities?type=T&count=true&limit=1000").await;
    assert!(got.headers.contains(&("ngsild-results-count".into(), "1000".into())), "{:?}", got.headers);
}

#[tokio::test]
async fn nesting_has_a_limit() {
    let broker = Broker::new();
    let nested = |depth: usize| {
        let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"id":"urn:x:1","type":"T","a":{{"type":"Property","value":{value}}}}}"#)
    };
    check(&post(&broker, "entities", nested(100)).await, 400, "BadRequestData");
    check(&post(&broker, "entities", nested(5_000)).await, 400, "BadRequestData");
    check(
        &post(&broker, "entityOperations/upsert", format!("[{}]", nested(100))).await,
        207,
        "BadRequestData",
    );
    check(&get(&broker, "entities/urn:x:1").await, 404, "ResourceNotFound");
    assert_eq!(post(&broker, "entities", nested(40)).await.status, 201);
}

#[tokio::test]
async fn a_query_has_a_limit() {
    let broker = Broker::new();
    let q = vec!["a==1"; 100].join("|");
    check(&get(&broker, &format!("entities?type=T&q={q}")).await, 403, "TooComplexQuery");
}

#[tokio::test]
async fn linked_entities_have_a_limit() {
    let broker = Broker::new();
    assert_eq!(post(&broker, "entityOperations/create", batch(1000)).await.status, 201);
    let targets = (0..1001).map(|n| format!("\"urn:x:{n}\"")).collect::<Vec<_>>().join(",");
    let hub = format!(r#"{{"id":"urn:hub","type":"Hub","to":{{"object":[{targets}]}}}}"#);
    assert_eq!(post(&broker, "entities", hub).await.status, 201);
    check(&get(&broker, "entities/urn:hub?join=flat").await, 403, "TooManyResults");
}
