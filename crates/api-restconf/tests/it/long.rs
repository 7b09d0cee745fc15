//! Answers that are streamed, and writers side by side.

use std::fmt::Write as _;

use api_http::Body;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt as _;
use serde_json::Value;

use crate::service::Service;

const ARTISTS: usize = 8_000;

fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
    let pairs = fields
        .iter()
        .map(|(name, value)| (header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
    pairs.collect()
}

fn json() -> HeaderMap {
    headers(&[("content-type", "application/yang-data+json")])
}

/// A jukebox with many artists, each with two albums.
fn jukebox() -> String {
    let mut out = String::from(r#"{"ietf-restconf:data":{"example-jukebox:jukebox":{"library":{"artist":["#);
    for number in 0..ARTISTS {
        let comma = if number == 0 { "" } else { "," };
        write!(
            out,
            r#"{comma}{{"name":"artist {number}","album":[{{"name":"one","year":2000,"admin":{{"label":"a label with a long name"}}}},{{"name":"two"}}]}}"#
        )
        .unwrap();
    }
    out.push_str("]}}}}");
    out
}

async fn read(service: &Service, target: &str) -> (bool, Value, usize) {
    let response = service.respond("GET", target, HeaderMap::new(), "").await;
    assert_eq!(response.status(), 200, "{target}");
    assert!(response.headers().contains_key(header::ETAG));
    let is_streamed = matches!(response.body(), Body::Stream(_));
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (is_streamed, serde_json::from_slice(&bytes).unwrap(), bytes.len())
}

#[tokio::test]
async fn long_answers_are_streamed_and_whole() {
    let service = Service::new();
    let sent = jukebox();
    let answer = service.respond("PUT", "/restconf/data", json(), sent.clone()).await;
    assert_eq!(answer.status(), 204);
    let (is_streamed, data, length) = read(&service, "/restconf/data").await;
    assert!(is_streamed && length == sent.len(), "{length} bytes");
    assert_eq!(data, serde_json::from_str::<Value>(&sent).unwrap());
    let artists = "/restconf/data/example-jukebox:jukebox/library/artist";
    let (is_streamed, list, _) = read(&service, artists).await;
    assert!(is_streamed);
    let list = list["example-jukebox:artist"].as_array().unwrap();
    assert_eq!(list.len(), ARTISTS);
    assert_eq!(list[ARTISTS - 1]["name"], format!("artist {}", ARTISTS - 1));
    let (is_streamed, list, _) = read(&service, &format!("{artists}?depth=1")).await;
    assert!(!is_streamed);
    assert_eq!(list["example-jukebox:artist"].as_array().unwrap().len(), ARTISTS);
    let (_, one, _) = read(&service, &format!("{artists}=artist%207999?fields=album/admin")).await;
    let label = &one["example-jukebox:artist"][0]["album"][0]["admin"]["label"];
    assert_eq!(label, "a label with a long name");
}

#[tokio::test]
async fn of_writers_that_demand_one_state_one_wins() {
    let service = Service::new();
    let body = |name: usize| format!(r#"{{"example-jukebox:owner":"{name}"}}"#);
    let answer = service.respond("PUT", "/restconf/data/example-jukebox:owner", json(), body(0)).await;
    let tag = answer.headers()[header::ETAG].to_str().unwrap().to_owned();
    let write = async |number: usize| {
        let headers = headers(&[("content-type", "application/yang-data+json"), ("if-match", &tag)]);
        let answer =
            service.respond("PUT", "/restconf/data/example-jukebox:owner", headers, body(number)).await;
        answer.status().as_u16()
    };
    let (one, two, three) = tokio::join!(write(1), write(2), write(3));
    let mut statuses = [one, two, three];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 412, 412]);
}

#[tokio::test]
async fn without_a_default_anchor_the_two_ways_are_told() {
    let service = Service::with_default(None);
    let answer = service.respond("GET", "/restconf/data", HeaderMap::new(), "").await;
    assert_eq!(answer.status(), 404);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    assert!(body.contains("/restconf/{dataspace}/{anchor}/data") && body.contains("[restconf]"), "{body}");
    let (_, data, _) = read(&service, "/restconf/lab/box/data").await;
    assert_eq!(data, serde_json::json!({ "ietf-restconf:data": {} }));
}

/// A patch that makes artists, changes what it made, and removes others; with these edits behind.
fn patch(more: &[Value]) -> String {
    let mut edits = Vec::new();
    for number in 0..150 {
        let target = format!("/artist=new%20{number}");
        let mut edit = |operation: &str, target: &str, value: Option<Value>| {
            let mut edit = serde_json::json!({ "edit-id": edits.len().to_string(), "operation": operation, "target": target });
            if let Some(value) = value {
                edit["value"] = serde_json::json!({ "artist": [value] });
            }
            edits.push(edit);
        };
        let name = format!("new {number}");
        edit("create", &target, Some(serde_json::json!({ "name": name })));
        let album = serde_json::json!({ "name": "one", "year": 2000 });
        edit("merge", &target, Some(serde_json::json!({ "name": name, "album": [album] })));
        edit("delete", &format!("/artist=artist%20{}", number * 50), None);
    }
    edits.extend_from_slice(more);
    serde_json::json!({ "ietf-yang-patch:yang-patch": { "patch-id": "p", "edit": edits } }).to_string()
}

#[tokio::test]
async fn edits_of_a_patch_see_each_other_in_trees_of_many_pages() {
    let service = Service::new();
    let sent = jukebox();
    assert_eq!(service.respond("PUT", "/restconf/data", json(), sent.clone()).await.status(), 204);
    let target = "/restconf/data/example-jukebox:jukebox/library";
    let patched = || headers(&[("content-type", "application/yang-patch+json")]);
    // The first artist is gone by then.
    let last =
        serde_json::json!({ "edit-id": "last", "operation": "delete", "target": "/artist=artist%200" });
    let answer = service.respond("PATCH", target, patched(), patch(&[last])).await;
    assert_eq!(answer.status(), 409);
    let status = answer.into_body().collect().await.unwrap().to_bytes();
    let status: Value = serde_json::from_slice(&status).unwrap();
    let edits = status["ietf-yang-patch:yang-patch-status"]["edit-status"]["edit"].as_array().unwrap();
    assert_eq!((edits.len(), &edits[449]["ok"][0]), (451, &Value::Null));
    assert_eq!(edits[450]["errors"]["error"][0]["error-tag"], "data-missing");
    let (_, data, _) = read(&service, "/restconf/data").await;
    assert_eq!(data, serde_json::from_str::<Value>(&sent).unwrap(), "nothing was done");

    assert_eq!(service.respond("PATCH", target, patched(), patch(&[])).await.status(), 200);
    let (_, data, _) = read(&service, "/restconf/data").await;
    let artists =
        data["ietf-restconf:data"]["example-jukebox:jukebox"]["library"]["artist"].as_array().unwrap();
    assert_eq!(artists.len(), ARTISTS);
    assert_eq!(artists[0]["name"], "artist 1");
    assert_eq!(artists[ARTISTS - 150]["name"], "new 0");
    assert!(artists[ARTISTS - 150..].iter().all(|artist| artist["album"][0]["year"] == 2000));
}

/// Two leaf-lists of a playlist with so many values each.
fn playlist(count: usize) -> Value {
    let values: Vec<String> = (0..count).map(|number| format!("value {number:05}")).collect();
    serde_json::json!({ "name": "mine", "tag": values, "owner": values })
}

/// A patch that adds so many values, in turn to these leaf-lists.
async fn add_values(service: &Service, count: usize, names: &[&str]) -> (u16, Value) {
    let edit = |number: usize| {
        let (name, value) = (names[number % names.len()], format!("new{number}"));
        serde_json::json!({
            "edit-id": number.to_string(), "operation": "create", "target": format!("/{name}={value}"), "value": { name: [value] }
        })
    };
    let edits: Vec<Value> = (0..count).map(edit).collect();
    let body = serde_json::json!({ "ietf-yang-patch:yang-patch": { "patch-id": "p", "edit": edits } });
    let target = "/restconf/data/example-jukebox:jukebox/playlist=mine";
    let patched = headers(&[("content-type", "application/yang-patch+json")]);
    let answer = service.respond("PATCH", target, patched, body.to_string()).await;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn what_a_patch_holds_is_bounded() {
    const COUNT: usize = 8_000;
    let service = Service::new();
    let sent = serde_json::json!({ "example-jukebox:jukebox": { "playlist": [playlist(COUNT)] } });
    let answer = service.respond("POST", "/restconf/data", json(), sent.to_string()).await;
    assert_eq!(answer.status(), 201);
    // Each of these edits holds all values of its leaf-list.
    let (status, answer) = add_values(&service, 300, &["tag", "owner"]).await;
    assert_eq!(status, 413, "{answer}");
    let edits = answer["ietf-yang-patch:yang-patch-status"]["edit-status"]["edit"].as_array().unwrap();
    let error = &edits.last().unwrap()["errors"]["error"][0];
    assert_eq!(error["error-tag"], "too-big");
    assert!(error["error-message"].as_str().unwrap().contains("patch_bytes_max"), "{error}");
    // Of edits of one leaf-list the last one is enough.
    let (status, answer) = add_values(&service, 300, &["tag"]).await;
    assert_eq!(status, 200, "{answer}");
    let (_, data, _) = read(&service, "/restconf/data/example-jukebox:jukebox/playlist=mine").await;
    let playlist = &data["example-jukebox:playlist"][0];
    let count = |name: &str| playlist[name].as_array().unwrap().len();
    assert_eq!((count("tag"), count("owner")), (COUNT + 300, COUNT), "all or none");
    assert_eq!(playlist["tag"][COUNT + 299], "new299");
}

#[tokio::test]
async fn a_date_names_no_state_of_a_second_with_two_changes() {
    let service = Service::new();
    let put = async |since: Option<&HeaderValue>| {
        let mut headers = json();
        headers.extend(since.map(|since| (header::IF_UNMODIFIED_SINCE, since.clone())));
        let body = r#"{"example-jukebox:owner":"Ada"}"#;
        let answer = service.respond("PUT", "/restconf/data/example-jukebox:owner", headers, body).await;
        (answer.status().as_u16(), answer.headers().get(header::LAST_MODIFIED).cloned())
    };
    let (status, first) = put(None).await;
    assert_eq!(status, 201);
    // Another writer, within the same second.
    let anchor = service.configs.anchor("lab", "box").await.unwrap();
    let schema = anchor.schema();
    let owner = schema.child(None, Some("example-jukebox"), "owner").unwrap();
    let value = lang_yang::Value { kind: lang_yang::ValueKind::Text, text: "Grace".into() };
    let leaves = [lang_yang::Leaf { schema: owner, values: vec![value] }];
    let edit = config::Edit::SetLeaves { parent: config::Place::Made(Vec::new()), leaves: leaves.into() };
    anchor.write_edits(&[edit], model_config::WriteOptions::default()).await.unwrap();
    assert_eq!(put(first.as_ref()).await.0, 412, "it would undo what the other has written");
    let (_, second) = put(None).await;
    assert_eq!(put(second.as_ref()).await.0, 204, "one change in its second");
    assert_eq!(put(second.as_ref()).await.0, 204, "nothing has changed");
}

#[tokio::test]
async fn what_is_long_to_read_or_to_do_has_a_slot_for_long_work() {
    let service = Service::new();
    service.fill().await;
    let slots = async |method: &str, target: &str, media: &str, body: String| {
        let before = service.configs.lane().taken();
        let answer = service.respond(method, target, headers(&[("content-type", media)]), body).await;
        assert!(answer.status().is_success(), "{method} {target}: {}", answer.status());
        service.configs.lane().taken() - before
    };
    let plain = "application/yang-data+json";
    let blanks = " ".repeat(64 << 10);
    let data =
        |blanks: &str| format!(r#"{{{blanks}"ietf-restconf:data":{{"example-jukebox:owner":"Ada"}}}}"#);
    assert_eq!(slots("PUT", "/restconf/data", plain, data("")).await, 0);
    // To read it, to see what it is, to tell the change, and to do it.
    assert_eq!(slots("PUT", "/restconf/data", plain, data(&blanks)).await, 4);
    assert_eq!(slots("PATCH", "/restconf/data", plain, data("")).await, 0);
    assert_eq!(slots("PATCH", "/restconf/data", plain, data(&blanks)).await, 3);
    let owner = |blanks: &str| format!(r#"{{{blanks}"example-jukebox:owner":"Grace"}}"#);
    let target = "/restconf/data/example-jukebox:owner";
    assert_eq!(slots("PUT", target, plain, owner(&blanks)).await, 3);
    let patch = |count: usize, blanks: &str| {
        let edit = |number: usize| {
            let value = serde_json::json!({ "example-jukebox:owner": number.to_string() });
            serde_json::json!({ "edit-id": number.to_string(), "operation": "replace", "target": "/example-jukebox:owner", "value": value })
        };
        let edits: Vec<Value> = (0..count).map(edit).collect();
        let patch = serde_json::json!({ "ietf-yang-patch:yang-patch": { "patch-id": "p", "edit": edits } });
        format!("{blanks}{patch}")
    };
    let media = "application/yang-patch+json";
    assert_eq!(slots("PATCH", "/restconf/data", media, patch(16, "")).await, 0);
    assert_eq!(slots("PATCH", "/restconf/data", media, patch(17, "")).await, 2);
    assert_eq!(slots("PATCH", "/restconf/data", media, patch(1, &blanks)).await, 3);
    // One edit that may replace any number of nodes.
    let value = serde_json::json!({ "example-jukebox:jukebox": {} });
    let edit = serde_json::json!({ "edit-id": "1", "operation": "replace", "target": "/example-jukebox:jukebox", "value": value });
    let patch = serde_json::json!({ "ietf-yang-patch:yang-patch": { "patch-id": "p", "edit": [edit] } });
    assert_eq!(slots("PATCH", "/restconf/data", media, patch.to_string()).await, 2);
}
