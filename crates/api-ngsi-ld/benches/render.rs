//! How long an answer takes, from the request's handler to its bytes: one entity by id, and a page
//! of thirty, over a memory store. `cargo bench -p api-ngsi-ld`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use api_http::{Params, Request, Router};
use api_ngsi_ld::{Api, ContextOptions, Contexts, FetchPolicy, Limits, front_end};
use http::{HeaderMap, HeaderValue, Method, header};
use model_entities::{Clock, Entities, Options};
use store::{MemoryOptions, Store};

const ENTITIES: usize = 1_000;
const ROUNDS: u32 = 20_000;

fn router() -> Router {
    let clock = Clock::System;
    let fetch = FetchPolicy {
        allowed: false,
        timeout: Duration::from_secs(1),
        bytes_max: 1 << 20,
        redirects_max: 0,
        private_addresses: false,
    };
    let contexts = Contexts::new(ContextOptions { folder: None, fetch, cache_entries: 100 });
    let contexts = contexts.expect("no folder is read");
    let store = Store::memory(MemoryOptions { clock: clock.clone(), feed_records_max: 1000 });
    let options = Options {
        buckets: 1,
        terms_max: 10_000,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 100_000,
        sort_entities_max: 10_000,
    };
    let limits = Limits {
        page_default: 30,
        page_max: 1000,
        batch_entities_max: 10_000,
        depth_max: 64,
        join_level_max: 5,
        join_entities_max: 1000,
        q_nodes_max: 64,
    };
    let api = Api::new(Entities::new(store, options), contexts, clock, limits, "bench");
    Router::new(vec![front_end(&api)])
}

/// The template entity of the campaign's workloads.
fn template(n: usize) -> String {
    format!(
        r#"{{"id":"urn:ngsi-ld:Entity:{n:08}","type":"Entity","name":{{"type":"Property","value":"Name of my entity"}},"description":{{"type":"Property","value":"A short description of my entity"}},"stationCode":{{"type":"Property","value":"BSS002JAWM"}},"ammonium":[{{"type":"Property","value":0.34,"observedAt":"2023-04-01T12:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Bottom"}},{{"type":"Property","value":0.41,"observedAt":"2023-04-01T13:00:00Z","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Surface"}}],"dissolvedOxygen":{{"type":"Property","sandreCode":{{"type":"Property","value":"1311"}},"value":8.9,"observedAt":"2023-04-01T10:00:00Z","unitCode":"M1"}},"waterTemperature":[{{"type":"Property","value":10.9,"observedAt":"2022-12-09T13:40:00Z","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Bottom"}},{{"type":"Property","value":12.9,"observedAt":"2022-12-09T13:40:00Z","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Surface"}}],"servesDataset":{{"type":"Relationship","object":"urn:ngsi-ld:Dataset:SurfaceWaterMonitoring"}},"location":{{"type":"GeoProperty","value":{{"type":"Point","coordinates":[3.53452158,43.48562782]}}}}}}"#
    )
}

async fn send(router: &Router, method: Method, target: &str, body: String) -> u16 {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let found = router.find(&method, path).map_err(|refusal| refusal.to_string()).expect("a route");
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let request = Request {
        method,
        path: path.to_owned(),
        captures: found.captures,
        params: Params::parse(query).expect("a query"),
        headers,
        body: body.into(),
        id: 1,
    };
    (found.handler)(request).await.status().as_u16()
}

async fn measure(router: &Router, name: &str, target: impl Fn(u32) -> String) {
    let start = Instant::now();
    for round in 0..ROUNDS {
        let status = send(router, Method::GET, &target(round), String::new()).await;
        assert_eq!(status, 200, "{}", target(round));
    }
    let micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS);
    writeln!(std::io::stdout(), "{name}: {micros:.2} us").expect("standard output is open");
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let router = router();
        for n in 0..ENTITIES {
            assert_eq!(send(&router, Method::POST, "/ngsi-ld/v1/entities", template(n)).await, 201);
        }
        let id = |round: u32| format!("/ngsi-ld/v1/entities/urn:ngsi-ld:Entity:{:08}", round % 1_000);
        measure(&router, "entity by id", id).await;
        measure(&router, "count of a type", |_| "/ngsi-ld/v1/entities?type=Entity&limit=1".into()).await;
        measure(&router, "page of 30", |_| "/ngsi-ld/v1/entities?type=Entity&limit=30".into()).await;
    });
}
