//! The workloads of published load tests: their entities, their queries, and how much they find.

use api_http::testing::{Got, Sent};

use crate::broker::Broker;

const JSON: &str = "application/json";
const JSON_LD: &str = "application/ld+json";
const CORE_LINK: &str = "<https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.7.jsonld>; \
    rel=\"http://www.w3.org/ns/json-ld#context\"; type=\"application/ld+json\"";
const FIWARE: &str = "https://fiware.github.io/data-models/context.jsonld";

async fn send(broker: &Broker, sent: Sent, status: u16) -> Got {
    let (_, got) = broker.answer(&sent).await;
    assert_eq!(got.status, status, "{} {}: {}", sent.method, sent.target, got.body);
    got
}

/// How many entities a query finds in all.
async fn count(broker: &Broker, query: &str, link: Option<&str>) -> usize {
    let mut sent = Sent::line(&format!("GET /ngsi-ld/v1/entities?{query}&count=true&limit=0"));
    sent = sent.header("content-type", JSON);
    if let Some(link) = link {
        sent = sent.header("link", link);
    }
    let got = send(broker, sent, 200).await;
    let (_, count) = got.headers.iter().find(|(name, _)| name == "ngsild-results-count").unwrap();
    count.parse().unwrap()
}

/// The template entity of the k6 suite: ten instances, number `n` of type `kind`.
fn template(n: usize, kind: &str, relation: usize) -> String {
    let (low, high) = (n % 100, (n * 7) % 100);
    format!(
        r#"{{"id":"urn:ngsi-ld:Entity:{n:08}","type":"{kind}",
"name":{{"type":"Property","value":"Name of my entity"}},
"description":{{"type":"Property","value":"A short description of my entity"}},
"stationCode":{{"type":"Property","value":"BSS002JAWM"}},
"ammonium":[{{"type":"Property","value":{low}.5,"observedAt":"2023-04-01T12:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Bottom"}},
{{"type":"Property","value":{high}.25,"observedAt":"2023-04-01T13:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Surface"}}],
"dissolvedOxygen":{{"type":"Property","sandreCode":{{"type":"Property","value":"1311"}},"value":{low},"observedAt":"2023-04-01T10:00:00Z","unitCode":"M1"}},
"waterTemperature":[{{"type":"Property","value":10.9,"observedAt":"2022-12-09T13:40:00Z","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Bottom"}},
{{"type":"Property","value":{high},"observedAt":"2022-12-09T13:40:00Z","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Surface"}}],
"servesDataset":{{"type":"Relationship","object":"urn:ngsi-ld:Relation:{relation}"}},
"location":{{"type":"GeoProperty","value":{{"type":"Point","coordinates":[3.53452158,43.48562782]}}}}}}"#
    )
}

const TEMPLATES: usize = 200;
const KINDS: usize = 4;
const RELATIONS: usize = 5;

async fn templates() -> Broker {
    let broker = Broker::new();
    for n in 0..TEMPLATES {
        let body = template(n, &format!("Kind{}", n % KINDS), n % RELATIONS);
        let sent = Sent::line("POST /ngsi-ld/v1/entities").header("link", CORE_LINK).body(JSON, body);
        send(&broker, sent, 201).await;
    }
    broker
}

#[tokio::test]
async fn queries_by_type_and_value_find_any_instance() {
    let broker = templates().await;
    for kind in 0..KINDS {
        for threshold in [0, 37, 80, 99] {
            let of_kind = (0..TEMPLATES).filter(|n| n % KINDS == kind);
            let ammonium = |n: &usize| {
                n % 100 >= threshold
                    || (n * 7) % 100 > threshold - usize::from(threshold > 0) && (n * 7) % 100 >= threshold
            };
            let expected = of_kind.filter(ammonium).count();
            // As a browser's URLSearchParams codes it, and as most other clients do.
            for and in ["%3Bname%3D%3D%22Name+of+my+entity%22", ";stationCode==%22BSS002JAWM%22", ""] {
                let query = format!("type=Kind{kind}&q=ammonium%3E{threshold}{and}");
                assert_eq!(count(&broker, &query, Some(CORE_LINK)).await, expected, "{query}");
            }
        }
    }
}

#[tokio::test]
async fn queries_by_type_and_relationship_find_the_target() {
    let broker = templates().await;
    for relation in 0..RELATIONS {
        let matching = |n: &usize| n % KINDS == 1 && n % RELATIONS == relation && n % 100 > 20;
        let expected = (0..TEMPLATES).filter(matching).count();
        let query =
            format!("type=Kind1&q=dissolvedOxygen%3E20;servesDataset==urn:ngsi-ld:Relation:{relation}");
        assert_eq!(count(&broker, &query, None).await, expected, "{query}");
    }
}

#[tokio::test]
async fn updates_change_what_queries_find() {
    let broker = templates().await;
    let before = count(&broker, "type=Kind0&q=dissolvedOxygen%3E1000", None).await;
    assert_eq!(before, 0);
    for n in (0..TEMPLATES).step_by(KINDS) {
        let line = format!("PATCH /ngsi-ld/v1/entities/urn:ngsi-ld:Entity:{n:08}/attrs/dissolvedOxygen");
        let sent = Sent::line(&line)
            .header("link", CORE_LINK)
            .body(JSON, r#"{"value":2000.5,"observedAt":"2026-01-01T00:00:00.001Z"}"#);
        send(&broker, sent, 204).await;
    }
    assert_eq!(count(&broker, "type=Kind0&q=dissolvedOxygen%3E1000", None).await, TEMPLATES / KINDS);
    let fragment = r#"{"ammonium":[{"type":"Property","value":3000,"datasetId":"urn:ngsi-ld:Dataset:Bottom"},{"type":"Property","value":1,"datasetId":"urn:ngsi-ld:Dataset:Surface"}],"waterTemperature":[{"type":"Property","value":3000,"datasetId":"urn:ngsi-ld:Dataset:Bottom"}]}"#;
    let sent =
        Sent::line("PATCH /ngsi-ld/v1/entities/urn:ngsi-ld:Entity:00000001/attrs").body(JSON, fragment);
    send(&broker, sent, 204).await;
    assert_eq!(count(&broker, "type=Kind1&q=ammonium%3E1000;waterTemperature%3E1000", None).await, 1);
}

/// The data of the Gatling query simulations: 10 owners, 20 stores, 50 products, 100 inventories.
async fn city() -> Broker {
    let broker = Broker::new();
    let mut entities = Vec::new();
    let entity = |kind: &str, n: usize, attributes: String| {
        format!(
            r#"{{"type":"{kind}","id":"urn:ngsi-ld:{kind}:{kind}{n}",{attributes},"@context":"{FIWARE}"}}"#
        )
    };
    let property = |name: &str, value: String| format!(r#""{name}":{{"type":"Property","value":"{value}"}}"#);
    let to = |kind: &str, n: usize| {
        format!(r#""{kind}":{{"type":"Relationship","object":"urn:ngsi-ld:{kind}:{kind}{n}"}}"#)
    };
    for n in 1..=10 {
        entities.push(entity("owner", n, property("name", format!("owner{n}"))));
    }
    for n in 1..=20 {
        let open = property("open", (n % 2 == 0).to_string());
        entities.push(entity("store", n, format!("{},{open}", to("owner", n % 10 + 1))));
    }
    for n in 1..=50 {
        entities.push(entity("product", n, property("producer", format!("producer{}", n % 10 + 1))));
    }
    for n in 1..=100 {
        let available = property("available", n.to_string());
        let (store, product) = (to("store", n % 20 + 1), to("product", n % 50 + 1));
        entities.push(entity("inventory", n, format!("{available},{store},{product}")));
    }
    assert_eq!(entities.len(), 180);
    let body = format!("[{}]", entities.join(","));
    let sent = Sent::line("POST /ngsi-ld/v1/entityOperations/create").body(JSON_LD, body);
    send(&broker, sent, 201).await;
    broker
}

#[tokio::test]
async fn the_city_of_the_gatling_simulations_is_found() {
    let broker = city().await;
    let fiware =
        format!("<{FIWARE}>; rel=\"http://www.w3.org/ns/json-ld#context\"; type=\"application/ld+json\"");
    let link = Some(fiware.as_str());
    // By the IRI, as the simulation asks, and by the short name in the data's context.
    assert_eq!(count(&broker, "type=https://uri.fiware.org/ns/data-models%23owner", None).await, 10);
    assert_eq!(count(&broker, "type=owner", link).await, 10);
    assert_eq!(count(&broker, "type=product&q=(producer==%22producer1%22)", link).await, 5);
    let complex = "type=store&q=((open==%22true%22)|(owner==%22owner1%22))&options=keyValues";
    assert_eq!(count(&broker, complex, link).await, 10);
    let by_object = "type=store&q=owner==urn:ngsi-ld:owner:owner1|owner==urn:ngsi-ld:owner:owner2";
    assert_eq!(count(&broker, by_object, link).await, 4);
    // The data model context spells out `owner`; without it, the short name means something else.
    assert_eq!(count(&broker, "type=owner", None).await, 0);
}

#[tokio::test]
async fn the_life_of_a_store_entity_in_the_gatling_simulations() {
    let broker = Broker::new();
    let store = format!(
        r#"{{"type":"store","id":"urn:ngsi-ld:store:1","temperature":{{"type":"Property","value":-1203848}},"humidity":{{"type":"Property","value":0.53}},"senttime":{{"type":"Property","value":1700000000000}},"open":{{"type":"Property","value":"true"}},"owner":{{"type":"Relationship","object":"urn:ngsi-ld:owner:random-owner"}},"@context":"{FIWARE}"}}"#
    );
    send(&broker, Sent::line("POST /ngsi-ld/v1/entities/").body(JSON_LD, store.as_str()), 201).await;
    let update = format!(r#"{{"temperature":{{"type":"Property","value":7}},"@context":"{FIWARE}"}}"#);
    let line = "POST /ngsi-ld/v1/entities/urn:ngsi-ld:store:1/attrs";
    send(&broker, Sent::line(line).body(JSON_LD, update), 204).await;
    let batch = format!("[{store}]");
    send(&broker, Sent::line("POST /ngsi-ld/v1/entityOperations/update").body(JSON_LD, batch), 204).await;
    let get = Sent::line("GET /ngsi-ld/v1/entities/urn:ngsi-ld:store:1").header("content-type", JSON_LD);
    let got = send(&broker, get, 200).await;
    assert!(got.body.contains("-1203848"), "{}", got.body);
    let delete = Sent::line("POST /ngsi-ld/v1/entityOperations/delete");
    send(&broker, delete.body(JSON_LD, r#"["urn:ngsi-ld:store:1"]"#), 204).await;
}
