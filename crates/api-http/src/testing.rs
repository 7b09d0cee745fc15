//! Front ends tested by transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `<folder>/<resource>/<name>.http`: steps on a fresh service, each with a title (`### …`), a request
//! as in HTTP, and the expected answer in lines that start with `<`. With `UPDATE_GOLDEN=1` in the environment the
//! answers are rewritten; read the diff. The body of an answer stands in lines that start with `<<`; long JSON is laid out on
//! many lines that start with `<~`, whose indents and ends are no part of it (all else is, byte for byte). Entity tags are shown by number, and only in a case whose preface speaks of
//! `ETag`.

mod layout;
mod tags;
mod transcript;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;
use serde_json::Value;

use self::tags::Tags;
use self::transcript::Transcript;
pub use self::transcript::{Got, Sent};
use crate::openapi::parameter_reference;
use crate::{Params, Refusal, Request, RequestMemory, Response, Router};

/// Runs every case below `folder`, each on a service that `start` makes: `answer` gives the answer to a step and the
/// route it went by. Gives the routes that were seen.
///
/// # Panics
///
/// If there is no case, one cannot be read, or an answer is not the expected one.
pub async fn check_cases<S>(
    folder: &Path,
    start: impl Fn() -> S,
    answer: impl AsyncFn(&mut S, &Sent) -> (Option<String>, Got),
) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for path in cases(folder) {
        let text = std::fs::read_to_string(&path).expect("a case");
        let transcript =
            Transcript::parse(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let mut service = start();
        let mut tags = Tags::of(&transcript.preface);
        let mut found = Transcript { preface: transcript.preface, steps: Vec::new() };
        for step in &transcript.steps {
            let (route, got) = answer(&mut service, &tags.spell(&step.request)).await;
            seen.extend(route);
            found.steps.push(step.answered(tags.number(got)));
        }
        let found = found.to_string();
        if found != text {
            if is_updating() {
                std::fs::write(&path, &found).expect("a case can be written");
            } else {
                failures.push(difference(&path, &text, &found));
            }
        }
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
    seen
}

/// Answers a request as a server does that has read it whole; and the place of the route that did, if there is one.
///
/// # Panics
///
/// If `method` is none.
pub async fn respond(
    router: &Router,
    method: &str,
    target: &str,
    headers: HeaderMap,
    body: impl Into<Bytes>,
) -> (Option<usize>, Response) {
    respond_within(router, RequestMemory::default(), (method, target), headers, body).await
}

/// The same, for a request (method and target) that holds this memory until its answer is made.
///
/// # Panics
///
/// If the method is none.
pub async fn respond_within(
    router: &Router,
    memory: RequestMemory,
    (method, target): (&str, &str),
    headers: HeaderMap,
    body: impl Into<Bytes>,
) -> (Option<usize>, Response) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    let accept = headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok()).map(str::to_owned);
    let refuse = |refusal: &Refusal| router.refuse(path, refusal, accept.as_deref());
    match (router.find(&method, path), Params::parse(query)) {
        (Ok(found), Ok(params)) => {
            let (method, sent, captures) = (method.clone(), path.to_owned(), found.captures);
            let (operation, body) = (found.operation, body.into());
            let request = Request {
                method,
                operation,
                path: sent,
                captures,
                params,
                headers,
                body,
                id: 1,
                memory,
                deadline: None,
                extensions: http::Extensions::new(),
            };
            let request = match found.handler.guard() {
                Some(guard) => guard(request).await,
                None => Ok(request),
            };
            let answer = match request {
                Ok(request) => found.handler.answer(request).await,
                Err(refusal) => refuse(&refusal),
            };
            (Some(found.index), answer)
        }
        (Err(refusal), _) => {
            let options = (method == Method::OPTIONS).then(|| router.options(path)).flatten();
            (None, options.unwrap_or_else(|| refuse(&refusal)))
        }
        (_, Err(part)) => (None, refuse(&Refusal::BadQuery(part))),
    }
}

/// The answer to a step, and its route as `METHOD path`.
///
/// # Panics
///
/// If the request cannot be sent, or the answer breaks off or is no text.
pub async fn answer(router: &Router, sent: &Sent) -> (Option<String>, Got) {
    let mut headers = HeaderMap::new();
    for (name, value) in &sent.headers {
        let name: HeaderName = name.parse().expect("the name of a header");
        headers.append(name, HeaderValue::from_str(value).expect("the value of a header"));
    }
    let (route, response) = respond(router, &sent.method, &sent.target, headers, sent.body.clone()).await;
    let route = route.and_then(|index| routes(router).into_iter().nth(index));
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a whole answer").to_bytes();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| {
        let value = value.to_str().expect("a header of ASCII");
        (name.to_string(), value.to_owned())
    });
    let got = Got {
        status: parts.status.as_u16(),
        headers: headers.collect(),
        body: String::from_utf8(body.to_vec()).expect("an answer of text"),
    };
    (route, got)
}

/// Holds the description of an API against its routes (as `METHOD path`): each route is described once and nothing else is, each operation
/// has an id of its own and the parameters of its path, and each reference leads somewhere.
///
/// # Panics
///
/// If it is not so.
pub fn check_description(document: &Value, routes: impl IntoIterator<Item = String>) {
    let expected: BTreeSet<_> = routes.into_iter().collect();
    let (mut described, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            described.insert(format!("{} {path}", method.to_ascii_uppercase()));
            let id = operation["operationId"].as_str().expect("an id");
            assert!(ids.insert(id), "the id {id} is given twice");
            let parameters = operation["parameters"].as_array().expect("parameters");
            for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                let reference = parameter_reference(&format!("path.{name}"));
                assert!(parameters.contains(&reference), "{id} does not say what {name} is");
            }
            assert!(
                operation["responses"].as_object().is_some_and(|all| all.len() > 1),
                "{id} is never refused"
            );
        }
    }
    assert_eq!(described, expected);
    check_references(document);
}

/// Each reference leads somewhere, and each component is referred to.
fn check_references(document: &Value) {
    let mut found = BTreeSet::new();
    references(document, &mut found);
    for target in &found {
        let pointer = target.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(pointer).is_some(), "{target} leads nowhere");
    }
    for kind in ["schemas", "parameters", "responses", "headers"] {
        let components = document.pointer(&format!("/components/{kind}")).and_then(Value::as_object);
        for name in components.expect("components").keys() {
            let target = format!("#/components/{kind}/{name}");
            assert!(found.contains(&target), "{target} is never used");
        }
    }
}

/// All texts under the key `$ref`.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| match (name.as_str(), value) {
            ("$ref", Value::String(target)) => _ = found.insert(target.clone()),
            _ => references(value, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Every route as `METHOD path`, in the order of their places.
pub fn routes(router: &Router) -> Vec<String> {
    router.routes().map(|(_, method, path)| format!("{method} {path}")).collect()
}

/// Whether the answers are to be rewritten.
fn is_updating() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run itself")]
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn cases(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder of cases");
        entries.map(|entry| entry.expect("an entry of a folder").path())
    };
    let mut cases: Vec<_> = entries(folder).flat_map(|folder| entries(&folder)).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "http"));
    cases.sort();
    assert!(!cases.is_empty(), "no cases");
    cases
}

/// The first lines that differ.
fn difference(path: &Path, expected: &str, found: &str) -> String {
    let mut title = "";
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        if expected.starts_with("###") {
            title = expected;
        }
        if expected != found {
            let (path, number) = (path.display(), number + 1);
            return format!("{path}:{number} {title}\n  expected {expected}\n  found    {found}");
        }
    }
    format!("{}: lengths differ", path.display())
}
