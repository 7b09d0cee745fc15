//! The floor: a bare server on the same HTTP stack (hyper 1, hyper-util, tokio) without product code. It reads
//! a request and gives an answer of the size asked for, so that a row can be set beside what HTTP alone costs.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::task::{Context as Polled, Poll};

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use clap::Args;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};

use crate::target::first_line_with;

/// The parts in which a long body is sent.
const PART_BYTES: u64 = 64 * 1024;

/// What the floor answers, whatever is asked.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct FloorArgs {
    /// The status of every answer.
    #[arg(long, default_value_t = 200)]
    pub status: u16,
    /// Bytes of the body of every answer.
    #[arg(long, default_value_t = 0)]
    pub body_bytes: u64,
    /// Seconds after which the server ends by itself, should its parent be gone.
    #[arg(long, default_value_t = 600)]
    pub seconds_max: u64,
}

/// Serves until the time is over; prints `listening on http://ADDR` once ready.
///
/// # Errors
///
/// If no listener or runtime can be had.
pub fn serve(args: &FloorArgs) -> Result<()> {
    let status = StatusCode::from_u16(args.status).context("not an HTTP status")?;
    let part = usize::try_from(args.body_bytes.min(PART_BYTES))?;
    let answer =
        Answer { status, body: Spaces { part: Bytes::from(vec![b' '; part]), left: args.body_bytes } };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let limit = std::time::Duration::from_secs(args.seconds_max);
    runtime.block_on(async {
        match tokio::time::timeout(limit, accept(answer)).await {
            Ok(result) => result,
            Err(_) => Ok(()),
        }
    })
}

#[derive(Clone)]
struct Answer {
    status: StatusCode,
    body: Spaces,
}

/// A body of so many spaces; longer ones are the same part again and again.
#[derive(Clone)]
struct Spaces {
    part: Bytes,
    left: u64,
}

impl Body for Spaces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _ctx: &mut Polled<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let bytes = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.part.len());
        self.left -= bytes as u64;
        Poll::Ready(Some(Ok(Frame::data(self.part.slice(..bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

async fn accept(answer: Answer) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://{}", listener.local_addr()?)?;
    out.flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| reply(request, answer.clone()));
            // A connection that breaks is the client's affair.
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn reply(request: Request<Incoming>, answer: Answer) -> Result<Response<Spaces>, Infallible> {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    // As long as that of a template entity.
    const CREATED: HeaderValue = HeaderValue::from_static(
        "/ngsi-ld/v1/entities/urn:ngsi-ld:Entity:00000000-0000-4000-8000-000000000000",
    );
    // The body is read, as any server must; nothing is done with it.
    let mut body = request.into_body();
    while let Some(Ok(_)) = body.frame().await {}
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status;
    match answer.status {
        StatusCode::CREATED => response.headers_mut().insert(LOCATION, CREATED),
        StatusCode::NO_CONTENT => None,
        _ => response.headers_mut().insert(CONTENT_TYPE, JSON),
    };
    Ok(response)
}

/// A floor in a process of its own; it ends when this is dropped.
#[derive(Debug)]
pub struct Floor {
    child: Child,
    address: SocketAddr,
}

impl Floor {
    /// Starts the current executable as a floor and waits until it listens.
    ///
    /// # Errors
    ///
    /// If it does not start or does not say where it listens.
    pub fn start(args: &FloorArgs) -> Result<Self> {
        let program = std::env::current_exe().context("finding this executable")?;
        let mut child = Command::new(program)
            .args(["campaign", "floor-server", "--status", &args.status.to_string()])
            .args(["--body-bytes", &args.body_bytes.to_string()])
            .args(["--seconds-max", &args.seconds_max.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .context("starting the floor")?;
        let stdout = child.stdout.take();
        let mut floor = Self { child, address: ([127, 0, 0, 1], 0).into() };
        let Some(stdout) = stdout else { bail!("the floor has no output") };
        let line = first_line_with(stdout, "listening on http://").context("the floor did not start")?;
        floor.address = line.parse().context("the floor did not say where it listens")?;
        Ok(floor)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        // It holds nothing that could be lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
