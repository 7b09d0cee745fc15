//! One HTTP/1.1 connection of one user: as cheap as it gets, so that two cores shared with the
//! server measure the server. No pool, no retry, no TLS, no redirect.

mod framing;
mod stream;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use framing::{Framing, Head};

/// The most bytes one answer may have, its head included.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How much room a read offers at least.
const READ_BYTES: usize = 16 * 1024;
/// The buffer of an answer that is handed over in parts.
pub const STREAM_BYTES: usize = 256 * 1024;

/// Why a call got no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No connection came about.
    #[error("cannot connect: {0}")]
    Connect(std::io::Error),
    /// The request could not be written.
    #[error("cannot send the request: {0}")]
    Send(std::io::Error),
    /// The socket failed while the answer was read.
    #[error("cannot read the answer: {0}")]
    Receive(std::io::Error),
    /// The peer closed the connection before the first byte of an answer.
    #[error("the server closed the connection before it answered")]
    Closed,
    /// The peer closed the connection within an answer.
    #[error("the server closed the connection within an answer, after {0} bytes")]
    Truncated(usize),
    /// No whole answer within the time limit.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The bytes received are not HTTP/1.1.
    #[error("not an HTTP/1.1 answer: {0}")]
    Malformed(String),
    /// The answer is longer than [`ANSWER_BYTES_MAX`].
    #[error("the answer is longer than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    /// Bytes arrived that answer no request.
    #[error("{0} bytes arrived that answer no request")]
    Unasked(usize),
}

impl CallError {
    /// One word for the table of errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Send(_) => "send",
            Self::Receive(_) => "receive",
            Self::Closed => "closed",
            Self::Truncated(_) => "truncated",
            Self::Timeout(_) => "timeout",
            Self::Malformed(_) => "malformed",
            Self::TooLarge => "too large",
            Self::Unasked(_) => "unasked bytes",
        }
    }
}

/// A whole answer; its body lies in the buffer of its connection, chunks already joined.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The body without its framing.
    pub body: &'a [u8],
}

/// A keep-alive connection. One buffer for life: no allocation per call once it has grown.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Bytes read; those in `consumed..filled` are still unread by us.
    inbox: Vec<u8>,
    consumed: usize,
    filled: usize,
    timeout: Duration,
    begun: Instant,
    /// Registered once and pushed forward only when it fires: a timer that costs nothing per call.
    alarm: Pin<Box<Sleep>>,
    /// The peer said, or showed, that it closes after the current answer.
    closing: bool,
}

impl Connection {
    /// Connects to `address`; every later call on it must be over within `timeout`.
    ///
    /// # Errors
    ///
    /// [`CallError::Connect`], also when `timeout` passes first.
    pub async fn open(address: SocketAddr, timeout: Duration) -> Result<Self, CallError> {
        let stream = tokio::time::timeout(timeout, TcpStream::connect(address))
            .await
            .map_err(|_| CallError::Connect(std::io::ErrorKind::TimedOut.into()))?
            .map_err(CallError::Connect)?;
        stream.set_nodelay(true).map_err(CallError::Connect)?;
        let begun = Instant::now();
        Ok(Self {
            stream,
            inbox: vec![0; READ_BYTES],
            consumed: 0,
            filled: 0,
            timeout,
            begun,
            alarm: Box::pin(sleep_until(begun + timeout)),
            closing: false,
        })
    }

    /// Whether another call may be made on this connection.
    pub fn is_reusable(&self) -> bool {
        !self.closing
    }

    /// Sends `request` (whole: head and body) and reads its answer.
    ///
    /// Cost: one write and, for answers of usual size, one read.
    ///
    /// # Errors
    ///
    /// Any [`CallError`]; the connection must then be dropped.
    pub async fn call(&mut self, request: &[u8], now: std::time::Instant) -> Result<Answer<'_>, CallError> {
        if self.filled > self.consumed {
            return Err(CallError::Unasked(self.filled - self.consumed));
        }
        self.send(request, now).await?;
        self.receive().await
    }

    /// Sends `head` and `body`, and hands the body of an answer of a status that `wanted` accepts to `sink`, part by
    /// part; other answers come back whole. The number is that of the bytes handed over.
    ///
    /// Cost: as many reads as the kernel has portions; the buffer stays at [`STREAM_BYTES`].
    ///
    /// # Errors
    ///
    /// Any [`CallError`]; the connection must then be dropped.
    pub async fn call_apart(
        &mut self,
        (head, body): (&[u8], &[u8]),
        now: std::time::Instant,
        wanted: &(dyn Fn(u16) -> bool + Sync),
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<(Answer<'_>, u64), CallError> {
        if self.filled > self.consumed {
            return Err(CallError::Unasked(self.filled - self.consumed));
        }
        self.send(head, now).await?;
        self.stream.write_all(body).await.map_err(CallError::Send)?;
        let head = self.head().await?;
        if !wanted(head.status) {
            return Ok((self.rest(&head).await?, 0));
        }
        let bytes = self.stream_body(&head, sink).await?;
        self.closing |= head.closes;
        Ok((Answer { status: head.status, body: &[] }, bytes))
    }

    /// Writes `request`, which may be several pipelined ones.
    ///
    /// # Errors
    ///
    /// [`CallError::Send`]
    pub async fn send(&mut self, request: &[u8], now: std::time::Instant) -> Result<(), CallError> {
        self.begun = now.into();
        self.stream.write_all(request).await.map_err(CallError::Send)
    }

    /// Reads the next answer; interim (1xx) answers are skipped.
    ///
    /// # Errors
    ///
    /// Any [`CallError`] but `Connect` and `Send`; the connection must then be dropped.
    pub async fn receive(&mut self) -> Result<Answer<'_>, CallError> {
        let head = self.head().await?;
        self.rest(&head).await
    }

    /// Reads the head of the next answer that is not interim.
    async fn head(&mut self) -> Result<Head, CallError> {
        if self.consumed == self.filled {
            (self.consumed, self.filled) = (0, 0);
        }
        let head = loop {
            match framing::head(self.unread())? {
                Some(head) if head.is_interim() => self.consumed += head.bytes,
                Some(head) => break head,
                None if self.fill().await? == 0 => return Err(self.ended()),
                None => {}
            }
        };
        self.consumed += head.bytes;
        Ok(head)
    }

    /// Reads the body behind `head`.
    async fn rest(&mut self, head: &Head) -> Result<Answer<'_>, CallError> {
        let body = self.body(head).await?;
        self.closing |= head.closes;
        Ok(Answer { status: head.status, body: self.inbox.get(body).expect("a body that was read") })
    }

    fn unread(&self) -> &[u8] {
        self.inbox.get(self.consumed..self.filled).expect("consumed <= filled <= inbox")
    }

    fn ended(&self) -> CallError {
        match self.filled - self.consumed {
            0 => CallError::Closed,
            some => CallError::Truncated(some),
        }
    }

    /// Reads what the head announced; returns where in the buffer the body lies.
    async fn body(&mut self, head: &Head) -> Result<Range<usize>, CallError> {
        let start = self.consumed;
        match head.framing {
            Framing::Length(length) => {
                let end = start.checked_add(length).ok_or(CallError::TooLarge)?;
                self.fill_until(end).await?;
                self.consumed = end;
                Ok(start..end)
            }
            Framing::Chunked => self.chunks(start).await,
            Framing::UntilClose => {
                while self.fill().await? > 0 {}
                self.closing = true;
                self.consumed = self.filled;
                Ok(start..self.filled)
            }
        }
    }

    /// Joins chunks in place: each is moved down behind the one before it.
    async fn chunks(&mut self, start: usize) -> Result<Range<usize>, CallError> {
        let mut end = start;
        loop {
            let Some((line, size)) = framing::chunk_size(self.unread())? else {
                self.fill_more().await?;
                continue;
            };
            self.consumed += line;
            if size == 0 {
                self.trailers().await?;
                return Ok(start..end);
            }
            let data = self.consumed;
            let data_end = data.checked_add(size).ok_or(CallError::TooLarge)?;
            let next = data_end.checked_add(2).ok_or(CallError::TooLarge)?;
            self.fill_until(next).await?;
            if self.inbox.get(data_end..next) != Some(b"\r\n") {
                return Err(CallError::Malformed("a chunk is longer than it said".to_owned()));
            }
            self.inbox.copy_within(data..data_end, end);
            end += size;
            self.consumed = next;
        }
    }

    async fn trailers(&mut self) -> Result<(), CallError> {
        loop {
            match framing::line(self.unread())? {
                Some(2) => {
                    self.consumed += 2;
                    return Ok(());
                }
                Some(bytes) => self.consumed += bytes,
                None => self.fill_more().await?,
            }
        }
    }

    async fn fill_until(&mut self, end: usize) -> Result<(), CallError> {
        if end > ANSWER_BYTES_MAX {
            return Err(CallError::TooLarge);
        }
        if self.inbox.len() < end {
            self.inbox.resize(end + READ_BYTES, 0);
        }
        while self.filled < end {
            self.fill_more().await?;
        }
        Ok(())
    }

    async fn fill_more(&mut self) -> Result<(), CallError> {
        match self.fill().await? {
            0 => Err(CallError::Truncated(self.filled)),
            _ => Ok(()),
        }
    }

    /// Reads once; 0 is the end of the stream.
    async fn fill(&mut self) -> Result<usize, CallError> {
        if self.filled >= ANSWER_BYTES_MAX {
            return Err(CallError::TooLarge);
        }
        if self.inbox.len() < self.filled + READ_BYTES / 4 {
            self.inbox.resize(self.filled + READ_BYTES, 0);
        }
        let bytes = poll_fn(|ctx| self.poll_fill(ctx)).await?;
        self.filled += bytes;
        Ok(bytes)
    }

    fn poll_fill(&mut self, ctx: &mut Context<'_>) -> Poll<Result<usize, CallError>> {
        let mut room = ReadBuf::new(self.inbox.get_mut(self.filled..).expect("filled <= inbox"));
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(ctx, &mut room) {
            return Poll::Ready(read.map(|()| room.filled().len()).map_err(CallError::Receive));
        }
        while self.alarm.as_mut().poll(ctx).is_ready() {
            let due = self.begun + self.timeout;
            if due <= Instant::now() {
                return Poll::Ready(Err(CallError::Timeout(self.timeout)));
            }
            self.alarm.as_mut().reset(due);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
