//! Bodies of `multipart/form-data` (RFC 7578), read part by part as they come.

mod head;
mod scanner;

use bytes::Bytes;
use http::{HeaderMap, header};

use crate::frame::DRAIN_BYTES_MAX;
use crate::{Refusal, RequestStream, Share};

use scanner::Scanner;

/// Bytes of the head of a part.
pub const PART_HEAD_BYTES_MAX: usize = 16 << 10;

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

/// The parts of a form, in their order. Their memory is reserved as they come. Of a form that is refused, some is read on
/// ([`DRAIN_BYTES_MAX`]), so that the client comes to read the answer.
///
/// Cost: one pass over the body, however it is cut; each byte is copied once, or as often as a buffer grows.
///
/// # Errors
///
/// [`FormError`].
pub async fn read_form(
    headers: &HeaderMap,
    mut body: RequestStream,
    limits: FormLimits,
    share: &mut Share,
) -> Result<Vec<FormPart>, FormError> {
    let parts = read_parts(headers, &mut body, limits, share).await;
    if parts.is_err() {
        body.drain(DRAIN_BYTES_MAX).await;
    }
    parts
}

async fn read_parts(
    headers: &HeaderMap,
    body: &mut RequestStream,
    limits: FormLimits,
    share: &mut Share,
) -> Result<Vec<FormPart>, FormError> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or("");
    let boundary = head::boundary(media).ok_or_else(|| FormError::NotAForm(media.to_owned()))?;
    let mut scanner = Scanner::new(body, share, &boundary, limits);
    scanner.begin().await?;
    let mut parts = Vec::new();
    while let Some(head) = scanner.head().await? {
        if parts.len() == limits.parts_max {
            return Err(FormError::TooManyParts(limits.parts_max));
        }
        let (name, file_name) = head::names(&head).map_err(FormError::Malformed)?;
        parts.push(FormPart { name, file_name, bytes: scanner.data().await? });
    }
    Ok(parts)
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
        read_within(LIMITS, media, text, piece).await
    }

    async fn read_within(
        form: FormLimits,
        media: &str,
        text: &str,
        piece: usize,
    ) -> Result<Vec<FormPart>, FormError> {
        let headers = HeaderMap::from_iter([(
            header::CONTENT_TYPE,
            HeaderValue::from_str(media).expect("a media type"),
        )]);
        let pieces = text.as_bytes().chunks(piece).map(Bytes::copy_from_slice).collect::<Vec<_>>();
        let frames = stream::iter(pieces.into_iter().map(|piece| Ok::<_, Infallible>(Frame::data(piece))));
        let limits = StreamLimits { bytes_max: 1 << 20, stall_max: Duration::from_secs(5) };
        let body = RequestStream::new(&headers, StreamBody::new(frames), limits).expect("a body");
        read_form(&headers, body, form, &mut RequestMemory::default().share()).await
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
    async fn what_is_nearly_a_boundary_is_data() {
        let large = FormLimits { parts_max: 2, bytes_max: 1 << 20 };
        let data = "\r\n--x-x-\r\n--x-x--x-\r--x-x-x\r\n\r\n-".repeat(50);
        let text = format!(
            "before\r\n--x-x-\r\n\r\n--x-x-x \t\r\ncontent-disposition: form-data; name=a\r\n\r\n{data}\r\n--x-x-x\r\n\r\n\r\n--x-x-x--after"
        );
        for piece in [1, 2, 3, 5, 64, 10_000] {
            let parts = read_within(large, "multipart/form-data; boundary=x-x-x", &text, piece).await;
            let parts = parts.expect("two parts");
            let found: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.bytes.as_ref())).collect();
            assert_eq!(found, [("a", data.as_bytes()), ("", &b""[..])], "in pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn what_breaks_the_form_is_told() {
        let check = async |text: &str, expected: &str| {
            for piece in [1, 1_000] {
                let found = read("multipart/form-data; boundary=x", text, piece).await;
                assert_eq!(found, Err(FormError::Malformed(expected.into())), "{text}");
            }
        };
        check("", "the body ends before the last boundary").await;
        check("no boundary\r\n", "the body ends before the last boundary").await;
        check("--x\r\na: b\r\n", "the body ends before the last boundary").await;
        check("--xy\r\n\r\n\r\n--x--", "a boundary is not the end of its line").await;
        check("--x\r\nnothing\r\n\r\n\r\n--x--", "a header of a part has no colon: \"nothing\"").await;
    }

    #[tokio::test]
    async fn heads_are_bounded() {
        let large = FormLimits { parts_max: 2, bytes_max: 1 << 20 };
        let with = |head: usize| format!("--x\r\na: {}\r\n\r\nb\r\n--x--", "h".repeat(head - 5));
        for piece in [7, 100_000] {
            let read =
                async |head| read_within(large, "multipart/form-data; boundary=x", &with(head), piece).await;
            assert_eq!(read(PART_HEAD_BYTES_MAX).await.map(|parts| parts.len()), Ok(1));
            let expected = FormError::Malformed("the head of a part has more than 16384 bytes".into());
            assert_eq!(read(PART_HEAD_BYTES_MAX + 1).await, Err(expected));
        }
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
