//! Changes of configuration are told: to a topic of Kafka, and to URLs.

use std::collections::BTreeMap;
use std::net::TcpListener;

use krafka::testing::FakeBroker;
use serde_json::Value;

use crate::harness::{Server, await_some};
use crate::series::take;

const MODULE: &str = "module shop { namespace 'urn:shop'; prefix s; container shop { leaf owner { type string; } \
    list item { key name; leaf name { type string; } leaf count { type uint32; } } } }";
const ANCHOR: &str = "/cps/api/v2/dataspaces/d/anchors/a";

pub(crate) fn upload(server: &Server, path: &str, file: &str, text: &str) -> u16 {
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file}\"\r\n\r\n{text}\r\n--x--\r\n"
    );
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: t\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    server.ask(&request).status
}

/// A dataspace with an anchor; of the dataspace notifications are wanted.
fn make(server: &Server) {
    assert_eq!(server.post("/cps/api/v2/dataspaces?dataspace-name=d", "").status, 201);
    let path = "/cps/api/v2/dataspaces/d/schema-sets?schema-set-name=s";
    assert_eq!(upload(server, path, "shop.yang", MODULE), 201);
    let path = "/cps/api/v2/dataspaces/d/anchors?schema-set-name=s&anchor-name=";
    for anchor in ["a", "silent"] {
        assert_eq!(server.post(&format!("{path}{anchor}"), "").status, 201);
    }
    let wanted = r#"{"dataspace":[{"name":"d","anchors":{"anchor":[{"name":"a"}]}}]}"#;
    let answer = server.post("/cps/api/v2/notification-subscription?xpath=/dataspaces", wanted);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

/// Writes what is told, and what is not.
fn write(server: &Server) {
    let body = r#"{"shop":{"owner":"Ann","item":[{"name":"x","count":1}]}}"#;
    assert_eq!(server.post("/cps/api/v2/dataspaces/d/anchors/silent/nodes", body).status, 201);
    let path = format!("{ANCHOR}/nodes?observed-timestamp=2026-05-04T10:00:00.030%2B0200");
    assert_eq!(server.post(&path, body).status, 201);
    let path = format!("{ANCHOR}/list-nodes?xpath=/shop");
    assert_eq!(server.post(&path, r#"{"item":[{"name":"it's"}]}"#).status, 201);
    let path = format!("{ANCHOR}/nodes?xpath=/shop/item[@name='x']");
    assert_eq!(server.ask(&format!("DELETE {path} HTTP/1.1\r\nhost: t\r\n\r\n")).status, 204);
}

/// Action and path of an event's payload.
fn told(payload: &Value) -> (String, String) {
    let text = |name: &str| payload["eventPayload"][name].as_str().unwrap().to_owned();
    assert_eq!((text("dataspaceName"), text("anchorName")), ("d".to_owned(), "a".to_owned()));
    assert_eq!(text("schemaSetName"), "s");
    (text("action"), text("xpath"))
}

fn expected() -> Vec<(String, String)> {
    let pairs =
        [("create", "/shop"), ("create", "/shop/item[@name='it''s']"), ("remove", "/shop/item[@name='x']")];
    pairs.map(|(action, xpath)| (action.to_owned(), xpath.to_owned())).to_vec()
}

#[test]
fn a_topic_is_told_what_was_subscribed_to() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let broker = runtime.block_on(FakeBroker::start()).unwrap();
    broker.create_topic("cps-data-updated-events", 2);
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--config-event-kafka", &broker.bootstrap_servers()];
    let server = Server::start(folder.path(), &flags);
    make(&server);
    write(&server);
    let records = await_some("the events", || {
        let records = broker.all_records("cps-data-updated-events").unwrap();
        (records.len() >= 3).then_some(records)
    });
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut events = Vec::new();
    for record in &records {
        assert_eq!(text(record.key.as_ref().unwrap()), "d:a");
        let headers: BTreeMap<String, String> = record
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value.as_ref().unwrap())))
            .collect();
        assert_eq!(headers["ce_type"], "org.onap.cps.events.model.CpsDataUpdatedEvent");
        assert_eq!((&*headers["ce_source"], &*headers["ce_correlationid"]), ("CPS", "d:a"));
        events.push(told(&serde_json::from_slice(record.value.as_ref().unwrap()).unwrap()));
    }
    assert_eq!(events, expected());
    let first: Value = serde_json::from_slice(records[0].value.as_ref().unwrap()).unwrap();
    assert_eq!(first["eventPayload"]["observedTimestamp"], "2026-05-04T08:00:00.030+0000");
    assert_eq!(server.stop(), Some(0));
}

/// What happens while nobody takes it is told later, after a restart too, and once the server is told of it again in order.
#[test]
fn a_url_is_told_until_it_accepts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/events", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--config-event-hooks", &url];
    let server = Server::start(folder.path(), &flags);
    make(&server);
    write(&server);
    let (_, refused) = take(&listener, "503 Busy");
    drop(server);
    let server = Server::start(folder.path(), &flags);
    let (mut events, mut ids) = (Vec::new(), Vec::new());
    while events.len() < 3 {
        let (head, batch) = take(&listener, "204 Taken");
        assert!(head.contains("content-type: application/cloudevents-batch+json"), "{head}");
        for event in batch.as_array().unwrap() {
            ids.push(event["id"].clone());
            events.push(told(&event["data"]));
        }
    }
    assert_eq!(events, expected());
    assert_eq!(refused[0]["id"], ids[0], "told again it is the same event");
    server.await_metric("twinfold_config_event_changes_total", |count| count as u64 == 3);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn settings_of_events_are_checked() {
    let check = |flags: &[&str], expected: &str| {
        let arguments = [&["settings"], flags].concat();
        let (code, _, said) = crate::harness::output(&mut crate::harness::twinfold(&arguments));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    check(&["--config-event-hooks", "ftp://a/"], "ftp");
    check(&["--config-event-kafka-tls", "on"], "config_event_kafka_roots");
    check(&["--config-event-kafka-user", "u"], "config_event_kafka_password");
    let plain = [
        "--config-event-kafka-user",
        "u",
        "--config-event-kafka-password",
        "p",
        "--config-event-kafka-login",
        "plain",
    ];
    check(&plain, "config_event_kafka_tls");
}
