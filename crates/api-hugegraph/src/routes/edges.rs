//! `/graph/edges`: edges, one by one and many at once.

mod batch;

use access::Action;
use api_http::{Given, Operation, Request, Response, json_response, no_content};
use graph::plan::{Query, plan_edges, plan_neighbourhood};
use graph::schema::Schema;
use graph::{Edge, EdgeDirection, EdgeId, EdgeView, LabelId};
use http::StatusCode;
use lang_json::Reader;
use model_graph::Error;
use model_graph::write::{CheckVertices, EdgeOperation, EndLabels, Written};

pub(crate) use batch::{CREATE_MANY, REMOVE_MANY, UPDATE_MANY, create_many, remove_many, update_many};

use super::elements::{Writing, body, check_change, put_written_edge, read_change};
use super::lists::{self, Paging};
use crate::callers::check_edges;
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::{ElementReader, GivenEdge, VertexLabels, put_edge, vertex_id_of_url};

/// GET `/graph/edges`
pub(crate) const LIST: Operation =
    operation("edges", "listEdges", "Edges of a vertex or of a label, with values of properties.")
        .query(&[&[params::VERTEX_ID, params::DIRECTION], lists::PARAMETERS])
        .gives(&[(200, done(json_of("Edges")))])
        .refuses(&[400, 404]);

/// GET `/graph/edges`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let paging = Paging::of(&given, "edges")?;
    let vertex = given.get(&params::VERTEX_ID).map(vertex_id_of_url).transpose()?;
    let directions: &[EdgeDirection] = match given.get(&params::DIRECTION) {
        None | Some("" | "BOTH") => &[EdgeDirection::Out, EdgeDirection::In],
        Some("OUT") => &[EdgeDirection::Out],
        Some("IN") => &[EdgeDirection::In],
        Some(other) => {
            let message = format!("Direction value must be in [OUT, IN, BOTH], but got '{other}'");
            return Err(Problem::illegal_argument(message));
        }
    };
    let graph = api.graph(&request).await?;
    let (state, reader) = graph.reader_with_state(api.shared.clock.now()).await?;
    let schema = &*state.schema;
    let label = given.get(&params::LABEL).map(|name| {
        let label = schema.edge_label_named(name).map(|label| label.id);
        label.ok_or_else(|| Problem::illegal_argument(format!("Undefined edge label: '{name}'")))
    });
    let query = Query { label: label.transpose()?, conditions: lists::conditions(&api, &given, schema)? };
    let stages = match &vertex {
        Some(vertex) => plan_neighbourhood(schema, vertex, directions, &query),
        None => plan_edges(schema, &query).map_err(Error::from)?,
    };
    paging.answer(&request, ("edges", schema), (&reader, &api.shared.lane), stages).await
}

/// POST `/graph/edges`
pub(crate) const CREATE: Operation = operation(
    "edges",
    "createEdge",
    "Writes an edge between two vertices that are there; one of its id that is there is replaced.",
)
.sent(json_of("Edge"))
.gives(&[(201, done(json_of("Edge")))])
.refuses(&[400, 404, 415]);

/// POST `/graph/edges`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let depth_max = api.shared.limits.depth_max;
    let graph = api.graph_to_fill(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let (edge, ends) = {
        let mut reader = Reader::new(text, depth_max);
        let mut elements = ElementReader::new(writing.schema(), depth_max);
        let given = elements.edge(&mut reader, VertexLabels::Optional)?;
        reader.end()?;
        admitted(&writing, given)?
    };
    check_edges(&request, Action::Write, writing.schema(), [&edge.id])?;
    let check = check(writing.checks_vertices(true));
    let written = graph.write_edges(vec![EdgeOperation::Put(edge, ends)], check, writing.now).await;
    answer(StatusCode::CREATED, writing.schema(), written.map_err(|error| refused(error, writing.schema()))?)
}

/// An edge that was sent, and what the labels of its ends must be.
fn admitted(writing: &Writing, given: GivenEdge<'_>) -> Result<(Edge, Option<EndLabels>), Problem> {
    let GivenEdge { label, id: _, source, target, vertex_labels, properties } = given;
    let ends = match (vertex_labels, &*label.links) {
        (Some((source, target)), _) => Some(EndLabels { source: source.id, target: target.id }),
        (None, [link]) => Some(EndLabels { source: link.source, target: link.target }),
        (None, _) => None,
    };
    Ok((writing.admission().edge(label, source, target, properties)?, ends))
}

fn check(checks: bool) -> CheckVertices {
    if checks { CheckVertices::Yes } else { CheckVertices::No }
}

/// Words why edges are not written: by the names of labels.
fn refused(error: Error, schema: &Schema) -> Problem {
    let name =
        |label: LabelId| schema.vertex_label(label).map_or_else(String::new, |label| label.name.to_string());
    match error {
        Error::NoSuchVertex(id) => Problem::illegal_argument(format!("Invalid vertex id '{id}'")),
        Error::OtherLabel { vertex, demanded, stored } => Problem::illegal_argument(format!(
            "The label of vertex '{vertex}' is unmatched, users expect label '{}', actual label stored is '{}'",
            name(demanded),
            name(stored)
        )),
        other => other.into(),
    }
}

/// The one edge that was written.
fn answer(status: StatusCode, schema: &Schema, written: Vec<Written<Edge>>) -> Result<Response, Problem> {
    let written = written.into_iter().next().and_then(Written::stored);
    let edge = written.expect("an operation that stores an edge answers with it");
    let mut out = String::with_capacity(512);
    put_written_edge(&mut out, schema, &edge)?;
    Ok(json_response(status, JSON, out))
}

/// GET `/graph/edges/{id}`
pub(crate) const GET: Operation =
    operation("edges", "getEdge", "One edge.").gives(&[(200, done(json_of("Edge")))]).refuses(&[400, 404]);

/// GET `/graph/edges/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let id = edge_id(request.capture(2))?;
    let graph = api.graph(&request).await?;
    let state = graph.state().await?;
    let stored = graph.edge(&state, &id, api.shared.clock.now()).await?;
    let stored = stored.ok_or_else(|| Problem::not_found(format!("edge with id '{id}' does not exist")))?;
    let mut out = String::with_capacity(512);
    put_edge(&mut out, &state.schema, &id, &EdgeView::parse(&stored)?)?;
    Ok(json_response(StatusCode::OK, JSON, out))
}

/// The id of an edge, which addresses give as it is.
pub(super) fn edge_id(text: &str) -> Result<EdgeId, Problem> {
    let wrong = |_| {
        Problem::illegal_argument(format!(
            "Edge id must be formatted as source>label>sub label>sort values>target, but got '{text}'"
        ))
    };
    text.parse().map_err(wrong)
}

/// PUT `/graph/edges/{id}`
pub(crate) const UPDATE: Operation =
    operation("edges", "updateEdge", "Sets properties of an edge, or removes them.")
        .query(&[&[params::ACTION]])
        .sent(json_of("Edge"))
        .gives(&[(200, done(json_of("Edge")))])
        .refuses(&[400, 404, 415]);

/// PUT `/graph/edges/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let id = edge_id(request.capture(2))?;
    let is_append = params::is_append(&Given::of(&request), &params::ACTION)?;
    let graph = api.graph(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let (keys, change) = read_change(text, &writing, &api.shared.limits, ("edge", is_append))?;
    // The answer has what was stored.
    check_edges(&request, Action::Read, writing.schema(), [&id])?;
    check_edges(&request, Action::Write, writing.schema(), [&id])?;
    if let Some(label) = writing.schema().edge_label(id.sub_label) {
        let has = |key| label.has_property(key);
        check_change(("edge", &id), writing.schema(), &keys, has, ("sort", &label.sort_keys))?;
    }
    let operation = EdgeOperation::Change(id, change);
    let written = graph.write_edges(vec![operation], CheckVertices::No, writing.now).await?;
    answer(StatusCode::OK, writing.schema(), written)
}

/// DELETE `/graph/edges/{id}`
pub(crate) const REMOVE: Operation = operation("edges", "removeEdge", "Removes an edge.")
    .query(&[&[params::LABEL]])
    .gives(DONE)
    .refuses(&[400, 404]);

/// DELETE `/graph/edges/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let id = edge_id(request.capture(2))?;
    let graph = api.graph(&request).await?;
    check_edges(&request, Action::Delete, &graph.state().await?.schema, [&id])?;
    let operation = EdgeOperation::Remove(id.clone());
    let written = graph.write_edges(vec![operation], CheckVertices::No, api.shared.clock.now()).await?;
    match written.first() {
        Some(Written::Removed(true)) => Ok(no_content()),
        _ => Err(Problem::illegal_argument(format!("No such edge with id: '{id}'"))),
    }
}
