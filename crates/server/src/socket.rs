//! A connection's bytes on their way in: noted for the sweep, and request lines mended.
//!
//! `<`, `>` and `"` may not stand in a URL as they are, and the HTTP library refuses them. But
//! `curl 'http://…/entities?q=temperature>20'` sends them so, and people write that. So they are
//! percent-encoded in request lines before they are parsed. Only where a request's first line is
//! known to begin, namely in the first bytes after an answer (bodies that were not read end their
//! connection): bytes of a body are never touched.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::Connection;

/// A stream of a connection.
pub(crate) struct Socket<I> {
    stream: I,
    connection: Arc<Connection>,
    /// What a mended line left no room for.
    pending: Vec<u8>,
}

impl<I> Socket<I> {
    pub(crate) fn new(stream: I, connection: Arc<Connection>) -> Self {
        Self { stream, connection, pending: Vec::new() }
    }

    /// Hands out what fits of `bytes` and keeps the rest.
    fn give(&mut self, mut bytes: Vec<u8>, buffer: &mut ReadBuf<'_>) {
        let rest = bytes.split_off(bytes.len().min(buffer.remaining()));
        buffer.put_slice(&bytes);
        self.pending = rest;
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Socket<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.pending.is_empty() {
            let pending = std::mem::take(&mut this.pending);
            this.give(pending, buffer);
            return Poll::Ready(Ok(()));
        }
        let start = buffer.filled().len();
        let awaits_head = this.connection.awaits_head();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        this.connection.note_read();
        if awaits_head && let Some(mended) = buffer.filled().get(start..).and_then(mend_request_line) {
            buffer.set_filled(start);
            this.give(mended, buffer);
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Socket<I> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, buffers)
    }
}

/// `bytes` with `<`, `>`, `"` of the request line they begin with percent-encoded; `None` if there is
/// nothing to mend or no whole request line. Cost: one look at the first line.
fn mend_request_line(bytes: &[u8]) -> Option<Vec<u8>> {
    let (line, _) = bytes.split_at_checked(memchr::memchr(b'\n', bytes)?)?;
    memchr::memchr3(b'<', b'>', b'"', line)?;
    let (method_end, target_end) = (memchr::memchr(b' ', line)?, memchr::memrchr(b' ', line)?);
    let target = line.get(method_end + 1..target_end)?;
    let version = line.get(target_end + 1..)?;
    let is_request_line = line.get(..method_end)?.iter().all(u8::is_ascii_uppercase)
        && target.starts_with(b"/")
        && (version.starts_with(b"HTTP/1.1") || version.starts_with(b"HTTP/1.0"));
    if !is_request_line {
        return None;
    }
    let mut mended = Vec::with_capacity(bytes.len() + 64);
    mended.extend_from_slice(bytes.get(..=method_end)?);
    for byte in target {
        match byte {
            b'<' => mended.extend_from_slice(b"%3C"),
            b'>' => mended.extend_from_slice(b"%3E"),
            b'"' => mended.extend_from_slice(b"%22"),
            _ => mended.push(*byte),
        }
    }
    mended.extend_from_slice(bytes.get(target_end..)?);
    Some(mended)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::connection::Connections;

    fn check(bytes: &str, expected: Option<&str>) {
        let mended = mend_request_line(bytes.as_bytes());
        assert_eq!(mended.map(|mended| String::from_utf8(mended).unwrap()).as_deref(), expected);
    }

    #[test]
    fn request_lines_are_mended() {
        check(
            "GET /e?q=a>5;b==\"x\" HTTP/1.1\r\nlink: <http://a>\r\n\r\n",
            Some("GET /e?q=a%3E5;b==%22x%22 HTTP/1.1\r\nlink: <http://a>\r\n\r\n"),
        );
        check("GET /e?q=a<5 HTTP/1.0\n\n", Some("GET /e?q=a%3C5 HTTP/1.0\n\n"));
    }

    #[test]
    fn everything_else_is_left_alone() {
        check("GET /e?q=a HTTP/1.1\r\nlink: <http://a>\r\n\r\n", None);
        check("GET /e?q=a>5 HTTP/1.1", None);
        check("{\"a\": \"/ HTTP/1.1\n", None);
        check("GET *> HTTP/1.1\r\n", None);
        check("PRI /<> HTTP/2.0\r\n", None);
        check("\n", None);
        check("", None);
    }

    #[tokio::test]
    async fn what_has_no_room_comes_with_the_next_read() {
        let all = Arc::new(Connections::new());
        let open = all.open(1).unwrap();
        let (mut client, stream) = tokio::io::duplex(1024);
        let mut socket = Socket::new(stream, Arc::clone(&open.connection));
        client.write_all(b"GET /?>>>> HTTP/1.1\r\n\r\n").await.unwrap();
        drop(client);
        let mut all_bytes = Vec::new();
        let mut small = [0; 24];
        loop {
            let read = socket.read(&mut small).await.unwrap();
            if read == 0 {
                break;
            }
            all_bytes.extend_from_slice(&small[..read]);
        }
        assert_eq!(all_bytes, b"GET /?%3E%3E%3E%3E HTTP/1.1\r\n\r\n");
    }
}
