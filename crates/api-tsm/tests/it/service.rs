//! The API over a store in memory, with a clock that moves a second with every request.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_http::{Params, Request, Response, Router};
use api_tsm::{Api, Limits, front_ends};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt;
use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};
use store::{MemoryOptions, Store};

use crate::transcript::{Got, Sent};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;

pub(crate) struct Service {
    pub(crate) router: Router,
    clock: Clock,
    now: AtomicI64,
}

/// Limits as the server has them, small where a case is to reach them.
fn limits() -> Limits {
    Limits {
        page_default: 20,
        page_max: 1000,
        request_series_max: 1000,
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
        let clock = Clock::manual(Timestamp(START));
        let store = Store::memory(MemoryOptions { clock: clock.clone(), feed_records_max: 1000 });
        let strands = StrandOptions { block_points_max: 4096, overlays_max: 32, overlay_points_max: 16_384 };
        let options = SeriesOptions { strands, definitions_cached_max: 1000 };
        let api = Api::new(Repositories::new(store, options), clock.clone(), limits());
        Self { router: Router::new(front_ends(&api)), clock, now: AtomicI64::new(START) }
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        self.router.routes().map(|(_, method, path)| format!("{method} {path}")).collect()
    }

    /// The response to a request, a second after the request before; and the route that gave it.
    pub(crate) async fn respond(
        &self,
        method: &str,
        target: &str,
        headers: HeaderMap,
        body: impl Into<bytes::Bytes>,
    ) -> (Option<usize>, Response) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        match (self.router.find(&method, path), Params::parse(query)) {
            (Ok(found), Ok(params)) => {
                let request = Request {
                    method,
                    path: path.to_owned(),
                    captures: found.captures,
                    params,
                    headers,
                    body: body.into(),
                    id: 1,
                };
                (Some(found.index), found.handler.answer(request).await)
            }
            (Err(refusal), _) => (None, self.router.refuse(path, &refusal)),
            (_, Err(part)) => (None, self.router.refuse(path, &api_http::Refusal::BadQuery(part))),
        }
    }

    /// A step of a transcript, and the route that answered it.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        let mut headers = HeaderMap::new();
        for (name, value) in &sent.headers {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let (route, response) = self.respond(&sent.method, &sent.target, headers, sent.body.clone()).await;
        let route = route.and_then(|index| self.routes().get(index).cloned());
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        // Pages and documents are shown by their beginnings.
        let shown_max = if sent.target.contains("/docs") { 60 } else { usize::MAX };
        let body = String::from_utf8(body.iter().copied().take(shown_max).collect()).unwrap();
        let headers = parts.headers.iter();
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        (route, Got { status: parts.status.as_u16(), headers: headers.collect(), body })
    }
}
