//! Single requests outside of any load: probes before it, checks after it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::client::Connection;
use crate::scenario::Request;

/// The longest one probe may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A connection for one request after the other, from plain synchronous code.
#[derive(Debug)]
pub struct Probe {
    runtime: tokio::runtime::Runtime,
    address: SocketAddr,
    connection: Option<Connection>,
    request: Request,
}

impl Probe {
    /// A probe of the server at `address`; `headers` (lines ended by CRLF) go with every request.
    ///
    /// # Errors
    ///
    /// If no runtime can be had. The connection is opened with the first request.
    pub fn new(address: SocketAddr, host: &str, headers: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, address, connection: None, request: Request::new(host, headers) })
    }

    /// GETs `path`; the status and the body.
    ///
    /// # Errors
    ///
    /// If no answer comes.
    pub fn get(&mut self, path: &str) -> Result<(u16, Vec<u8>)> {
        self.send("GET", path, b"")
    }

    /// Sends `body` to `path`; the status and the body of the answer.
    ///
    /// # Errors
    ///
    /// If no answer comes.
    pub fn send(&mut self, method: &'static str, path: &str, body: &[u8]) -> Result<(u16, Vec<u8>)> {
        self.request.start(method);
        self.request.path.extend_from_slice(path.as_bytes());
        self.request.body.extend_from_slice(body);
        let open = self.connection.take().filter(Connection::is_reusable);
        let (address, request) = (self.address, self.request.seal());
        let (answer, connection) = self.runtime.block_on(async {
            let mut connection = match open {
                Some(connection) => connection,
                None => Connection::open(address, TIMEOUT).await?,
            };
            let answer = connection.call(request, Instant::now()).await?;
            let answer = (answer.status, answer.body.to_vec());
            Ok::<_, crate::client::CallError>((answer, connection))
        })?;
        self.connection = Some(connection);
        Ok(answer)
    }
}
