//! Where an answer and its chunks begin and end (RFC 9112); pure, over bytes that may be incomplete.

use super::CallError;

/// Header fields an answer may have.
const FIELDS_MAX: usize = 64;
/// Bytes a head, a chunk's line or a trailer line may have.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes.
    Length(usize),
    /// In chunks.
    Chunked,
    /// The connection ends with it.
    UntilClose,
}

/// What the call needs to know of an answer's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The status code.
    pub(crate) status: u16,
    /// Bytes of the head, its empty line included.
    pub(crate) bytes: usize,
    /// How the body ends.
    pub(crate) framing: Framing,
    /// Whether the peer closes the connection afterwards.
    pub(crate) closes: bool,
}

impl Head {
    /// An answer before the answer (100, 103): no body, and more to come.
    pub(crate) fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }
}

/// Parses the head at the start of `bytes`; `None`: more bytes are needed.
pub(crate) fn head(bytes: &[u8]) -> Result<Option<Head>, CallError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut fields);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return partial(bytes),
        Err(error) => return Err(malformed(&error, bytes)),
    };
    let status = response.code.expect("a whole head has a status");
    let mut framing = None;
    let mut closes = response.version == Some(0);
    for field in response.headers.iter() {
        if field.name.eq_ignore_ascii_case("content-length") {
            framing = framing.or(Some(Framing::Length(content_length(field.value)?)));
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Some(Framing::Chunked);
        } else if field.name.eq_ignore_ascii_case("connection") {
            closes = field.value.eq_ignore_ascii_case(b"close");
        }
    }
    let bodiless = status == 204 || status == 304 || status < 200;
    let framing = match framing {
        _ if bodiless => Framing::Length(0),
        Some(framing) => framing,
        None => Framing::UntilClose,
    };
    Ok(Some(Head { status, bytes: length, framing, closes }))
}

/// The bytes of the chunk's line and the size it announces; `None`: more bytes are needed.
pub(crate) fn chunk_size(bytes: &[u8]) -> Result<Option<(usize, usize)>, CallError> {
    match httparse::parse_chunk_size(bytes) {
        Ok(httparse::Status::Complete((line, size))) => {
            let size = usize::try_from(size).map_err(|_| CallError::TooLarge)?;
            Ok(Some((line, size)))
        }
        Ok(httparse::Status::Partial) => partial(bytes),
        Err(_) => Err(malformed(&"no chunk size", bytes)),
    }
}

/// The length of the line at the start of `bytes`, its end included.
pub(crate) fn line(bytes: &[u8]) -> Result<Option<usize>, CallError> {
    match bytes.windows(2).position(|pair| pair == b"\r\n") {
        Some(at) => Ok(Some(at + 2)),
        None => partial(bytes),
    }
}

fn partial<T>(bytes: &[u8]) -> Result<Option<T>, CallError> {
    if bytes.len() > LINE_BYTES_MAX { Err(malformed(&"its head does not end", bytes)) } else { Ok(None) }
}

fn content_length(value: &[u8]) -> Result<usize, CallError> {
    let digits = value.trim_ascii();
    std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| malformed(&"its Content-Length is no number", value))
}

fn malformed(why: &dyn std::fmt::Display, bytes: &[u8]) -> CallError {
    let start: Vec<u8> = bytes.iter().copied().take(60).collect();
    CallError::Malformed(format!("{why}: {:?}", String::from_utf8_lossy(&start)))
}
