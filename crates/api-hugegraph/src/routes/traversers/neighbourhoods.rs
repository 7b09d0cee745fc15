//! `kout`, `kneighbor`: vertices by how far they are.

use api_http::{Given, Operation, Request, Response};
use serde::Deserialize;
use serde_json::Value;
use traversals::{Kneighbor, Kout, Reached, TraverseMode, defaults, kneighbor, kout};

use super::{ANSWER, Answer, Method, Table, WalkRequest, body, get, of_graph, params, post, required};
use crate::operation::{json_of, operation};
use crate::params::flag;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::walks::{StepGiven, required_id};

pub(super) fn routes(table: &mut Table<'_>) {
    get!(table, "/traversers/kout", KOUT, get_kout);
    post!(table, "/traversers/kout", KOUT_BY_STEPS, post_kout);
    get!(table, "/traversers/kneighbor", KNEIGHBOR, get_kneighbor);
    post!(table, "/traversers/kneighbor", KNEIGHBOR_BY_STEPS, post_kneighbor);
}

const KOUT: Operation = operation("traversers", "kout", "The vertices that are a number of steps away.")
    .query(&[&[
        params::SOURCE,
        params::DIRECTION,
        params::EDGE_LABEL,
        params::MAX_DEPTH,
        params::NEAREST,
        params::COUNT_ONLY,
        params::MAX_DEGREE,
        params::CAPACITY,
        params::WALK_LIMIT,
    ]])
    .gives(ANSWER)
    .refuses(&[400, 404, 504]);

/// GET `/traversers/kout`
async fn get_kout(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let asked = Kout {
        source: params::vertex_id(&given, &params::SOURCE)?,
        step: walk.step(&given)?,
        vertex_filters: Vec::new(),
        max_depth: params::number(&given, &params::MAX_DEPTH, 0)?,
        nearest: flag(&given, &params::NEAREST, true)?,
        capacity: params::number(&given, &params::CAPACITY, defaults::CAPACITY)?,
        limit: params::number(&given, &params::WALK_LIMIT, defaults::ELEMENTS_LIMIT)?,
        with_paths: false,
        mode: TraverseMode::Breadth,
        basic: true,
    };
    let reached = kout(&walk.reader, &walk.options, &asked).await?;
    basic(&walk, &reached, flag(&given, &params::COUNT_ONLY, false)?).await
}

const KNEIGHBOR: Operation =
    operation("traversers", "kneighbor", "The vertices that are at most a number of steps away.")
        .query(&[&[
            params::SOURCE,
            params::DIRECTION,
            params::EDGE_LABEL,
            params::MAX_DEPTH,
            params::COUNT_ONLY,
            params::MAX_DEGREE,
            params::WALK_LIMIT,
        ]])
        .gives(ANSWER)
        .refuses(&[400, 404, 504]);

/// GET `/traversers/kneighbor`
async fn get_kneighbor(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let asked = Kneighbor {
        source: params::vertex_id(&given, &params::SOURCE)?,
        step: walk.step(&given)?,
        vertex_filters: Vec::new(),
        max_depth: params::number(&given, &params::MAX_DEPTH, 0)?,
        limit: params::number(&given, &params::WALK_LIMIT, defaults::ELEMENTS_LIMIT)?,
        with_paths: false,
    };
    let reached = kneighbor(&walk.reader, &walk.options, &asked).await?;
    basic(&walk, &reached, flag(&given, &params::COUNT_ONLY, false)?).await
}

async fn basic(walk: &WalkRequest, reached: &Reached, count_only: bool) -> Result<Response, Problem> {
    let mut answer = Answer::begin(walk);
    match count_only {
        true => answer.count("vertices_size", reached.vertices.len() as u64),
        false => answer.ids("vertices", &reached.known, &reached.vertices).await?,
    }
    Ok(answer.end(reached.measure))
}

/// A walk as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WalkGiven {
    source: Option<Value>,
    steps: Option<StepGiven>,
    max_depth: i64,
    nearest: Option<bool>,
    count_only: bool,
    capacity: Option<i64>,
    limit: Option<i64>,
    with_vertex: bool,
    with_path: bool,
    with_edge: bool,
    traverse_mode: Option<String>,
}

const KOUT_BY_STEPS: Operation = operation(
    "traversers",
    "koutBySteps",
    "The same, with filters of edges and vertices, and the ways to each.",
)
.sent(json_of("WalkRequest"))
.gives(ANSWER)
.refuses(&[400, 404, 415, 504]);

/// POST `/traversers/kout`
async fn post_kout(api: Api, request: Request) -> Result<Response, Problem> {
    let given: WalkGiven = body(&request)?;
    let source = required_id(given.source.as_ref(), "source of request")?;
    let steps = required(given.steps.as_ref(), "steps of request")?;
    check_count(&given)?;
    let mode = mode(given.traverse_mode.as_deref())?;
    let walk = WalkRequest::of(&api, &request).await?;
    let (step, vertex_filters) = steps.filtered(walk.schema(), walk.depth_max)?;
    let asked = Kout {
        source,
        step,
        vertex_filters,
        max_depth: given.max_depth,
        nearest: given.nearest.unwrap_or(true),
        capacity: given.capacity.unwrap_or(defaults::CAPACITY),
        limit: given.limit.unwrap_or(defaults::ELEMENTS_LIMIT),
        with_paths: given.with_path,
        mode,
        basic: false,
    };
    let reached = kout(&walk.reader, &walk.options, &asked).await?;
    advanced(&walk, "kout", &reached, &given).await
}

const KNEIGHBOR_BY_STEPS: Operation = operation(
    "traversers",
    "kneighborBySteps",
    "The same, with filters of edges and vertices, and the ways to each.",
)
.sent(json_of("WalkRequest"))
.gives(ANSWER)
.refuses(&[400, 404, 415, 504]);

/// POST `/traversers/kneighbor`
async fn post_kneighbor(api: Api, request: Request) -> Result<Response, Problem> {
    let given: WalkGiven = body(&request)?;
    let source = required_id(given.source.as_ref(), "source of request")?;
    let steps = required(given.steps.as_ref(), "steps of request")?;
    check_count(&given)?;
    let walk = WalkRequest::of(&api, &request).await?;
    let (step, vertex_filters) = steps.filtered(walk.schema(), walk.depth_max)?;
    let asked = Kneighbor {
        source,
        step,
        vertex_filters,
        max_depth: given.max_depth,
        limit: given.limit.unwrap_or(defaults::ELEMENTS_LIMIT),
        with_paths: given.with_path,
    };
    let reached = kneighbor(&walk.reader, &walk.options, &asked).await?;
    advanced(&walk, "kneighbor", &reached, &given).await
}

fn check_count(given: &WalkGiven) -> Result<(), Problem> {
    match given.count_only && (given.with_vertex || given.with_path || given.with_edge) {
        true => Err(Problem::illegal_argument("Can't return vertex, edge or path when count only")),
        false => Ok(()),
    }
}

fn mode(given: Option<&str>) -> Result<TraverseMode, Problem> {
    let (breadth, depth) = ("breadth_first_search", "depth_first_search");
    match given {
        None => Ok(TraverseMode::Breadth),
        Some(mode) if mode.eq_ignore_ascii_case(breadth) => Ok(TraverseMode::Breadth),
        Some(mode) if mode.eq_ignore_ascii_case(depth) => Ok(TraverseMode::Depth),
        Some(other) => Err(Problem::illegal_argument(format!(
            "The traverse mode must be one of '{breadth}' or '{depth}', but got '{other}'"
        ))),
    }
}

async fn advanced(
    walk: &WalkRequest,
    name: &str,
    reached: &Reached,
    given: &WalkGiven,
) -> Result<Response, Problem> {
    let mut answer = Answer::begin(walk);
    let shown = if given.count_only { &[][..] } else { &reached.vertices };
    answer.ids(name, &reached.known, shown).await?;
    answer.count("size", reached.vertices.len() as u64);
    answer.paths("paths", &reached.known, &reached.paths, false).await?;
    let vertices = if given.count_only { Vec::new() } else { reached.all_vertices() };
    let mut measure = reached.measure;
    answer.vertices((&reached.known, &vertices), given.with_vertex, &mut measure).await?;
    answer.edges(&reached.edges, given.with_edge).await?;
    Ok(answer.end(measure))
}
