//! Answers: their media type, the headers that NGSI-LD adds, and their bodies, written by `render`.

mod reads;
mod outcome;
mod batch;
mod entities;
mod history;
mod discovery;

pub(crate) use batch::Tally;
pub(crate) use discovery::Sheet;
pub(crate) use entities::{answer_entity, answer_page, answer_plain};
pub(crate) use history::{answer_histories, answer_history};
pub(crate) use outcome::outcome;

use api_http::{
    MediaType, PageLink, Request, Response, accept, empty_response, json_response, located, page_link, tagged,
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use model_entities::Entity;
use tenant_contexts::RequestContext;

use crate::media::{JSON, JSON_LD};
use crate::problem::Problem;

/// RFC 7240.
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const RESULTS_COUNT: HeaderName = HeaderName::from_static("ngsild-results-count");

/// What a client wants of JSON and JSON-LD.
pub(crate) fn json_media(request: &Request) -> Result<MediaType, Problem> {
    accept(request.header("accept"), &[JSON, JSON_LD])
        .ok_or_else(|| Problem::not_acceptable("application/json, application/ld+json"))
}

/// The answer to a read: a JSON body names its context by `Link`, unless the body has it. Cost: no copy if `body` has
/// room for a newline.
pub(crate) fn answer(
    media: MediaType,
    in_body: bool,
    context: &RequestContext,
    mut body: String,
) -> Response {
    body.push('\n');
    let mut response = json_response(StatusCode::OK, media, body);
    if !in_body {
        response.headers_mut().append(header::LINK, context.link_field().clone());
    }
    response
}

/// The answer to a read of an entity: with its tag, or that the client has it.
pub(crate) fn tagged_answer(
    request: &Request,
    entity: &Entity,
    response: Response,
) -> Result<Response, Problem> {
    Ok(tagged(request, entity.fingerprint().0, response)?)
}

/// Adds the count of all results (6.3.13) and the links to the pages before and after (6.3.10).
pub(crate) fn add_paging(response: &mut Response, request: &Request, page: &Page) {
    if let Some(count) = page.count {
        response.headers_mut().insert(RESULTS_COUNT, HeaderValue::from(count));
    }
    let media_type = Some(JSON_LD);
    let (limit, offset) = (page.limit, page.offset);
    let next = (page.more && limit > 0).then(|| PageLink {
        rel: "next",
        offset: offset + page.rows,
        limit,
        media_type,
    });
    let prev = (offset > 0 && limit > 0).then(|| PageLink {
        rel: "prev",
        offset: offset.saturating_sub(limit),
        limit,
        media_type,
    });
    for link in [next, prev].into_iter().flatten() {
        if let Some(value) = page_link(request, link) {
            response.headers_mut().append(header::LINK, value);
        }
    }
}

/// Says that the preferred release 1.x of the standard was followed (RFC 7240), and by the status that this `altered` the body
/// (NGSI-LD 6.3.6).
pub(crate) fn add_preference(response: &mut Response, release: Option<u8>, altered: bool) {
    if let Some(minor) = release {
        let value = HeaderValue::try_from(format!("ngsi-ld=1.{minor}")).expect("digits are visible ASCII");
        response.headers_mut().insert(PREFERENCE_APPLIED, value);
    }
    if altered {
        *response.status_mut() = StatusCode::NON_AUTHORITATIVE_INFORMATION;
    }
}

/// Where a page lies among all results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    /// How many results it covers: fewer than `limit` if it is cut by its size.
    pub(crate) rows: usize,
    pub(crate) count: Option<usize>,
    pub(crate) more: bool,
}

/// 201 with the new entity's URL.
pub(crate) fn created(id: &str) -> Response {
    created_at("/ngsi-ld/v1/entities/", id)
}

/// 201 with the URL of what has this id below `path`.
pub(crate) fn created_at(path: &str, id: &str) -> Response {
    located(empty_response(StatusCode::CREATED), path, id)
}
