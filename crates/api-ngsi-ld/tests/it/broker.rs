//! A broker in memory, with a clock that moves only when it is set.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_http::Router;
use api_http::testing::{Got, Sent};
use api_ngsi_ld::{Api, Limits, front_end};
use model_entities::{Clock, Entities, IndexPolicy, Options, TenantName, Timestamp};
use store::Store;
use tenant_contexts::{ContextOptions, Contexts, FetchPolicy};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;
/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

pub(crate) struct Broker {
    router: Router,
    entities: Entities,
    clock: Clock,
    now: AtomicI64,
    shows_beginnings: bool,
}

fn entities(store: Store) -> Entities {
    let options = Options {
        buckets: 4,
        tenants_max: 1_000,
        terms_max: 10_000,
        index: IndexPolicy::ByUse,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 100_000,
        sort_entities_max: 10_000,
        history: model_entities::HistoryPolicy::default(),
    };
    Entities::new(store, options)
}

/// Limits as the server has them, small where a case is to reach them.
fn limits() -> Limits {
    Limits {
        page_default: 20,
        page_max: 1000,
        batch_entities_max: 1000,
        depth_max: 64,
        join_level_max: 5,
        join_entities_max: 1000,
        temporal_instances_max: 20,
        q_nodes_max: 64,
        q_values_max: 20,
        geo_positions_max: 100,
        page_bytes_max: 1 << 20,
    }
}

impl Broker {
    pub(crate) fn new() -> Self {
        let clock = Clock::manual(Timestamp(START));
        let fetch = FetchPolicy {
            allowed: false,
            timeout: Duration::from_secs(1),
            bytes_max: 1 << 20,
            redirects_max: 0,
            private_addresses: false,
        };
        let contexts = Contexts::new(ContextOptions { folder: None, fetch, cache_entries: 100 }).unwrap();
        let store = store::testing::memory(clock.clone());
        let entities = entities(store);
        let contexts = contexts.hosting(entities.clone(), clock.clone());
        let api = Api::new(entities.clone(), contexts, clock.clone(), limits(), "test");
        Self {
            router: Router::new(vec![front_end(&api)]),
            entities,
            clock,
            now: AtomicI64::new(START),
            shows_beginnings: true,
        }
    }

    /// Folds what was recorded of an entity, as the server does in the background.
    pub(crate) async fn fold(&self, id: &str) {
        let entities = self.entities.tenant(&TenantName::default()).await.unwrap();
        entities.fold_history(id).await.unwrap();
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        api_http::testing::routes(&self.router)
    }

    /// Answers, a second after the request before; and the route that did.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
        let (route, mut got) = api_http::testing::answer(&self.router, sent).await;
        if self.shows_beginnings && sent.target.starts_with("/ngsi-ld/v1/docs") {
            got.body.truncate(DOCS_SHOWN);
        }
        (route, got)
    }

    /// Answers whole, pages and documents too.
    pub(crate) fn whole(self) -> Self {
        Self { shows_beginnings: false, ..self }
    }
}
