//! `/jsonldContexts`: the contexts that there are for a tenant (NGSI-LD 5.13, 6.29, 6.30): its own, and those that are
//! built in or preloaded.

use api_http::{Given, MediaType, Request, Response, accept, json_response, no_content, tagged};
use http::StatusCode;
use lang_json::{ArrayWriter, ObjectWriter};
use model_entities::Fingerprint;
use tenant_contexts::{ContextEntry, ContextKind, LOCAL_PATH, TenantContexts};

use crate::answer::created_at;
use crate::media::{JSON, JSON_LD};
use crate::operation::{DONE, MADE, declare, done, json_list, json_of};
use crate::params;
use crate::problem::Problem;
use crate::render::write_time;
use crate::request::{state_condition, tenant};
use crate::state::Api;

const OFFERED: &[MediaType] = &[JSON, JSON_LD];

/// POST /jsonldContexts
pub(crate) const CREATE: api_http::Operation =
    declare("names", "hostContext", "Stores a context for the tenant.")
        .sent(json_of("ContextDocument"))
        .gives(&[(201, MADE)])
        .refuses(&[400, 413, 415, 422, 504]);

/// NGSI-LD 6.29.3.1, POST /jsonldContexts.
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    add(api.shared.contexts.of(&tenant(&request)?), &request).await
}

/// GET /jsonldContexts
pub(crate) const LIST: api_http::Operation = declare("names", "listContexts", "The contexts of the tenant.")
    .query(&[&[params::DETAILS, params::KIND]])
    .gives(&[(200, done(json_list("ContextInfo")))])
    .refuses(&[400, 404, 406]);

/// NGSI-LD 6.29.3.2, GET /jsonldContexts.
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    list_all(api.shared.contexts.of(&tenant(&request)?), &request).await
}

/// GET /jsonldContexts/{id}
pub(crate) const GET: api_http::Operation =
    declare("names", "retrieveContext", "A context, or what is known of it.")
        .query(&[&[params::DETAILS]])
        .gives(&[(200, done(json_of("ContextDocument")))])
        .refuses(&[400, 404, 406, 422])
        .about_one();

/// NGSI-LD 6.30.3.1, GET /jsonldContexts/{contextId}.
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    serve(api.shared.contexts.of(&tenant(&request)?), &request).await
}

/// DELETE /jsonldContexts/{id}
pub(crate) const DELETE: api_http::Operation =
    declare("names", "deleteContext", "Removes a context, or fetches it again.")
        .query(&[&[params::RELOAD]])
        .gives(&[(204, DONE)])
        .refuses(&[400, 404, 422, 504])
        .about_one();

/// NGSI-LD 6.30.3.2, DELETE /jsonldContexts/{contextId}.
pub(crate) async fn delete(api: Api, request: Request) -> Result<Response, Problem> {
    remove(api.shared.contexts.of(&tenant(&request)?), &request).await
}

async fn add(contexts: TenantContexts<'_>, request: &Request) -> Result<Response, Problem> {
    let is_json = |media_type: &str| media_type.to_ascii_lowercase().contains("json");
    if let Some(other) = request.header("content-type").filter(|media_type| !is_json(media_type)) {
        let detail = format!("Content-Type is {other}, not {JSON} or {JSON_LD}");
        return Err(Problem::unsupported_media_type(detail));
    }
    let body = std::str::from_utf8(&request.body)
        .map_err(|error| Problem::invalid_request(format!("the body is no UTF-8 text: {error}")))?;
    let id = contexts.add(body).await?;
    Ok(created_at(LOCAL_PATH, &id))
}

async fn list_all(contexts: TenantContexts<'_>, request: &Request) -> Result<Response, Problem> {
    let media_type = acceptable(request)?;
    let details = Given::of(request).flag(&params::DETAILS)?;
    let kind = match Given::of(request).get(&params::KIND) {
        None => None,
        Some("Cached") => Some(ContextKind::Cached),
        Some("Hosted") => Some(ContextKind::Hosted),
        Some("ImplicitlyCreated") => Some(ContextKind::ImplicitlyCreated),
        Some(other) => {
            let detail = format!("kind is {other:?}, not Cached, Hosted or ImplicitlyCreated");
            return Err(Problem::bad_request(detail));
        }
    };
    let origin = origin(request);
    let mut body = String::new();
    let mut list = ArrayWriter::begin(&mut body);
    for entry in &contexts.list(kind).await? {
        if details {
            write_entry(list.item(), entry, &origin);
        } else {
            list.string(&url(entry, &origin));
        }
    }
    list.end();
    Ok(json_response(StatusCode::OK, media_type, body))
}

async fn serve(contexts: TenantContexts<'_>, request: &Request) -> Result<Response, Problem> {
    let media_type = acceptable(request)?;
    let details = Given::of(request).flag(&params::DETAILS)?;
    let found = contexts.find(request.capture(0)).await?;
    if details {
        let mut body = String::new();
        write_entry(&mut body, &found.entry, &origin(request));
        return Ok(json_response(StatusCode::OK, media_type, body));
    }
    match found.document {
        Some(document) => {
            let answer = json_response(StatusCode::OK, media_type, document.as_bytes().to_vec());
            Ok(tagged(request, Fingerprint::of(document.as_bytes()).0, answer)?)
        }
        None => {
            let detail = format!(
                "{} is of kind Cached: get it where it came from, or ask for details=true",
                found.entry.url
            );
            Err(Problem::operation_not_supported(detail))
        }
    }
}

async fn remove(contexts: TenantContexts<'_>, request: &Request) -> Result<Response, Problem> {
    let (id, condition) = (request.capture(0), state_condition(request)?);
    if !condition.is_none() {
        // What is hosted under an id is never another document.
        let document = contexts.find(id).await?.document;
        if !condition.is_met_by_bytes(document.as_ref().map(|document| document.as_bytes())) {
            return Err(Problem::precondition_failed(format!(
                "context {id} is not in a state that If-Match and If-None-Match admit"
            )));
        }
    }
    contexts.delete(id, Given::of(request).flag(&params::RELOAD)?).await?;
    Ok(no_content())
}

fn acceptable(request: &Request) -> Result<MediaType, Problem> {
    accept(request.header("accept"), OFFERED).ok_or_else(|| Problem::not_acceptable(&OFFERED.join(", ")))
}

/// Where the client reached the server, as far as the request tells.
fn origin(request: &Request) -> String {
    match request.header("host") {
        Some(host) => format!("{}://{host}", request.header("x-forwarded-proto").unwrap_or("http")),
        None => String::new(),
    }
}

/// The URL of a context; absolute, if it is possible.
fn url(entry: &ContextEntry, origin: &str) -> String {
    if entry.url.starts_with('/') { [origin, &entry.url].concat() } else { entry.url.to_string() }
}

fn write_entry(out: &mut String, entry: &ContextEntry, origin: &str) {
    let mut object = ObjectWriter::begin(out);
    object.string("URL", &url(entry, origin));
    object.string("localId", &entry.id);
    object.string("kind", entry.kind.name());
    write_time(object.member("createdAt"), entry.created);
    object.end();
}

#[cfg(test)]
mod tests;
