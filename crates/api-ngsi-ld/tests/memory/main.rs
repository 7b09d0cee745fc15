//! What contexts take of memory, measured at the allocator. A test binary of its own: nothing else allocates meanwhile.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

#[path = "../it/broker.rs"]
#[expect(dead_code, reason = "the other test binary uses the rest")]
mod broker;

use std::alloc::System;
use std::fmt::Write as _;

use api_http::testing::Sent;
use broker::Broker;
use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const MIB: usize = 1 << 20;
const CONTEXTS: usize = 500;
/// Terms of a context: as many as a large catalogue of data models has.
const TERMS: usize = 1500;
/// Attributes of the entity that is written and read through each context.
const ATTRIBUTES: usize = 15;
/// What contexts may take, as docs/operating/contexts.md promises.
const PROMISED: usize = 64 * MIB;
/// Entities, terms and their indexes in the memory store, and the request under way.
const BESIDE: usize = 24 * MIB;

/// An entity with a context of its own.
fn entity(number: usize) -> String {
    let mut body = String::from("{\"@context\":{");
    for term in 0..TERMS {
        let comma = if term == 0 { "" } else { "," };
        write!(body, "{comma}\"term{term}\":\"https://models.example.org/catalogue-{number}/v1/term{term}\"")
            .unwrap();
    }
    write!(body, "}},\"id\":\"urn:ngsi-ld:Thing:{number}\",\"type\":\"term0\"").unwrap();
    for attribute in 1..=ATTRIBUTES {
        write!(body, ",\"term{attribute}\":{{\"type\":\"Property\",\"value\":{attribute}}}").unwrap();
    }
    body.push('}');
    body
}

#[tokio::test]
async fn many_inline_contexts_take_no_more_than_is_promised() {
    let broker = Broker::new();
    let write = async |number: usize| {
        let sent = Sent::line("POST /ngsi-ld/v1/entities").body("application/ld+json", entity(number));
        assert_eq!(broker.answer(&sent).await.1.status, 201);
    };
    let read = async |number: usize| {
        let sent =
            Sent::line(&format!("GET /ngsi-ld/v1/entities/urn:ngsi-ld:Thing:{number}?format=simplified"));
        let got = broker.answer(&sent).await.1;
        assert!(got.body.contains("/term15\":15"), "{}", got.body);
    };
    let before = ALLOCATOR.allocated();
    let mut most = 0;
    for number in 0..CONTEXTS {
        write(number).await;
        read(number).await;
        most = most.max(ALLOCATOR.allocated() - before);
    }
    assert!(most < PROMISED + BESIDE, "{} MiB", most / MIB);
    // The test would show nothing if nothing were kept.
    assert!(most > PROMISED * 3 / 4, "{} MiB", most / MIB);
}
