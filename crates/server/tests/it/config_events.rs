//! Changes of configuration are told: to a topic of Kafka, and to URLs.

use std::collections::BTreeMap;
use std::net::TcpListener;

use krafka::testing::FakeBroker;
use serde_json::Value;

use crate::harness::{Server, await_some};
use crate::series::take;

const MODULE: &str = "module shop { namespace 'urn:shop'; prefix s; container shop { leaf owner { type string; } \
    list item { key name; leaf name { type string; } leaf count { type uint32; } \
    leaf text { type string; } } } }";
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

/// What an event says was there, and is.
fn data(payload: &Value) -> [Option<Value>; 2] {
    let data = &payload["eventPayload"]["cloudEventData"];
    ["sourceData", "targetData"]
        .map(|name| data[name].as_str().map(|text| serde_json::from_str(text).unwrap()))
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
    assert_eq!(first["eventPayload"].get("cloudEventData"), None, "it is not asked for");
    assert_eq!(server.stop(), Some(0));
}

/// The largest that there can be: of quotes, which double in a text, and double again where that is a text itself.
#[test]
fn a_topic_is_told_what_was_and_what_is() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let broker = runtime.block_on(FakeBroker::start()).unwrap();
    broker.create_topic("cps-data-updated-events", 1);
    let folder = tempfile::tempdir().unwrap();
    let brokers = broker.bootstrap_servers();
    let flags = [
        "--config-event-kafka",
        &brokers,
        "--config-event-data",
        "on",
        "--config-event-data-bytes-max",
        "448KiB",
    ];
    let server = Server::start(folder.path(), &flags);
    make(&server);
    write(&server);
    let long = "\"".repeat(220 << 10);
    for count in 0..4 {
        let body = serde_json::json!({"item": [{"name": count.to_string(), "text": long}]});
        let path = format!("{ANCHOR}/list-nodes?xpath=/shop");
        assert_eq!(server.post(&path, &body.to_string()).status, 201);
    }
    let records = await_some("the events", || {
        let records = broker.all_records("cps-data-updated-events").unwrap();
        (records.len() >= 7).then_some(records)
    });
    let events: Vec<Value> = records
        .iter()
        .map(|record| serde_json::from_slice(record.value.as_ref().unwrap()).unwrap())
        .collect();
    let shop = serde_json::json!({"shop": {"owner": "Ann", "item": [{"name": "x", "count": 1}]}});
    assert_eq!(data(&events[0]), [None, Some(shop)]);
    assert_eq!(data(&events[1]), [None, Some(serde_json::json!({"item": [{"name": "it's"}]}))]);
    assert_eq!(data(&events[2]), [Some(serde_json::json!({"item": [{"name": "x", "count": 1}]})), None]);
    for (count, event) in events[3..].iter().enumerate() {
        let item = serde_json::json!({"item": [{"name": count.to_string(), "text": long}]});
        assert!(data(event) == [None, Some(item)], "event {count}");
    }
    assert_eq!(server.metric("twinfold_config_event_data_left_out_total") as u64, 0);
    assert_eq!(server.stop(), Some(0));
}

/// Events of a change come without data where that is too large, and of an anchor that was removed since.
#[test]
fn a_url_is_told_data_as_far_as_there_may_be_any() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/events", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let flags =
        ["--config-event-hooks", &url, "--config-event-data", "on", "--config-event-data-bytes-max", "66"];
    let server = Server::start(folder.path(), &flags);
    make(&server);
    let tell = |count: usize| {
        let mut events = Vec::new();
        while events.len() < count {
            let (_, batch) = take(&listener, "204 Taken");
            events.extend(batch.as_array().unwrap().iter().map(|event| event["data"].clone()));
        }
        events
    };
    let body = r#"{"shop":{"owner":"Ann","item":[{"name":"x","count":1}]}}"#;
    assert_eq!(server.post(&format!("{ANCHOR}/nodes"), body).status, 201);
    assert_eq!(data(&tell(1)[0]), [None, Some(serde_json::from_str(body).unwrap())]);
    let path = format!("{ANCHOR}/nodes?xpath=/shop");
    let body = r#"{"item":[{"name":"x","count":2}]}"#;
    let head = format!("PATCH {path} HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n");
    let answer = server.ask(&format!("{head}content-length: {}\r\n\r\n{body}", body.len()));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let item = |count: u32| Some(serde_json::json!({"item": [{"name": "x", "count": count}]}));
    assert_eq!(data(&tell(1)[0]), [item(1), item(2)]);
    assert_eq!(
        server.post(&format!("{ANCHOR}/list-nodes?xpath=/shop"), r#"{"item":[{"name":"y"}]}"#).status,
        201
    );
    assert_eq!(data(&tell(1)[0]), [None, Some(serde_json::json!({"item": [{"name": "y"}]}))]);
    let delete = |path: &str| server.ask(&format!("DELETE {path} HTTP/1.1\r\nhost: t\r\n\r\n")).status;
    assert_eq!(delete(&format!("{ANCHOR}/nodes?xpath=/shop")), 204);
    let removed = tell(1);
    assert_eq!(told(&removed[0]), ("remove".to_owned(), "/shop".to_owned()));
    assert_eq!(removed[0]["eventPayload"].get("cloudEventData"), None, "it is too large");
    assert_eq!(delete(ANCHOR), 204);
    let gone = tell(1);
    assert_eq!(told(&gone[0]), ("remove".to_owned(), "/".to_owned()));
    assert_eq!(gone[0]["eventPayload"].get("cloudEventData"), None, "its versions are gone");
    server.await_metric("twinfold_config_event_data_left_out_total", |count| count as u64 == 2);
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
    check(&["--config-event-data-bytes-max", "449KiB"], "448KiB");
    check(&["--config-event-data-bytes-max", "0"], "at least 1");
}
