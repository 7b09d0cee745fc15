//! `personalrank`, `neighborrank`: ranks of vertices for one.

use api_http::{Operation, Request, Response};
use serde::Deserialize;
use serde_json::Value;
use traversals::{
    NeighborRank, PersonalRank, RankLabel, RankStep, WithLabel, defaults, neighbor_rank, personal_rank,
};

use super::{ANSWER, Answer, Method, Table, WalkRequest, body, of_graph, post, required};
use crate::operation::{json_of, operation};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::put_scores;
use crate::wire::walks::{StepGiven, edge_label, required_id, step_label};

pub(super) fn routes(table: &mut Table<'_>) {
    post!(table, "/traversers/personalrank", PERSONAL_RANK, post_personal_rank);
    post!(table, "/traversers/neighborrank", NEIGHBOR_RANK, post_neighbor_rank);
}

/// What is asked, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PersonalRankGiven {
    source: Option<Value>,
    label: Option<String>,
    alpha: Option<f64>,
    max_degree: Option<i64>,
    limit: Option<i64>,
    max_depth: Option<i64>,
    with_label: Option<String>,
    sorted: Option<bool>,
}

/// The share of its rank that a vertex gives on, and for how many rounds, where nothing is said.
const ALPHA: f64 = 0.85;
const ROUNDS: i64 = 5;

const PERSONAL_RANK: Operation =
    operation("traversers", "personalRank", "What a vertex might like, by what others like.")
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504]);

/// POST `/traversers/personalrank`
async fn post_personal_rank(api: Api, request: Request) -> Result<Response, Problem> {
    let given: PersonalRankGiven = body(&request)?;
    let source = required_id(given.source.as_ref(), "source vertex id of rank request")?;
    let name = required(given.label.as_ref(), "edge label of rank request")?;
    let with_label = match given.with_label.as_deref() {
        None | Some("BOTH_LABEL") => WithLabel::BothLabel,
        Some("SAME_LABEL") => WithLabel::SameLabel,
        Some("OTHER_LABEL") => WithLabel::OtherLabel,
        Some(other) => {
            return Err(Problem::illegal_argument(format!(
                "The with_label must be one of SAME_LABEL, OTHER_LABEL, BOTH_LABEL, but got '{other}'"
            )));
        }
    };
    let walk = WalkRequest::of(&api, &request).await?;
    let label = edge_label(walk.schema(), name)?;
    let [link] = &label.links[..] else {
        return Err(Problem::illegal_argument(format!(
            "The edge label for personal rank must link two vertex labels, but '{name}' links others"
        )));
    };
    let asked = PersonalRank {
        source,
        label: RankLabel {
            name: name.as_str().into(),
            label: step_label(walk.schema(), name)?,
            source: link.source,
            target: link.target,
        },
        alpha: given.alpha.unwrap_or(ALPHA),
        max_degree: given.max_degree.unwrap_or(defaults::MAX_DEGREE),
        limit: given.limit.unwrap_or(defaults::LIMIT),
        max_depth: given.max_depth.unwrap_or(ROUNDS),
        with_label,
        sorted: given.sorted.unwrap_or(true),
    };
    let found = personal_rank(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    answer.scores("personal_ranks", &found.known, &found.scores).await?;
    Ok(answer.end(found.measure))
}

/// What is asked, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NeighborRankGiven {
    source: Option<Value>,
    steps: Option<Vec<StepGiven>>,
    alpha: f64,
    capacity: Option<i64>,
}

const NEIGHBOR_RANK: Operation =
    operation("traversers", "neighborRank", "How much of a vertex reaches others, step by step.")
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504]);

/// POST `/traversers/neighborrank`
async fn post_neighbor_rank(api: Api, request: Request) -> Result<Response, Problem> {
    let given: NeighborRankGiven = body(&request)?;
    let source = required_id(given.source.as_ref(), "source of rank request")?;
    let walk = WalkRequest::of(&api, &request).await?;
    let step = |step: &StepGiven| -> Result<RankStep, Problem> {
        let top = step.top.unwrap_or(defaults::PATHS_LIMIT);
        Ok(RankStep { step: step.step(walk.schema(), walk.depth_max)?, top })
    };
    let asked = NeighborRank {
        source,
        steps: given.steps.iter().flatten().map(step).collect::<Result<_, _>>()?,
        alpha: given.alpha,
        capacity: given.capacity.unwrap_or(defaults::CAPACITY),
    };
    let found = neighbor_rank(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    let put = |out: &mut String, layer: &Vec<(u32, f64)>| {
        put_scores(out, &found.known, layer);
        Ok(())
    };
    answer.list("ranks", &found.layers, put).await?;
    Ok(answer.end(found.measure))
}
