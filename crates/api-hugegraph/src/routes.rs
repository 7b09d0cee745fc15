//! Handlers, one file per resource: read, call, answer.

pub(crate) mod docs;
pub(crate) mod languages;
pub(crate) mod profile;
pub(crate) mod refused;

use api_http::{Request, Response, json_response};
use http::{Method, StatusCode};
use serde::Serialize;

use crate::problem::{JSON, Problem};

/// 200 with a JSON body.
fn ok<T: Serialize>(body: &T) -> Result<Response, Problem> {
    json(StatusCode::OK, body)
}

fn json<T: Serialize>(status: StatusCode, body: &T) -> Result<Response, Problem> {
    let body = serde_json::to_vec(body).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written");
        Problem::internal()
    })?;
    Ok(json_response(status, JSON, body))
}

/// Refuses bodies of a media type other than JSON. A missing media type, or that of a form, is taken for JSON, but not with
/// POST: a page in a browser may send such a request to another origin without asking it first (CORS).
fn check_json(request: &Request) -> Result<(), Problem> {
    match request.content_type() {
        Some(media) if media.eq_ignore_ascii_case("application/json") => Ok(()),
        None | Some("" | FORM) if request.method != Method::POST => Ok(()),
        media => {
            let media = media.unwrap_or("nothing");
            Err(Problem::unsupported_media_type(format!(
                "the media type of the body must be application/json, not {media}"
            )))
        }
    }
}

/// The media type that curl sends by default.
const FORM: &str = "application/x-www-form-urlencoded";

/// The body as text.
fn text(request: &Request) -> Result<&str, Problem> {
    std::str::from_utf8(&request.body)
        .map_err(|error| Problem::bad_body(format!("the body is not UTF-8: {error}")))
}
