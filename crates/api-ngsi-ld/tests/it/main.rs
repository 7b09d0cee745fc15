//! The NGSI-LD API as transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `tests/cases/<resource>/<name>.http`: steps on a fresh memory store, each with a
//! title (`### …`), a request as in HTTP, and the expected answer in lines that start with `<`.
//! `UPDATE_GOLDEN=1 cargo test -p api-ngsi-ld` rewrites the answers; read the diff.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

mod broker;
mod limits;
mod page;
mod roundtrip;
mod temporal;
mod transcript;
mod workloads;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use broker::Broker;
use transcript::{Got, Sent, Transcript};

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
        let broker = Broker::new();
        let mut found = Transcript { preface: transcript.preface.clone(), steps: Vec::new() };
        let mut hosted = Hosted::default();
        for step in &transcript.steps {
            let (route, answer) = broker.answer(&hosted.given(&step.request)).await;
            seen.extend(route);
            found.steps.push(step.answered(hosted.hidden(answer)));
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
    let routes: Vec<String> = Broker::new().routes();
    let missing: Vec<_> = routes.iter().filter(|route| !seen.contains(*route)).collect();
    assert!(missing.is_empty(), "routes without a case: {missing:#?}");
}

/// The context that a case hosts: its id is random, and written `HOSTED` in the transcript.
#[derive(Default)]
struct Hosted(Option<String>);

impl Hosted {
    const PREFIX: &str = "urn:ngsi-ld:jsonldContext:";
    const NAME: &str = "HOSTED";

    fn given(&self, sent: &Sent) -> Sent {
        let Some(id) = &self.0 else { return sent.clone() };
        let mut sent = sent.clone();
        sent.target = sent.target.replace(Self::NAME, id);
        for (_, value) in &mut sent.headers {
            *value = value.replace(Self::NAME, id);
        }
        sent
    }

    fn hidden(&mut self, mut got: Got) -> Got {
        let location = got.headers.iter().find(|(name, _)| name == "location");
        if let Some((_, id)) = location.and_then(|(_, value)| value.split_once(Self::PREFIX)) {
            self.0 = Some(id.to_owned());
        }
        if let Some(id) = &self.0 {
            got.body = got.body.replace(id, Self::NAME);
            for (_, value) in &mut got.headers {
                *value = value.replace(id, Self::NAME);
            }
        }
        got
    }
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
