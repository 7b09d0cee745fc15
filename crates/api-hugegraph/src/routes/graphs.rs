//! `/graphs`: the graphs of a space, and what they are set to.

use api_http::{Given, Operation, Request, Response, no_content};
use graph::{GraphMode, ReadMode};
use http::StatusCode;
use model_graph::Error;
use serde_json::{Map, Value, json};

use super::{check_json, check_json_or_nothing, json, ok};
use crate::callers::knows_graph;
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::read_json;

/// What clients are told that elements lie in: the embedded engine of the original.
const BACKEND: &str = "rocksdb";
/// What a client must say to clear a graph.
const CONFIRM_CLEAR: &str = "I'm sure to delete all data";
/// What a client must say to drop a graph.
const CONFIRM_DROP: &str = "I'm sure to drop the graph";

/// GET `/graphs`
pub(crate) const LIST: Operation = operation("graphs", "listGraphs", "The graphs of a space.")
    .gives(&[(200, done(json_of("Graphs")))])
    .refuses(&[404]);

/// GET `/graphs`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let space = request.capture(0);
    let infos = api.graphs(&request).await?.list(space).await?;
    let names = infos.iter().map(|info| &*info.name).filter(|name| knows_graph(&request, space, name));
    let names: Vec<_> = names.collect();
    ok(&json!({ "graphs": names }))
}

/// GET `/graphs/{graph}`
pub(crate) const GET: Operation =
    operation("graphs", "getGraph", "One graph.").gives(&[(200, done(json_of("Graph")))]).refuses(&[404]);

/// GET `/graphs/{graph}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let graph = api.graph(&request).await?;
    ok(&json!({ "name": graph.name(), "backend": BACKEND }))
}

/// POST `/graphs/{graph}`
pub(crate) const CREATE: Operation =
    operation("graphs", "createGraph", "Makes a graph, with the schema of another if that is named.")
        .query(&[&[params::CLONE_GRAPH_NAME]])
        .sent(json_of("GraphSettings"))
        .gives(&[(201, done(json_of("Graph")))])
        .refuses(&[400, 404, 415]);

/// POST `/graphs/{graph}`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_json_or_nothing(&request)?;
    let settings = match request.body.is_empty() {
        true => Map::new(),
        false => read_json::<Option<Map<String, Value>>>(&request.body)?.into_iter().flatten().collect(),
    };
    let (space, name) = (request.capture(0), request.capture(1));
    let given = Given::of(&request);
    let source = given.get(&params::CLONE_GRAPH_NAME).filter(|name| !name.is_empty());
    let graphs = api.graphs_to_fill(&request).await?;
    let now = api.shared.clock.now();
    let stored = Value::Object(settings.clone()).to_string();
    let made = match source {
        Some(source) => graphs.clone_schema((space, name), source, &stored, now).await,
        None => graphs.create((space, name), &stored, now).await,
    };
    let graph = made.map_err(|error| match error {
        Error::AlreadyExists(_) => Problem::illegal_argument(format!("The graph name '{name}' has existed")),
        other => other.into(),
    })?;
    let text = |name: &str| settings.get(name).and_then(Value::as_str);
    let answer = json!({
        "name": graph.name(),
        "nickname": text("nickname").unwrap_or(name),
        "backend": BACKEND,
        "description": text("description").unwrap_or(""),
    });
    json(StatusCode::CREATED, &answer)
}

/// DELETE `/graphs/{graph}`
pub(crate) const DROP: Operation = operation("graphs", "dropGraph", "Removes a graph and all that is in it.")
    .query(&[&[params::CONFIRM_MESSAGE]])
    .gives(DONE)
    .refuses(&[400, 404]);

/// DELETE `/graphs/{graph}`
pub(crate) async fn drop_graph(api: Api, request: Request) -> Result<Response, Problem> {
    confirmed(&request, CONFIRM_DROP)?;
    let graph = api.graph(&request).await?;
    api.graphs(&request).await?.remove(request.capture(0), graph.name()).await?;
    Ok(no_content())
}

/// DELETE `/graphs/{graph}/clear`
pub(crate) const CLEAR: Operation =
    operation("graphs", "clearGraph", "Removes all that is in a graph, its schema too.")
        .query(&[&[params::CONFIRM_MESSAGE]])
        .gives(DONE)
        .refuses(&[400, 404]);

/// DELETE `/graphs/{graph}/clear`
pub(crate) async fn clear(api: Api, request: Request) -> Result<Response, Problem> {
    confirmed(&request, CONFIRM_CLEAR)?;
    let graph = api.graph(&request).await?;
    api.graphs(&request).await?.clear(request.capture(0), graph.name()).await?;
    Ok(no_content())
}

fn confirmed(request: &Request, message: &str) -> Result<(), Problem> {
    match Given::of(request).get(&params::CONFIRM_MESSAGE) {
        Some(given) if given == message => Ok(()),
        _ => Err(Problem::illegal_argument(format!("Please take the message: {message}"))),
    }
}

/// PUT `/graphs/manage`
pub(crate) const MANAGE: Operation =
    operation("graphs", "manageGraphs", "Reads the list of graphs anew: there is nothing to do.")
        .sent(json_of("GraphsAction"))
        .gives(&[(200, done(json_of("GraphsAction")))])
        .refuses(&[400]);

/// PUT `/graphs/manage`
pub(crate) async fn manage(_: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let actions: Map<String, Value> = read_json(&request.body)?;
    match actions.get("action").map(Value::as_str) {
        Some(Some("reload")) => ok(&json!({ "graphs": "reloaded" })),
        Some(action) => {
            let action = action.unwrap_or("");
            Err(Problem::illegal_argument(format!("Invalid graphs action: '{action}'")))
        }
        None => Err(Problem::illegal_argument("Please pass 'action' for graphs manage")),
    }
}

/// GET `/graphs/{graph}/conf`
pub(crate) const CONFIGURATION: Operation =
    operation("graphs", "getGraphConfiguration", "What a graph was made with.")
        .gives(&[(200, done(json_of("GraphSettings")))])
        .refuses(&[404]);

/// GET `/graphs/{graph}/conf`
pub(crate) async fn configuration(api: Api, request: Request) -> Result<Response, Problem> {
    let graph = api.graph(&request).await?;
    let info = api.graphs(&request).await?.info(request.capture(0), graph.name()).await?;
    let given: Map<String, Value> = match info.settings.is_empty() {
        true => Map::new(),
        false => serde_json::from_str(&info.settings).map_err(|error| {
            tracing::error!(%error, graph = graph.name(), "the settings of a graph are damaged");
            Problem::damaged()
        })?,
    };
    let mut all = Map::new();
    all.insert("backend".to_owned(), BACKEND.into());
    all.insert("store".to_owned(), graph.name().into());
    all.extend(given);
    ok(&all)
}

/// GET `/graphs/{graph}/mode`
pub(crate) const GET_MODE: Operation = operation("graphs", "getMode", "How a graph takes writes.")
    .gives(&[(200, done(json_of("Mode")))])
    .refuses(&[404]);

/// GET `/graphs/{graph}/mode`
pub(crate) async fn mode(api: Api, request: Request) -> Result<Response, Problem> {
    let mode = api.graph(&request).await?.state().await?.mode;
    ok(&json!({ "mode": mode.name() }))
}

/// PUT `/graphs/{graph}/mode`
pub(crate) const SET_MODE: Operation = operation("graphs", "setMode", "Sets how a graph takes writes.")
    .sent(json_of("ModeName"))
    .gives(&[(200, done(json_of("Mode")))])
    .refuses(&[400, 404]);

/// PUT `/graphs/{graph}/mode`
pub(crate) async fn set_mode(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let name = word(&request, "Graph mode")?;
    let mode = GraphMode::from_name(&name)
        .ok_or_else(|| no_mode(&name, GraphMode::ALL.iter().map(|mode| mode.name())))?;
    api.graph_to_fill(&request).await?.set_mode(mode).await?;
    ok(&json!({ "mode": mode.name() }))
}

/// GET `/graphs/{graph}/graph_read_mode`
pub(crate) const GET_READ_MODE: Operation =
    operation("graphs", "getReadMode", "Which properties a graph reads.")
        .gives(&[(200, done(json_of("ReadMode")))])
        .refuses(&[404]);

/// GET `/graphs/{graph}/graph_read_mode`
pub(crate) async fn read_mode(api: Api, request: Request) -> Result<Response, Problem> {
    let mode = api.graph(&request).await?.state().await?.read_mode;
    ok(&json!({ "graph_read_mode": mode.name() }))
}

/// PUT `/graphs/{graph}/graph_read_mode`
pub(crate) const SET_READ_MODE: Operation =
    operation("graphs", "setReadMode", "Sets which properties a graph reads.")
        .sent(json_of("ReadModeName"))
        .gives(&[(200, done(json_of("ReadMode")))])
        .refuses(&[400, 404]);

/// PUT `/graphs/{graph}/graph_read_mode`
pub(crate) async fn set_read_mode(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let name = word(&request, "Graph-read-mode")?;
    let mode = ReadMode::from_name(&name)
        .ok_or_else(|| no_mode(&name, ReadMode::ALL.iter().map(|mode| mode.name())))?;
    api.graph_to_fill(&request).await?.set_read_mode(mode).await?;
    ok(&json!({ "graph_read_mode": mode.name() }))
}

/// The name of a mode: a text, or nothing.
fn word(request: &Request, what: &str) -> Result<String, Problem> {
    let name: Option<String> = read_json(&request.body)?;
    name.ok_or_else(|| Problem::illegal_argument(format!("{what} can't be null")))
}

fn no_mode(name: &str, known: impl Iterator<Item = &'static str>) -> Problem {
    let known: Vec<_> = known.collect();
    Problem::bad_body(format!("'{name}' is none of {}", known.join(", ")))
}

/// PUT `/graphs/{graph}/compact`
pub(crate) const COMPACT: Operation =
    operation("graphs", "compactGraph", "Asks for a compaction: the store sees to that by itself.")
        .gives(&[(200, done(json_of("Compacted")))])
        .refuses(&[404]);

/// PUT `/graphs/{graph}/compact`
pub(crate) async fn compact(api: Api, request: Request) -> Result<Response, Problem> {
    api.graph(&request).await?;
    ok(&json!({ "nodes": 1, "cluster_id": "local", "servers": { "local": "OK" } }))
}

/// PUT `/graphs/{graph}/snapshot_create`
pub(crate) const CREATE_SNAPSHOT: Operation =
    operation("graphs", "createSnapshot", "A snapshot of one graph: not built.").refuses(&[501]);
/// PUT `/graphs/{graph}/snapshot_resume`
pub(crate) const RESUME_SNAPSHOT: Operation =
    operation("graphs", "resumeSnapshot", "Going back to a snapshot: not built.").refuses(&[501]);

/// Refuses a snapshot.
pub(crate) async fn snapshot(_: Api, _: Request) -> Result<Response, Problem> {
    Err(Problem::unsupported(
        "there are no snapshots of single graphs: POST /admin/backup makes a backup of the whole server",
    ))
}
