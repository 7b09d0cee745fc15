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
async fn a_batch_has_a_limit_of_different_contexts() {
    let broker = Broker::new();
    let fiware = "https://fiware.github.io/data-models/context.jsonld";
    let batch = |count: usize| {
        let element =
            |n| format!(r#"{{"id":"urn:x:{n}","type":"T","@context":["{fiware}",{{"x{n}":"urn:x{n}"}}]}}"#);
        format!("[{}]", list(count, element))
    };
    let send = async |count: usize| {
        let sent = Sent::line("POST /ngsi-ld/v1/entityOperations/upsert");
        broker.answer(&sent.body("application/ld+json", batch(count))).await.1
    };
    check(&send(1000).await, 413, "CONTEXTS_MAX");
    check(&get(&broker, "entities/urn:x:0").await, 404, "ResourceNotFound");
    check(&send(3).await, 201, "urn:x:2");
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

/// 400,000 of something, in one body.
const MANY: usize = 400_000;

/// So many of what `each` writes, with commas between.
fn list(count: usize, each: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0..count {
        text.push_str(if number == 0 { "" } else { "," });
        text.push_str(&each(number));
    }
    text
}

/// Members of entities that hold so many scopes, types, attributes, sub-attributes and datasetIds; and the limits that
/// they break.
fn crowds(count: usize) -> [(&'static str, String); 6] {
    let instances = list(count, |n| format!(r#"{{"type":"Property","value":1,"datasetId":"urn:d:{n}"}}"#));
    let attributes = list(count, |n| format!("\"a{n}\":1"));
    let value = r#""type":"Property","value":1"#;
    [
        ("SCOPES_MAX", format!(r#""scope":[{}]"#, list(count, |n| format!("\"/s{n:06}\"")))),
        ("TYPES_MAX", format!(r#""type":[{}]"#, list(count, |n| format!("\"T{n:06}\"")))),
        ("SUB_ATTRIBUTES_MAX", format!(r#""a":{{{value},{attributes}}}"#)),
        ("ATTRIBUTES_MAX", attributes),
        ("INSTANCES_MAX", format!(r#""a":{{{value},"b":[{instances}]}}"#)),
        ("INSTANCES_MAX", format!(r#""a":[{instances}]"#)),
    ]
}

#[tokio::test]
async fn an_entity_has_limits_of_how_much_it_holds() {
    let broker = Broker::new();
    let held = r#"{"id":"urn:x:2","type":"T","a":1}"#;
    assert_eq!(post(&broker, "entities", held.into()).await.status, 201);
    for (limit, members) in crowds(MANY) {
        let of_type = if limit == "TYPES_MAX" { "" } else { r#""type":"T","# };
        let entity = format!(r#"{{"id":"urn:x:1",{of_type}{members}}}"#);
        check(&post(&broker, "entities", entity.clone()).await, 413, limit);
        check(&post(&broker, "entityOperations/upsert", format!("[{entity}]")).await, 207, limit);
        check(&post(&broker, "entities/urn:x:2/attrs", format!("{{{members}}}")).await, 413, limit);
    }
    check(&get(&broker, "entities/urn:x:1").await, 404, "ResourceNotFound");
    assert_eq!(get(&broker, "entities/urn:x:2?options=concise").await.body.trim_end(), held);
    // Nor was a name learned of what was refused.
    let known = get(&broker, "attributes").await.body;
    assert!(known.contains("\"a\"") && !known.contains("\"a1\""), "{known}");
}

/// The least time that a request takes, of a few.
async fn least(broker: &Broker, path: &str, body: &str) -> std::time::Duration {
    let mut least = std::time::Duration::MAX;
    for _ in 0..3 {
        let started = std::time::Instant::now();
        let got = post(broker, path, body.to_owned()).await;
        least = least.min(started.elapsed());
        assert_eq!(got.status, 204, "{}", got.body);
    }
    least
}

/// A body with so many of something.
type Body<'a> = &'a dyn Fn(usize) -> String;

/// Four times as much takes about four times as long; were each compared with all before, sixteen times.
#[tokio::test]
async fn much_takes_no_longer_than_its_length() {
    let broker = Broker::new();
    assert_eq!(post(&broker, "entities", r#"{"id":"urn:x:1","type":"T"}"#.into()).await.status, 201);
    let history = |n: usize| {
        let at = format!("2026-01-01T00:{:02}:{:02}Z", n / 60 % 60, n % 60);
        format!(r#"{{"type":"Property","value":{n},"observedAt":"{at}","datasetId":"urn:d:{}"}}"#, n % 500)
    };
    let bodies: [(&str, usize, Body<'_>); 3] = [
        ("entities/urn:x:1/attrs", 100_000, &|count| {
            format!(r#"{{"scope":[{}]}}"#, list(count, |n| format!("\"/s{}\"", n % 900)))
        }),
        ("entities/urn:x:1/attrs", 100_000, &|count| {
            format!(r#"{{"type":[{}]}}"#, list(count, |n| format!("\"T{}\"", n % 90)))
        }),
        ("temporal/entities/urn:x:1/attrs", 10_000, &|count| {
            format!(r#"{{"p":[{}]}}"#, list(count, history))
        }),
    ];
    for (path, count, body) in bodies {
        let (few, many) = (body(count), body(4 * count));
        let (few, many) = (least(&broker, path, &few).await, least(&broker, path, &many).await);
        assert!(many < few * 10, "{path}: {few:?}, of four times as many {many:?}");
    }
}
