//! `/traversers/vertices`, `/traversers/edges`: elements by id, and all of them, as backups read them.

use api_http::{Given, Operation, Parameter, Request, Response, json_response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use graph::plan::{Query, plan_edges, plan_vertices};
use http::StatusCode;
use model_graph::{Deadline, Elements, Error, Part, Range};
use serde_json::json;

use super::edges::edge_id;
use super::lists::Paging;
use super::ok;
use crate::operation::{done, json_of, operation};
use crate::params;
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::{Page, put_edge, put_vertex, vertex_id_of_url};

/// Elements of a page where the client does not say, and the most.
const PAGE_LIMITS: (u64, u64) = (100_000, 800_000);
/// The least size of a shard that clients may ask for, in bytes.
const SPLIT_SIZE_MIN: u64 = 1024 * 1024;
/// Where the first shard begins, and the last one ends.
const SHARD: (&str, &str) = ("0", "4294967295");

/// GET `/traversers/vertices`
pub(crate) const VERTICES: Operation = operation("vertices", "getVertices", "The vertices of some ids.")
    .query(&[&[params::IDS]])
    .gives(&[(200, done(json_of("Vertices")))])
    .refuses(&[400, 404]);

/// GET `/traversers/vertices`: those that are there.
pub(crate) async fn vertices(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let ids = given.all(&params::IDS).map(vertex_id_of_url).collect::<Result<Vec<_>, _>>()?;
    check_ids(ids.len())?;
    let graph = api.graph(&request).await?;
    let state = graph.state().await?;
    let found = graph.reader_by(&state, api.shared.clock.now())?.vertices(&ids).await?;
    let mut page = Page::begin("vertices");
    for vertex in found.iter().flatten() {
        put_vertex(page.item(), &state.schema, &vertex.id.as_ref(), &vertex.view()?)?;
    }
    Ok(json_response(StatusCode::OK, JSON, page.end()))
}

/// GET `/traversers/edges`
pub(crate) const EDGES: Operation = operation("edges", "getEdges", "The edges of some ids.")
    .query(&[&[params::IDS]])
    .gives(&[(200, done(json_of("Edges")))])
    .refuses(&[400, 404]);

/// GET `/traversers/edges`: those that are there.
pub(crate) async fn edges(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let ids = given.all(&params::IDS).map(edge_id).collect::<Result<Vec<_>, _>>()?;
    check_ids(ids.len())?;
    let graph = api.graph(&request).await?;
    let state = graph.state().await?;
    let found = graph.reader_by(&state, api.shared.clock.now())?.edges_by_id(&ids).await?;
    let mut page = Page::begin("edges");
    for edge in found.iter().flatten() {
        put_edge(page.item(), &state.schema, &edge.id, &edge.view()?)?;
    }
    Ok(json_response(StatusCode::OK, JSON, page.end()))
}

fn check_ids(count: usize) -> Result<(), Problem> {
    if count > 0 {
        Ok(())
    } else {
        Err(Problem::illegal_argument("The ids parameter can't be null or empty"))
    }
}

/// GET `/traversers/vertices/shards`
pub(crate) const VERTEX_SHARDS: Operation = operation(
    "vertices",
    "listVertexShards",
    "Shards in which all vertices are scanned, one beside the other.",
)
.query(&[&[params::SPLIT_SIZE]])
.gives(&[(200, done(json_of("Shards")))])
.refuses(&[400, 404]);

/// GET `/traversers/edges/shards`
pub(crate) const EDGE_SHARDS: Operation =
    operation("edges", "listEdgeShards", "Shards in which all edges are scanned, one beside the other.")
        .query(&[&[params::SPLIT_SIZE]])
        .gives(&[(200, done(json_of("Shards")))])
        .refuses(&[400, 404]);

/// GET `/traversers/vertices/shards`
pub(crate) async fn vertex_shards(api: Api, request: Request) -> Result<Response, Problem> {
    shards(&api, &request, Elements::Vertices).await
}

/// GET `/traversers/edges/shards`
pub(crate) async fn edge_shards(api: Api, request: Request) -> Result<Response, Problem> {
    shards(&api, &request, Elements::Edges).await
}

async fn shards(api: &Api, request: &Request, elements: Elements) -> Result<Response, Problem> {
    let size = Given::of(request).number(&params::SPLIT_SIZE, u64::MAX)?.unwrap_or(0);
    if size < SPLIT_SIZE_MIN {
        return Err(Problem::illegal_argument(format!(
            "The split-size must be >= {SPLIT_SIZE_MIN} bytes, but got {size}"
        )));
    }
    let parts = api.graph(request).await?.split(elements, size, &Deadline::at(request.deadline)).await?;
    let all = elements.range();
    let shard = |part: &Part| {
        let Range { start, end } = &part.range;
        let start = if *start == all.start { SHARD.0.to_owned() } else { BASE64.encode(start) };
        let end = end.as_ref().filter(|_| *end != all.end);
        let end = end.map_or_else(|| SHARD.1.to_owned(), |end| BASE64.encode(end));
        json!({ "start": start, "end": end, "length": part.bytes })
    };
    let shards: Vec<_> = parts.iter().map(shard).collect();
    ok(&json!({ "shards": shards }))
}

/// GET `/traversers/vertices/scan`
pub(crate) const SCAN_VERTICES: Operation =
    operation("vertices", "scanVertices", "The vertices of a shard, page by page.")
        .query(&[&[params::START, params::END, params::PAGE, params::PAGE_LIMIT]])
        .gives(&[(200, done(json_of("Vertices")))])
        .refuses(&[400, 404]);

/// GET `/traversers/vertices/scan`
pub(crate) async fn scan_vertices(api: Api, request: Request) -> Result<Response, Problem> {
    let (range, paging) = scan(&request, Elements::Vertices)?;
    let graph = api.graph(&request).await?;
    let (state, reader) = graph.reader_with_state(api.shared.clock.now()).await?;
    let stages = plan_vertices(&state.schema, &Query::default()).map_err(Error::from)?;
    let stages = stages.into_iter().map(|stage| stage.within(&range)).collect();
    paging.answer(&request, ("vertices", &state.schema), (&reader, &api.shared.lane), stages).await
}

/// GET `/traversers/edges/scan`
pub(crate) const SCAN_EDGES: Operation =
    operation("edges", "scanEdges", "The edges of a shard, page by page.")
        .query(&[&[params::START, params::END, params::PAGE, params::PAGE_LIMIT]])
        .gives(&[(200, done(json_of("Edges")))])
        .refuses(&[400, 404]);

/// GET `/traversers/edges/scan`
pub(crate) async fn scan_edges(api: Api, request: Request) -> Result<Response, Problem> {
    let (range, paging) = scan(&request, Elements::Edges)?;
    let graph = api.graph(&request).await?;
    let (state, reader) = graph.reader_with_state(api.shared.clock.now()).await?;
    let stages = plan_edges(&state.schema, &Query::default()).map_err(Error::from)?;
    let stages = stages.into_iter().map(|stage| stage.within(&range)).collect();
    paging.answer(&request, ("edges", &state.schema), (&reader, &api.shared.lane), stages).await
}

/// What a scan asks for: the keys of its shard, and which page.
fn scan(request: &Request, elements: Elements) -> Result<(Range, Paging), Problem> {
    let given = Given::of(request);
    let bound = |parameter: &Parameter, whole: &str| {
        let Some(text) = given.get(parameter) else {
            return Err(Problem::illegal_argument(format!(
                "The {} parameter can't be null: a shard is asked for as it was answered",
                parameter.name
            )));
        };
        let wrong = |_| Problem::illegal_argument(format!("Invalid {} of a shard: '{text}'", parameter.name));
        if text == whole { Ok(None) } else { BASE64.decode(text).map(Some).map_err(wrong) }
    };
    let range = elements.part(bound(&params::START, SHARD.0)?, bound(&params::END, SHARD.1)?);
    let range =
        range.ok_or_else(|| Problem::illegal_argument("Invalid shard: it is none of these elements"))?;
    Ok((range, Paging::of_scan(&given, PAGE_LIMITS)?))
}
