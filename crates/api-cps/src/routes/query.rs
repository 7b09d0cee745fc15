//! `/nodes/query` of an anchor: nodes found by CPS path.

use std::sync::Arc;

use api_http::{Given, Operation, Request, Response, Share, chunked_response, json_response};
use config::Depth;
use config::query::{Answer, CompositeEvaluation, Evaluation, Progress, Query, QueryError, VALUES_BYTES_MAX};
use http::StatusCode;
use lang_cps_path::{CpsPath, Name};
use lang_yang::Schema;
use model_config::{Deadline, Reading, Step};

use super::answer::{NodesWriter, Shape};
use crate::media::{Form, answer_form};
use crate::operation::{data_of, done, json_of, operation};
use crate::params::{self, Descendants, required};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::composite::read_composite;
use crate::wire::values::put_values;

/// Entries that a query looks at before others run.
const STEPS_AT_ONCE: u64 = 10_000;

/// GET `/v1/dataspaces/{dataspace}/anchors/{anchor}/nodes/query`
pub(crate) const GET_V1: Operation =
    operation("query", "getNodesByDataspaceAndAnchorAndCpsPath", "The nodes that a CPS path finds.")
        .query(&[&[params::CPS_PATH, params::INCLUDE_DESCENDANTS]])
        .gives(&[(200, done(json_of("NodeList")))])
        .refuses(&[400, 413]);

/// GET `/v1/dataspaces/{dataspace}/anchors/{anchor}/nodes/query`
pub(crate) async fn get_v1(api: Api, request: Request) -> Result<Response, Problem> {
    let levels = params::include_descendants(&Given::of(&request))?;
    find(&api, &request, levels, Form::Json).await
}

/// GET `/v2/dataspaces/{dataspace}/anchors/{anchor}/nodes/query`
pub(crate) const GET: Operation =
    operation("query", "getNodesByDataspaceAndAnchorAndCpsPathV2", "The nodes that a CPS path finds.")
        .query(&[&[params::CPS_PATH, params::DESCENDANTS]])
        .gives(&[(200, done(data_of("NodeList")))])
        .refuses(&[400, 413]);

/// GET `/v2/dataspaces/{dataspace}/anchors/{anchor}/nodes/query`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let levels = params::descendants(&Given::of(&request))?;
    find(&api, &request, levels, answer_form(&request)).await
}

async fn find(api: &Api, request: &Request, levels: Descendants, form: Form) -> Result<Response, Problem> {
    let given = Given::of(request);
    let path = path(&given)?;
    let anchor = api.anchor(request).await?;
    let query = Arc::new(Query::new(anchor.schema(), &path)?);
    let reading = anchor.read(None).await?;
    let most = api.shared.limits.query_nodes_max;
    let bounds = Bounds { most, deadline: Deadline::at(request.deadline) };
    match evaluate(&reading, &query, (bounds, Some(&mut request.memory.share()))).await? {
        Found::TooMany => Err(too_many(most)),
        Found::All(Answer::Entries(labels)) => {
            let writer = NodesWriter::new(reading, labels, levels, (Shape::List, form));
            chunked_response(form.media_type(), api.shared.limits.stall_max, writer.chunks()).await
        }
        Found::All(Answer::Values(values)) => {
            let bytes = values.iter().map(|value| value.text.len()).sum();
            let put = || {
                let mut out = Vec::new();
                put_values(&mut out, (attribute(&query), form), &values);
                drop(values);
                out
            };
            let out = api.shared.configs.work_on_text(bytes, put).await;
            Ok(json_response(StatusCode::OK, form.media_type(), out))
        }
    }
}

/// The path that a request looks for.
pub(super) fn path(given: &Given<'_>) -> Result<CpsPath, Problem> {
    lang_cps_path::parse(required(given, &params::CPS_PATH)?)
        .map_err(|error| Problem::bad_path(error.detail()))
}

/// The name under which values are answered.
pub(super) fn attribute(query: &Query) -> &str {
    query.attribute().map_or("", |name: &Name| &name.local)
}

/// What an evaluation came to.
pub(super) enum Found {
    All(Answer),
    /// There are more than are allowed.
    TooMany,
}

/// How much a query may find, and how long it may take.
pub(super) struct Bounds {
    pub(super) most: usize,
    pub(super) deadline: Deadline,
}

/// Carries a query out. Values of a leaf, and an answer of them, count in the memory of the request, if that is given.
///
/// # Errors
///
/// 413, 503; as of a read.
pub(super) async fn evaluate(
    reading: &Reading,
    query: &Arc<Query>,
    (bounds, mut memory): (Bounds, Option<&mut Share>),
) -> Result<Found, Problem> {
    let evaluation = Some(Evaluation::new(Arc::clone(query), bounds.most));
    let step = |tree: &config::Tree<'_>, state: &mut Option<Evaluation>, _: &mut _| {
        let evaluation = state.as_mut().expect("it is taken when it is done");
        let progress = evaluation.run(tree, STEPS_AT_ONCE)?;
        let bytes = 2 * evaluation.values_bytes();
        if let Some(Err(full)) = memory.as_mut().map(|memory| memory.try_grow(bytes)) {
            return Ok(Step::Done(Err(full.into())));
        }
        Ok(match progress {
            Progress::More => Step::More,
            Progress::TooMany => Step::Done(Ok(Found::TooMany)),
            Progress::TooLarge => Step::Done(Err(too_large())),
            Progress::Done => {
                let done = state.take().expect("it is taken when it is done");
                Step::Done(Ok(Found::All(done.into_answer())))
            }
        })
    };
    reading.run_long(bounds.deadline, evaluation, step).await?
}

fn too_large() -> Problem {
    Problem::too_large(format!(
        "the values that the query finds take more than {VALUES_BYTES_MAX} bytes of memory (VALUES_BYTES_MAX)"
    ))
}

pub(super) fn too_many(most: usize) -> Problem {
    Problem::too_large(format!("the query finds more than {most} nodes (cps_query_nodes_max)"))
}

/// Words why a path cannot be asked.
impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        Self::bad_path(error.to_string())
    }
}

/// POST `/v2/dataspaces/{dataspace}/anchors/{anchor}/nodes/query`
pub(crate) const COMPOSITE: Operation = operation(
    "query",
    "postNodesByDataspaceAndAnchorV2",
    "The nodes that a CPS path finds, and of those below them what conditions select.",
)
.query(&[&[params::DESCENDANTS]])
.sent(json_of("CompositeQuery"))
.gives(&[(200, done(data_of("NodeList")))])
.refuses(&[400, 413]);

/// POST `/v2/dataspaces/{dataspace}/anchors/{anchor}/nodes/query`
pub(crate) async fn composite(api: Api, request: Request) -> Result<Response, Problem> {
    let levels = params::descendants(&Given::of(&request))?;
    let query = read_composite(&request.body, api.shared.limits.depth_max)?;
    let anchor = api.anchor(&request).await?;
    let schema: &Schema = anchor.schema();
    let most = api.shared.limits.query_nodes_max;
    let evaluation = CompositeEvaluation::new(schema, &query, levels.depth(), most)?;
    let reading = anchor.read(None).await?;
    let step = |tree: &config::Tree<'_>, state: &mut Option<CompositeEvaluation>, _: &mut _| {
        let evaluation = state.as_mut().expect("it is taken when it is done");
        Ok(match evaluation.run(tree, STEPS_AT_ONCE)? {
            Progress::More => Step::More,
            // Its paths find no values.
            Progress::TooMany | Progress::TooLarge => Step::Done(None),
            Progress::Done => Step::Done(state.take()),
        })
    };
    let done = reading.run_long(Deadline::at(request.deadline), Some(evaluation), step).await?;
    let answer = done.ok_or_else(|| too_many(most))?.into_answer();
    let form = answer_form_of_query(&request);
    let writer = NodesWriter::new(reading, answer.bases, levels, (Shape::List, form)).only(answer.selected);
    chunked_response(form.media_type(), api.shared.limits.stall_max, writer.chunks()).await
}

/// XML only if it is accepted: the body is JSON in any case.
fn answer_form_of_query(request: &Request) -> Form {
    match request.header("accept") {
        Some(_) => answer_form(request),
        None => Form::Json,
    }
}

impl Descendants {
    /// As trees count it.
    pub(super) fn depth(self) -> Depth {
        match self {
            Self::All => Depth::All,
            Self::Levels(levels) => Depth::Levels(levels),
        }
    }
}
