//! Listening: connections are counted, recognised by their first bytes (TLS, HTTP/2, HTTP/1.1), and served, one task each. `door.rs` says on which
//! thread.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use anyhow::Context as _;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::signal::unix::Signal;

use crate::admin::chain;
use crate::connection::{Connection, Connections, OpenConnection, Order, Patience};
use crate::service::{App, At, Link, answer};
use crate::settings::Http;
use crate::socket::Socket;
use crate::tls::{HTTP2, Tls};
use crate::vital::begins_vital;

/// Connections that the kernel may queue for us (it takes the least of this and `somaxconn`).
const BACKLOG: u32 = 8192;
/// How long the acceptor rests when the process has no file descriptor left.
const ACCEPT_REST: Duration = Duration::from_millis(50);
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// How often an HTTP/2 client is asked whether it is still there.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);
/// The number of header fields hyper is made for.
const HEADERS_MAX_OF_HYPER: usize = 100;
/// How long the first bytes of a connection wait for the next, and how often.
const PEEK_REST: Duration = Duration::from_millis(1);
const PEEKS_MAX: u32 = 100;
/// Connections to the address for health, beside the others.
const HEALTH_CONNECTIONS_MAX: usize = 64;

/// What one more connection gets when there are as many as may be.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nretry-after: 1\r\n\
connection: close\r\ncontent-length: 45\r\n\r\nas many connections as connections_max allows";

/// Binds an address (`127.0.0.1:1026`, `localhost:0`).
///
/// # Errors
///
/// If it cannot be resolved or is taken.
pub(crate) async fn bind(address: &str) -> anyhow::Result<TcpListener> {
    let resolved = tokio::net::lookup_host(address).await;
    let resolved = resolved
        .with_context(|| format!("listen address {address:?} cannot be resolved"))
        .map_err(|error| crate::settings::WrongSetting(format!("{error:#}")))?;
    let mut last = anyhow::anyhow!("listen address {address:?} has no address");
    for address in resolved {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = anyhow::Error::new(error).context(format!("cannot listen on {address}")),
        }
    }
    Err(last)
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart need not wait for old connections to be forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Everything the acceptor needs; shared by the tasks of connections.
pub(crate) struct Listening {
    app: Arc<App>,
    connections: Arc<Connections>,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    tls: Option<Arc<Tls>>,
    connections_max: usize,
    patience: Patience,
    /// The threads that serve.
    runtime: Handle,
}

/// What the first bytes of a plain connection are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Begin {
    Http1,
    Http2,
    /// A request for health or metrics.
    Vital,
}

impl Listening {
    /// Connections are served by the threads of `runtime`.
    pub(crate) fn new(
        app: Arc<App>,
        connections: Arc<Connections>,
        tls: Option<Arc<Tls>>,
        limits: &Http,
        runtime: Handle,
    ) -> Self {
        let header_bytes = limits.header_bytes_max.as_usize();
        let mut http1 = http1::Builder::new();
        http1
            .timer(TokioTimer::new())
            // The sweep ends slow heads; hyper's way is a timer for each request.
            .header_read_timeout(None)
            .max_header_size(header_bytes);
        // The default is a constant to the parser: any other number costs a little.
        if limits.headers_max != HEADERS_MAX_OF_HYPER {
            http1.max_headers(limits.headers_max);
        }
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams_max)
            .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(Some(HTTP2_PING_INTERVAL));
        Self {
            app,
            connections,
            http1,
            http2,
            tls,
            connections_max: limits.connections_max,
            patience: Patience { header: limits.header_duration_max.0, idle: limits.idle_duration_max.0 },
            runtime,
        }
    }

    /// Accepts connections until it is dropped.
    pub(crate) async fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let (stream, peer) = accepted(listener).await;
            if let Some(open) = self.welcome(&stream, self.connections_max) {
                tokio::spawn(Arc::clone(self).let_in(stream, peer, open));
            }
        }
    }

    /// Accepts connections that ask for nothing but health and metrics, also when the others are as many as may be, until
    /// it is dropped.
    pub(crate) async fn accept_health(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let (stream, peer) = accepted(listener).await;
            let connections_max = self.connections_max.saturating_add(HEALTH_CONNECTIONS_MAX);
            if let Some(open) = self.welcome(&stream, connections_max) {
                let this = Arc::clone(self);
                tokio::spawn(async move { this.serve(stream, false, peer, (open, At::Health)).await });
            }
        }
    }

    /// Ends connections that take too long, and gives memory back that nobody uses, until the task is dropped.
    pub(crate) async fn sweep(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(SWEEP_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let ended = u64::try_from(self.connections.sweep(self.patience)).unwrap_or(u64::MAX);
            self.app.metrics.connections.overdue.fetch_add(ended, Ordering::Relaxed);
            self.app.metrics.tick();
            crate::process::prompt_allocator();
        }
    }

    /// Reads certificate and key anew whenever the process is sent SIGHUP, until the task is dropped.
    pub(crate) async fn reload_tls(self: Arc<Self>, mut hangup: Signal) {
        let Some(tls) = self.tls.clone() else { return };
        while hangup.recv().await.is_some() {
            let tls = Arc::clone(&tls);
            let reloaded = tokio::task::spawn_blocking(move || tls.reload()).await;
            let metrics = &self.app.metrics;
            match reloaded.map_err(anyhow::Error::from).flatten() {
                Ok(()) => {
                    metrics.connections.tls_reloads.fetch_add(1, Ordering::Relaxed);
                    tracing::info!("TLS certificate and key read anew");
                }
                Err(error) => {
                    metrics.connections.tls_reloads_failed.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(error = format!("{error:#}"), "the TLS certificate stays as it was");
                }
            }
        }
    }

    /// Counts a new connection, or says that there are as many as may be.
    fn welcome(&self, stream: &TcpStream, connections_max: usize) -> Option<OpenConnection> {
        let metrics = &self.app.metrics;
        metrics.connections.accepted.fetch_add(1, Ordering::Relaxed);
        let Some(open) = self.connections.open(connections_max) else {
            metrics.connections.refused.fetch_add(1, Ordering::Relaxed);
            if self.tls.is_none() {
                // Best effort: the buffer of a new socket has room for it.
                let _ = stream.try_write(FULL);
            }
            return None;
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        Some(open)
    }

    /// Serves a connection here if it asks for health or metrics; else the threads that serve do.
    async fn let_in(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, open: OpenConnection) {
        let begin = match &self.tls {
            Some(_) => None,
            None => match until_ordered(&open.connection, first_bytes(&stream)).await {
                Some(Ok(begin)) => Some(begin),
                Some(Err(error)) => {
                    return tracing::debug!(%peer, %error, "connection broke off");
                }
                None => return,
            },
        };
        if begin == Some(Begin::Vital) {
            return self.serve(stream, false, peer, (open, At::Door)).await;
        }
        // A socket is watched by the runtime that it was made in.
        let stream = match stream.into_std() {
            Ok(stream) => stream,
            Err(error) => return tracing::error!(%peer, %error, "connection cannot be handed on"),
        };
        let this = Arc::clone(&self);
        self.runtime.spawn(async move {
            let stream = match TcpStream::from_std(stream) {
                Ok(stream) => stream,
                Err(error) => return tracing::error!(%peer, %error, "connection cannot be handed on"),
            };
            match (&this.tls, begin) {
                (Some(tls), _) => this.serve_tls(tls.acceptor().accept(stream), peer, open).await,
                (None, begin) => {
                    let http2 = begin == Some(Begin::Http2);
                    this.serve(stream, http2, peer, (open, At::Main)).await;
                }
            }
        });
    }

    /// Shakes hands, learns by ALPN which HTTP is spoken, and serves the connection to its end.
    async fn serve_tls(
        &self,
        handshake: tokio_rustls::Accept<TcpStream>,
        peer: SocketAddr,
        open: OpenConnection,
    ) {
        let handshake = tokio::time::timeout(self.patience.header, handshake);
        match until_ordered(&open.connection, handshake).await {
            Some(Ok(Ok(stream))) => {
                let http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
                self.serve(stream, http2, peer, (open, At::Main)).await;
            }
            Some(Ok(Err(error))) => self.note_failed_handshake(peer, &error.to_string()),
            Some(Err(_)) => self.note_failed_handshake(peer, "beyond header_duration_max"),
            None => {}
        }
    }

    fn note_failed_handshake(&self, peer: SocketAddr, error: &str) {
        self.app.metrics.connections.tls_failed.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(%peer, error, "TLS handshake failed");
    }

    /// Serves one connection to its end.
    async fn serve<I>(&self, stream: I, http2: bool, peer: SocketAddr, (open, at): (OpenConnection, At))
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connection = &open.connection;
        let link = Arc::new(Link {
            app: Arc::clone(&self.app),
            connection: Arc::clone(connection),
            peer: peer.ip(),
            at,
            runtime: self.runtime.clone(),
            budget: self.app.budget.handle(),
        });
        let service = service_fn(move |request| answer(Arc::clone(&link), request));
        let io = TokioIo::new(Socket::new(stream, Arc::clone(connection)));
        let ended = if http2 {
            let serving = self.http2.serve_connection(io, service);
            obey(connection, serving, http2::Connection::graceful_shutdown).await
        } else {
            let serving = self.http1.serve_connection(io, service);
            obey(connection, serving, http1::Connection::graceful_shutdown).await
        };
        if let Err(error) = ended {
            tracing::debug!(connection = connection.id, %peer, error = chain(&error), "connection broke off");
        }
    }
}

/// Drives `serving` to its end, and has it finish or drops it when the connection is ordered to.
async fn obey<S>(
    connection: &Connection,
    serving: S,
    finish: impl Fn(Pin<&mut S>),
) -> Result<(), hyper::Error>
where
    S: Future<Output = Result<(), hyper::Error>>,
{
    let mut serving = std::pin::pin!(serving);
    let (mut first, mut draining) = (true, false);
    std::future::poll_fn(|context| {
        match connection.order(context, first) {
            Order::Kill => return Poll::Ready(Ok(())),
            // Nothing was asked yet, so nothing can get lost.
            Order::Drain if connection.is_fresh() => return Poll::Ready(Ok(())),
            Order::Drain if !draining => {
                draining = true;
                finish(serving.as_mut());
            }
            Order::Drain | Order::None => {}
        }
        first = false;
        serving.as_mut().poll(context)
    })
    .await
}

/// The output of `work`, or `None` if the connection is ordered to end before.
async fn until_ordered<F: Future>(connection: &Connection, work: F) -> Option<F::Output> {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| match connection.order(context, true) {
        Order::None => work.as_mut().poll(context).map(Some),
        Order::Drain | Order::Kill => Poll::Ready(None),
    })
    .await
}

/// The next connection of a listener.
async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_peers_fault(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept connections; trying again");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
}

/// What the first bytes of a connection are. No method of HTTP/1.1 begins as HTTP/2 does.
async fn first_bytes(stream: &TcpStream) -> std::io::Result<Begin> {
    const HTTP2_BEGIN: &[u8] = b"PRI";
    let mut bytes = [0; 16];
    for looks in 1.. {
        let count = stream.peek(&mut bytes).await?;
        let peeked = bytes.get(..count).expect("no more is peeked than there is room for");
        if peeked.starts_with(HTTP2_BEGIN) {
            return Ok(Begin::Http2);
        }
        match begins_vital(peeked) {
            Some(true) => return Ok(Begin::Vital),
            None if count > 0 && looks < PEEKS_MAX => {}
            Some(false) if HTTP2_BEGIN.starts_with(peeked) && looks < PEEKS_MAX => {}
            None | Some(false) => break,
        }
        // Rare: a few bytes came alone. They stay ready, so only time can tell.
        tokio::time::sleep(PEEK_REST).await;
    }
    Ok(Begin::Http1)
}

/// Errors of `accept` that say something of one peer, not of the listener.
fn is_peers_fault(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_full_server_is_well_formed() {
        let text = std::str::from_utf8(FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{} {head}", body.len());
    }
}
