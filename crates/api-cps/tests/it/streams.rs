//! Answers far beyond what is answered whole: they arrive complete and right, end with the client, and break off for all to see.

use std::fmt::Write as _;

use api_cps::{Api, front_ends};
use api_http::{Body, Response, Router, testing};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use model_config::{Clock, ConfigOptions, Configs, Tidied, Timestamp};
use store::{FeedOptions, HostileOptions, MemoryOptions, Store};

const NOW: Timestamp = Timestamp(1_767_225_600_000_000);
/// What is answered whole, at the most.
const WHOLE_BYTES_MAX: usize = 1 << 20;
/// So long that an answer is more than what waits for the client, and its pages more than the cache has room for.
const NOTE_BYTES: usize = 1_600;
const DEVICES: usize = 2_500;
const PORTS: usize = 2;
const XML_BEGIN: &str = "<data xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\">";

const FLEET: &str = r#"module fleet {
  yang-version 1.1;
  namespace "urn:example:fleet";
  prefix f;
  revision 2026-01-01;
  container fleet {
    leaf name { type string; }
    list device {
      key id;
      leaf id { type uint32; }
      leaf note { type string; }
      leaf-list tag { type string; }
      list port {
        key number;
        leaf number { type uint16; }
        leaf state { type string; }
      }
    }
  }
}"#;

/// A note of a device, with what must be escaped.
fn note(device: usize) -> String {
    let mut note = format!("{device} <&\"' ");
    while note.len() < NOTE_BYTES {
        write!(note, "{:x}", note.len() * 31 + device).unwrap();
    }
    note
}

fn json_note(device: usize) -> String {
    note(device).replace('"', "\\\"")
}

fn xml_note(device: usize) -> String {
    note(device).replace('&', "&amp;").replace('<', "&lt;")
}

fn state(device: usize, port: usize) -> &'static str {
    if (device * 7 + port).is_multiple_of(3) { "down" } else { "up" }
}

/// The fleet as JSON text: what is sent, and what a right answer has.
fn json_device(device: usize, with_ports: bool) -> String {
    let ports: Vec<_> = (0..PORTS).map(|port| json_port(device, port)).collect();
    let ports = if with_ports { format!(",\"port\":[{}]", ports.join(",")) } else { String::new() };
    let note = json_note(device);
    format!("{{\"id\":{device},\"note\":\"{note}\",\"tag\":[\"t{device}\",\"all\"]{ports}}}")
}

fn json_port(device: usize, port: usize) -> String {
    format!("{{\"number\":{port},\"state\":\"{}\"}}", state(device, port))
}

fn xml_device(device: usize, with_ports: bool) -> String {
    let port = |port| format!("<port><number>{port}</number><state>{}</state></port>", state(device, port));
    let ports: String = if with_ports { (0..PORTS).map(port).collect() } else { String::new() };
    let note = xml_note(device);
    format!("<device><id>{device}</id><note>{note}</note><tag>t{device}</tag><tag>all</tag>{ports}</device>")
}

/// Texts of all devices, with something between them.
fn devices(text: impl Fn(usize) -> String, between: &str) -> String {
    (0..DEVICES).map(text).collect::<Vec<_>>().join(between)
}

fn json_fleet(with_ports: bool) -> String {
    let devices = devices(|device| json_device(device, with_ports), ",");
    format!("{{\"name\":\"north\",\"device\":[{devices}]}}")
}

fn xml_fleet(with_ports: bool) -> String {
    let devices = devices(|device| xml_device(device, with_ports), "");
    format!("<fleet xmlns=\"urn:example:fleet\"><name>north</name>{devices}</fleet>")
}

/// The API over a store, with room for few pages in memory; it has the fleet in anchor `a` of `d`.
struct Fleet {
    router: Router,
    configs: Configs,
}

impl Fleet {
    async fn new(store: Store, clock: Clock) -> Self {
        let options =
            ConfigOptions { page_cache_bytes: 256 << 10, versions_max: 1, ..ConfigOptions::recommended() };
        let configs = Configs::new(store, clock, options);
        let api = Api::new(configs.clone(), crate::service::limits());
        let fleet = Self { router: Router::new(front_ends(&api)), configs };
        fleet.done("POST", "/cps/api/v2/dataspaces?dataspace-name=d", "").await;
        fleet.upload().await;
        for anchor in ["a", "b"] {
            let target = format!("/cps/api/v2/dataspaces/d/anchors?schema-set-name=s&anchor-name={anchor}");
            fleet.done("POST", &target, "").await;
        }
        fleet.write("POST", &json_fleet(true)).await;
        fleet
    }

    async fn in_memory() -> Self {
        let clock = Clock::manual(NOW);
        Self::new(store::testing::memory(clock.clone()), clock).await
    }

    async fn upload(&self) {
        let form = format!(
            "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"fleet.yang\"\r\n\r\n{FLEET}\r\n--cut--\r\n"
        );
        let media = HeaderValue::from_static("multipart/form-data; boundary=cut");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, media)]);
        let target = "/cps/api/v2/dataspaces/d/schema-sets?schema-set-name=s";
        let answer = testing::respond(&self.router, "POST", target, headers, form).await.1;
        assert_eq!(answer.status(), StatusCode::CREATED);
    }

    async fn write(&self, method: &str, fleet: &str) {
        let body = format!("{{\"fleet\":{fleet}}}");
        self.done(method, "/cps/api/v2/dataspaces/d/anchors/a/nodes", &body).await;
    }

    async fn done(&self, method: &str, target: &str, body: &str) {
        let answer = self.ask(method, target, "application/json", body).await;
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(status.is_success(), "{method} {target}: {status} {body:?}");
    }

    async fn ask(&self, method: &str, target: &str, media: &'static str, body: &str) -> Response {
        let media = HeaderValue::from_static(media);
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, media.clone()), (header::ACCEPT, media)]);
        testing::respond(&self.router, method, target, headers, body.to_owned()).await.1
    }

    /// The answer to a read is streamed, and is this.
    async fn check(&self, media: &'static str, target: &str, expected: &str) {
        assert!(expected.len() > 2 * WHOLE_BYTES_MAX, "{target}: {} bytes are not many", expected.len());
        let answer = self.ask("GET", target, media, "").await;
        assert_eq!(
            (answer.status(), answer.headers()["content-type"].to_str().unwrap()),
            (StatusCode::OK, media),
            "{target}"
        );
        assert!(matches!(answer.body(), Body::Stream(_)), "{target} is answered whole");
        let found = answer.into_body().collect().await.unwrap().to_bytes();
        let found = std::str::from_utf8(&found).unwrap();
        if found != expected {
            let at = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
            let near = |text: &str| text[at.saturating_sub(80)..].chars().take(160).collect::<String>();
            panic!("{target} at byte {at}:\n found    {}\n expected {}", near(found), near(expected));
        }
    }
}

const ANCHOR: &str = "/cps/api/v2/dataspaces/d/anchors/a";

#[tokio::test]
async fn trees_of_any_size_arrive_complete_in_json_and_xml() {
    let fleet = Fleet::in_memory().await;
    let (json, xml) = ("application/json", "application/xml");
    for (levels, with_ports) in [("all", true), ("-1", true), ("2", true), ("direct", false)] {
        let whole = json_fleet(with_ports);
        let node = format!("{ANCHOR}/node?xpath=/fleet&descendants={levels}");
        fleet.check(json, &node, &format!("[{{\"f:fleet\":{whole}}}]")).await;
        fleet.check(json, &node.replace("/v2/", "/v3/"), &format!("{{\"f:fleet\":{whole}}}")).await;
        fleet.check(xml, &node, &xml_fleet(with_ports)).await;
        fleet.check(xml, &node.replace("/v2/", "/v3/"), &xml_fleet(with_ports)).await;
    }
    let list = format!("{ANCHOR}/node?xpath=/fleet/device");
    let each = devices(|device| format!("{{\"f:device\":{}}}", json_device(device, false)), ",");
    fleet.check(json, &list, &format!("[{each}]")).await;
    let together = devices(|device| json_device(device, false), ",");
    fleet.check(json, &list.replace("/v2/", "/v3/"), &format!("{{\"f:device\":[{together}]}}")).await;
}

#[tokio::test]
async fn what_queries_find_arrives_complete_in_json_and_xml() {
    let fleet = Fleet::in_memory().await;
    let (json, xml) = ("application/json", "application/xml");
    let query =
        |path: &str, levels: &str| format!("{ANCHOR}/nodes/query?cps-path={path}&descendants={levels}");
    for (levels, with_ports) in [("all", true), ("none", false)] {
        let each = devices(|device| format!("{{\"f:device\":{}}}", json_device(device, with_ports)), ",");
        fleet.check(json, &query("//device", levels), &format!("[{each}]")).await;
        let across = format!("/cps/api/v2/dataspaces/d/nodes/query?cps-path=//device&descendants={levels}");
        let expected = format!("[{{\"anchorName\":\"a\",\"dataNodes\":[{each}]}}]");
        fleet.check(json, &across, &expected).await;
        let namespace = |device: usize| {
            xml_device(device, with_ports).replacen("<device>", "<device xmlns=\"urn:example:fleet\">", 1)
        };
        let expected = format!("{XML_BEGIN}{}</data>", devices(namespace, ""));
        fleet.check(xml, &query("//device", levels), &expected).await;
    }
    // Those with a port of this state, by what is below them.
    let has_down = |device: usize| (0..PORTS).any(|port| state(device, port) == "down");
    let found: Vec<_> = (0..DEVICES).filter(|device| has_down(*device)).collect();
    let each: Vec<_> =
        found.iter().map(|device| format!("{{\"f:device\":{}}}", json_device(*device, true))).collect();
    let path = "//port%5B%40state%3D%27down%27%5D/ancestor%3A%3Adevice";
    fleet.check(json, &query(path, "all"), &format!("[{}]", each.join(","))).await;
}

#[tokio::test]
async fn a_long_delta_arrives_complete() {
    let fleet = Fleet::in_memory().await;
    let target = format!("{ANCHOR}/delta?target-anchor-name=b&xpath=/fleet/device&descendants=all");
    let item = |device: usize| {
        let lines = (0..PORTS).map(|port| {
            let data = json_port(device, port);
            let xpath = format!("/fleet/device[@id='{device}']/port[@number='{port}']");
            format!(",{{\"action\":\"remove\",\"xpath\":\"{xpath}\",\"sourceData\":{{\"port\":[{data}]}}}}")
        });
        let (xpath, data) = (format!("/fleet/device[@id='{device}']"), json_device(device, false));
        let head =
            format!("{{\"action\":\"remove\",\"xpath\":\"{xpath}\",\"sourceData\":{{\"device\":[{data}]}}}}");
        head + &lines.collect::<String>()
    };
    fleet.check("application/json", &target, &format!("[{}]", devices(item, ","))).await;
}

/// Tasks of this test's runtime.
fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

#[tokio::test]
async fn an_answer_ends_with_its_client() {
    let fleet = Fleet::in_memory().await;
    let before = tasks();
    let node = format!("{ANCHOR}/node?xpath=/fleet&descendants=all");
    let mut body = fleet.ask("GET", &node, "application/json", "").await.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(json_fleet(true).len() > first.len() + 4 * (256 << 10), "more than waits for the client is left");
    assert_eq!(tasks(), before + 1, "what makes the rest waits");
    drop(body);
    for _ in 0..1_000 {
        if tasks() == before {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(tasks(), before, "nothing is made for who has left");
}

/// Each device is far smaller than a chunk: many of them are one.
#[tokio::test]
async fn small_nodes_are_sent_chunk_by_chunk() {
    let fleet = Fleet::in_memory().await;
    for target in ["node?xpath=/fleet/device", "nodes/query?cps-path=//device"] {
        let target = format!("{ANCHOR}/{target}&descendants=none");
        let mut body = fleet.ask("GET", &target, "application/json", "").await.into_body();
        let (mut largest, mut sum) = (0, 0);
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap().len();
        while let Some(frame) = body.frame().await {
            let bytes = frame.unwrap().into_data().unwrap().len();
            (largest, sum) = (largest.max(bytes), sum + bytes);
        }
        assert!(first <= WHOLE_BYTES_MAX + (300 << 10), "{first} bytes came at first of {target}");
        assert!(largest <= 300 << 10 && sum > 1 << 20, "{largest} bytes of {sum} at once of {target}");
    }
}

/// Takes what comes until it ends, or breaks off; gives the bytes, and why.
async fn taken(mut body: Body) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap()),
            Err(broken) => return (bytes, Some(broken.to_string())),
        }
    }
    (bytes, None)
}

#[tokio::test]
async fn a_version_that_is_dropped_is_read_to_its_end_from_a_snapshot() {
    let fleet = Fleet::in_memory().await;
    let node = format!("{ANCHOR}/node?xpath=/fleet&descendants=all");
    let answer = fleet.ask("GET", &node, "application/json", "").await;
    fleet.write("PUT", "{\"name\":\"south\"}").await;
    let (bytes, broken) = taken(answer.into_body()).await;
    assert_eq!(broken, None);
    assert!(bytes == format!("[{{\"f:fleet\":{}}}]", json_fleet(true)).as_bytes(), "another tree");
}

#[tokio::test]
async fn an_answer_whose_version_is_gone_breaks_off() {
    // A store that keeps nothing of what was.
    let clock = Clock::manual(NOW);
    let memory = MemoryOptions { clock: clock.clone(), feed: FeedOptions::recommended() };
    let fleet = Fleet::new(Store::hostile(HostileOptions::calm(memory)), clock).await;
    let whole = format!("[{{\"f:fleet\":{}}}]", json_fleet(true));
    for (method, media) in [("PUT", "application/json"), ("DELETE", "application/xml")] {
        fleet.write("PUT", &json_fleet(true)).await;
        let node = format!("{ANCHOR}/node?xpath=/fleet&descendants=all");
        let answer = fleet.ask("GET", &node, media, "").await;
        assert_eq!(answer.status(), StatusCode::OK);
        match method {
            "PUT" => fleet.write("PUT", "{\"name\":\"south\"}").await,
            _ => fleet.done("DELETE", &format!("{ANCHOR}/nodes"), "").await,
        }
        // What no version has any more goes.
        while fleet.configs.tidy().await.unwrap() != Tidied::default() {}
        let (bytes, broken) = taken(answer.into_body()).await;
        let broken = broken.expect("an answer that is not complete says so");
        assert!(broken.starts_with("the answer broke off: ") && broken.len() > 40, "{broken}");
        assert!((WHOLE_BYTES_MAX..whole.len()).contains(&bytes.len()), "{} bytes", bytes.len());
        if media == "application/json" {
            assert!(whole.as_bytes().starts_with(&bytes), "what came before is right");
        }
    }
}
