//! `/auth/groups`: users that may do the same.

use api_http::{Operation, Request, Response, no_content};

use super::{LIMIT, created, id, limit, list_answer, members, needed, of_id};
use crate::operation::{DONE, done, json_of, operation};
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;
use crate::wire::users as wire;

/// GET `/auth/groups`
pub(crate) const LIST: Operation = operation("auth", "listGroups", "Groups by name.")
    .query(&[LIMIT])
    .gives(&[(200, done(json_of("Groups")))])
    .refuses(&[400]);

/// GET `/auth/groups`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let groups = api.users(&request).await?.list_groups(limit(&request)?).await?;
    list_answer("groups", &groups, wire::group)
}

/// POST `/auth/groups`
pub(crate) const CREATE: Operation = operation("auth", "createGroup", "Makes a group.")
    .sent(json_of("Group"))
    .gives(&[(201, done(json_of("Group")))])
    .refuses(&[400, 415]);

/// POST `/auth/groups`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("group", &request)?;
    let (name, description) = (given.text("group_name")?, given.text("group_description")?);
    given.end()?;
    let name = needed("group", "name", name)?;
    let group = api.users_to_change(&request).await?.create_group(name, description).await?;
    created(&wire::group(&group))
}

/// GET `/auth/groups/{id}`
pub(crate) const GET: Operation =
    operation("auth", "getGroup", "One group.").gives(&[(200, done(json_of("Group")))]).refuses(&[404]);

/// GET `/auth/groups/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    ok(&wire::group(&api.users(&request).await?.get_group(id(&request)).await?))
}

/// PUT `/auth/groups/{id}`
pub(crate) const UPDATE: Operation = operation("auth", "updateGroup", "Changes what is said of a group.")
    .sent(json_of("Group"))
    .gives(&[(200, done(json_of("Group")))])
    .refuses(&[400, 415]);

/// PUT `/auth/groups/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("group", &request)?;
    let (name, description) = (given.text("group_name")?, given.text("group_description")?);
    given.end()?;
    let description = needed("group", "description", description)?;
    let users = api.users_to_change(&request).await?;
    let group = users.update_group(id(&request), name.as_deref(), description).await;
    ok(&wire::group(&group.map_err(of_id("group", &request))?))
}

/// DELETE `/auth/groups/{id}`
pub(crate) const REMOVE: Operation =
    operation("auth", "removeGroup", "Removes a group, with who is in it and what it may do.")
        .gives(DONE)
        .refuses(&[400]);

/// DELETE `/auth/groups/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users_to_change(&request).await?;
    users.delete_group(id(&request)).await.map_err(of_id("group", &request))?;
    Ok(no_content())
}
