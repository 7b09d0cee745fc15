//! One request from its head to its answer: route, limits, body, handler, compression, counting.
//!
//! The hot path: no task, no timer unless the handler waits, no lock, one box for the handler's
//! future. An answer that is a stream counts as under way until its last byte.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use api_http::{
    Body, DataDamaged, EndReason, Found, MemoryBudget, Params, Refusal, Request, RequestMemory,
    RequestStream, RequestTimedOut, Reservation, Response, Router, SMALL_BYTES, STREAM_BYTES_HELD,
    StreamBody, StreamEnd, StreamLimits, compress, end_with_newline, plain_refusal, read_body,
};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use hyper::body::{Body as _, Incoming};
use store::Lane;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::connection::{Connection, Order, UnderWay};
use crate::cors::CorsOrigins;
use crate::head::{Fields, RequestName, X_REQUEST_ID};
use crate::metrics::Metrics;
use crate::vital::is_vital;

/// Limits on requests, in the units they are checked in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLimits {
    pub(crate) body_bytes_max: usize,
    /// Of bodies that are read piece by piece.
    pub(crate) stream: StreamLimits,
    pub(crate) requests_max: usize,
    pub(crate) duration_max: Duration,
    pub(crate) compress_bytes_min: u64,
    pub(crate) answer_bytes_max: u64,
    pub(crate) answer_duration_max: Duration,
    /// Whether clients on this machine may use `/admin`.
    pub(crate) admin_loopback: bool,
}

/// Bodies beyond this size are parsed, and what is asked by them is done, beside the threads that serve.
const BODY_BYTES_INLINE: usize = 256 << 10;

/// What all connections share.
pub(crate) struct App {
    pub(crate) router: Router,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: RequestLimits,
    /// Whose pages in browsers may use the APIs.
    pub(crate) cors: CorsOrigins,
    /// Memory for bodies and answers.
    pub(crate) budget: MemoryBudget,
    /// Where long work runs.
    pub(crate) lane: Lane,
}

/// What all requests of one connection share.
pub(crate) struct Link {
    pub(crate) app: Arc<App>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) peer: IpAddr,
    pub(crate) at: At,
    /// The threads that serve.
    pub(crate) runtime: Handle,
    /// The app's, for this connection.
    pub(crate) budget: MemoryBudget,
}

/// On whose thread a connection is driven.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum At {
    /// Those that serve.
    Main,
    /// The door's: what is not vital is answered by those that serve.
    Door,
    /// The door's, at the address for health: what is not vital is not there.
    Health,
}

/// What is kept of a request's head for the end of its answer.
struct Head {
    version: Version,
    method: Method,
    uri: http::Uri,
    fields: Fields,
    id: u64,
    started: Instant,
}

/// A request that counts as under way.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    /// How many were before it, too.
    fn new(count: &'a AtomicUsize) -> (Self, usize) {
        let before = count.fetch_add(1, Ordering::Relaxed);
        (Self(count), before)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is told of an answer when it has been given.
struct Account {
    head: Head,
    route: Option<usize>,
    status: StatusCode,
    /// Whether stored data is damaged, which is why.
    damaged: bool,
    /// Whether it took longer than the limit, whoever noticed.
    timed_out: bool,
    started: Instant,
}

/// Answers a request of a connection.
///
/// # Errors
///
/// Never: what goes wrong is an answer.
pub(crate) async fn answer(
    link: Arc<Link>,
    request: http::Request<Incoming>,
) -> Result<Response, Infallible> {
    Ok(match link.at {
        At::Door if !is_vital(request.uri().path()) => {
            let runtime = link.runtime.clone();
            // The task ends with the connection.
            let mut elsewhere = JoinSet::new();
            elsewhere.spawn_on(answer_here(link, request), &runtime);
            match Box::pin(elsewhere.join_next()).await {
                Some(Ok(response)) => closing(response),
                Some(Err(_)) | None => closing(plain_refusal(&Refusal::Internal, None)),
            }
        }
        At::Health if !is_vital(request.uri().path()) => closing(plain_refusal(&Refusal::NotFound, None)),
        At::Door | At::Health if !request.body().is_end_stream() => {
            closing(plain_refusal(&Refusal::BodyTooLarge(0), None))
        }
        At::Main | At::Door | At::Health => answer_here(link, request).await,
    })
}

/// The last answer over a connection at the door: whatever moves over one keeps the thread that lets all others in, so
/// what is not vital asks again over a connection of its own, and goes to the threads that serve.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn answer_here(link: Arc<Link>, request: http::Request<Incoming>) -> Response {
    let started = Instant::now();
    let app = &*link.app;
    let (under_way, number) = link.connection.begin(request.version() == Version::HTTP_2);
    let (counted, before) = Counted::new(&app.metrics.requests_under_way);

    let (parts, body) = request.into_parts();
    let has_body = !body.is_end_stream();
    let head = Head {
        version: parts.version,
        method: parts.method,
        uri: parts.uri,
        fields: Fields::of(&parts.headers),
        id: link.connection.id << 20 | (number & 0xF_FFFF),
        started,
    };
    let memory = link.budget.request();
    let fit = head.fields.check_host(head.version);
    let found = fit.and_then(|()| app.router.find(&head.method, head.uri.path()));
    let is_admin = match &found {
        Ok(found) => found.is_admin,
        Err(_) => app.router.is_admin(head.uri.path()),
    };
    let (route, outcome) = match found {
        Err(Refusal::MethodNotAllowed(_)) if head.method == Method::OPTIONS => {
            (None, app.options(&head, &parts.headers, is_admin))
        }
        Err(refusal) => (None, Err(refusal)),
        // Probes are answered whatever goes on.
        Ok(found) if before >= app.limits.requests_max && !is_vital(head.uri.path()) => {
            (Some(found.index), Err(Refusal::Busy))
        }
        Ok(found) => (Some(found.index), link.carry_out(found, &head, (parts.headers, body), &memory).await),
    };
    let mut reservation = memory.into_reservation().await;
    let outcome = outcome.and_then(|response| {
        if may_be_refused(&head, response.body()) {
            reservation.try_grow(bytes_held(response.body()))?;
        }
        Ok(response)
    });
    let response = match outcome {
        Ok(response) => response,
        Err(refusal) => {
            let mut response = app.refuse(&head, &refusal);
            // The rest of the body is not waited for: what follows on the connection is unknown.
            if has_body && head.version != Version::HTTP_2 {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }
    };
    let mut response = app.finish(&head, is_admin, response).await;
    let damaged = response.extensions().get::<DataDamaged>().is_some();
    let timed_out = response.extensions().get::<RequestTimedOut>().is_some();
    let account = Account { head, route, status: response.status(), damaged, timed_out, started };
    let held = app.hold(response.body_mut(), reservation);
    if let Body::Stream(stream) = response.body_mut() {
        link.follow(stream, (under_way, held), account);
        return response;
    }
    drop((under_way, counted));
    account.close(&link, response.body().len_known());
    response
}

/// Whether an answer for which there is no memory may become a refusal: what was written must be told, and so must how the
/// server is.
fn may_be_refused(head: &Head, body: &Body) -> bool {
    let is_read = head.method == Method::GET || head.method == Method::HEAD;
    (is_read || matches!(body, Body::Stream(_))) && !is_vital(head.uri.path())
}

/// What an answer holds in memory until it has been sent.
fn bytes_held(body: &Body) -> usize {
    match body {
        Body::Whole(bytes) => bytes.len(),
        Body::Stream(_) => STREAM_BYTES_HELD,
    }
}

impl Account {
    /// Counts the answer and logs it.
    fn close(&self, link: &Link, bytes: u64) {
        let Self { head, route, status, damaged, timed_out, started } = self;
        let took = started.elapsed();
        link.app.metrics.count(*route, *status, took);
        if *timed_out {
            link.app.metrics.requests.timed_out.fetch_add(1, Ordering::Relaxed);
        }
        if *damaged {
            link.app.metrics.requests.damaged.fetch_add(1, Ordering::Relaxed);
            tracing::error!(
                request = %Id(head.id),
                method = %head.method,
                uri = %head.uri,
                status = status.as_u16(),
                "stored data is damaged: restore a backup"
            );
        } else if *status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(request = %Id(head.id), method = %head.method, uri = %head.uri, "answered 500: a bug");
        }
        if tracing::enabled!(target: "access", tracing::Level::DEBUG) {
            self.log(link.peer, bytes, took);
        }
    }

    fn log(&self, peer: IpAddr, bytes: u64, took: Duration) {
        let client_id = self.head.fields.name.given();
        tracing::debug!(
            target: "access",
            request = %Id(self.head.id),
            client_id,
            %peer,
            method = %self.head.method,
            uri = %self.head.uri,
            status = self.status.as_u16(),
            bytes,
            micros = took.as_micros(),
        );
    }
}

impl Link {
    /// Reads the body and calls the handler, within the limit on time.
    async fn carry_out(
        &self,
        found: Found<'_>,
        head: &Head,
        (headers, body): (HeaderMap, Incoming),
        memory: &RequestMemory,
    ) -> Result<Response, Refusal> {
        let path = head.uri.path();
        let is_admin = found.is_admin;
        if is_admin && !self.may_administer(&head.uri, &headers) {
            return Err(Refusal::NotFound);
        }
        let limits = &self.app.limits;
        let is_streamed = found.handler.is_streamed();
        // Work of an administrator (a backup) takes as long as it takes, and so does a body read piece by
        // piece, as long as the pieces come.
        let limit = if is_admin || is_streamed { Duration::MAX } else { limits.duration_max };
        let is_reading = AtomicBool::new(false);
        let work = async {
            let params = head.uri.query().map_or_else(|| Ok(Params::default()), Params::parse);
            let params = params.map_err(Refusal::BadQuery)?;
            let mut request = Request {
                method: head.method.clone(),
                operation: found.operation,
                path: path.to_owned(),
                captures: found.captures,
                params,
                headers,
                id: head.id,
                deadline: head.started.checked_add(limit),
                memory: memory.clone(),
                body: Bytes::new(),
                extensions: http::Extensions::new(),
            };
            if let Some(guard) = found.handler.guard() {
                request = guard(request).await?;
            }
            if is_streamed {
                let body = RequestStream::new(&request.headers, body, limits.stream)?;
                let answer = found.handler.answer_streamed(request, body).ok_or(Refusal::Internal)?;
                return Ok(answer.await);
            }
            is_reading.store(true, Ordering::Relaxed);
            request.body =
                read_body(&request.headers, body, limits.body_bytes_max, &mut memory.share()).await?;
            is_reading.store(false, Ordering::Relaxed);
            let is_long = request.body.len() > BODY_BYTES_INLINE;
            let answer = found.handler.answer(request);
            Ok(if is_long { Box::pin(self.app.lane.drive(answer)).await } else { answer.await })
        };
        // A handler owns what it works on: after a panic nothing half-done is seen by others.
        let work = pin!(AssertUnwindSafe(work).catch_unwind());
        match within(limit, work).await {
            Some(Ok(outcome)) => outcome,
            // The panic hook logged what and where; this line says whose request it was.
            Some(Err(_)) => {
                self.app.metrics.requests.panics.fetch_add(1, Ordering::Relaxed);
                tracing::error!(request = %Id(head.id), method = %head.method, path, "request met a bug");
                Err(Refusal::Internal)
            }
            None => {
                let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                if is_reading.load(Ordering::Relaxed) {
                    return Err(Refusal::SlowBody(limit));
                }
                tracing::warn!(request = %Id(head.id), method = %head.method, path, limit, "request timed out");
                Err(Refusal::TimedOut(limit))
            }
        }
    }

    /// Sees to it that an answer in chunks counts as under way until it ends, within its limits, and that a client who
    /// takes nothing of it loses the connection.
    fn follow(
        self: &Arc<Self>,
        stream: &mut StreamBody,
        held: (UnderWay, Option<Reservation>),
        account: Account,
    ) {
        let link = Arc::clone(self);
        let limits = &link.app.limits;
        stream.limit(limits.answer_bytes_max, limits.answer_duration_max);
        link.app.metrics.requests_under_way.fetch_add(1, Ordering::Relaxed);
        stream.on_end(move |StreamEnd { bytes, reason }| {
            let metrics = &link.app.metrics;
            let Head { id, method, uri, .. } = &account.head;
            match reason {
                EndReason::Complete => {}
                EndReason::Broken(reason) => {
                    metrics.answers.streams_broken.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(request = %Id(*id), %method, %uri, bytes, reason, "answer broke off");
                }
                EndReason::Cut(limit) => {
                    metrics.answers.cut.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(request = %Id(*id), %method, %uri, bytes, limit, "answer cut off");
                }
                EndReason::Dropped => {
                    tracing::debug!(request = %Id(*id), %method, %uri, bytes, "client left before the end");
                }
            }
            drop((held, Counted(&metrics.requests_under_way)));
            account.close(&link, bytes);
        });
        let link = Arc::clone(self);
        stream.on_stall(move || {
            link.app.metrics.answers.streams_stalled.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(connection = link.connection.id, peer = %link.peer, "client takes nothing: cut off");
            link.connection.tell(Order::Kill);
        });
    }

    /// Whether `/admin` is open to this client: it is on this machine, and neither a proxy nor a browser
    /// speaks for another.
    fn may_administer(&self, uri: &http::Uri, headers: &HeaderMap) -> bool {
        self.app.limits.admin_loopback
            && self.peer.to_canonical().is_loopback()
            && crate::local::is_direct(uri, headers)
    }
}

impl App {
    fn refuse(&self, head: &Head, refusal: &Refusal) -> Response {
        if *refusal == Refusal::Busy {
            self.metrics.requests.busy.fetch_add(1, Ordering::Relaxed);
        }
        let accept = head.fields.accept.as_ref().and_then(|accept| accept.to_str().ok());
        let mut response = self.router.refuse(head.uri.path(), refusal, accept);
        if matches!(refusal, Refusal::TimedOut(_)) {
            response.extensions_mut().insert(RequestTimedOut);
        }
        if matches!(refusal, Refusal::Busy | Refusal::MemoryFull | Refusal::Unavailable(_)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }

    /// Has a large answer hand itself out in pieces, and hold its memory until the last; answers what a stream holds.
    fn hold(&self, body: &mut Body, mut reservation: Reservation) -> Option<Reservation> {
        reservation.settle(bytes_held(body));
        match body {
            Body::Stream(_) => Some(reservation),
            Body::Whole(bytes) => {
                if bytes.len() > SMALL_BYTES {
                    let bytes = std::mem::take(bytes);
                    *body = Body::in_pieces(bytes, reservation, self.limits.stream.stall_max);
                }
                None
            }
        }
    }

    /// What a path allows, and whether pages of other origins may send it.
    fn options(&self, head: &Head, headers: &HeaderMap, is_admin: bool) -> Result<Response, Refusal> {
        let mut response = self.router.options(head.uri.path()).ok_or(Refusal::NotFound)?;
        if !is_admin {
            self.cors.let_send(headers, response.headers_mut());
        }
        Ok(response)
    }

    /// What every answer gets, whoever gave it.
    async fn finish(&self, head: &Head, is_admin: bool, mut response: Response) -> Response {
        end_with_newline(&mut response);
        if !is_admin {
            self.cors.let_read(head.fields.origin.as_ref(), response.headers_mut());
        }
        let compressed =
            compress(head.fields.accept_encoding.as_ref(), response, self.limits.compress_bytes_min);
        let mut response = compressed.await;
        if let RequestName::Given(name) = &head.fields.name {
            response.headers_mut().insert(X_REQUEST_ID, name.clone());
        } else if (response.status().as_u16() >= 400 || head.fields.name == RequestName::Unfit)
            && let Ok(id) = HeaderValue::try_from(Id(head.id).to_string())
        {
            response.headers_mut().insert(X_REQUEST_ID, id);
        }
        if head.method == Method::HEAD {
            if let Body::Whole(bytes) = response.body() {
                let length = HeaderValue::from(bytes.len());
                response.headers_mut().insert(header::CONTENT_LENGTH, length);
            }
            // What makes a stream sees that nobody wants it.
            *response.body_mut() = Body::default();
        }
        response
    }
}

/// The output of `work`, or `None` if it takes longer than `limit`. No timer is set for work that
/// need not wait; the work is not moved.
async fn within<F: Future>(limit: Duration, mut work: Pin<&mut F>) -> Option<F::Output> {
    let at_once = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    match at_once {
        Poll::Ready(output) => Some(output),
        Poll::Pending => tokio::time::timeout(limit, work).await.ok(),
    }
}

/// A request's number as logs and answers show it.
struct Id(u64);

impl std::fmt::Display for Id {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_bounded_in_time() {
        assert_eq!(within(Duration::ZERO, pin!(async { 1 })).await, Some(1));
        let waits = async {
            tokio::task::yield_now().await;
            2
        };
        assert_eq!(within(Duration::MAX, pin!(waits)).await, Some(2));
        assert_eq!(within(Duration::from_millis(1), pin!(std::future::pending::<()>())).await, None);
    }

    #[test]
    fn ids_have_one_width() {
        assert_eq!(Id(255).to_string(), "00000000000000ff");
    }
}
