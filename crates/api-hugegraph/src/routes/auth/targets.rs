//! `/auth/targets`: some of what is in a graph.

use api_http::{Operation, Request, Response, no_content};

use super::{LIMIT, created, id, limit, list_answer, members, needed, of_id};
use crate::operation::{DONE, done, json_of, operation};
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;
use crate::wire::users as wire;

/// GET `/auth/targets`
pub(crate) const LIST: Operation = operation("auth", "listTargets", "Targets by name.")
    .query(&[LIMIT])
    .gives(&[(200, done(json_of("Targets")))])
    .refuses(&[400]);

/// GET `/auth/targets`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let targets = api.users(&request).await?.list_targets(limit(&request)?).await?;
    list_answer("targets", &targets, wire::target)
}

/// POST `/auth/targets`
pub(crate) const CREATE: Operation = operation("auth", "createTarget", "Makes a target.")
    .sent(json_of("Target"))
    .gives(&[(201, done(json_of("Target")))])
    .refuses(&[400, 415]);

/// POST `/auth/targets`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("target", &request)?;
    let name = needed("target", "name", given.text("target_name")?)?;
    let graph = needed("target", "graph", given.text("target_graph")?)?;
    let url = needed("target", "url", given.text("target_url")?)?;
    let resources = given.resources("target_resources")?;
    given.end()?;
    let space = api.space(&request).await?;
    let users = api.users_to_change(&request).await?;
    let target = users.create_target((&space, graph), (name, url), resources).await?;
    created(&wire::target(&target))
}

/// GET `/auth/targets/{id}`
pub(crate) const GET: Operation =
    operation("auth", "getTarget", "One target.").gives(&[(200, done(json_of("Target")))]).refuses(&[404]);

/// GET `/auth/targets/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    ok(&wire::target(&api.users(&request).await?.get_target(id(&request)).await?))
}

/// PUT `/auth/targets/{id}`
pub(crate) const UPDATE: Operation = operation("auth", "updateTarget", "Changes a target.")
    .sent(json_of("Target"))
    .gives(&[(200, done(json_of("Target")))])
    .refuses(&[400, 415]);

/// PUT `/auth/targets/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("target", &request)?;
    let (name, graph) = (given.text("target_name")?, given.text("target_graph")?);
    let (url, resources) = (given.text("target_url")?, given.resources("target_resources")?);
    given.end()?;
    if url.is_none() && resources.is_none() {
        return Err(Problem::illegal_argument("Expect one of target url/resources"));
    }
    let users = api.users_to_change(&request).await?;
    let target = users.update_target(id(&request), (name.as_deref(), graph.as_deref()), url, resources).await;
    ok(&wire::target(&target.map_err(of_id("target", &request))?))
}

/// DELETE `/auth/targets/{id}`
pub(crate) const REMOVE: Operation =
    operation("auth", "removeTarget", "Removes a target, with what is granted on it.")
        .gives(DONE)
        .refuses(&[400]);

/// DELETE `/auth/targets/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users_to_change(&request).await?;
    users.delete_target(id(&request)).await.map_err(of_id("target", &request))?;
    Ok(no_content())
}
