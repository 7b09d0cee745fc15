//! The TSM API as transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `tests/cases/<resource>/<name>.http`: steps on a fresh memory store, each with a title (`### …`),
//! a request as in HTTP, and the expected answer in lines that start with `<`.
//! `UPDATE_GOLDEN=1 cargo test -p api-tsm` rewrites the answers; read the diff.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

mod bulk;
mod service;
mod transcript;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use service::Service;
use transcript::Transcript;

/// Whether the answers are to be rewritten.
fn updating() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run itself")]
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            cases.push(file.unwrap().path());
        }
    }
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "http"));
    cases.sort();
    assert!(!cases.is_empty(), "no cases");
    cases
}

#[tokio::test]
async fn every_case_answers_as_written_and_every_route_has_a_case() {
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for path in cases() {
        let text = std::fs::read_to_string(&path).unwrap();
        let transcript =
            Transcript::parse(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let service = Service::new();
        let mut found = Transcript { preface: transcript.preface.clone(), steps: Vec::new() };
        for step in &transcript.steps {
            let (route, answer) = service.answer(&step.request).await;
            seen.extend(route);
            found.steps.push(step.answered(answer));
        }
        let found = found.to_string();
        if found != text {
            if updating() {
                std::fs::write(&path, &found).unwrap();
            } else {
                failures.push(difference(&path, &text, &found));
            }
        }
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
    // The same resources lie below `/repositories`; one case shows that.
    let routes = Service::new().routes();
    let missing: Vec<_> =
        routes.iter().filter(|route| route.contains(" /tsm/v1") && !seen.contains(*route)).collect();
    assert!(missing.is_empty(), "routes without a case: {missing:#?}");
    assert!(seen.iter().any(|route| !route.contains(" /tsm/v1")), "no case without the base");
}

/// The first lines that differ.
fn difference(path: &Path, expected: &str, found: &str) -> String {
    let mut title = "";
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        if expected.starts_with("###") {
            title = expected;
        }
        if expected != found {
            return format!(
                "{}:{} {title}\n  expected {expected}\n  found    {found}",
                path.display(),
                number + 1
            );
        }
    }
    format!("{}: lengths differ", path.display())
}
