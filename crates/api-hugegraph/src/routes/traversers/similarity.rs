//! `sameneighbors`, `jaccardsimilarity`, `adamicadar`, `resourceallocation`, `fusiformsimilarity`: what vertices have in common.

use api_http::{Given, Operation, Parameter, Request, Response};
use lang_json::Commas;
use serde::Deserialize;
use serde_json::Value;
use traversals::{
    FusiformSimilarity, JaccardSimilars, SameNeighbors, Similar, Step, adamic_adar, defaults,
    fusiform_similarity, jaccard_similarity, jaccard_similars, resource_allocation, same_neighbors,
};

use super::{
    ANSWER, Answer, Method, Table, WalkRequest, body, by_query, get, of_graph, params, post, required,
};
use crate::operation::{json_of, operation};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::conditions::property_key;
use crate::wire::walks::{StepGiven, VerticesGiven, direction, required_id, step_label, vertex_id_of_value};
use crate::wire::{put_ids, put_vertex_id};

pub(super) fn routes(table: &mut Table<'_>) {
    get!(table, "/traversers/sameneighbors", SAME_NEIGHBORS, get_same_neighbors);
    post!(table, "/traversers/sameneighbors", SAME_NEIGHBORS_OF_MANY, post_same_neighbors);
    get!(table, "/traversers/jaccardsimilarity", JACCARD, get_jaccard);
    post!(table, "/traversers/jaccardsimilarity", JACCARD_SIMILARS, post_jaccard);
    get!(table, "/traversers/adamicadar", ADAMIC_ADAR, get_adamic_adar);
    get!(table, "/traversers/resourceallocation", RESOURCE_ALLOCATION, get_resource_allocation);
    post!(table, "/traversers/fusiformsimilarity", FUSIFORM, post_fusiform);
}

/// The parameters of what is asked of two vertices.
const OF_TWO: &[&[Parameter]] = &[&[
    params::VERTEX,
    params::OTHER,
    params::DIRECTION,
    params::EDGE_LABEL,
    params::MAX_DEGREE,
    params::WALK_LIMIT,
]];

/// What is asked of two vertices.
fn two(walk: &WalkRequest, request: &Request) -> Result<SameNeighbors, Problem> {
    let given = Given::of(request);
    Ok(SameNeighbors {
        vertices: vec![
            params::vertex_id(&given, &params::VERTEX)?,
            params::vertex_id(&given, &params::OTHER)?,
        ],
        step: walk.step(&given)?,
        limit: params::number(&given, &params::WALK_LIMIT, defaults::ELEMENTS_LIMIT)?,
    })
}

const SAME_NEIGHBORS: Operation =
    by_query("sameNeighbors", "The neighbours that two vertices have in common.", OF_TWO);

/// GET `/traversers/sameneighbors`
async fn get_same_neighbors(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let found = same_neighbors(&walk.reader, &walk.options, &two(&walk, &request)?).await?;
    let mut answer = Answer::begin(&walk);
    answer.ids("same_neighbors", &found.known, &found.vertices).await?;
    Ok(answer.end(found.measure))
}

/// Vertices as they are sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SameNeighborsGiven {
    vertex_list: Vec<Value>,
    direction: Option<String>,
    labels: Option<Vec<String>>,
    max_degree: Option<i64>,
    limit: Option<i64>,
    with_vertex: bool,
}

const SAME_NEIGHBORS_OF_MANY: Operation =
    operation("traversers", "sameNeighborsOfMany", "The neighbours that several vertices have in common.")
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504]);

/// POST `/traversers/sameneighbors`
async fn post_same_neighbors(api: Api, request: Request) -> Result<Response, Problem> {
    let given: SameNeighborsGiven = body(&request)?;
    let walk = WalkRequest::of(&api, &request).await?;
    let labels = given.labels.iter().flatten().map(|name| step_label(walk.schema(), name));
    let step = Step {
        direction: direction(given.direction.as_deref())?,
        labels: labels.collect::<Result<_, _>>()?,
        max_degree: given.max_degree.unwrap_or(defaults::MAX_DEGREE),
        ..Step::default()
    };
    let asked = SameNeighbors {
        vertices: given.vertex_list.iter().map(vertex_id_of_value).collect::<Result<_, _>>()?,
        step,
        limit: given.limit.unwrap_or(defaults::ELEMENTS_LIMIT),
    };
    let found = same_neighbors(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    answer.ids("same_neighbors", &found.known, &found.vertices).await?;
    let mut measure = found.measure;
    answer.vertices((&found.known, &found.all()), given.with_vertex, &mut measure).await?;
    Ok(answer.end(measure))
}

const JACCARD: Operation =
    by_query("jaccardSimilarity", "The share of their neighbours that two vertices have in common.", OF_TWO);

/// GET `/traversers/jaccardsimilarity`
async fn get_jaccard(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let found = jaccard_similarity(&walk.reader, &walk.options, &two(&walk, &request)?).await?;
    let mut answer = Answer::begin(&walk);
    answer.number("jaccard_similarity", found.score);
    Ok(answer.end(found.measure))
}

/// A vertex as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JaccardGiven {
    vertex: Option<Value>,
    step: Option<StepGiven>,
    top: Option<i64>,
    capacity: Option<i64>,
}

const JACCARD_SIMILARS: Operation =
    operation("traversers", "jaccardSimilars", "The vertices that share most neighbours with one.")
        .sent(json_of("WalkRequest"))
        .gives(ANSWER)
        .refuses(&[400, 404, 415, 504]);

/// POST `/traversers/jaccardsimilarity`
async fn post_jaccard(api: Api, request: Request) -> Result<Response, Problem> {
    let given: JaccardGiven = body(&request)?;
    let vertex = required_id(given.vertex.as_ref(), "source vertex of request")?;
    let step = required(given.step.as_ref(), "steps of request")?;
    let walk = WalkRequest::of(&api, &request).await?;
    let asked = JaccardSimilars {
        vertex,
        step: step.step(walk.schema(), walk.depth_max)?,
        top: given.top.unwrap_or(defaults::LIMIT),
        capacity: given.capacity.unwrap_or(defaults::CAPACITY),
    };
    let found = jaccard_similars(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    answer.scores("jaccard_similarity", &found.known, &found.scores).await?;
    Ok(answer.end(found.measure))
}

const ADAMIC_ADAR: Operation = by_query(
    "adamicAdar",
    "How likely two vertices are joined, by the neighbours that they have in common.",
    OF_TWO,
);

/// GET `/traversers/adamicadar`
async fn get_adamic_adar(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let found = adamic_adar(&walk.reader, &walk.options, &two(&walk, &request)?).await?;
    let mut answer = Answer::begin(&walk);
    answer.number("adamic_adar", found.score);
    Ok(answer.end(found.measure))
}

const RESOURCE_ALLOCATION: Operation =
    by_query("resourceAllocation", "The same; neighbours with few edges count even more.", OF_TWO);

/// GET `/traversers/resourceallocation`
async fn get_resource_allocation(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let found = resource_allocation(&walk.reader, &walk.options, &two(&walk, &request)?).await?;
    let mut answer = Answer::begin(&walk);
    answer.number("resource_allocation", found.score);
    Ok(answer.end(found.measure))
}

/// What similar vertices are asked for, as it is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FusiformGiven {
    sources: Option<VerticesGiven>,
    label: Option<String>,
    direction: Option<String>,
    min_neighbors: i64,
    alpha: f64,
    min_similars: Option<i64>,
    top: i64,
    group_property: Option<String>,
    min_groups: i64,
    max_degree: Option<i64>,
    capacity: Option<i64>,
    limit: Option<i64>,
    with_intermediary: bool,
    with_vertex: bool,
}

const FUSIFORM: Operation = operation(
    "traversers",
    "fusiformSimilarity",
    "Vertices that are joined with others over many vertices in between.",
)
.sent(json_of("WalkRequest"))
.gives(ANSWER)
.refuses(&[400, 404, 415, 504]);

/// POST `/traversers/fusiformsimilarity`
async fn post_fusiform(api: Api, request: Request) -> Result<Response, Problem> {
    let given: FusiformGiven = body(&request)?;
    let walk = WalkRequest::of(&api, &request).await?;
    let sources = walk.vertices_given(given.sources.as_ref(), "sources").await?;
    if given.group_property.as_deref() == Some("") {
        return Err(Problem::illegal_argument("The group property can't be empty"));
    }
    let label = given.label.as_deref().map(|name| step_label(walk.schema(), name)).transpose()?;
    let group = given.group_property.as_deref().map(|name| property_key(walk.schema(), name)).transpose()?;
    let asked = FusiformSimilarity {
        sources,
        step: Step::new(direction(given.direction.as_deref())?, label)
            .with_degree(given.max_degree.unwrap_or(defaults::MAX_DEGREE)),
        min_neighbors: given.min_neighbors,
        alpha: given.alpha,
        min_similars: given.min_similars.unwrap_or(1),
        top: given.top,
        group_property: group.map(|key| key.id),
        min_groups: given.min_groups,
        capacity: given.capacity.unwrap_or(defaults::CAPACITY),
        limit: given.limit.unwrap_or(defaults::PATHS_LIMIT),
        with_intermediary: given.with_intermediary,
    };
    let found = fusiform_similarity(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    let put = |out: &mut String, (vertex, similars): &(u32, Vec<Similar>)| {
        lang_json::write_string(out, &found.known.id(*vertex).to_string());
        out.push_str(":[");
        put_similars(out, &found.known, similars);
        out.push(']');
        Ok(())
    };
    answer.object("similars", &found.similars, put).await?;
    let mut measure = found.measure;
    answer.vertices((&found.known, &found.vertices()), given.with_vertex, &mut measure).await?;
    Ok(answer.end(measure))
}

fn put_similars(out: &mut String, known: &traversals::Numbering, similars: &[Similar]) {
    let mut commas = Commas::default();
    for similar in similars {
        commas.next(out);
        out.push_str("{\"id\":");
        put_vertex_id(out, &known.id(similar.vertex));
        out.push_str(",\"score\":");
        crate::wire::put_number(out, similar.score);
        out.push_str(",\"intermediaries\":");
        put_ids(out, known, &similar.intermediaries);
        out.push('}');
    }
}
