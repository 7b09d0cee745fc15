//! Bodies of answers: whole in memory, or chunks that come while they are sent.
//!
//! A stream is a bounded channel: what makes the chunks waits for the client, so an answer of any size
//! holds a few chunks of memory. Who reads nothing for long enough is given up. A large answer that is whole in memory is
//! handed out in pieces ([`Body::in_pieces`]), so that its end can be observed in the same way.
//!
//! Both may be limited in bytes and time. What is cut is never taken for whole: its connection breaks off.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Sleep;

use crate::Reservation;
use crate::coding::Encoder;
use crate::media::Coding;

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// All of it, or what is left of it.
    Whole(Bytes),
    /// Chunks under way, or pieces of what is whole.
    Stream(Box<StreamBody>),
}

/// What a piece of an answer that is whole in memory holds.
const PIECE_BYTES: usize = 128 << 10;
/// Memory that a stream holds at the most: its chunks, and what is at work on the next.
pub const STREAM_BYTES_HELD: usize = 2 << 20;

/// Chunks of an answer on their way to the client.
pub struct StreamBody {
    source: Source,
    shared: Arc<Shared>,
    encoder: Option<Encoder>,
    bytes: u64,
    limits: Option<Limits>,
    on_end: Option<OnEnd>,
    /// Whether the last byte is to be a newline.
    wants_newline: bool,
    /// Whether the last byte so far is none.
    is_within_line: bool,
}

/// Where chunks come from.
enum Source {
    /// Made while they are sent.
    Chunks(mpsc::Receiver<Bytes>),
    /// Whole; and who looks whether pieces of it are taken.
    Whole(Bytes, Option<Watch>),
}

/// Looks whether pieces are taken, until it is dropped.
struct Watch {
    taken: Arc<AtomicU64>,
    task: AbortHandle,
}

/// How much of an answer is sent, and how long.
struct Limits {
    bytes_max: u64,
    until: Pin<Box<Sleep>>,
}

/// The side of a stream that makes the chunks. Dropped before [`StreamSender::finish`] (by a panic, say)
/// it breaks the stream: the client sees a body that broke off, never one that seems complete.
#[derive(Debug)]
pub struct StreamSender {
    chunks: mpsc::Sender<Bytes>,
    stall_max: Duration,
    shared: Arc<Shared>,
}

/// How a stream ended: the argument of the callback of [`StreamBody::on_end`].
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
    /// It went beyond the limit of this name.
    Cut(&'static str),
    /// The client went away, or was given up.
    Dropped,
}

/// The reader of the stream is gone: stop producing.
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
    let body = StreamBody::new(Source::Chunks(receiver), Arc::clone(&shared));
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
    fn new(source: Source, shared: Arc<Shared>) -> Self {
        Self {
            source,
            shared,
            encoder: None,
            bytes: 0,
            limits: None,
            on_end: None,
            wants_newline: false,
            is_within_line: false,
        }
    }

    /// Breaks off beyond so many bytes as they are sent, or when it takes longer from here on.
    pub fn limit(&mut self, bytes_max: u64, duration_max: Duration) {
        self.limits = Some(Limits { bytes_max, until: Box::pin(tokio::time::sleep(duration_max)) });
    }

    /// Compresses from here on, at the fastest level.
    ///
    /// # Errors
    ///
    /// If the library refuses.
    pub(crate) fn compress(&mut self, coding: Coding) -> std::io::Result<()> {
        self.encoder = Some(Encoder::new(coding)?);
        Ok(())
    }

    /// Calls `callback` when the stream ends, however it ends.
    pub fn on_end(&mut self, callback: impl FnOnce(StreamEnd) + Send + 'static) {
        self.on_end = Some(Box::new(callback));
    }

    /// Calls `callback` when the client took nothing for too long; it should end the connection.
    pub fn on_stall(&self, callback: impl FnOnce() + Send + 'static) {
        *self.shared.on_stall.lock() = Some(Box::new(callback));
    }

    /// Makes a newline the last byte.
    pub(crate) fn end_with_newline(&mut self) {
        self.wants_newline = true;
    }

    /// The length, where the answer is whole.
    fn len_known(&self) -> Option<u64> {
        match &self.source {
            Source::Whole(bytes, _) => u64::try_from(bytes.len()).ok(),
            Source::Chunks(_) => None,
        }
    }

    /// Whether an answer that is whole was handed on to its last byte: who knows its length asks for no more.
    fn is_handed_on(&self) -> bool {
        let is_empty = matches!(&self.source, Source::Whole(bytes, _) if bytes.is_empty());
        is_empty && self.encoder.is_none() && !(self.wants_newline && self.is_within_line)
    }

    fn end(&mut self, reason: EndReason) {
        if let Some(told) = self.on_end.take() {
            told(StreamEnd { bytes: self.bytes, reason });
        }
    }

    fn hand_on(&mut self, chunk: Bytes) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.bytes = self.bytes.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if self.limits.as_ref().is_some_and(|limits| self.bytes > limits.bytes_max) {
            return self.cut("answer_bytes_max");
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn break_off(&mut self, reason: String) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.encoder = None;
        self.end(EndReason::Broken(reason.clone()));
        Poll::Ready(Some(Err(BrokenOff(reason))))
    }

    fn cut(&mut self, limit: &'static str) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.end(EndReason::Cut(limit));
        Poll::Ready(Some(Err(BrokenOff(format!("it went beyond {limit}")))))
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if let Some(limits) = &mut self.limits
            && limits.until.as_mut().poll(context).is_ready()
        {
            return self.cut("answer_duration_max");
        }
        loop {
            let chunk = match &mut self.source {
                Source::Chunks(chunks) => ready!(chunks.poll_recv(context)),
                Source::Whole(bytes, watch) => {
                    if let Some(watch) = watch {
                        watch.taken.fetch_add(1, Ordering::Relaxed);
                    }
                    let piece = bytes.split_to(bytes.len().min(PIECE_BYTES));
                    Some(piece).filter(|piece| !piece.is_empty())
                }
            };
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
        let is_whole = matches!(self.source, Source::Whole(..));
        if !is_whole && !self.shared.finished.load(Ordering::Acquire) {
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
        self.end(if self.is_handed_on() { EndReason::Complete } else { EndReason::Dropped });
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whole bytes, and what they hold of the budget.
struct Reserved {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Body {
    /// A large answer that is whole in memory, handed out piece by piece: a client that takes none for `stall_max` is given
    /// up. It holds its reservation until the last piece has been sent.
    pub fn in_pieces(bytes: Bytes, reservation: Reservation, stall_max: Duration) -> Self {
        let bytes = Bytes::from_owner(Reserved { bytes, _reservation: reservation });
        let (shared, taken) = (Arc::new(Shared::default()), Arc::new(AtomicU64::new(0)));
        let task = tokio::spawn(watch(Arc::clone(&shared), Arc::clone(&taken), stall_max)).abort_handle();
        let source = Source::Whole(bytes, Some(Watch { taken, task }));
        Self::Stream(Box::new(StreamBody::new(source, shared)))
    }

    /// Bytes known to come; of a stream none are.
    pub fn len_known(&self) -> u64 {
        match self {
            Self::Whole(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::Stream(stream) => stream.len_known().unwrap_or(0),
        }
    }
}

/// Calls back when no piece was taken for `stall_max`.
async fn watch(shared: Arc<Shared>, taken: Arc<AtomicU64>, stall_max: Duration) {
    let mut before = taken.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(stall_max).await;
        let now = taken.load(Ordering::Relaxed);
        if now == before {
            let on_stall = shared.on_stall.lock().take();
            return on_stall.into_iter().for_each(|callback| callback());
        }
        before = now;
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
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Stream(stream) => stream.is_handed_on(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(_) => SizeHint::with_exact(self.len_known()),
            Self::Stream(stream) => stream.len_known().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

#[cfg(test)]
mod tests;
