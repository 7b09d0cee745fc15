//! The API over a store in memory, with a clock that moves a second with every request.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_cps::{Api, Limits, front_ends};
use api_http::testing::{self, Got, Sent};
use api_http::{Response, Router};
use http::HeaderMap;
use model_config::{Clock, ConfigOptions, Configs, Timestamp};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;
/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) configs: Configs,
    clock: Clock,
    now: AtomicI64,
}

/// Limits as the server has them, small where a case is to reach them.
pub(crate) fn limits() -> Limits {
    Limits {
        depth_max: 16,
        body_nodes_max: 1_000_000,
        upload_bytes_max: 1 << 20,
        unpacked_bytes_max: 1 << 20,
        query_nodes_max: 1_000_000,
        query_anchors_max: 1_000,
        stall_max: Duration::from_secs(10),
    }
}

impl Service {
    pub(crate) fn new() -> Self {
        let clock = Clock::manual(Timestamp(START));
        let store = store::testing::memory(clock.clone());
        let configs = Configs::new(store, clock.clone(), ConfigOptions::recommended());
        let api = Api::new(configs.clone(), limits());
        Self { router: Router::new(front_ends(&api)), configs, clock, now: AtomicI64::new(START) }
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        testing::routes(&self.router)
    }

    /// The response to a request, a second after the request before.
    pub(crate) async fn respond(
        &self,
        method: &str,
        target: &str,
        headers: HeaderMap,
        body: impl Into<bytes::Bytes>,
    ) -> Response {
        self.tick();
        testing::respond(&self.router, method, target, headers, body).await.1
    }

    /// A step of a transcript, and the route that answered it. Lines of forms end as they must.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        self.tick();
        let is_form = sent.headers.iter().any(|(_, value)| value.starts_with("multipart/"));
        let mut sent = sent.clone();
        if is_form {
            sent.body = sent.body.replace('\n', "\r\n");
        }
        let (route, mut got) = testing::answer(&self.router, &sent).await;
        if ["/docs", "/swagger-ui", "/v3/api-docs"].iter().any(|docs| sent.target.contains(docs)) {
            got.body.truncate(DOCS_SHOWN);
        }
        (route, got)
    }

    fn tick(&self) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
    }
}
