//! `/graph/edges`: edges, one by one and many at once.

use api_http::{Operation, Request, Response, json_response};
use graph::EdgeId;
use http::StatusCode;

use crate::operation::{done, json_of, operation};
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::put_edge;

/// GET `/graph/edges/{id}`
pub(crate) const GET: Operation =
    operation("edges", "getEdge", "One edge.").gives(&[(200, done(json_of("Edge")))]).refuses(&[400, 404]);

/// GET `/graph/edges/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let id = edge_id(request.capture(2))?;
    let graph = api.graph(&request).await?;
    let state = graph.state().await?;
    let reader = graph.reader_by(&state, api.shared.clock.now())?;
    let edge = reader.edge(&id).await?;
    let edge = edge.ok_or_else(|| Problem::not_found(format!("edge with id '{id}' does not exist")))?;
    let mut out = String::with_capacity(512);
    put_edge(&mut out, &state.schema, &id, &edge.view()?)?;
    Ok(json_response(StatusCode::OK, JSON, out))
}

/// The id of an edge, which addresses give as it is.
fn edge_id(text: &str) -> Result<EdgeId, Problem> {
    let wrong = |_| {
        Problem::illegal_argument(format!(
            "Edge id must be formatted as source>label>sub label>sort values>target, but got '{text}'"
        ))
    };
    text.parse().map_err(wrong)
}
