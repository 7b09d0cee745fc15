//! Answers, and how they are compressed.

use std::io::Write as _;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::media::{Coding, accept_coding, essence};
use crate::params::percent_encode_into;
use crate::stream::Body;

/// In the extensions of an answer: its cause is that stored data is damaged, which is no bug of the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DataDamaged;

/// In the extensions of an answer: the request took longer than the limit on requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RequestTimedOut;

/// An answer: whole in memory (pages are limited), or a stream.
pub type Response = http::Response<Body>;

/// An answer with a body of this media type.
pub fn json_response(status: StatusCode, media_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// An answer without a body.
pub fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::new(Body::default());
    *response.status_mut() = status;
    response
}

/// 204.
pub fn no_content() -> Response {
    empty_response(StatusCode::NO_CONTENT)
}

/// The answer with the header `Location`: what has this name below `path`, which ends in `/`.
pub fn located(mut response: Response, path: &str, name: &str) -> Response {
    let mut location = String::with_capacity(path.len() + name.len());
    location.push_str(path);
    percent_encode_into(name, &mut location);
    // A path of a request that is no header's text leads nowhere that could be named.
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Ends an answer in JSON with a newline, so that the next prompt of a terminal has a line of its own. Cost: appends a
/// byte to the body, which is copied only if others hold it; streams get it behind their last chunk.
pub fn end_with_newline(response: &mut Response) {
    if matches!(response.body(), Body::Whole(bytes) if bytes.is_empty() || bytes.ends_with(b"\n")) {
        return;
    }
    let media = response.headers().get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok());
    if !media.is_some_and(|media| essence(media).ends_with("json")) {
        return;
    }
    match response.body_mut() {
        Body::Whole(bytes) => {
            let mut text = BytesMut::from(std::mem::take(bytes));
            text.extend_from_slice(b"\n");
            *bytes = text.freeze();
        }
        Body::Stream(stream) => stream.end_with_newline(),
    }
}

/// From this size on compressing takes long enough to disturb other requests of the same thread.
const INLINE_BYTES_MAX: usize = 512 * 1024;

/// Compresses an answer of at least `bytes_min` bytes, or a stream, if the request accepts gzip or zstd, at
/// the fastest level. Cost: one header look-up and nothing else if it does not; large answers are
/// compressed on a thread of their own, streams chunk by chunk as they are sent.
pub async fn compress(accept_encoding: Option<&HeaderValue>, response: Response, bytes_min: u64) -> Response {
    let Some(accept_encoding) = accept_encoding else { return response };
    let size = response.body().len_known();
    let is_small = size < bytes_min || size == 0;
    let is_whole = matches!(response.body(), Body::Whole(_));
    if is_whole && is_small || response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let Some(coding) = accept_encoding.to_str().ok().and_then(accept_coding) else {
        return Response::from_parts(parts, body);
    };
    let body = match body {
        Body::Whole(plain) => compress_whole(coding, plain, &mut parts.headers).await,
        Body::Stream(mut stream) => {
            match stream.compress(coding) {
                Ok(()) => set_coding(&mut parts.headers, coding),
                Err(error) => warn_of(&error, coding),
            }
            Body::Stream(stream)
        }
    };
    Response::from_parts(parts, body)
}

async fn compress_whole(coding: Coding, plain: Bytes, headers: &mut HeaderMap) -> Body {
    let compressed = if plain.len() <= INLINE_BYTES_MAX {
        compress_bytes(coding, &plain)
    } else {
        let copy = plain.clone();
        let task = tokio::task::spawn_blocking(move || compress_bytes(coding, &copy));
        task.await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
    };
    match compressed {
        Ok(bytes) if bytes.len() < plain.len() => {
            set_coding(headers, coding);
            Body::Whole(bytes.into())
        }
        Ok(_) => Body::Whole(plain),
        Err(error) => {
            warn_of(&error, coding);
            Body::Whole(plain)
        }
    }
}

fn warn_of(error: &std::io::Error, coding: Coding) {
    tracing::warn!(%error, coding = coding.name(), "answer could not be compressed");
}

fn set_coding(headers: &mut HeaderMap, coding: Coding) {
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    headers.remove(header::CONTENT_LENGTH);
    code_tag(headers, coding);
}

/// Says in an answer's tag that it is coded: another representation.
pub(crate) fn code_tag(headers: &mut HeaderMap, coding: Coding) {
    let Some(tag) = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()) else { return };
    let coded = tag.strip_suffix('"').map(|tag| format!("{tag}-{}\"", coding.name()));
    if let Some(coded) = coded.and_then(|coded| HeaderValue::try_from(coded).ok()) {
        headers.insert(header::ETAG, coded);
    }
}

fn compress_bytes(coding: Coding, plain: &[u8]) -> std::io::Result<Vec<u8>> {
    match coding {
        Coding::Zstd => zstd::bulk::compress(plain, 1),
        Coding::Gzip => {
            let out = Vec::with_capacity(plain.len() / 4 + 64);
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
            encoder.write_all(plain)?;
            encoder.finish()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use http_body_util::BodyExt as _;

    use super::*;

    async fn compressed(accept_encoding: Option<&'static str>, body: &str) -> (Option<String>, Bytes) {
        let response = json_response(StatusCode::OK, "application/json", body.to_owned());
        let accept_encoding = accept_encoding.map(HeaderValue::from_static);
        let response = compress(accept_encoding.as_ref(), response, 1024).await;
        let coding = response.headers().get(header::CONTENT_ENCODING);
        let coding = coding.map(|coding| coding.to_str().unwrap().to_owned());
        assert_eq!(coding.is_some(), coding.is_some() && response.headers().contains_key(header::VARY));
        (coding, response.into_body().collect().await.unwrap().to_bytes())
    }

    #[tokio::test]
    async fn answers_are_compressed_as_accepted() {
        let body = "{\"a\":1},".repeat(1000);
        let (coding, bytes) = compressed(Some("gzip"), &body).await;
        assert_eq!(coding.as_deref(), Some("gzip"));
        assert!(bytes.len() < body.len() / 4);
        let mut plain = String::new();
        flate2::read::GzDecoder::new(bytes.as_ref()).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, body);

        let (coding, bytes) = compressed(Some("gzip, zstd"), &body).await;
        assert_eq!(coding.as_deref(), Some("zstd"));
        assert_eq!(zstd::stream::decode_all(bytes.as_ref()).unwrap(), body.as_bytes());
    }

    #[tokio::test]
    async fn json_ends_in_one_newline() {
        for (media, body, expected) in [
            ("application/json", "{}", "{}\n"),
            ("application/json; charset=utf-8", "{}\n", "{}\n"),
            ("application/geo+json", "[]", "[]\n"),
            ("application/json", "", ""),
            ("text/html", "<p>", "<p>"),
        ] {
            let mut response = json_response(StatusCode::OK, media, body);
            end_with_newline(&mut response);
            assert_eq!(response.body().len_known(), expected.len() as u64);
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), expected, "{media}");
        }
        let (sender, body) = crate::stream(2, std::time::Duration::from_secs(600));
        let mut response = json_response(StatusCode::OK, "application/json", body);
        end_with_newline(&mut response);
        let made = async {
            sender.send("[1,").await.unwrap();
            sender.send("2]").await.unwrap();
            sender.finish().await.unwrap();
        };
        let (taken, ()) = tokio::join!(response.into_body().collect(), made);
        assert_eq!(taken.unwrap().to_bytes(), "[1,2]\n");
    }

    #[tokio::test]
    async fn large_answers_are_compressed_aside() {
        let body = "{\"a\":1},".repeat(100_000);
        let (coding, bytes) = compressed(Some("zstd"), &body).await;
        assert_eq!(coding.as_deref(), Some("zstd"));
        assert_eq!(zstd::stream::decode_all(bytes.as_ref()).unwrap(), body.as_bytes());
    }

    #[tokio::test]
    async fn small_and_unwanted_ones_stay_plain() {
        let body = "{\"a\":1},".repeat(1000);
        assert_eq!(compressed(None, &body).await.0, None);
        assert_eq!(compressed(Some("br"), &body).await.0, None);
        assert_eq!(compressed(Some("gzip"), "{}").await, (None, Bytes::from_static(b"{}")));
        assert_eq!(compressed(Some("gzip"), "").await, (None, Bytes::new()));
    }
}
