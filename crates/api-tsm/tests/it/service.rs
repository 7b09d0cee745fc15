//! The API over a store in memory, with a clock that moves a second with every request.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_http::testing::{self, Got, Sent};
use api_http::{MemoryBudget, Response, Router};
use api_tsm::{Api, Limits, front_ends};
use http::HeaderMap;
use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};
use store::{MemoryOptions, Store};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;
/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

pub(crate) struct Service {
    pub(crate) router: Router,
    clock: Clock,
    now: AtomicI64,
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
        let room = MemoryBudget::new(
            2 * limits().write_bytes_max(),
            limits().write_bytes_max(),
            Duration::from_secs(10),
        );
        Self::with_room(room)
    }

    /// A service whose bodies of points share this room.
    pub(crate) fn with_room(room: MemoryBudget) -> Self {
        let clock = Clock::manual(Timestamp(START));
        let store = Store::memory(MemoryOptions { clock: clock.clone(), feed_records_max: 1000 });
        let strands = StrandOptions { block_points_max: 4096, overlays_max: 32, overlay_points_max: 16_384 };
        let options = SeriesOptions { strands, repositories_max: 1_000, definitions_cached_max: 1000 };
        let api = Api::new(Repositories::new(store, options), clock.clone(), limits(), room);
        Self { router: Router::new(front_ends(&api)), clock, now: AtomicI64::new(START) }
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
        testing::respond(&self.router, method, target, headers, body).await
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

    fn tick(&self) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
    }
}
