//! The answers of a running CPS, replayed: one session of requests with what it answered to each. The files are not part of this
//! repository: `TWINFOLD_TEST_DATA` names the folder that has them.

use std::io::Write as _;
use std::path::PathBuf;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::service::Service;

/// Requests (by their place in the session) to which the answer is another one, and why. The status is the same.
const DIFFERENT: &[(usize, &str)] =
    &[(5, "what a parser of YANG says of a syntax error is its own; the file is named by both")];

/// A file that was uploaded, and that the session has lost, by the place of its request.
fn upload(place: usize, data: &Data) -> Option<(&'static str, Vec<u8>)> {
    match place {
        3 | 4 => Some(("bookstore.zip", data.modules())),
        5 => Some(("b.yang", b"module b {".to_vec())),
        _ => None,
    }
}

/// What happened in the session before the request at a place, and was not written down.
fn unwritten(place: usize, data: &Data) -> Vec<(&'static str, &'static str, String)> {
    match place {
        10 => {
            vec![("POST", "/cps/api/v2/dataspaces/g/anchors?schema-set-name=s&anchor-name=a2", String::new())]
        }
        31 => vec![("POST", "/cps/api/v2/dataspaces/g/anchors/a2/nodes", data.books())],
        35 => {
            let books: Value = serde_json::from_str(&data.books()).unwrap();
            let bookstore = json!({
                "bookstore-name": "New",
                "premises": books["bookstore"]["premises"],
                "categories": [{ "code": "10", "name": "M" }],
            });
            let body = json!({ "bookstore": bookstore }).to_string();
            vec![("PUT", "/cps/api/v2/dataspaces/g/anchors/a/nodes", body)]
        }
        _ => Vec::new(),
    }
}

/// The folder with the session and the modules that it is about.
struct Data(PathBuf);

impl Data {
    /// `None` where it is not said, and need not be.
    #[expect(clippy::disallowed_methods, reason = "where the files of the test run are")]
    fn find() -> Option<Self> {
        if let Some(folder) = std::env::var_os("TWINFOLD_TEST_DATA") {
            return Some(Self(folder.into()));
        }
        let is_strict = std::env::var_os("TWINFOLD_TEST_STRICT").is_some();
        assert!(!is_strict, "TWINFOLD_TEST_DATA names no folder, and TWINFOLD_TEST_STRICT asks for it");
        None
    }

    fn text(&self, path: &str) -> String {
        let path = self.0.join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn books(&self) -> String {
        self.text("yang/bookstore/bookstoreData.json")
    }

    fn modules(&self) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in ["bookstore.yang", "bookstore-types.yang"] {
            archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(self.text(&format!("yang/bookstore/{name}")).as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }
}

fn form(boundary: &str, file: &str, bytes: &[u8]) -> Vec<u8> {
    let disposition = format!("Content-Disposition: form-data; name=\"file\"; filename=\"{file}\"");
    let head = format!("--{boundary}\r\n{disposition}\r\nContent-Type: application/octet-stream\r\n\r\n");
    [head.as_bytes(), bytes, format!("\r\n--{boundary}--\r\n").as_bytes()].concat()
}

/// JSON as text that depends neither on the order of members nor on that of list entries, which the original does not keep.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member = |(name, value)| format!("{name:?}:{}", canonical(value));
            let mut members: Vec<_> = members.iter().map(member).collect();
            members.sort();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let mut texts: Vec<_> = items.iter().map(canonical).collect();
            if items.iter().all(Value::is_object) {
                texts.sort();
            }
            format!("[{}]", texts.join(","))
        }
        other => other.to_string(),
    }
}

/// What of an answer is compared.
#[derive(Debug, Eq, PartialEq)]
struct Compared {
    status: u16,
    media: Option<String>,
    pages: Option<String>,
    body: String,
}

impl Compared {
    fn new(status: u16, header: impl Fn(&str) -> Option<String>, body: &str) -> Self {
        let body = serde_json::from_str(body).map_or_else(|_| body.to_owned(), |value| canonical(&value));
        Self { status, media: header("content-type"), pages: header("total-pages"), body }
    }
}

async fn send(service: &Service, pair: &Value, body: Vec<u8>) -> Compared {
    let mut headers = HeaderMap::new();
    for (name, value) in pair["headers"].as_object().unwrap() {
        let value = HeaderValue::from_str(value.as_str().unwrap()).unwrap();
        headers.insert(name.parse::<HeaderName>().unwrap(), value);
    }
    let (method, url) = (pair["method"].as_str().unwrap(), pair["url"].as_str().unwrap());
    let (parts, body) = service.respond(method, url, headers, body).await.into_parts();
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let body = body.collect().await.unwrap().to_bytes();
    Compared::new(parts.status.as_u16(), text, std::str::from_utf8(&body).unwrap())
}

fn expected(pair: &Value) -> Compared {
    let header = |name: &str| {
        let name = if name == "content-type" { "ctype" } else { name };
        pair[name].as_str().map(str::to_owned)
    };
    let status = u16::try_from(pair["status"].as_u64().unwrap()).unwrap();
    Compared::new(status, header, pair["response"].as_str().unwrap())
}

#[tokio::test]
async fn the_original_answers_the_same() {
    let Some(data) = Data::find() else { return };
    let (service, mut wrong) = (Service::new(), Vec::new());
    let json = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    for (place, line) in data.text("cps-examples.jsonl").lines().enumerate() {
        for (method, target, body) in unwritten(place, &data) {
            let status = service.respond(method, target, json.clone(), body).await.status();
            assert!(status.is_success(), "before {place}: {method} {target}: {status}");
        }
        let pair: Value = serde_json::from_str(line).unwrap();
        let body = match (pair["body"].as_str(), upload(place, &data)) {
            (Some(body), _) => body.as_bytes().to_vec(),
            (None, Some((file, bytes))) => form("----x", file, &bytes),
            (None, None) if pair["headers"]["Content-Type"].is_string() => data.books().into_bytes(),
            (None, None) => Vec::new(),
        };
        let (got, expected) = (send(&service, &pair, body).await, expected(&pair));
        let line = format!("{place}: {} {}", pair["method"], pair["url"]);
        if DIFFERENT.iter().any(|(different, _)| *different == place) {
            assert!(got.body != expected.body, "{line} is listed as different, and is not");
            assert_eq!((got.status, &got.media), (expected.status, &expected.media), "{line}");
        } else if got != expected {
            wrong.push(format!("{line}\n  expected {expected:?}\n  got      {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} answers differ:\n{}", wrong.len(), wrong.join("\n"));
}
