//! `paths`, `crosspoints`, `rings`, `rays`: paths by where they begin and end.

use api_http::{Given, Operation, Parameter, Request, Response};
use serde::Deserialize;
use traversals::{CollectionPaths, Paths, Rays, collection_paths, crosspoints, defaults, paths, rays, rings};

use super::{
    ANSWER, Answer, Method, Table, WalkRequest, body, by_query, get, of_graph, params, post, required, whole,
};
use crate::operation::{json_of, operation};
use crate::params::flag;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::walks::{StepGiven, VerticesGiven};

pub(super) fn routes(table: &mut Table<'_>) {
    get!(table, "/traversers/paths", PATHS, get_paths);
    post!(table, "/traversers/paths", PATHS_OF_MANY, post_paths);
    get!(table, "/traversers/crosspoints", CROSSPOINTS, get_crosspoints);
    get!(table, "/traversers/rings", RINGS, get_rings);
    get!(table, "/traversers/rays", RAYS, get_rays);
}

/// The parameters of paths between two vertices.
const BETWEEN: &[&[Parameter]] = &[&[
    params::SOURCE,
    params::TARGET,
    params::DIRECTION,
    params::EDGE_LABEL,
    params::MAX_DEPTH,
    params::MAX_DEGREE,
    params::CAPACITY,
    params::WALK_LIMIT,
]];

fn asked(walk: &WalkRequest, request: &Request) -> Result<Paths, Problem> {
    let given = Given::of(request);
    Ok(Paths {
        source: params::vertex_id(&given, &params::SOURCE)?,
        target: params::vertex_id(&given, &params::TARGET)?,
        step: walk.step(&given)?,
        max_depth: params::number(&given, &params::MAX_DEPTH, 0)?,
        capacity: params::number(&given, &params::CAPACITY, defaults::CAPACITY)?,
        limit: params::number(&given, &params::WALK_LIMIT, defaults::PATHS_LIMIT)?,
    })
}

const PATHS: Operation = by_query("paths", "All paths between two vertices.", BETWEEN);

/// GET `/traversers/paths`
async fn get_paths(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let found = paths(&walk.reader, &walk.options, &asked(&walk, &request)?).await?;
    let mut answer = Answer::begin(&walk);
    answer.paths("paths", &found.known, &found.paths, false).await?;
    Ok(answer.end(found.measure))
}

const CROSSPOINTS: Operation =
    by_query("crosspoints", "The vertices in which walks from two others meet.", BETWEEN);

/// GET `/traversers/crosspoints`
async fn get_crosspoints(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let found = crosspoints(&walk.reader, &walk.options, &asked(&walk, &request)?).await?;
    let mut answer = Answer::begin(&walk);
    answer.paths("crosspoints", &found.known, &found.paths, true).await?;
    Ok(answer.end(found.measure))
}

/// What is asked, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PathsGiven {
    sources: Option<VerticesGiven>,
    targets: Option<VerticesGiven>,
    step: Option<StepGiven>,
    max_depth: i64,
    nearest: bool,
    capacity: Option<i64>,
    limit: Option<i64>,
    with_vertex: bool,
    with_edge: bool,
}

const PATHS_OF_MANY: Operation =
    operation("traversers", "pathsOfMany", "All paths from some vertices to some others.")
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504]);

/// POST `/traversers/paths`
async fn post_paths(api: Api, request: Request) -> Result<Response, Problem> {
    let given: PathsGiven = body(&request)?;
    let step = required(given.step.as_ref(), "step of request")?;
    let walk = WalkRequest::of(&api, &request).await?;
    let asked = CollectionPaths {
        sources: walk.vertices_given(given.sources.as_ref(), "sources").await?,
        targets: walk.vertices_given(given.targets.as_ref(), "targets").await?,
        step: step.step(walk.schema(), walk.depth_max)?,
        max_depth: given.max_depth,
        nearest: given.nearest,
        capacity: given.capacity.unwrap_or(defaults::CAPACITY),
        limit: given.limit.unwrap_or(defaults::PATHS_LIMIT),
    };
    let found = collection_paths(&walk.reader, &walk.options, &asked).await?;
    Answer::of_paths(&walk, "paths", &found, (given.with_vertex, given.with_edge)).await
}

/// What is asked of one vertex.
fn around(walk: &WalkRequest, given: &Given<'_>) -> Result<Rays, Problem> {
    Ok(Rays {
        source: params::vertex_id(given, &params::SOURCE)?,
        step: walk.step(given)?,
        max_depth: params::number(given, &params::MAX_DEPTH, 0)?,
        capacity: params::number(given, &params::CAPACITY, defaults::CAPACITY)?,
        limit: params::number(given, &params::WALK_LIMIT, defaults::PATHS_LIMIT)?,
    })
}

const RINGS: Operation = operation("traversers", "rings", "The rings that a walk from a vertex meets.")
    .query(&[&[
        params::SOURCE,
        params::DIRECTION,
        params::EDGE_LABEL,
        params::MAX_DEPTH,
        params::SOURCE_IN_RING,
        params::MAX_DEGREE,
        params::CAPACITY,
        params::WALK_LIMIT,
        params::WITH_VERTEX,
        params::WITH_EDGE,
    ]])
    .gives(ANSWER)
    .refuses(&[400, 404, 504]);

/// GET `/traversers/rings`
async fn get_rings(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let (whole, with_source) = (whole(&given)?, flag(&given, &params::SOURCE_IN_RING, true)?);
    let found = rings(&walk.reader, &walk.options, &around(&walk, &given)?, with_source).await?;
    Answer::of_paths(&walk, "rings", &found, whole).await
}

const RAYS: Operation = operation("traversers", "rays", "The paths from a vertex to where nothing leads on.")
    .query(&[&[
        params::SOURCE,
        params::DIRECTION,
        params::EDGE_LABEL,
        params::MAX_DEPTH,
        params::MAX_DEGREE,
        params::CAPACITY,
        params::WALK_LIMIT,
        params::WITH_VERTEX,
        params::WITH_EDGE,
    ]])
    .gives(ANSWER)
    .refuses(&[400, 404, 504]);

/// GET `/traversers/rays`
async fn get_rays(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let whole = whole(&given)?;
    let found = rays(&walk.reader, &walk.options, &around(&walk, &given)?).await?;
    Answer::of_paths(&walk, "rays", &found, whole).await
}
