//! Front ends tested by transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `<folder>/<resource>/<name>.http`: steps on a fresh service, each with a title (`### …`), a request
//! as in HTTP, and the expected answer in lines that start with `<`. With `UPDATE_GOLDEN=1` in the environment the
//! answers are rewritten; read the diff.

mod transcript;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;

use self::transcript::Transcript;
pub use self::transcript::{Got, Sent};
use crate::{Params, Refusal, Request, Response, Router};

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
        let mut found = Transcript { preface: transcript.preface, steps: Vec::new() };
        for step in &transcript.steps {
            let (route, got) = answer(&mut service, &step.request).await;
            seen.extend(route);
            found.steps.push(step.answered(got));
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
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    match (router.find(&method, path), Params::parse(query)) {
        (Ok(found), Ok(params)) => {
            let (path, captures) = (path.to_owned(), found.captures);
            let request = Request { method, path, captures, params, headers, body: body.into(), id: 1 };
            (Some(found.index), found.handler.answer(request).await)
        }
        (Err(refusal), _) => (None, router.refuse(path, &refusal)),
        (_, Err(part)) => (None, router.refuse(path, &Refusal::BadQuery(part))),
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
