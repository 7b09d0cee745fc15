//! The API over a store in memory, with a clock that moves a second with every request.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_http::testing::{self, Got, Sent};
use api_http::{MemoryBudget, RequestMemory, Response, Router};
use api_tsm::{Api, Limits, front_ends};
use http::HeaderMap;
use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;
/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

pub(crate) struct Service {
    pub(crate) router: Router,
    clock: Clock,
    now: AtomicI64,
    /// The memory that requests share; `None`: as much as there is.
    room: Option<MemoryBudget>,
}

/// Limits as the server has them, small where a case is to reach them.
pub(crate) fn limits() -> Limits {
    Limits {
        page_default: 20,
        page_max: 1000,
        request_series_max: 1000,
        answer_slots_max: 1_000_000,
        write_points_max: 1_000_000,
        depth_max: 64,
        item_bytes_max: 1 << 16,
        batch_bytes_max: 1 << 22,
        stall_max: Duration::from_secs(10),
        read_tasks: 2,
    }
}

impl Service {
    pub(crate) fn new() -> Self {
        Self::with_room(None)
    }

    /// A service whose requests share this room.
    pub(crate) fn with_room(room: Option<MemoryBudget>) -> Self {
        let clock = Clock::manual(Timestamp(START));
        let store = store::testing::memory(clock.clone());
        let strands = StrandOptions { block_points_max: 4096, overlays_max: 32, overlay_points_max: 16_384 };
        let options = SeriesOptions {
            strands,
            tenants_max: 1_000,
            repositories_max: 1_000,
            catalogue_buckets: 1,
            definitions_cached_max: 1000,
        };
        let api = Api::new(Repositories::new(store, options), clock.clone(), limits());
        Self { router: Router::new(front_ends(&api)), clock, now: AtomicI64::new(START), room }
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        testing::routes(&self.router)
    }

    /// The response to a request, a second after the request before; and the route that gave it.
    pub(crate) async fn respond(
        &self,
        method: &str,
        target: &str,
        headers: HeaderMap,
        body: impl Into<bytes::Bytes>,
    ) -> (Option<usize>, Response) {
        self.tick();
        testing::respond_within(&self.router, self.memory(), (method, target), headers, body).await
    }

    /// A step of a transcript, and the route that answered it.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        self.tick();
        let (route, mut got) = testing::answer(&self.router, sent).await;
        if sent.target.contains("/docs") {
            got.body.truncate(DOCS_SHOWN);
        }
        (route, got)
    }

    /// The memory of one request.
    pub(crate) fn memory(&self) -> RequestMemory {
        self.room.as_ref().map_or_else(RequestMemory::default, MemoryBudget::request)
    }

    fn tick(&self) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
    }
}
