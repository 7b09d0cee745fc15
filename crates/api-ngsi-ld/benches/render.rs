//! How long an answer takes, from the request's handler to its bytes: one entity by id, a page of thirty, and histories in
//! every representation, over a memory store. `cargo bench -p api-ngsi-ld --bench render [patches]`: so many partial
//! updates (10,000 by default), 300 in a second, of five instances each make up the history of each of ten entities.

use std::io::Write as _;
use std::time::{Duration, Instant};

use api_http::{Params, Request, Router};
use api_ngsi_ld::{Api, Limits, front_end};
use http::{HeaderMap, HeaderValue, Method, header};
use model_entities::{Clock, Entities, IndexPolicy, Options, TenantName, Timestamp};
use store::{MemoryOptions, Store};
use tenant_contexts::{ContextOptions, Contexts, FetchPolicy};

const ENTITIES: usize = 1_000;
const ROUNDS: u32 = 20_000;
/// 2026-01-01T00:00:00Z, in microseconds.
const START: i64 = 1_767_225_600_000_000;

fn router(clock: &Clock) -> (Router, Entities) {
    let fetch = FetchPolicy {
        allowed: false,
        timeout: Duration::from_secs(1),
        bytes_max: 1 << 20,
        redirects_max: 0,
        private_addresses: false,
    };
    let contexts = Contexts::new(ContextOptions { folder: None, fetch, cache_entries: 100 });
    let contexts = contexts.expect("no folder is read");
    let store =
        Store::memory(MemoryOptions { clock: clock.clone(), feed: store::FeedOptions::recommended() });
    let options = Options {
        buckets: 1,
        tenants_max: 1_000,
        terms_max: 10_000,
        index: IndexPolicy::All,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 100_000,
        sort_entities_max: 10_000,
        history: model_entities::HistoryPolicy::default(),
    };
    let limits = Limits {
        page_default: 30,
        page_max: 1000,
        batch_entities_max: 10_000,
        depth_max: 64,
        join_level_max: 5,
        join_entities_max: 1000,
        temporal_instances_max: 100_000,
        q_nodes_max: 64,
        q_values_max: 20,
        geo_positions_max: 100,
        page_bytes_max: 1 << 20,
    };
    let entities = Entities::new(store, options);
    let api = Api::new(entities.clone(), contexts, clock.clone(), limits, "bench");
    (Router::new(vec![front_end(&api)]), entities)
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
        ..Request::default()
    };
    found.handler.answer(request).await.status().as_u16()
}

async fn measure(router: &Router, name: &str, rounds: u32, target: impl Fn(u32) -> String) {
    let start = Instant::now();
    for round in 0..rounds {
        let status = send(router, Method::GET, &target(round), String::new()).await;
        assert!(matches!(status, 200 | 206), "{status} {}", target(round));
    }
    let micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
    writeln!(std::io::stdout(), "{name}: {micros:.2} us").expect("standard output is open");
}

/// The update of the campaign's workloads.
fn update(n: u32, time: &str) -> String {
    let value = f64::from(n % 1000) / 10.0;
    let reading = |dataset: &str| {
        format!(r#"{{"type":"Property","value":{value},"observedAt":"{time}","unitCode":"M1"{dataset}}}"#)
    };
    let of = |name: &str| reading(&format!(r#","datasetId":"urn:ngsi-ld:Dataset:{name}""#));
    let both = format!("[{},{}]", of("Bottom"), of("Surface"));
    format!(r#"{{"ammonium":{both},"dissolvedOxygen":{},"waterTemperature":{both}}}"#, reading(""))
}

/// What the server does in the background.
async fn fold(entities: &Entities, ids: &[String]) {
    let tenant = entities.tenant(&TenantName::default()).await.expect("the tenant");
    for id in ids {
        tenant.fold_history(id).await.expect("a fold");
    }
    let strands = entities.strands();
    while let Ok((strand, encoding)) =
        tokio::time::timeout(Duration::from_millis(1), strands.next_to_fold()).await
    {
        strands.fold(&strand, encoding).await.expect("a fold");
    }
}

async fn measure_histories(router: &Router, entities: &Entities, clock: &Clock, patches: u32) {
    let ids: Vec<String> = (0..10).map(|n| format!("urn:ngsi-ld:Entity:{n:08}")).collect();
    for n in 0..patches {
        let now = START + i64::from(n) * 1_000_000 / 300;
        clock.set(Timestamp(now));
        let (seconds, millis) = ((now - START) / 1_000_000, now / 1000 % 1000);
        let time = format!(
            "2026-01-01T{:02}:{:02}:{:02}.{millis:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        for id in &ids {
            let target = format!("/ngsi-ld/v1/entities/{id}/attrs");
            assert_eq!(send(router, Method::PATCH, &target, update(n, &time)).await, 204);
        }
        if n % 256 == 255 {
            fold(entities, &ids).await;
        }
    }
    let after = "timerel=after&timeAt=2023-01-01T00:00:00Z";
    let aggregated = format!("{after}&aggrMethods=sum&aggrPeriodDuration=PT1S&options=aggregatedValues");
    let history = |id: u32, query: &str| {
        format!("/ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Entity:{:08}?{query}", id % 10)
    };
    let rounds = (2_000_000 / patches).clamp(10, 2_000);
    for (name, query) in [
        ("history aggregated", aggregated.clone()),
        ("history as values", format!("{after}&options=temporalValues")),
        ("history whole", after.to_owned()),
        ("the last 100 as values", format!("{after}&lastN=100&options=temporalValues")),
    ] {
        measure(router, name, rounds, |round| history(round, &query)).await;
    }
    let query = format!("/ngsi-ld/v1/temporal/entities?type=Entity&limit=10&attrs=ammonium&{aggregated}");
    measure(router, "ten histories of an attribute aggregated", rounds, |_| query.clone()).await;
}

fn main() {
    let patches = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(10_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let clock = Clock::manual(Timestamp(START));
        let (router, entities) = router(&clock);
        for n in 0..ENTITIES {
            assert_eq!(send(&router, Method::POST, "/ngsi-ld/v1/entities", template(n)).await, 201);
        }
        let id = |round: u32| format!("/ngsi-ld/v1/entities/urn:ngsi-ld:Entity:{:08}", round % 1_000);
        measure(&router, "entity by id", ROUNDS, id).await;
        measure(&router, "count of a type", ROUNDS, |_| "/ngsi-ld/v1/entities?type=Entity&limit=1".into())
            .await;
        measure(&router, "page of 30", 2_000, |_| "/ngsi-ld/v1/entities?type=Entity&limit=30".into()).await;
        measure_histories(&router, &entities, &clock, patches).await;
    });
}
