//! Bodies of requests: read whole within a limit, and decompressed within the same limit.

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use hyper::body::Body;

use crate::coding::Decoder;
use crate::media::Coding;
use crate::{Refusal, Share};

/// Memory that is reserved for a body, for each of its bytes: for itself, and for what is made of it.
pub const BODY_BYTES_HELD: usize = 2;

/// Reads a body of at most `bytes_max` bytes, compressed or not, and decompresses it (`gzip`, `zstd`)
/// to at most as many: a small body that would unpack to a huge one is refused. Its memory is reserved as it comes, however
/// long it says to be.
///
/// Cost: nothing for requests without a body; no copy if the body came in one piece.
///
/// # Errors
///
/// `BodyTooLarge`, judged by `Content-Length` before anything is read and by the bytes that come;
/// `BadEncoding` for an unknown coding; `BrokenBody` for bytes that are not in it, and for a body that broke off;
/// `MemoryFull`.
pub async fn read_body<B>(
    headers: &HeaderMap,
    body: B,
    bytes_max: usize,
    share: &mut Share,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let coding = content_coding(headers)?;
    let bytes = read_plain(body, bytes_max, share).await?;
    match coding {
        Some(coding) if !bytes.is_empty() => Box::pin(decompress(coding, bytes, bytes_max, share)).await,
        _ => Ok(bytes),
    }
}

async fn read_plain<B>(mut body: B, bytes_max: usize, share: &mut Share) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let hint = body.size_hint();
    let declared = hint.exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if usize::try_from(hint.lower()).unwrap_or(usize::MAX) > bytes_max {
        return Err(Refusal::BodyTooLarge(bytes_max));
    }
    let mut first = Bytes::new();
    let mut whole: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Refusal::BrokenBody(format!("it broke off: {error}")))?;
        // Trailers say nothing we need.
        let Ok(data) = frame.into_data() else { continue };
        let came = first.len() + whole.len() + data.len();
        if came > bytes_max {
            return Err(Refusal::BodyTooLarge(bytes_max));
        }
        if first.is_empty() && whole.is_empty() {
            first = data;
            share.grow(first.len().saturating_mul(BODY_BYTES_HELD)).await?;
            continue;
        }
        if came > whole.capacity() {
            // Twice as much each time, but never more than is to come: what a head declares is not believed at once.
            let to_come = declared.map_or(bytes_max, |declared| declared.max(came));
            let capacity = came.saturating_mul(2).min(to_come);
            share.grow(capacity.saturating_mul(BODY_BYTES_HELD)).await?;
            whole.reserve_exact(capacity - whole.len());
        }
        if whole.is_empty() {
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.extend_from_slice(&data);
    }
    Ok(if whole.is_empty() { first } else { whole.into() })
}

/// The coding that a body's head names; `None`: as it is.
pub(crate) fn content_coding(headers: &HeaderMap) -> Result<Option<Coding>, Refusal> {
    let Some(coding) = headers.get(header::CONTENT_ENCODING) else { return Ok(None) };
    let name = coding.to_str().unwrap_or("of unreadable name");
    match name.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(None),
        "gzip" | "x-gzip" => Ok(Some(Coding::Gzip)),
        "zstd" => Ok(Some(Coding::Zstd)),
        other => Err(Refusal::BadEncoding(format!(
            "content coding {other:?} is not known, only gzip, zstd and identity"
        ))),
    }
}

/// Unpacks piece by piece, so that other requests of the same thread can run, and a deadline can end it, however much
/// a few bytes unpack to.
async fn decompress(
    coding: Coding,
    mut packed: Bytes,
    bytes_max: usize,
    share: &mut Share,
) -> Result<Bytes, Refusal> {
    let broken = |error: std::io::Error| Refusal::BrokenBody(format!("it is not {}: {error}", coding.name()));
    let mut decoder = Decoder::new(coding).map_err(broken)?;
    let (packed_bytes, mut plain) = (packed.len(), Vec::new());
    loop {
        let is_last = packed.is_empty();
        let piece = if is_last { decoder.finish() } else { decoder.decode(&mut packed) };
        let piece = piece.map_err(broken)?;
        if plain.len() + piece.len() > bytes_max {
            return Err(Refusal::BodyTooLarge(bytes_max));
        }
        let came = plain.len() + piece.len();
        if came > plain.capacity() {
            let capacity = came.saturating_mul(2).min(bytes_max);
            // Nothing is made of the packed bytes.
            share.grow(capacity.saturating_mul(BODY_BYTES_HELD).saturating_add(packed_bytes)).await?;
            plain.reserve_exact(capacity - plain.len());
        }
        plain.extend_from_slice(&piece);
        if is_last {
            return Ok(plain.into());
        }
        if !packed.is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests;
