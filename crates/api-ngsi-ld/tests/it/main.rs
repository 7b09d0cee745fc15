//! The NGSI-LD API as transcripts: what is sent, and what comes back, byte for byte.
//!
//! A case is a file `tests/cases/<resource>/<name>.http`: steps on a fresh memory store, each with a
//! title (`### …`), a request as in HTTP, and the expected answer in lines that start with `<`.
//! `UPDATE_GOLDEN=1 cargo test -p api-ngsi-ld` rewrites the answers; read the diff.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

mod broker;
mod docs;
mod limits;
mod page;
mod roundtrip;
mod temporal;
mod workloads;

use std::path::Path;

use api_http::testing::{Got, Sent, check_cases};
use broker::Broker;

#[tokio::test]
async fn every_case_answers_as_written_and_every_route_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let start = || (Broker::new(), Hosted::default());
    let seen = check_cases(&folder, start, async |(broker, hosted), sent| {
        let (route, got) = broker.answer(&hosted.given(sent)).await;
        (route, hosted.hidden(got))
    });
    let (seen, routes) = (seen.await, Broker::new().routes());
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
