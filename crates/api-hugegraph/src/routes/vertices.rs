//! `/graph/vertices`: vertices, one by one and many at once.

mod batch;

use access::Action;
use api_http::{Given, Operation, Request, Response, json_response, no_content};
use graph::plan::{Query, plan_vertices};
use graph::schema::{IdStrategy, Schema};
use graph::{Vertex, VertexId, VertexView};
use http::StatusCode;
use lang_json::Reader;
use model_graph::write::{Change, VertexOperation, Written};
use model_graph::{Error, Graph};

pub(crate) use batch::{CREATE_MANY, REMOVE_MANY, UPDATE_MANY, create_many, remove_many, update_many};

use super::elements::{Writing, body, check_change, put_written_vertex, read_change};
use super::lists::{self, Paging};
use crate::callers::{check_vertex_removals, check_vertex_writes, check_vertices};
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::{self, ElementReader, GivenVertex, put_vertex, vertex_id_of_url};

/// GET `/graph/vertices`
pub(crate) const LIST: Operation =
    operation("vertices", "listVertices", "Vertices of a label, with values of properties.")
        .query(&[lists::PARAMETERS])
        .gives(&[(200, done(json_of("Vertices")))])
        .refuses(&[400, 404]);

/// GET `/graph/vertices`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let paging = Paging::of(&given, "vertices")?;
    let graph = api.graph(&request).await?;
    let (state, reader) = graph.reader_with_state(api.shared.clock.now()).await?;
    let schema = &*state.schema;
    let label = given.get(&params::LABEL).map(|name| {
        let label = schema.vertex_label_named(name).map(|label| label.id);
        label.ok_or_else(|| Problem::illegal_argument(format!("Undefined vertex label: '{name}'")))
    });
    let query = Query { label: label.transpose()?, conditions: lists::conditions(&api, &given, schema)? };
    let stages = plan_vertices(schema, &query).map_err(Error::from)?;
    paging.answer(&request, ("vertices", schema), (&reader, &api.shared.lane), stages).await
}

/// POST `/graph/vertices`
pub(crate) const CREATE: Operation =
    operation("vertices", "createVertex", "Writes a vertex; one of its id that is there is replaced.")
        .sent(json_of("Vertex"))
        .gives(&[(201, done(json_of("Vertex")))])
        .refuses(&[400, 404, 415]);

/// POST `/graph/vertices`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let depth_max = api.shared.limits.depth_max;
    let graph = api.graph_to_fill(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let operation = {
        let mut reader = Reader::new(text, depth_max);
        let given = ElementReader::new(writing.schema(), depth_max).vertex_or_computed(&mut reader)?;
        reader.end()?;
        admitted(&graph, &writing, given)?
    };
    check_vertex_writes(&request, &graph, writing.schema(), std::slice::from_ref(&operation)).await?;
    let written = graph.write_vertices(vec![operation], writing.now).await?;
    answer(StatusCode::CREATED, writing.schema(), written)
}

/// What is done with a vertex that was sent.
fn admitted(graph: &Graph, writing: &Writing, given: wire::Given<'_>) -> Result<VertexOperation, Problem> {
    let GivenVertex { label, id, properties } = match given {
        wire::Given::Vertex(vertex) => vertex,
        wire::Given::Computed(id, properties) => {
            return Ok(VertexOperation::Change(id, Change::Append(properties)));
        }
    };
    let is_new = label.id_strategy == IdStrategy::Automatic && id.is_none();
    let next_id = || graph.next_number(writing.now);
    let vertex = writing.admission().vertex(label, id, properties, next_id)?;
    Ok(if is_new { VertexOperation::Create(vertex) } else { VertexOperation::Put(vertex) })
}

/// The one vertex that was written.
fn answer(status: StatusCode, schema: &Schema, written: Vec<Written<Vertex>>) -> Result<Response, Problem> {
    let written = written.into_iter().next().and_then(Written::stored);
    let vertex = written.expect("an operation that stores a vertex answers with it");
    let mut out = String::with_capacity(512);
    put_written_vertex(&mut out, schema, &vertex)?;
    Ok(json_response(status, JSON, out))
}

/// GET `/graph/vertices/{id}`
pub(crate) const GET: Operation = operation("vertices", "getVertex", "One vertex.")
    .gives(&[(200, done(json_of("Vertex")))])
    .refuses(&[400, 404]);

/// GET `/graph/vertices/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let id = vertex_id_of_url(request.capture(2))?;
    let graph = api.graph(&request).await?;
    let state = graph.state().await?;
    let stored = graph.vertex(&state, &id, api.shared.clock.now()).await?.ok_or_else(|| no_such(&id))?;
    let mut out = String::with_capacity(512);
    put_vertex(&mut out, &state.schema, &id.as_ref(), &VertexView::parse(&stored)?)?;
    Ok(json_response(StatusCode::OK, JSON, out))
}

fn no_such(id: &VertexId) -> Problem {
    Problem::not_found(format!("vertex with id '{id}' does not exist"))
}

/// PUT `/graph/vertices/{id}`
pub(crate) const UPDATE: Operation =
    operation("vertices", "updateVertex", "Sets properties of a vertex, or removes them.")
        .query(&[&[params::ACTION]])
        .sent(json_of("Vertex"))
        .gives(&[(200, done(json_of("Vertex")))])
        .refuses(&[400, 404, 415]);

/// PUT `/graph/vertices/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let id = vertex_id_of_url(request.capture(2))?;
    let is_append = params::is_append(&Given::of(&request), &params::ACTION)?;
    let graph = api.graph(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let (keys, change) = read_change(text, &writing, &api.shared.limits, ("vertex", is_append))?;
    let stored = graph.vertex(&writing.state, &id, writing.now).await?.ok_or_else(|| no_such(&id))?;
    let label = VertexView::parse(&stored)?.label;
    check_vertices(&request, Action::Write, writing.schema(), [label])?;
    let label = writing.schema().vertex_label(label).ok_or_else(|| no_such(&id))?;
    let is_olap = |key| writing.schema().property_key(key).is_some_and(|key| key.write_type.is_olap());
    let has = |key| label.has_property(key) || is_olap(key);
    check_change(("vertex", &id), writing.schema(), &keys, has, ("primary", &label.primary_keys))?;
    let written = graph.write_vertices(vec![VertexOperation::Change(id, change)], writing.now).await?;
    answer(StatusCode::OK, writing.schema(), written)
}

/// DELETE `/graph/vertices/{id}`
pub(crate) const REMOVE: Operation =
    operation("vertices", "removeVertex", "Removes a vertex with all its edges.")
        .query(&[&[params::LABEL]])
        .gives(DONE)
        .refuses(&[400, 404]);

/// DELETE `/graph/vertices/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let id = vertex_id_of_url(request.capture(2))?;
    let graph = api.graph(&request).await?;
    check_vertex_removals(&request, &graph, std::slice::from_ref(&id)).await?;
    let removed = graph.remove_vertices(std::slice::from_ref(&id), api.shared.clock.now()).await?;
    match removed.first() {
        Some(true) => Ok(no_content()),
        _ => Err(Problem::illegal_argument(format!("No such vertex with id: '{id}'"))),
    }
}
