//! Bodies of answers: whole in memory, or chunks that come while they are sent.
//!
//! A stream is a bounded channel: what makes the chunks waits for the client, so an answer of any size
//! holds a few chunks of memory. Who reads nothing for long enough is given up.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::coding::Encoder;
use crate::media::Coding;

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// All of it, or what is left of it.
    Whole(Bytes),
    /// Chunks under way.
    Stream(Box<StreamBody>),
}

/// Chunks of an answer on their way to the client.
pub struct StreamBody {
    chunks: mpsc::Receiver<Bytes>,
    shared: Arc<Shared>,
    encoder: Option<Encoder>,
    bytes: u64,
    on_end: Option<OnEnd>,
    /// Whether the last byte is to be a newline.
    wants_newline: bool,
    /// Whether the last byte so far is none.
    is_within_line: bool,
}

/// The side of a stream that makes the chunks. Dropped before [`StreamSender::finish`] (by a panic, say)
/// it breaks the stream: the client sees a body that broke off, never one that seems complete.
#[derive(Debug)]
pub struct StreamSender {
    chunks: mpsc::Sender<Bytes>,
    stall_max: Duration,
    shared: Arc<Shared>,
}

/// How a stream ended, told to whoever asked by [`StreamBody::on_end`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StreamEnd {
    /// Bytes handed on, as compressed.
    pub bytes: u64,
    /// Why it ended.
    pub reason: EndReason,
}

/// Why a stream ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EndReason {
    /// Everything was handed on.
    Complete,
    /// What made it failed: this happened.
    Broken(String),
    /// The client went away, or was given up.
    Dropped,
}

/// Nobody reads the stream any more: stop making it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the client has gone")]
pub struct Gone;

/// A body ended before it was complete; the connection ends with it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the answer broke off: {0}")]
pub struct BrokenOff(pub String);

type OnEnd = Box<dyn FnOnce(StreamEnd) + Send>;
type OnStall = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Shared {
    /// The chunks in the channel are the last.
    finished: AtomicBool,
    failure: Mutex<Option<String>>,
    on_stall: Mutex<Option<OnStall>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("finished", &self.finished).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for StreamBody {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StreamBody").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// A body in chunks, at most `chunks_max` of them waiting at once; a client that takes none of them for
/// `stall_max` is given up.
pub fn stream(chunks_max: usize, stall_max: Duration) -> (StreamSender, Body) {
    let (sender, receiver) = mpsc::channel(chunks_max.max(1));
    let shared = Arc::new(Shared::default());
    let body = StreamBody {
        chunks: receiver,
        shared: Arc::clone(&shared),
        encoder: None,
        bytes: 0,
        on_end: None,
        wants_newline: false,
        is_within_line: false,
    };
    (StreamSender { chunks: sender, stall_max, shared }, Body::Stream(Box::new(body)))
}

impl StreamSender {
    /// Hands on a chunk, waiting for room. Empty chunks are passed over.
    ///
    /// # Errors
    ///
    /// If the client has gone, or took nothing for too long.
    pub async fn send(&self, chunk: impl Into<Bytes>) -> Result<(), Gone> {
        let chunk = chunk.into();
        if chunk.is_empty() {
            return Ok(());
        }
        let permit = self.await_room(1).await?;
        drop(permit);
        // The one sender just saw room, so this does not wait.
        self.chunks.send(chunk).await.map_err(|_| Gone)
    }

    /// Ends the stream: what was sent is all of it. Waits until the client took it.
    ///
    /// # Errors
    ///
    /// If the client has gone, or took nothing for too long.
    pub async fn finish(self) -> Result<(), Gone> {
        for room in 1..=self.chunks.max_capacity() {
            self.await_room(room).await?;
        }
        self.shared.finished.store(true, Ordering::Release);
        Ok(())
    }

    /// Breaks the stream off behind the chunks sent so far.
    pub fn fail(self, reason: impl Into<String>) {
        *self.shared.failure.lock() = Some(reason.into());
    }

    async fn await_room(&self, room: usize) -> Result<mpsc::PermitIterator<'_, Bytes>, Gone> {
        if let Ok(permit) = self.chunks.try_reserve_many(room) {
            return Ok(permit);
        }
        match tokio::time::timeout(self.stall_max, self.chunks.reserve_many(room)).await {
            Ok(permit) => permit.map_err(|_| Gone),
            Err(_) => {
                let on_stall = self.shared.on_stall.lock().take();
                if let Some(on_stall) = on_stall {
                    on_stall();
                }
                Err(Gone)
            }
        }
    }
}

impl StreamBody {
    /// Compresses from here on, at the fastest level.
    ///
    /// # Errors
    ///
    /// If the library refuses.
    pub(crate) fn compress(&mut self, coding: Coding) -> std::io::Result<()> {
        self.encoder = Some(Encoder::new(coding)?);
        Ok(())
    }

    /// Has `told` called when the stream ends, however it ends.
    pub fn on_end(&mut self, told: impl FnOnce(StreamEnd) + Send + 'static) {
        self.on_end = Some(Box::new(told));
    }

    /// Has `told` called when the client took nothing for too long; it should end the connection.
    pub fn on_stall(&self, told: impl FnOnce() + Send + 'static) {
        *self.shared.on_stall.lock() = Some(Box::new(told));
    }

    /// Sees to it that the last byte is a newline.
    pub(crate) fn end_with_newline(&mut self) {
        self.wants_newline = true;
    }

    fn end(&mut self, reason: EndReason) {
        if let Some(told) = self.on_end.take() {
            told(StreamEnd { bytes: self.bytes, reason });
        }
    }

    fn hand_on(&mut self, chunk: Bytes) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.bytes += u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn break_off(&mut self, reason: String) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.encoder = None;
        self.end(EndReason::Broken(reason.clone()));
        Poll::Ready(Some(Err(BrokenOff(reason))))
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        loop {
            let chunk = ready!(self.chunks.poll_recv(context));
            if let Some(chunk) = &chunk {
                self.is_within_line = !chunk.ends_with(b"\n");
            }
            match (chunk, &mut self.encoder) {
                (Some(chunk), None) => return self.hand_on(chunk),
                (Some(chunk), Some(encoder)) => match encoder.encode(&chunk) {
                    // The coder keeps what it has until there is a block's worth.
                    Ok(packed) if packed.is_empty() => {}
                    Ok(packed) => return self.hand_on(packed),
                    Err(error) => return self.break_off(format!("it could not be compressed: {error}")),
                },
                (None, _) => return self.poll_rest(),
            }
        }
    }

    /// What follows the last chunk.
    fn poll_rest(&mut self) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if !self.shared.finished.load(Ordering::Acquire) {
            let failure = self.shared.failure.lock().take();
            return self.break_off(failure.unwrap_or_else(|| "what made it stopped".to_owned()));
        }
        if std::mem::take(&mut self.is_within_line) && self.wants_newline {
            match self.encoder.as_mut().map(|encoder| encoder.encode(b"\n")) {
                None => return self.hand_on(Bytes::from_static(b"\n")),
                Some(Ok(packed)) if packed.is_empty() => {}
                Some(Ok(packed)) => return self.hand_on(packed),
                Some(Err(error)) => return self.break_off(format!("it could not be compressed: {error}")),
            }
        }
        match self.encoder.take().map(Encoder::finish) {
            Some(Ok(rest)) if !rest.is_empty() => self.hand_on(rest),
            Some(Err(error)) => self.break_off(format!("it could not be compressed: {error}")),
            _ => {
                self.end(EndReason::Complete);
                Poll::Ready(None)
            }
        }
    }
}

impl Drop for StreamBody {
    fn drop(&mut self) {
        self.end(EndReason::Dropped);
    }
}

impl Body {
    /// Bytes known to come; of a stream none are.
    pub fn len_known(&self) -> u64 {
        match self {
            Self::Whole(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::Stream(_) => 0,
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl<B: Into<Bytes>> From<B> for Body {
    fn from(bytes: B) -> Self {
        Self::Whole(bytes.into())
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(stream) => stream.poll_chunk(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(_) => SizeHint::with_exact(self.len_known()),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests;
