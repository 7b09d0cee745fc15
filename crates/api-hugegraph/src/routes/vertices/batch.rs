//! `/graph/vertices/batch`: many vertices in one request.

use access::Action;
use api_http::{Operation, Request, Response, json_response};
use graph::schema::{IdStrategy, Schema};
use graph::{Vertex, VertexId};
use http::StatusCode;
use lang_json::Reader;
use model_graph::write::{VertexOperation, Written};

use super::admitted;
use crate::callers::{check_vertex_removals, check_vertex_writes, check_vertices};
use crate::operation::{done, json_list, json_of, operation};
use crate::problem::{JSON, Problem};
use crate::routes::elements::{Writing, body, ids_answer, put_written_vertex, read_array, read_update};
use crate::state::Api;
use crate::wire::{ElementReader, GivenVertex, Page, vertex_id_of_list};

/// POST `/graph/vertices/batch`
pub(crate) const CREATE_MANY: Operation = operation(
    "vertices",
    "createVertices",
    "Writes vertices; those of their ids that are there are replaced.",
)
.sent(json_list("Vertex"))
.gives(&[(201, done(json_of("VertexIds")))])
.refuses(&[400, 404, 415]);

/// POST `/graph/vertices/batch`: answers with the ids, in order. Cost: one pass over the body, one commit.
pub(crate) async fn create_many(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let graph = api.graph_to_fill(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let operations = {
        let limits = &api.shared.limits;
        let mut reader = Reader::new(text, limits.depth_max);
        let mut elements = ElementReader::new(writing.schema(), limits.depth_max);
        let read = |reader: &mut Reader<'_>| admitted(&graph, &writing, elements.vertex_or_computed(reader)?);
        let operations = read_array(&mut reader, ("vertices", limits), read)?;
        reader.end()?;
        operations
    };
    check_vertex_writes(&request, &graph, writing.schema(), &operations).await?;
    let written = graph.write_vertices(operations, writing.now).await?;
    // As they were written: a number that was in use became another.
    Ok(ids_answer(StatusCode::CREATED, written.iter().map(id_of_created)))
}

fn id_of_created(written: &Written<Vertex>) -> &VertexId {
    match written {
        Written::Stored(vertex) => &vertex.id,
        Written::Removed(_) => unreachable!("creations remove nothing"),
    }
}

/// PUT `/graph/vertices/batch`
pub(crate) const UPDATE_MANY: Operation =
    operation("vertices", "updateVertices", "Merges vertices with those that are there, by strategies.")
        .sent(json_of("VerticesUpdate"))
        .gives(&[(200, done(json_of("Vertices")))])
        .refuses(&[400, 404, 415]);

/// PUT `/graph/vertices/batch`
pub(crate) async fn update_many(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let graph = api.graph_to_fill(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let operations = {
        let limits = &api.shared.limits;
        let mut elements = ElementReader::new(writing.schema(), limits.depth_max).skipping_nulls();
        let read = |reader: &mut Reader<'_>| merged(&writing, elements.vertex(reader)?);
        let (vertices, strategies, _) = read_update(text, ("vertices", writing.schema(), limits), read)?;
        let merge = |vertex| VertexOperation::Merge(vertex, strategies.clone());
        vertices.into_iter().map(merge).collect::<Vec<_>>()
    };
    check_vertex_writes(&request, &graph, writing.schema(), &operations).await?;
    check_merged(&request, writing.schema(), &operations)?;
    let written = graph.write_vertices(operations, writing.now).await?;
    let mut page = Page::begin("vertices");
    for vertex in written.into_iter().filter_map(Written::stored) {
        put_written_vertex(page.item(), writing.schema(), &vertex)?;
    }
    Ok(json_response(StatusCode::OK, JSON, page.end()))
}

/// Refuses to answer with what is there to whoever may not read it.
fn check_merged(request: &Request, schema: &Schema, operations: &[VertexOperation]) -> Result<(), Problem> {
    let labels = operations.iter().filter_map(|operation| match operation {
        VertexOperation::Merge(vertex, _) => Some(vertex.label),
        VertexOperation::Put(_) | VertexOperation::Create(_) | VertexOperation::Change(..) => None,
    });
    check_vertices(request, Action::Read, schema, labels)
}

/// A vertex to be merged with what is there.
fn merged(writing: &Writing, given: GivenVertex<'_>) -> Result<graph::Vertex, Problem> {
    let GivenVertex { label, id, properties } = given;
    if label.id_strategy == IdStrategy::Automatic {
        return Err(Problem::illegal_argument("Automatic Id strategy is not supported now"));
    }
    let admission = writing.admission();
    let id =
        admission.vertex_id(label, id, properties.as_ref(), || unreachable!("its label makes no ids"))?;
    let expires = admission.expires(label, properties.as_ref())?;
    Ok(graph::Vertex { id, label: label.id, expires, properties })
}

/// DELETE `/graph/vertices/batch`
pub(crate) const REMOVE_MANY: Operation = operation(
    "vertices",
    "removeVertices",
    "Removes vertices with all their edges; answers with the ids of those that were there.",
)
.sent(json_of("VertexIds"))
.gives(&[(200, done(json_of("VertexIds")))])
.refuses(&[400, 404]);

/// DELETE `/graph/vertices/batch`: a list of ids, as creation answers with.
pub(crate) async fn remove_many(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let ids = {
        let limits = &api.shared.limits;
        let mut reader = Reader::new(text, limits.depth_max);
        let ids = read_array(&mut reader, ("vertices", limits), vertex_id_of_list)?;
        reader.end()?;
        ids
    };
    let graph = api.graph(&request).await?;
    check_vertex_removals(&request, &graph, &ids).await?;
    let removed = graph.remove_vertices(&ids, api.shared.clock.now()).await?;
    let there: Vec<_> =
        ids.iter().zip(removed).filter(|(_, was_there)| *was_there).map(|(id, _)| id).collect();
    Ok(ids_answer(StatusCode::OK, there.into_iter()))
}
