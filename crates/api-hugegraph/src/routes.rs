//! Handlers, one file per resource: read, call, answer.

mod elements;
mod lists;
pub(crate) mod auth;
pub(crate) mod docs;
pub(crate) mod edges;
pub(crate) mod graphs;
pub(crate) mod jobs;
pub(crate) mod languages;
pub(crate) mod profile;
pub(crate) mod refused;
pub(crate) mod scans;
pub(crate) mod schema;
pub(crate) mod spaces;
pub(crate) mod tasks;
pub(crate) mod traversers;
pub(crate) mod variables;
pub(crate) mod vertices;

use std::sync::Arc;

use api_http::{Request, Response, json_response};
use http::{Method, StatusCode};
use model_graph::{Error, Graph, Graphs, TaskId, TenantName};
use serde::Serialize;

use crate::callers::as_seen;
use crate::problem::{JSON, Problem};
use crate::state::Api;

/// The tenant that a request names. Cost without the headers: two header look-ups.
fn tenant(request: &Request) -> Result<TenantName, Problem> {
    Ok(api_http::tenant(request, TenantName::new)?)
}

impl Api {
    /// The graphs of the tenant that the request names.
    async fn graphs(&self, request: &Request) -> Result<Graphs, Problem> {
        Ok(self.shared.graphs.of(&tenant(request)?).await?)
    }

    /// The same; the tenant is made if it is not there.
    async fn graphs_to_fill(&self, request: &Request) -> Result<Graphs, Problem> {
        Ok(self.shared.graphs.of_or_create(&tenant(request)?).await?)
    }

    /// The graph that the address names. Cost: some map look-ups.
    async fn graph(&self, request: &Request) -> Result<Arc<Graph>, Problem> {
        let graph = of_request(&self.graphs(request).await?, request).await?;
        Ok(as_seen(request, graph))
    }

    /// The same, to write to it: the tenant is made if it is not there.
    async fn graph_to_fill(&self, request: &Request) -> Result<Arc<Graph>, Problem> {
        let graph = of_request(&self.graphs_to_fill(request).await?, request).await?;
        Ok(as_seen(request, graph))
    }
}

async fn of_request(graphs: &Graphs, request: &Request) -> Result<Arc<Graph>, Problem> {
    let (space, name) = (request.capture(0), request.capture(1));
    match graphs.get(space, name).await {
        Err(Error::NotFound(_)) => Err(Problem::not_found(format!("Graph '{space}-{name}' does not exist"))),
        found => Ok(found?),
    }
}

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

/// 202, with the task that does what is left to do; 0 if nothing is.
fn accepted(task: Option<TaskId>) -> Response {
    let task = task.map_or(0, |task| task.0);
    json_response(StatusCode::ACCEPTED, JSON, format!("{{\"task_id\":{task}}}"))
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

/// The same where a body may be missing. Without body and media type the request is taken only if no page of a browser can have sent it
/// from another origin: those name theirs.
fn check_json_or_nothing(request: &Request) -> Result<(), Problem> {
    let is_nothing = request.body.is_empty() && request.content_type().is_none();
    if is_nothing && request.header("origin").is_none() { Ok(()) } else { check_json(request) }
}

/// The media type that curl sends by default.
const FORM: &str = "application/x-www-form-urlencoded";

/// The body as text.
fn text(request: &Request) -> Result<&str, Problem> {
    std::str::from_utf8(&request.body)
        .map_err(|error| Problem::bad_body(format!("the body is not UTF-8: {error}")))
}
