//! The description of the API, against its routes.

use api_http::testing::{Sent, check_description};

use crate::broker::Broker;

#[tokio::test]
async fn every_route_is_described_and_nothing_else() {
    let broker = Broker::new().whole();
    let (_, got) = broker.answer(&Sent::line("GET /ngsi-ld/v1/docs/openapi.json")).await;
    let document: serde_json::Value = serde_json::from_str(&got.body).unwrap();
    check_description(&document, broker.routes());
}
