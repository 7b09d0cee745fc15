//! Bodies of `multipart/form-data` (RFC 7578), read part by part as they come.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::try_unfold;
use http::{HeaderMap, header};
use multer::{Constraints, Multipart, SizeLimit};
use tokio::sync::Mutex;

use crate::frame::DRAIN_BYTES_MAX;
use crate::{Refusal, RequestStream, Share};

/// Bytes that the reader of parts gets at once, unless the body ends: with each piece it looks through the head of a part from its beginning.
const PIECE_BYTES: usize = 256 * 1024;

/// Limits on a form.
#[derive(Clone, Copy, Debug)]
pub struct FormLimits {
    /// The most parts.
    pub parts_max: usize,
    /// The most bytes of all parts together, their heads included.
    pub bytes_max: u64,
}

/// One part of a form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FormPart {
    /// The name of its field; empty if it has none.
    pub name: String,
    /// The name of the file that it was, if it was one.
    pub file_name: Option<String>,
    /// Its bytes.
    pub bytes: Bytes,
}

/// Why a form cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FormError {
    /// The body is not said to be a form: what it is said to be.
    #[error("the media type of the body must be multipart/form-data with a boundary, not {0:?}")]
    NotAForm(String),
    /// It has more parts than this.
    #[error("the form has more than {0} parts")]
    TooManyParts(usize),
    /// It is larger than so many bytes.
    #[error("the form is larger than {0} bytes")]
    TooLarge(u64),
    /// It is not in the form that its media type says.
    #[error("the form cannot be read: {0}")]
    Malformed(String),
    /// The body could not be read on.
    #[error("{0}")]
    Refused(Refusal),
}

/// What ended the body, on its way through the reader of parts.
#[derive(Debug)]
struct Ended(Refusal);

impl std::fmt::Display for Ended {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for Ended {}

/// The parts of a form, in their order. Their memory is reserved as they come. Of a form that is refused, some is read on
/// ([`DRAIN_BYTES_MAX`]), so that the client comes to read the answer.
///
/// Cost: one pass over the body; each part is copied once if it comes in more than one piece.
///
/// # Errors
///
/// [`FormError`].
pub async fn read_form(
    headers: &HeaderMap,
    body: RequestStream,
    limits: FormLimits,
    share: &mut Share,
) -> Result<Vec<FormPart>, FormError> {
    let body = Arc::new(Mutex::new(body));
    let parts = read_parts(headers, Arc::clone(&body), limits, share).await;
    if parts.is_err()
        && let Ok(body) = Arc::try_unwrap(body)
    {
        body.into_inner().drain(DRAIN_BYTES_MAX).await;
    }
    parts
}

async fn read_parts(
    headers: &HeaderMap,
    body: Arc<Mutex<RequestStream>>,
    limits: FormLimits,
    share: &mut Share,
) -> Result<Vec<FormPart>, FormError> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or("");
    let boundary = multer::parse_boundary(media).map_err(|_| FormError::NotAForm(media.to_owned()))?;
    let pieces = try_unfold(body, async |body| {
        let piece = large_piece(&mut *body.lock().await).await.map_err(Ended)?;
        Ok::<_, Ended>(piece.map(|piece| (piece, body)))
    });
    let size = SizeLimit::new().whole_stream(limits.bytes_max);
    let mut form = Multipart::with_constraints(pieces, boundary, Constraints::new().size_limit(size));
    let (mut parts, mut held) = (Vec::new(), 0_usize);
    while let Some(mut field) = form.next_field().await.map_err(worded)? {
        if parts.len() == limits.parts_max {
            return Err(FormError::TooManyParts(limits.parts_max));
        }
        let (mut first, mut joined) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = field.chunk().await.map_err(worded)? {
            held = held.saturating_add(piece.len());
            share.grow(held).await.map_err(|full| FormError::Refused(full.into()))?;
            if first.is_empty() && joined.is_empty() {
                first = piece;
                continue;
            }
            if joined.is_empty() {
                joined.extend_from_slice(&std::mem::take(&mut first));
            }
            joined.extend_from_slice(&piece);
        }
        parts.push(FormPart {
            name: field.name().unwrap_or("").to_owned(),
            file_name: field.file_name().map(str::to_owned),
            bytes: if joined.is_empty() { first } else { joined.freeze() },
        });
    }
    Ok(parts)
}

/// The next pieces of a body as one; `None` at the end.
async fn large_piece(body: &mut RequestStream) -> Result<Option<Bytes>, Refusal> {
    let Some(first) = body.next().await? else { return Ok(None) };
    if first.len() >= PIECE_BYTES {
        return Ok(Some(first));
    }
    let mut joined = BytesMut::from(first);
    while joined.len() < PIECE_BYTES
        && let Some(piece) = body.next().await?
    {
        joined.extend_from_slice(&piece);
    }
    Ok(Some(joined.freeze()))
}

fn worded(error: multer::Error) -> FormError {
    match error {
        multer::Error::StreamSizeExceeded { limit } => FormError::TooLarge(limit),
        multer::Error::StreamReadFailed(cause) => match cause.downcast::<Ended>() {
            Ok(ended) => FormError::Refused(ended.0),
            Err(other) => FormError::Malformed(other.to_string()),
        },
        other => FormError::Malformed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use futures_util::stream;
    use http::HeaderValue;
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;
    use crate::{RequestMemory, StreamLimits};

    const LIMITS: FormLimits = FormLimits { parts_max: 2, bytes_max: 400 };
    const TWO: &str = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.yang\"\r\n\
        Content-Type: application/octet-stream\r\n\r\nmodule a {\r\n}\r\n--x\r\n\
        Content-Disposition: form-data; name=\"note\"\r\n\r\n\r\n--x--\r\n";

    async fn read(media: &str, text: &str, piece: usize) -> Result<Vec<FormPart>, FormError> {
        read_within((media, text, piece), LIMITS).await
    }

    async fn read_within(
        (media, text, piece): (&str, &str, usize),
        form_limits: FormLimits,
    ) -> Result<Vec<FormPart>, FormError> {
        let headers = HeaderMap::from_iter([(
            header::CONTENT_TYPE,
            HeaderValue::from_str(media).expect("a media type"),
        )]);
        let pieces = text.as_bytes().chunks(piece).map(Bytes::copy_from_slice).collect::<Vec<_>>();
        let frames = stream::iter(pieces.into_iter().map(|piece| Ok::<_, Infallible>(Frame::data(piece))));
        let limits = StreamLimits { bytes_max: 1 << 20, stall_max: Duration::from_secs(5) };
        let body = RequestStream::new(&headers, StreamBody::new(frames), limits).expect("a body");
        read_form(&headers, body, form_limits, &mut RequestMemory::default().share()).await
    }

    #[tokio::test]
    async fn a_head_without_end_costs_no_look_at_it_for_each_piece() {
        let head = format!("--x\r\nContent-Disposition: {}", "form-data; ".repeat(90_000));
        let start = std::time::Instant::now();
        let read = read_within(
            ("multipart/form-data; boundary=x", &head, 64),
            FormLimits { bytes_max: 1 << 20, ..LIMITS },
        );
        assert!(matches!(read.await, Err(FormError::Malformed(_))));
        // With a look for each of the 15,000 pieces it is a minute.
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn parts_come_whole_however_they_are_cut() {
        for piece in [1, 7, 1_000] {
            let parts = read("multipart/form-data; boundary=x", TWO, piece).await.expect("two parts");
            let expected = [("file", Some("a.yang"), "module a {\r\n}"), ("note", None, "")];
            let found: Vec<_> = parts
                .iter()
                .map(|part| {
                    let text = std::str::from_utf8(&part.bytes).expect("text");
                    (part.name.as_str(), part.file_name.as_deref(), text)
                })
                .collect();
            assert_eq!(found, expected, "in pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn what_is_no_form_is_refused() {
        for media in ["application/json", "multipart/form-data", ""] {
            assert_eq!(read(media, TWO, 100).await, Err(FormError::NotAForm(media.into())));
        }
        let cut = TWO.trim_end_matches("--x--\r\n");
        let broken = read("multipart/form-data; boundary=x", cut, 100).await;
        assert!(matches!(broken, Err(FormError::Malformed(_))), "{broken:?}");
    }

    #[tokio::test]
    async fn limits_are_kept() {
        let three = format!(
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n{}",
            TWO.replace("\r\n\r\n\r\n", "\r\n\r\n2\r\n")
        );
        let found = read("multipart/form-data; boundary=x", &three, 50).await;
        assert_eq!(found, Err(FormError::TooManyParts(2)));
        let large = TWO.replace("module", &"m".repeat(500));
        assert_eq!(read("multipart/form-data; boundary=x", &large, 50).await, Err(FormError::TooLarge(400)));
    }
}
