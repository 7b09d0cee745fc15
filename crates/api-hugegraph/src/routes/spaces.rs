//! `/graphspaces`: names of graphs are grouped in spaces.

use api_http::{Operation, Request, Response, no_content};
use http::StatusCode;
use model_graph::{Error, SpaceInfo};
use serde_json::{Map, Value, json};

use super::{check_json, json, ok};
use crate::operation::{DONE, done, json_of, operation};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::read_json;

/// GET `/graphspaces`
pub(crate) const LIST: Operation = operation("graphs", "listGraphSpaces", "The graph spaces.")
    .gives(&[(200, done(json_of("GraphSpaces")))])
    .refuses(&[404]);

/// GET `/graphspaces`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let spaces = api.graphs(&request).await?.spaces().await?;
    let names: Vec<_> = spaces.iter().map(|space| &*space.name).collect();
    ok(&json!({ "graphSpaces": names }))
}

/// POST `/graphspaces`
pub(crate) const CREATE: Operation = operation("graphs", "createGraphSpace", "Makes a graph space.")
    .sent(json_of("GraphSpace"))
    .gives(&[(201, done(json_of("GraphSpace")))])
    .refuses(&[400, 415]);

/// POST `/graphspaces`: what is said of it beside its name is stored and answered, and limits nothing.
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let mut settings: Map<String, Value> = read_json(&request.body)?;
    let name = match settings.shift_remove("name") {
        Some(Value::String(name)) => name,
        _ => return Err(Problem::illegal_argument("The name of graph space can't be null or empty")),
    };
    let graphs = api.graphs_to_fill(&request).await?;
    let stored = Value::Object(settings.clone()).to_string();
    let made = graphs.create_space(&name, &stored, api.shared.clock.now()).await;
    made.map_err(|error| match error {
        Error::AlreadyExists(_) => Problem::illegal_argument(format!("The graph space '{name}' has existed")),
        other => other.into(),
    })?;
    json(StatusCode::CREATED, &described(&name, settings))
}

/// GET `/graphspaces/{graphspace}`
pub(crate) const GET: Operation = operation("graphs", "getGraphSpace", "One graph space.")
    .gives(&[(200, done(json_of("GraphSpace")))])
    .refuses(&[404]);

/// GET `/graphspaces/{graphspace}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let SpaceInfo { name, settings, .. } = api.graphs(&request).await?.space(request.capture(0)).await?;
    let given = match settings.is_empty() {
        true => Map::new(),
        false => serde_json::from_str(&settings).map_err(|error| {
            tracing::error!(%error, %name, "the settings of a graph space are damaged");
            Problem::damaged()
        })?,
    };
    ok(&described(&name, given))
}

/// DELETE `/graphspaces/{graphspace}`
pub(crate) const REMOVE: Operation =
    operation("graphs", "removeGraphSpace", "Removes a graph space without graphs.")
        .gives(DONE)
        .refuses(&[400, 404]);

/// DELETE `/graphspaces/{graphspace}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    api.graphs(&request).await?.remove_space(request.capture(0)).await?;
    Ok(no_content())
}

fn described(name: &str, settings: Map<String, Value>) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("name".to_owned(), name.into());
    all.extend(settings);
    all
}
