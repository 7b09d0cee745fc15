//! `shortestpath`, `allshortestpaths`, `weightedshortestpath`, `singlesourceshortestpath`, `multinodeshortestpath`.

use api_http::{Given, Operation, Parameter, Request, Response};
use serde::Deserialize;
use traversals::{
    MultiNodeShortestPath, Path, ShortestPath, SingleSourceShortestPath, WeightedShortestPath,
    all_shortest_paths, defaults, multi_node_shortest_path, shortest_path, single_source_shortest_paths,
    weighted_shortest_path,
};

use super::{
    ANSWER, Answer, Method, Table, WalkRequest, body, by_query, get, of_graph, params, post, required, whole,
};
use crate::operation::{json_of, operation};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::conditions::property_key;
use crate::wire::walks::{StepGiven, VerticesGiven};
use crate::wire::{put_ids, put_weighted_path};

pub(super) fn routes(table: &mut Table<'_>) {
    get!(table, "/traversers/shortestpath", SHORTEST, get_shortest);
    get!(table, "/traversers/allshortestpaths", ALL_SHORTEST, get_all_shortest);
    get!(table, "/traversers/weightedshortestpath", WEIGHTED, get_weighted);
    get!(table, "/traversers/singlesourceshortestpath", SINGLE_SOURCE, get_single_source);
    post!(table, "/traversers/multinodeshortestpath", MULTI_NODE, post_multi_node);
}

/// The parameters of shortest paths between two vertices.
const BETWEEN: &[&[Parameter]] = &[&[
    params::SOURCE,
    params::TARGET,
    params::DIRECTION,
    params::EDGE_LABEL,
    params::MAX_DEPTH,
    params::MAX_DEGREE,
    params::SKIP_DEGREE,
    params::WITH_VERTEX,
    params::WITH_EDGE,
    params::CAPACITY,
]];

fn asked(walk: &WalkRequest, given: &Given<'_>) -> Result<ShortestPath, Problem> {
    Ok(ShortestPath {
        source: params::vertex_id(given, &params::SOURCE)?,
        target: params::vertex_id(given, &params::TARGET)?,
        step: walk.skipping_step(given)?,
        max_depth: params::number(given, &params::MAX_DEPTH, 0)?,
        capacity: params::number(given, &params::CAPACITY, defaults::CAPACITY)?,
    })
}

const SHORTEST: Operation = by_query("shortestPath", "A shortest path between two vertices.", BETWEEN);

/// GET `/traversers/shortestpath`
async fn get_shortest(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let (with_vertex, with_edge) = whole(&given)?;
    let found = shortest_path(&walk.reader, &walk.options, &asked(&walk, &given)?).await?;
    let vertices = found.vertices();
    let mut answer = Answer::begin(&walk);
    put_ids(answer.member("path"), &found.known, &vertices);
    let mut measure = found.measure;
    answer.vertices((&found.known, &vertices), with_vertex, &mut measure).await?;
    answer.edges(&found.edges, with_edge).await?;
    Ok(answer.end(measure))
}

const ALL_SHORTEST: Operation =
    by_query("allShortestPaths", "All shortest paths between two vertices.", BETWEEN);

/// GET `/traversers/allshortestpaths`
async fn get_all_shortest(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let whole = whole(&given)?;
    let found = all_shortest_paths(&walk.reader, &walk.options, &asked(&walk, &given)?).await?;
    Answer::of_paths(&walk, "paths", &found, whole).await
}

const WEIGHTED: Operation =
    operation("traversers", "weightedShortestPath", "A lightest path between two vertices.")
        .query(&[&[
            params::SOURCE,
            params::TARGET,
            params::DIRECTION,
            params::EDGE_LABEL,
            params::WEIGHT,
            params::MAX_DEGREE,
            params::SKIP_DEGREE,
            params::WITH_VERTEX,
            params::WITH_EDGE,
            params::CAPACITY,
        ]])
        .gives(ANSWER)
        .refuses(&[400, 404, 504]);

/// GET `/traversers/weightedshortestpath`
async fn get_weighted(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let (with_vertex, with_edge) = whole(&given)?;
    let weight = given.get(&params::WEIGHT);
    let weight = weight.ok_or_else(|| Problem::illegal_argument("The weight property can't be null"))?;
    let asked = WeightedShortestPath {
        source: params::vertex_id(&given, &params::SOURCE)?,
        target: params::vertex_id(&given, &params::TARGET)?,
        step: walk.skipping_step(&given)?,
        weight: property_key(walk.schema(), weight)?.id,
        capacity: params::number(&given, &params::CAPACITY, defaults::CAPACITY)?,
    };
    let found = weighted_shortest_path(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    match found.paths.first() {
        Some(path) => put_weighted_path(answer.member("path"), &found.known, path),
        None => answer.member("path").push_str("{}"),
    }
    let mut measure = found.measure;
    answer.vertices((&found.known, &found.vertices()), with_vertex, &mut measure).await?;
    answer.edges(&found.edges, with_edge).await?;
    Ok(answer.end(measure))
}

const SINGLE_SOURCE: Operation = operation(
    "traversers",
    "singleSourceShortestPath",
    "The lightest paths from a vertex to the nearest others.",
)
.query(&[&[
    params::SOURCE,
    params::DIRECTION,
    params::EDGE_LABEL,
    params::WEIGHT,
    params::MAX_DEGREE,
    params::SKIP_DEGREE,
    params::WITH_VERTEX,
    params::WITH_EDGE,
    params::CAPACITY,
    params::WALK_LIMIT,
]])
.gives(ANSWER)
.refuses(&[400, 404, 504]);

/// GET `/traversers/singlesourceshortestpath`
async fn get_single_source(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let (with_vertex, with_edge) = whole(&given)?;
    let weight = given.get(&params::WEIGHT).map(|name| property_key(walk.schema(), name)).transpose()?;
    let asked = SingleSourceShortestPath {
        source: params::vertex_id(&given, &params::SOURCE)?,
        step: walk.skipping_step(&given)?,
        weight: weight.map(|key| key.id),
        capacity: params::number(&given, &params::CAPACITY, defaults::CAPACITY)?,
        limit: params::number(&given, &params::WALK_LIMIT, defaults::PATHS_LIMIT)?,
    };
    let found = single_source_shortest_paths(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    let put = |out: &mut String, path: &Path| {
        let end = path.vertices.last().expect("a path has a vertex");
        lang_json::write_string(out, &found.known.id(*end).to_string());
        out.push(':');
        put_weighted_path(out, &found.known, path);
        Ok(())
    };
    answer.object("paths", &found.paths, put).await?;
    let mut measure = found.measure;
    answer.vertices((&found.known, &found.vertices()), with_vertex, &mut measure).await?;
    answer.edges(&found.edges, with_edge).await?;
    Ok(answer.end(measure))
}

/// What is asked, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MultiNodeGiven {
    vertices: Option<VerticesGiven>,
    step: Option<StepGiven>,
    max_depth: i64,
    capacity: Option<i64>,
    with_vertex: bool,
    with_edge: bool,
}

const MULTI_NODE: Operation =
    operation("traversers", "multiNodeShortestPath", "A shortest path between each two of some vertices.")
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504]);

/// POST `/traversers/multinodeshortestpath`
async fn post_multi_node(api: Api, request: Request) -> Result<Response, Problem> {
    let given: MultiNodeGiven = body(&request)?;
    let step = required(given.step.as_ref(), "steps of request")?;
    let walk = WalkRequest::of(&api, &request).await?;
    let asked = MultiNodeShortestPath {
        vertices: walk.vertices_given(given.vertices.as_ref(), "vertices").await?,
        step: step.step(walk.schema(), walk.depth_max)?,
        max_depth: given.max_depth,
        capacity: given.capacity.unwrap_or(defaults::CAPACITY),
    };
    let found = multi_node_shortest_path(&walk.reader, &walk.options, &asked).await?;
    Answer::of_paths(&walk, "paths", &found, (given.with_vertex, given.with_edge)).await
}
