//! Bodies of requests: read whole within a limit, and decompressed within the same limit.

use std::io::Read;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use hyper::body::Body;

use crate::Refusal;
use crate::coding::ZSTD_WINDOW_LOG_MAX;
use crate::media::Coding;

/// From this size on decompressing takes long enough to disturb other requests of the same thread.
const INLINE_BYTES_MAX: usize = 32 * 1024;

/// Reads a body of at most `bytes_max` bytes, compressed or not, and decompresses it (`gzip`, `zstd`)
/// to at most as many: a small body that would unpack to a huge one is refused.
///
/// Cost: nothing for requests without a body; no copy if the body came in one piece.
///
/// # Errors
///
/// `BodyTooLarge`, judged by `Content-Length` before anything is read and by the bytes that come;
/// `BadEncoding` for an unknown coding, for bytes that are not in it, and for a body that broke off.
pub async fn read_body<B>(headers: &HeaderMap, body: B, bytes_max: usize) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let coding = content_coding(headers)?;
    let bytes = read_plain(body, bytes_max).await?;
    match coding {
        Some(coding) if !bytes.is_empty() => decompress(coding, bytes, bytes_max).await,
        _ => Ok(bytes),
    }
}

async fn read_plain<B>(mut body: B, bytes_max: usize) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > bytes_max {
        return Err(Refusal::BodyTooLarge(bytes_max));
    }
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Refusal::BadEncoding(format!("it broke off: {error}")))?;
        // Trailers say nothing we need.
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + rest.len() + data.len() > bytes_max {
            return Err(Refusal::BodyTooLarge(bytes_max));
        }
        if first.is_empty() && rest.is_empty() {
            first = data;
            continue;
        }
        if rest.is_empty() {
            rest.reserve(declared.max(first.len() + data.len()));
            rest.extend_from_slice(&std::mem::take(&mut first));
        }
        rest.extend_from_slice(&data);
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
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

async fn decompress(coding: Coding, packed: Bytes, bytes_max: usize) -> Result<Bytes, Refusal> {
    if packed.len() <= INLINE_BYTES_MAX {
        return decompress_bytes(coding, &packed, bytes_max);
    }
    let task = tokio::task::spawn_blocking(move || decompress_bytes(coding, &packed, bytes_max));
    task.await.unwrap_or(Err(Refusal::Internal))
}

fn decompress_bytes(coding: Coding, packed: &[u8], bytes_max: usize) -> Result<Bytes, Refusal> {
    match coding {
        Coding::Gzip => unpack(flate2::read::MultiGzDecoder::new(packed), "gzip", packed.len(), bytes_max),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)
                .map_err(|error| Refusal::BadEncoding(format!("zstd: {error}")))?;
            decoder
                .window_log_max(ZSTD_WINDOW_LOG_MAX)
                .map_err(|error| Refusal::BadEncoding(format!("zstd: {error}")))?;
            unpack(decoder, "zstd", packed.len(), bytes_max)
        }
    }
}

fn unpack(reader: impl Read, coding: &str, packed_len: usize, bytes_max: usize) -> Result<Bytes, Refusal> {
    let mut plain = Vec::with_capacity(packed_len.saturating_mul(4).min(bytes_max));
    // One byte more than allowed tells "too large" from "just fits".
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.take(limit).read_to_end(&mut plain);
    if plain.len() > bytes_max {
        return Err(Refusal::BodyTooLarge(bytes_max));
    }
    read.map_err(|error| Refusal::BadEncoding(format!("it is not {coding}: {error}")))?;
    Ok(plain.into())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io::Write as _;

    use futures_util::stream;
    use http::HeaderValue;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    use super::*;

    fn headers(coding: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(coding) = coding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        headers
    }

    async fn check(
        coding: Option<&'static str>,
        bytes: Vec<u8>,
        max: usize,
        expected: Result<&[u8], Refusal>,
    ) {
        let body = Full::new(Bytes::from(bytes));
        let read = read_body(&headers(coding), body, max).await;
        assert_eq!(read.as_deref().map_err(Clone::clone), expected);
    }

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    #[tokio::test]
    async fn bodies_are_read_up_to_the_limit() {
        check(None, vec![], 0, Ok(b"")).await;
        check(None, b"abc".to_vec(), 3, Ok(b"abc")).await;
        check(None, b"abcd".to_vec(), 3, Err(Refusal::BodyTooLarge(3))).await;
        check(Some("identity"), b"abc".to_vec(), 3, Ok(b"abc")).await;
    }

    #[tokio::test]
    async fn pieces_are_counted_and_joined() {
        let pieces = |texts: &[&'static str]| {
            let frames: Vec<_> = texts
                .iter()
                .map(|text| Ok::<_, Infallible>(Frame::data(Bytes::from_static(text.as_bytes()))))
                .collect();
            StreamBody::new(stream::iter(frames))
        };
        let read = read_body(&HeaderMap::new(), pieces(&["ab", "", "c", "def"]), 6).await;
        assert_eq!(read.as_deref(), Ok(b"abcdef".as_slice()));
        let read = read_body(&HeaderMap::new(), pieces(&["ab", "c", "def"]), 5).await;
        assert_eq!(read, Err(Refusal::BodyTooLarge(5)));
    }

    #[tokio::test]
    async fn compressed_bodies_are_unpacked() {
        let plain = b"hello hello hello hello hello hello".repeat(4000);
        check(Some("gzip"), gzip(&plain), plain.len(), Ok(&plain)).await;
        check(Some("X-GZip"), gzip(&plain), plain.len(), Ok(&plain)).await;
        let packed = zstd::bulk::compress(&plain, 3).unwrap();
        check(Some("zstd"), packed, plain.len(), Ok(&plain)).await;
        let large: Vec<u8> =
            (0..200_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        check(Some("gzip"), gzip(&large), 1_000_000, Ok(&large)).await;
    }

    #[tokio::test]
    async fn bombs_are_refused() {
        let plain = vec![0; 10_000_000];
        check(Some("gzip"), gzip(&plain), 100_000, Err(Refusal::BodyTooLarge(100_000))).await;
        let packed = zstd::bulk::compress(&plain, 3).unwrap();
        check(Some("zstd"), packed, 100_000, Err(Refusal::BodyTooLarge(100_000))).await;
    }

    #[tokio::test]
    async fn bytes_in_another_coding_are_refused() {
        let mut cut = gzip(b"hello hello hello");
        cut.truncate(cut.len() - 9);
        for (coding, bytes) in [("gzip", b"plain".to_vec()), ("zstd", b"plain".to_vec()), ("gzip", cut)] {
            let read = read_body(&headers(Some(coding)), Full::new(Bytes::from(bytes)), 100).await;
            assert!(matches!(read, Err(Refusal::BadEncoding(_))), "{read:?}");
        }
        let read = read_body(&headers(Some("br")), Full::new(Bytes::from_static(b"x")), 100).await;
        let Err(Refusal::BadEncoding(detail)) = read else { panic!("{read:?}") };
        assert!(detail.contains("br"), "{detail}");
    }
}
