//! `/graph/vertices`: vertices, one by one and many at once.

use api_http::{Operation, Request, Response, json_response};
use http::StatusCode;

use crate::operation::{done, json_of, operation};
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::{put_vertex, vertex_id_of_url};

/// GET `/graph/vertices/{id}`
pub(crate) const GET: Operation = operation("vertices", "getVertex", "One vertex.")
    .gives(&[(200, done(json_of("Vertex")))])
    .refuses(&[400, 404]);

/// GET `/graph/vertices/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let id = vertex_id_of_url(request.capture(2))?;
    let graph = api.graph(&request).await?;
    let state = graph.state().await?;
    let reader = graph.reader_by(&state, api.shared.clock.now())?;
    let vertex = reader.vertex(&id).await?;
    let vertex = vertex.ok_or_else(|| Problem::not_found(format!("vertex with id '{id}' does not exist")))?;
    let mut out = String::with_capacity(512);
    put_vertex(&mut out, &state.schema, &id.as_ref(), &vertex.view()?)?;
    Ok(json_response(StatusCode::OK, JSON, out))
}
