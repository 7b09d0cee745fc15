//! The HugeGraph API as transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `tests/cases/<resource>/<name>.http`: steps on a fresh memory store, each with a title (`### …`),
//! a request as in HTTP, and the expected answer in lines that start with `<`.
//! `UPDATE_GOLDEN=1 cargo test -p api-hugegraph` rewrites the answers; read the diff.

mod guards;
mod service;
mod walks;

use std::path::Path;

use api_http::testing::check_cases;
use service::Service;

#[tokio::test]
async fn every_case_answers_as_written_and_every_route_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let seen = check_cases(&folder, Service::new, async |service, sent| service.answer(sent).await).await;
    // A resource of a graph has two paths: either shows it. One of users has a third, with a graph that matters to nothing.
    let either = |route: &String| {
        let route = &route.replace("/graphs/{graph}/auth/", "/auth/");
        let other = match route.split_once("/graphspaces/{graphspace}") {
            Some((method, rest)) => format!("{method}{rest}"),
            None => route.replacen(" /", " /graphspaces/{graphspace}/", 1),
        };
        seen.contains(route) || seen.contains(&other)
    };
    let routes = Service::new().routes();
    let missing: Vec<_> = routes.iter().filter(|route| !either(route)).collect();
    assert!(missing.is_empty(), "routes without a case: {missing:#?}");
}

/// The same where everybody must say who he is: cases in `tests/guarded`.
#[tokio::test]
async fn who_may_not_is_refused_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guarded");
    check_cases(&folder, Service::guarded, async |service, sent| service.answer(sent).await).await;
}
