//! Bodies of requests read piece by piece, unpacked as they come.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body;

use crate::Refusal;
use crate::body::content_coding;
use crate::coding::Decoder;

/// Limits on a body that is read piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// The most bytes, before and after they are unpacked.
    pub bytes_max: u64,
    /// The longest pause between two pieces.
    pub stall_max: Duration,
}

/// A request's body on its way in.
///
/// Invariant: holds at most one piece as it came and one as it is handed on, whatever the body's size.
pub struct RequestStream {
    source: UnsyncBoxBody<Bytes, String>,
    decoder: Option<Decoder>,
    /// Came and is not yet unpacked.
    packed: Bytes,
    ended: bool,
    /// Bytes that came, and bytes handed on.
    came: u64,
    given: u64,
    limits: StreamLimits,
}

impl std::fmt::Debug for RequestStream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RequestStream").field("given", &self.given).finish_non_exhaustive()
    }
}

impl RequestStream {
    /// A body whose coding `headers` name.
    ///
    /// # Errors
    ///
    /// `StreamTooLarge` by what `Content-Length` says; `BadEncoding` for an unknown coding.
    pub fn new<B>(headers: &HeaderMap, body: B, limits: StreamLimits) -> Result<Self, Refusal>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        if body.size_hint().lower() > limits.bytes_max {
            return Err(too_large(limits.bytes_max));
        }
        let decoder = content_coding(headers)?.map(Decoder::new).transpose();
        let decoder = decoder.map_err(|error| Refusal::BadEncoding(error.to_string()))?;
        let source = body.map_err(|error| error.to_string()).boxed_unsync();
        Ok(Self { source, decoder, packed: Bytes::new(), ended: false, came: 0, given: 0, limits })
    }

    /// A body that is here already, decoded.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        let limits = StreamLimits { bytes_max: u64::MAX, stall_max: Duration::MAX };
        let source = http_body_util::Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
        Self { source, decoder: None, packed: Bytes::new(), ended: false, came: 0, given: 0, limits }
    }

    /// The next piece, never empty and of at most a few hundred KiB where it was packed; `None` at the end.
    ///
    /// # Errors
    ///
    /// `BodyTooLarge`, `StreamTooLarge`, `BrokenBody` for a body that broke off or is not in its coding, `Stalled`. The body
    /// cannot be read on.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            if self.packed.is_empty() && !self.ended {
                self.receive().await?;
            }
            let piece = match &mut self.decoder {
                None => std::mem::take(&mut self.packed),
                Some(_) if self.came == 0 => Bytes::new(),
                Some(decoder) if self.packed.is_empty() && self.ended => {
                    decoder.finish().map_err(|error| bad_coding(&error))?.into()
                }
                Some(decoder) => decoder.decode(&mut self.packed).map_err(|error| bad_coding(&error))?.into(),
            };
            if self.decoder.is_some() && !self.packed.is_empty() {
                // More is unpacked already, perhaps much more than was received: other tasks may run, and the deadline may end this.
                tokio::task::yield_now().await;
            }
            if !piece.is_empty() {
                self.given = self.given.saturating_add(count(&piece));
                if self.given > self.limits.bytes_max {
                    return Err(too_large(self.limits.bytes_max));
                }
                return Ok(Some(piece));
            }
            if self.ended && self.packed.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Everything that is left, if it is at most `bytes_max` bytes; no copy if it comes in one piece.
    ///
    /// # Errors
    ///
    /// As [`RequestStream::next`].
    pub async fn read_whole(mut self, bytes_max: usize) -> Result<Bytes, Refusal> {
        let mut first = self.next().await?.unwrap_or_default();
        let mut joined = BytesMut::new();
        while first.len() + joined.len() <= bytes_max {
            let Some(piece) = self.next().await? else {
                return Ok(if joined.is_empty() { first } else { joined.freeze() });
            };
            if joined.is_empty() {
                joined.extend_from_slice(&std::mem::take(&mut first));
            }
            joined.extend_from_slice(&piece);
        }
        Err(Refusal::BodyTooLarge(bytes_max))
    }

    /// Reads on to the end, at most `bytes_max` bytes, and throws them away: a client that is refused while it
    /// still sends reads the answer only if its connection is not cut off under it.
    pub async fn drain(mut self, bytes_max: u64) {
        let enough = self.came.saturating_add(bytes_max);
        while !self.ended && self.came < enough && self.receive().await.is_ok() {}
    }

    async fn receive(&mut self) -> Result<(), Refusal> {
        let frame = tokio::time::timeout(self.limits.stall_max, self.source.frame()).await;
        let frame = frame.map_err(|_| {
            Refusal::Stalled(u64::try_from(self.limits.stall_max.as_millis()).unwrap_or(u64::MAX))
        })?;
        match frame {
            None => self.ended = true,
            Some(Err(error)) => return Err(Refusal::BrokenBody(format!("it broke off: {error}"))),
            Some(Ok(frame)) => {
                // Trailers say nothing we need.
                self.packed = frame.into_data().unwrap_or_default();
                self.came = self.came.saturating_add(count(&self.packed));
                if self.came > self.limits.bytes_max {
                    return Err(too_large(self.limits.bytes_max));
                }
            }
        }
        Ok(())
    }
}

fn count(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn too_large(bytes_max: u64) -> Refusal {
    Refusal::StreamTooLarge(usize::try_from(bytes_max).unwrap_or(usize::MAX))
}

fn bad_coding(error: &std::io::Error) -> Refusal {
    Refusal::BrokenBody(format!("it is not in its content coding: {error}"))
}

#[cfg(test)]
mod tests;
