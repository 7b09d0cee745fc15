//! Writing back what was read gives the same entity: numbers keep their digits, instances and
//! members their order.

use api_http::testing::Sent;

use crate::broker::Broker;

const CASE: &str = include_str!("../cases/entities/roundtrip.http");

async fn read(broker: &Broker, query: &str) -> String {
    let (_, got) = broker.answer(&Sent::line(&format!("GET /ngsi-ld/v1/entities/urn:x:1{query}"))).await;
    assert_eq!(got.status, 200, "{}", got.body);
    got.body
}

async fn write(broker: &Broker, body: &str) {
    let sent = Sent::line("POST /ngsi-ld/v1/entities").body("application/json", body);
    let (_, got) = broker.answer(&sent).await;
    assert_eq!(got.status, 201, "{}\n{body}", got.body);
}

#[tokio::test]
async fn what_was_read_can_be_written_back() {
    let entity = CASE.lines().find(|line| line.starts_with("{\"id\"")).expect("the case has an entity");
    for query in ["", "?options=concise"] {
        let first = Broker::new();
        write(&first, entity).await;
        let written = read(&first, query).await;
        let second = Broker::new();
        write(&second, &written).await;
        assert_eq!(read(&second, query).await, written);
        assert_eq!(read(&second, "").await, read(&first, "").await);
    }
}
