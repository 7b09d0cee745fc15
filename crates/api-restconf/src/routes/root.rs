//! Where RESTCONF is, and what it offers (RFC 8040, sections 3.1, 3.3 and 3.6).

use api_http::{
    Content, Given, Gives, Operation, Request, Response, accept, json_response, schema_reference,
};
use http::{HeaderValue, StatusCode, header};
use lang_json::{ArrayWriter, ObjectWriter};
use serde_json::json;

use super::accepted;
use super::own::own;
use crate::library::api_target;
use crate::operation::{READ_REFUSALS, data_of, done, operation};
use crate::params::{self, Reading};
use crate::problem::Problem;
use crate::state::Api;

/// Where RESTCONF is.
const ROOT: &str = "/restconf";
const XRD: &str = "application/xrd+xml";
const JSON: &str = "application/json";

const GIVES_ROOT: &[(u16, Gives)] = &[(200, done(data_of("Root")))];

const GIVES_LINKS: &[(u16, Gives)] = &[(
    200,
    done(Content::new(
        "HostMeta",
        |schema| json!({ JSON: { "schema": schema_reference(schema) }, XRD: { "schema": { "type": "string" } } }),
    )),
)];

/// GET `/.well-known/host-meta`
pub(crate) const HOST_META: Operation =
    Operation::new("root", "hostMeta", "Where RESTCONF is: a link with rel=restconf.").gives(GIVES_LINKS);

/// RFC 8040 3.1, GET `/.well-known/host-meta` (RFC 6415)
pub(crate) async fn host_meta(_: Api, request: Request) -> Result<Response, Problem> {
    let mut answer = match accept(request.header("accept"), &[XRD, JSON]) {
        Some(JSON) => links(),
        // Who accepts neither can read this as well as a refusal.
        _ => json_response(
            StatusCode::OK,
            XRD,
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                 <XRD xmlns=\"http://docs.oasis-open.org/ns/xri/xrd-1.0\"><Link rel=\"restconf\" href=\"{ROOT}\"/></XRD>\n"
            ),
        ),
    };
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    Ok(answer)
}

/// GET `/.well-known/host-meta.json`
pub(crate) const HOST_META_JSON: Operation =
    Operation::new("root", "hostMetaJson", "The same as JSON, whatever is accepted.").gives(GIVES_LINKS);

/// RFC 6415 3, GET `/.well-known/host-meta.json`
pub(crate) async fn host_meta_json(_: Api, _: Request) -> Result<Response, Problem> {
    Ok(links())
}

fn links() -> Response {
    let mut out = String::new();
    let mut document = ObjectWriter::begin(&mut out);
    let mut links = ArrayWriter::begin(document.literal("\"links\":"));
    let mut link = ObjectWriter::begin(links.item());
    link.string("rel", "restconf");
    link.string("href", ROOT);
    link.end();
    links.end();
    document.end();
    json_response(StatusCode::OK, JSON, out)
}

/// GET `{root}`
pub(crate) const API: Operation = operation("root", "getRoot", "What RESTCONF offers of an anchor.")
    .query(&[params::READ_ROOT])
    .gives(GIVES_ROOT)
    .refuses(READ_REFUSALS);

/// RFC 8040 3.3, GET `{root}`
pub(crate) async fn api(api: Api, request: Request) -> Result<Response, Problem> {
    answer(&api, &request, &["restconf"]).await
}

/// GET `{root}/yang-library-version`
pub(crate) const LIBRARY_VERSION: Operation =
    operation("root", "getYangLibraryVersion", "The revision of ietf-yang-library that is served.")
        .gives(GIVES_ROOT)
        .refuses(READ_REFUSALS);

/// RFC 8040 3.3.3, GET `{root}/yang-library-version`
pub(crate) async fn library_version(api: Api, request: Request) -> Result<Response, Problem> {
    answer(&api, &request, &["restconf", "yang-library-version"]).await
}

/// GET `{root}/operations`
pub(crate) const OPERATIONS: Operation =
    operation("root", "getOperations", "The operations of the modules: none is carried out here.")
        .gives(GIVES_ROOT)
        .refuses(READ_REFUSALS);

/// RFC 8040 3.3.2, GET `{root}/operations`
pub(crate) async fn operations(api: Api, request: Request) -> Result<Response, Problem> {
    answer(&api, &request, &["restconf", "operations"]).await
}

/// POST `{root}/operations/{operation}`
pub(crate) const INVOKE: Operation =
    operation("root", "invoke", "Refused: configuration has no operations to carry out.")
        .refuses(READ_REFUSALS);

/// RFC 8040 3.6, POST `{root}/operations/{operation}`
pub(crate) async fn invoke(api: Api, request: Request) -> Result<Response, Problem> {
    api.anchor(&request).await?;
    let name = request.captures.last().map_or("", String::as_str);
    Err(Problem::not_found(format!(
        "operation {name:?} does not exist: an anchor holds data, and none of its modules' operations is carried out"
    )))
}

/// A resource of the API itself, as `ietf-restconf` describes it.
async fn answer(api: &Api, request: &Request, path: &[&str]) -> Result<Response, Problem> {
    let accepted = accepted(request)?;
    let given = Given::of(request);
    let asked = Reading::of(&given)?;
    let anchor = api.anchor(request).await?;
    own(anchor.schema(), &api_target(path), &asked, accepted)
}
