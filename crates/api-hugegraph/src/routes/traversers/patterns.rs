//! `customizedpaths`, `templatepaths`, `customizedcrosspoints`, `count`: walks that take given steps.

use std::hash::{BuildHasher, RandomState};

use api_http::{Operation, Request, Response};
use serde::Deserialize;
use serde_json::Value;
use traversals::{
    Count, CustomizedCrosspoints, CustomizedPaths, CustomizedStep, SortBy, Step, TemplatePaths, TemplateStep,
    count, customized_crosspoints, customized_paths, defaults, template_paths,
};

use super::{ANSWER, Answer, Method, Table, WalkRequest, body, of_graph, post};
use crate::operation::{json_of, operation};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::conditions::property_key;
use crate::wire::walks::{StepGiven, VerticesGiven, required_id};

pub(super) fn routes(table: &mut Table<'_>) {
    post!(table, "/traversers/customizedpaths", CUSTOMIZED_PATHS, post_customized_paths);
    post!(table, "/traversers/templatepaths", TEMPLATE_PATHS, post_template_paths);
    post!(table, "/traversers/customizedcrosspoints", CROSSPOINTS, post_crosspoints);
    post!(table, "/traversers/count", COUNT, post_count);
}

/// An operation that is asked for by a body.
const fn by_steps(id: &'static str, summary: &'static str) -> Operation {
    operation("traversers", id, summary)
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504])
}

/// What is asked, as it is sent; what only some walks know is left out by others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PatternGiven {
    sources: Option<VerticesGiven>,
    targets: Option<VerticesGiven>,
    steps: Option<Vec<StepGiven>>,
    path_patterns: Option<Vec<StepsGiven>>,
    sort_by: Option<String>,
    with_ring: bool,
    capacity: Option<i64>,
    limit: Option<i64>,
    with_path: bool,
    with_vertex: bool,
    with_edge: bool,
}

/// The steps of a pattern, as they are sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StepsGiven {
    steps: Vec<StepGiven>,
}

impl PatternGiven {
    fn steps(&self) -> &[StepGiven] {
        self.steps.as_deref().unwrap_or(&[])
    }

    fn capacity(&self) -> i64 {
        self.capacity.unwrap_or(defaults::CAPACITY)
    }

    fn limit(&self) -> i64 {
        self.limit.unwrap_or(defaults::PATHS_LIMIT)
    }
}

const CUSTOMIZED_PATHS: Operation =
    by_steps("customizedPaths", "The paths that take steps one after another.");

/// POST `/traversers/customizedpaths`
async fn post_customized_paths(api: Api, request: Request) -> Result<Response, Problem> {
    let given: PatternGiven = body(&request)?;
    let walk = WalkRequest::of(&api, &request).await?;
    let sources = walk.vertices_given(given.sources.as_ref(), "sources").await?;
    if given.steps().is_empty() {
        return Err(Problem::illegal_argument("The steps of path request can't be empty"));
    }
    let step = |step: &StepGiven| -> Result<CustomizedStep, Problem> {
        let weight = step.weight_by.as_deref().map(|name| property_key(walk.schema(), name)).transpose()?;
        Ok(CustomizedStep {
            step: step.step(walk.schema(), walk.depth_max)?,
            weight_by: weight.map(|key| key.id),
            default_weight: step.default_weight.unwrap_or(0.0),
            sample: step.sample.unwrap_or(defaults::SAMPLE),
        })
    };
    let asked = CustomizedPaths {
        sources,
        steps: given.steps().iter().map(step).collect::<Result<_, _>>()?,
        sort_by: sort_by(given.sort_by.as_deref())?,
        capacity: given.capacity(),
        limit: given.limit(),
        seed: RandomState::new().hash_one(0),
    };
    let found = customized_paths(&walk.reader, &walk.options, &asked).await?;
    Answer::of_paths(&walk, "paths", &found, (given.with_vertex, given.with_edge)).await
}

fn sort_by(given: Option<&str>) -> Result<SortBy, Problem> {
    match given {
        None | Some("NONE") => Ok(SortBy::None),
        Some("INCR") => Ok(SortBy::Increasing),
        Some("DECR") => Ok(SortBy::Decreasing),
        Some(other) => Err(Problem::illegal_argument(format!(
            "The sort_by must be one of NONE, INCR, DECR, but got '{other}'"
        ))),
    }
}

const TEMPLATE_PATHS: Operation =
    by_steps("templatePaths", "The paths from some vertices to some others that follow a template.");

/// POST `/traversers/templatepaths`
async fn post_template_paths(api: Api, request: Request) -> Result<Response, Problem> {
    let given: PatternGiven = body(&request)?;
    let walk = WalkRequest::of(&api, &request).await?;
    let step = |step: &StepGiven| -> Result<TemplateStep, Problem> {
        let max_times = step.max_times.unwrap_or(1);
        Ok(TemplateStep { step: step.step(walk.schema(), walk.depth_max)?, max_times })
    };
    let asked = TemplatePaths {
        sources: walk.vertices_given(given.sources.as_ref(), "sources").await?,
        targets: walk.vertices_given(given.targets.as_ref(), "targets").await?,
        steps: given.steps().iter().map(step).collect::<Result<_, _>>()?,
        with_ring: given.with_ring,
        capacity: given.capacity(),
        limit: given.limit(),
    };
    let found = template_paths(&walk.reader, &walk.options, &asked).await?;
    Answer::of_paths(&walk, "paths", &found, (given.with_vertex, given.with_edge)).await
}

const CROSSPOINTS: Operation =
    by_steps("customizedCrosspoints", "The vertices in which paths from all of some vertices end.");

/// POST `/traversers/customizedcrosspoints`
async fn post_crosspoints(api: Api, request: Request) -> Result<Response, Problem> {
    let given: PatternGiven = body(&request)?;
    let walk = WalkRequest::of(&api, &request).await?;
    let sources = walk.vertices_given(given.sources.as_ref(), "sources").await?;
    let pattern = |pattern: &StepsGiven| -> Result<Vec<Step>, Problem> {
        pattern.steps.iter().map(|step| step.step(walk.schema(), walk.depth_max)).collect()
    };
    let asked = CustomizedCrosspoints {
        sources,
        path_patterns: given.path_patterns.iter().flatten().map(pattern).collect::<Result<_, _>>()?,
        capacity: given.capacity(),
        limit: given.limit(),
    };
    let crosspoints = customized_crosspoints(&walk.reader, &walk.options, &asked).await?;
    let found = &crosspoints.found;
    let mut answer = Answer::begin(&walk);
    answer.ids("crosspoints", &found.known, &crosspoints.crosspoints).await?;
    let (paths, edges) =
        if given.with_path { (&found.paths[..], &found.edges[..]) } else { (&[][..], &[][..]) };
    answer.paths("paths", &found.known, paths, false).await?;
    let vertices = if given.with_path { found.vertices() } else { crosspoints.crosspoints.clone() };
    let mut measure = found.measure;
    answer.vertices((&found.known, &vertices), given.with_vertex, &mut measure).await?;
    answer.edges(edges, given.with_edge).await?;
    Ok(answer.end(measure))
}

/// What is counted, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CountGiven {
    source: Option<Value>,
    steps: Option<Vec<StepGiven>>,
    contains_traversed: bool,
    dedup_size: Option<i64>,
}

const COUNT: Operation = by_steps("countVertices", "How many vertices steps lead to.");

/// POST `/traversers/count`
async fn post_count(api: Api, request: Request) -> Result<Response, Problem> {
    let given: CountGiven = body(&request)?;
    let source = required_id(given.source.as_ref(), "source of request")?;
    let walk = WalkRequest::of(&api, &request).await?;
    let step = |step: &StepGiven| step.step_to_count(walk.schema(), walk.depth_max);
    let steps = given.steps.iter().flatten().map(step).collect::<Result<Vec<_>, _>>()?;
    if steps.is_empty() {
        return Err(Problem::illegal_argument("The steps of request can't be null or empty"));
    }
    let asked = Count {
        source,
        steps,
        contains_traversed: given.contains_traversed,
        dedup_size: given.dedup_size.unwrap_or(defaults::DEDUP_SIZE),
    };
    let counted = count(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    answer.count("count", counted.count);
    Ok(answer.end(counted.measure))
}
