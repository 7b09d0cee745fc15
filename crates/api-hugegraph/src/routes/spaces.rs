//! `/graphspaces`: names of graphs are grouped in spaces.

use api_http::{Given, Operation, Request, Response, no_content};
use http::StatusCode;
use model_graph::{Error, SpaceInfo};
use serde_json::{Map, Value, json};

use super::{check_json, json, ok};
use crate::operation::{DONE, done, json_list, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::{put_time, read_json};

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
    let space = api.graphs(&request).await?.space(request.capture(0)).await?;
    ok(&described(&space.name, settings(&space)?))
}

/// GET `/graphspaces/profile`
pub(crate) const PROFILE: Operation =
    operation("graphs", "listGraphSpaceProfiles", "What the graph spaces were made with, and when.")
        .query(&[&[params::PREFIX]])
        .gives(&[(200, done(json_list("GraphSpaceProfile")))])
        .refuses(&[404]);

/// GET `/graphspaces/profile`: those whose name or nickname begins with `prefix`.
pub(crate) async fn profile(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let prefix = given.get(&params::PREFIX).unwrap_or("");
    let mut profiles = Vec::new();
    for space in api.graphs(&request).await?.spaces().await? {
        let settings = settings(&space)?;
        let nickname = settings.get("nickname").and_then(Value::as_str).unwrap_or(&space.name);
        if !space.name.starts_with(prefix) && !nickname.starts_with(prefix) {
            continue;
        }
        let mut created = String::new();
        put_time(&mut created, space.created);
        let created = created.trim_matches('"');
        let mut all = described(&space.name, settings);
        for (name, value) in [
            ("authed", true.into()),
            ("create_time", created.into()),
            ("update_time", created.into()),
            ("default", false.into()),
        ] {
            all.entry(name).or_insert(value);
        }
        profiles.push(all);
    }
    ok(&profiles)
}

/// PUT `/graphspaces/{graphspace}`
pub(crate) const MANAGE: Operation =
    operation("graphs", "manageGraphSpace", "Gives a graph space other settings.")
        .sent(json_of("GraphSpaceAction"))
        .gives(&[(200, done(json_of("GraphSpace")))])
        .refuses(&[400, 404, 415, 501]);

/// PUT `/graphspaces/{graphspace}`: what is empty or zero stays as it is.
pub(crate) async fn manage(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let actions: Map<String, Value> = read_json(&request.body)?;
    let name = request.capture(0);
    let update = match actions.get("action").map(Value::as_str) {
        None => return Err(Problem::illegal_argument("Please pass 'action' for graph space management")),
        Some(Some("update")) => actions.get("update"),
        Some(Some("clear")) => {
            return Err(Problem::unsupported(
                "graph spaces are not cleared as a whole: clear their graphs, DELETE /graphs/{graph}/clear",
            ));
        }
        Some(action) => {
            return Err(Problem::illegal_argument(format!("Invalid action: '{}'", action.unwrap_or(""))));
        }
    };
    let update = match update {
        Some(Value::Object(update)) => update,
        Some(_) => return Err(Problem::illegal_argument("The 'update' must be map")),
        None => return Err(Problem::illegal_argument("Please pass 'update' for graph space update")),
    };
    if update.get("name").and_then(Value::as_str) != Some(name) {
        return Err(Problem::illegal_argument("Different name in update body with in path"));
    }
    let graphs = api.graphs_to_fill(&request).await?;
    let mut changed = settings(&graphs.space(name).await?)?;
    let says_something =
        |(name, value): &(&String, &Value)| *name != "name" && !is_empty(value) && *name != "create_time";
    changed.extend(update.iter().filter(says_something).map(|(name, value)| (name.clone(), value.clone())));
    let now = api.shared.clock.now();
    let mut moment = String::new();
    put_time(&mut moment, now);
    changed.insert("update_time".to_owned(), moment.trim_matches('"').into());
    graphs.set_space_settings(name, &Value::Object(changed.clone()).to_string(), now).await?;
    ok(&described(name, changed))
}

/// Whether a setting says nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Array(_) => false,
    }
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

/// What a graph space was made with.
fn settings(space: &SpaceInfo) -> Result<Map<String, Value>, Problem> {
    if space.settings.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(&space.settings).map_err(|error| {
        tracing::error!(%error, name = %space.name, "the settings of a graph space are damaged");
        Problem::damaged()
    })
}

fn described(name: &str, settings: Map<String, Value>) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("name".to_owned(), name.into());
    all.extend(settings);
    all
}
