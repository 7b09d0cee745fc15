//! `/graph/edges/batch`: many edges in one request.

use access::Action;
use api_http::{Given, Operation, Request, Response, json_response};
use graph::EdgeId;
use http::StatusCode;
use lang_json::{Commas, Reader};
use model_graph::write::{CheckVertices, EdgeOperation, EndLabels, Written};

use super::{admitted, check, edge_id, refused};
use crate::callers::check_edges;
use crate::operation::{done, json_list, json_of, operation};
use crate::params;
use crate::problem::{JSON, Problem};
use crate::routes::elements::{Writing, body, put_written_edge, read_array, read_update};
use crate::state::Api;
use crate::wire::{ElementReader, GivenEdge, Page, VertexLabels, put_edge_id};

/// POST `/graph/edges/batch`
pub(crate) const CREATE_MANY: Operation =
    operation("edges", "createEdges", "Writes edges; those of their ids that are there are replaced.")
        .query(&[&[params::CHECK_VERTEX]])
        .sent(json_list("Edge"))
        .gives(&[(201, done(json_of("EdgeIds")))])
        .refuses(&[400, 404, 415]);

/// POST `/graph/edges/batch`: answers with the ids, in order. Cost: one pass over the body, one commit; before it a read of each vertex
/// at an end, if that is asked for.
pub(crate) async fn create_many(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let asked = params::flag(&Given::of(&request), &params::CHECK_VERTEX, true)?;
    let graph = api.graph_to_fill(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let operations = {
        let limits = &api.shared.limits;
        let mut reader = Reader::new(text, limits.depth_max);
        let mut elements = ElementReader::new(writing.schema(), limits.depth_max);
        let read = |reader: &mut Reader<'_>| {
            let (edge, ends) = admitted(&writing, elements.edge(reader, VertexLabels::Needed)?)?;
            Ok(EdgeOperation::Put(edge, ends))
        };
        let operations = read_array(&mut reader, ("edges", limits), read)?;
        reader.end()?;
        operations
    };
    check_edges(&request, Action::Write, writing.schema(), operations.iter().map(EdgeOperation::id))?;
    let out = ids_of(operations.iter().map(EdgeOperation::id));
    let check = check(writing.checks_vertices(asked));
    let written = graph.write_edges(operations, check, writing.now).await;
    written.map_err(|error| refused(error, writing.schema()))?;
    Ok(json_response(StatusCode::CREATED, JSON, out))
}

/// Ids as a JSON array.
fn ids_of<'a>(ids: impl Iterator<Item = &'a EdgeId>) -> String {
    let mut out = String::with_capacity(2 + ids.size_hint().0 * 48);
    let mut commas = Commas::default();
    out.push('[');
    for id in ids {
        commas.next(&mut out);
        put_edge_id(&mut out, id);
    }
    out.push(']');
    out
}

/// PUT `/graph/edges/batch`
pub(crate) const UPDATE_MANY: Operation =
    operation("edges", "updateEdges", "Merges edges with those that are there, by strategies.")
        .sent(json_of("EdgesUpdate"))
        .gives(&[(200, done(json_of("Edges")))])
        .refuses(&[400, 404, 415]);

/// PUT `/graph/edges/batch`
pub(crate) async fn update_many(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let graph = api.graph_to_fill(&request).await?;
    let writing = Writing::new(&api, graph.state().await?);
    let (operations, asked) = {
        let limits = &api.shared.limits;
        let mut elements = ElementReader::new(writing.schema(), limits.depth_max).skipping_nulls();
        let read = |reader: &mut Reader<'_>| merged(&writing, elements.edge(reader, VertexLabels::Optional)?);
        let (edges, strategies, asked) = read_update(text, ("edges", writing.schema(), limits), read)?;
        let merge = |(edge, ends)| EdgeOperation::Merge(edge, ends, strategies.clone());
        (edges.into_iter().map(merge).collect::<Vec<_>>(), asked)
    };
    // The answer has what was stored.
    check_edges(&request, Action::Read, writing.schema(), operations.iter().map(EdgeOperation::id))?;
    check_edges(&request, Action::Write, writing.schema(), operations.iter().map(EdgeOperation::id))?;
    let check = check(writing.checks_vertices(asked));
    let written = graph.write_edges(operations, check, writing.now).await;
    let written = written.map_err(|error| refused(error, writing.schema()))?;
    let mut page = Page::begin("edges");
    for edge in written.into_iter().filter_map(Written::stored) {
        put_written_edge(page.item(), writing.schema(), &edge)?;
    }
    Ok(json_response(StatusCode::OK, JSON, page.end()))
}

/// An edge to be merged with what is there.
fn merged(writing: &Writing, given: GivenEdge<'_>) -> Result<(graph::Edge, Option<EndLabels>), Problem> {
    let GivenEdge { label, id: given_id, source, target, vertex_labels, properties } = given;
    let admission = writing.admission();
    let id = admission.edge_id(label, source, target, properties.as_ref())?;
    if let Some(given) = given_id {
        let made = id.to_string();
        if made != given {
            return Err(Problem::illegal_argument(format!(
                "The ids are different between server and request body ('{made}' != '{given}'). And note the sort key values \
                 should either be null or equal to the origin value when specified edge id"
            )));
        }
    }
    let expires = admission.expires(label, properties.as_ref())?;
    let ends = vertex_labels.map(|(source, target)| EndLabels { source: source.id, target: target.id });
    Ok((graph::Edge { id, expires, properties }, ends))
}

/// DELETE `/graph/edges/batch`
pub(crate) const REMOVE_MANY: Operation =
    operation("edges", "removeEdges", "Removes edges; answers with the ids of those that were there.")
        .sent(json_of("EdgeIds"))
        .gives(&[(200, done(json_of("EdgeIds")))])
        .refuses(&[400, 404]);

/// DELETE `/graph/edges/batch`: a list of ids, as creation answers with.
pub(crate) async fn remove_many(api: Api, request: Request) -> Result<Response, Problem> {
    let text = body(&request)?;
    let ids = {
        let limits = &api.shared.limits;
        let mut reader = Reader::new(text, limits.depth_max);
        let read = |reader: &mut Reader<'_>| edge_id(&reader.string()?);
        let ids = read_array(&mut reader, ("edges", limits), read)?;
        reader.end()?;
        ids
    };
    let graph = api.graph(&request).await?;
    check_edges(&request, Action::Delete, &graph.state().await?.schema, &ids)?;
    let operations = ids.iter().cloned().map(EdgeOperation::Remove).collect();
    let written = graph.write_edges(operations, CheckVertices::No, api.shared.clock.now()).await?;
    let there = ids.iter().zip(&written).filter(|(_, written)| matches!(written, Written::Removed(true)));
    Ok(json_response(StatusCode::OK, JSON, ids_of(there.map(|(id, _)| id))))
}
