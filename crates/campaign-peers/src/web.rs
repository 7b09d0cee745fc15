//! One connection to a peer that speaks HTTP, from plain synchronous code; answers may be read line by line.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use campaign::client::Connection;
use campaign::scenario::Request;

use super::database::Took;
use super::process::Running;

/// The longest one request may take.
const TIMEOUT: Duration = Duration::from_secs(1_800);

/// A client of one peer.
pub(super) struct Client {
    runtime: tokio::runtime::Runtime,
    address: SocketAddr,
    connection: Option<Connection>,
    request: Request,
}

impl Client {
    /// A client of the peer at `address`.
    pub(super) fn new(address: SocketAddr) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, address, connection: None, request: Request::new(&address.to_string(), "") })
    }

    /// GETs `path`; the body.
    pub(super) fn get(&mut self, path: &str) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        self.call("GET", path, |_| {}, &mut |part| body.extend_from_slice(part))?;
        Ok(body)
    }

    /// POSTs what `fill` appends to `path`.
    pub(super) fn post(&mut self, path: &str, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.call("POST", path, fill, &mut |_| {})
    }

    /// GETs `path` and hands over its lines, without their ends.
    pub(super) fn lines(&mut self, path: &str, line: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut lines = Lines { carry: Vec::new(), fault: None };
        self.call("GET", path, |_| {}, &mut |part| lines.part(part, line))?;
        lines.fault.map_or(Ok(()), Err)
    }

    fn call(
        &mut self,
        method: &'static str,
        path: &str,
        fill: impl FnOnce(&mut Vec<u8>),
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        self.request.start(method);
        self.request.path.extend_from_slice(path.as_bytes());
        fill(&mut self.request.body);
        let open = self.connection.take().filter(Connection::is_reusable);
        let (address, request) = (self.address, &mut self.request);
        let (status, text, connection) = self
            .runtime
            .block_on(async {
                let mut connection = match open {
                    Some(connection) => connection,
                    None => Connection::open(address, TIMEOUT).await?,
                };
                let wanted = |status| (200..300).contains(&status);
                let parts = request.seal_apart();
                let (answer, _) = connection.call_apart(parts, Instant::now(), &wanted, sink).await?;
                let (status, text) = (answer.status, String::from_utf8_lossy(answer.body).into_owned());
                Ok::<_, campaign::client::CallError>((status, text, connection))
            })
            .with_context(|| format!("{method} {path}"))?;
        ensure!((200..300).contains(&status), "{method} {path}: status {status}: {text}");
        self.connection = Some(connection);
        Ok(())
    }
}

/// Joins parts into lines.
struct Lines {
    carry: Vec<u8>,
    fault: Option<anyhow::Error>,
}

impl Lines {
    fn part(&mut self, mut part: &[u8], line: &mut dyn FnMut(&[u8]) -> Result<()>) {
        while let Some((head, rest)) =
            memchr::memchr(b'\n', part).and_then(|end| Some((part.get(..end)?, part.get(end + 1..)?)))
        {
            part = rest;
            let whole = if self.carry.is_empty() {
                line(head.trim_ascii_end())
            } else {
                self.carry.extend_from_slice(head);
                let told = line(self.carry.trim_ascii_end());
                self.carry.clear();
                told
            };
            if let Err(error) = whole {
                self.fault.get_or_insert(error);
            }
        }
        self.carry.extend_from_slice(part);
    }
}

/// Measures what `job` takes, on the peer and here.
pub(super) fn timed<T>(running: &Running, job: impl FnOnce() -> Result<T>) -> Result<(Took, T)> {
    let own = || campaign::process::cpu_time(std::process::id());
    let (peer_before, own_before, begun) = (running.cpu(), own(), Instant::now());
    let done = job()?;
    let since = |after: Option<Duration>, before: Option<Duration>| Some(after?.saturating_sub(before?));
    let took = Took {
        elapsed: begun.elapsed(),
        cpu: since(running.cpu(), peer_before),
        generator_cpu: since(own(), own_before),
    };
    Ok((took, done))
}
