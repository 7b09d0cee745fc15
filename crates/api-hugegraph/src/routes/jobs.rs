//! `/jobs`: algorithms over whole graphs, as tasks.

use api_http::{Operation, Request, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{check_json, json as answer, text};
use crate::algorithms::plan;
use crate::callers::check_job_that_writes;
use crate::operation::{done, json_of, operation};
use crate::problem::Problem;
use crate::state::Api;

/// POST `/jobs/algorithm/{name}`
pub(crate) const ALGORITHM: Operation =
    operation("jobs", "runAlgorithm", "Runs an algorithm over the whole graph, as a task.")
        .sent(json_of("AlgorithmParameters"))
        .gives(&[(201, done(json_of("TaskId")))])
        .refuses(&[400, 404, 415, 501]);

/// POST `/jobs/algorithm/{name}`
pub(crate) async fn algorithm(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let name = request.capture(2);
    let parameters = parameters(&request)?;
    let Some(plan) = plan(name, &parameters)? else {
        return Err(Problem::not_found(format!("Not found algorithm: {name}")));
    };
    if plan.work.writes() {
        check_job_that_writes(&request)?;
    }
    let graph = api.graph(&request).await?;
    let id = api.shared.algorithms.create(graph, name, &parameters.into()).await?;
    answer(StatusCode::CREATED, &json!({ "task_id": id.0 }))
}

/// The parameters of an algorithm; nothing is none.
fn parameters(request: &Request) -> Result<Map<String, Value>, Problem> {
    let text = text(request)?;
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(parameters)) => Ok(parameters),
        Ok(_) => Err(Problem::bad_body("the parameters of an algorithm must be a JSON object")),
        Err(error) => Err(Problem::bad_body(format!("the body cannot be read as JSON: {error}"))),
    }
}

/// POST `/jobs/computer/{name}`
pub(crate) const COMPUTER: Operation =
    operation("jobs", "runComputer", "Runs an algorithm on a cluster: not here.").refuses(&[501]);

/// POST `/jobs/computer/{name}`
pub(crate) async fn computer(_: Api, _: Request) -> Result<Response, Problem> {
    Err(Problem::unsupported(
        "There is no cluster for computer jobs here; /jobs/algorithm runs algorithms in the server",
    ))
}
