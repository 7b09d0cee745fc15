//! The CPS API as transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `tests/cases/<resource>/<name>.http`: steps on a fresh memory store, each with a title (`### …`), a
//! request as in HTTP, and the expected answer in lines that start with `<`.
//! `UPDATE_GOLDEN=1 cargo test -p api-cps` rewrites the answers; read the diff.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests panic rather than return errors")]

mod bodies;
mod examples;
mod service;
mod streams;

use std::path::Path;

use api_http::testing::check_cases;
use service::Service;

#[tokio::test]
async fn every_case_answers_as_written_and_every_route_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let seen = check_cases(&folder, Service::new, async |service, sent| service.answer(sent).await).await;
    // What is the same in both versions has one handler: either shows it.
    let either = |route: &String| seen.contains(route) || seen.contains(&route.replacen("/v1/", "/v2/", 1));
    let routes = Service::new().routes();
    let missing: Vec<_> = routes.iter().filter(|route| !either(route)).collect();
    assert!(missing.is_empty(), "routes without a case: {missing:#?}");
    assert!(seen.iter().any(|route| route.contains("/v1/")), "no case of version 1");
}
