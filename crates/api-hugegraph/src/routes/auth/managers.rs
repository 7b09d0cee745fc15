//! `/auth/managers`: who manages the tenant, or a graph space, and who is a member of one.

use access::ManagerKind;
use api_http::{Given, Operation, Request, Response, no_content};
use serde_json::json;

use super::{created, members};
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;

/// GET `/auth/managers`
pub(crate) const LIST: Operation = operation("auth", "listManagers", "Who manages it.")
    .query(&[&[params::MANAGER_TYPE]])
    .gives(&[(200, done(json_of("Managers")))])
    .refuses(&[400]);

/// GET `/auth/managers`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let kind = kind(Given::of(&request).get(&params::MANAGER_TYPE))?;
    let space = api.space(&request).await?;
    ok(&json!({ "admins": api.users(&request).await?.list_managers(kind, &space).await? }))
}

fn kind(name: Option<&str>) -> Result<ManagerKind, Problem> {
    name.and_then(ManagerKind::from_name)
        .ok_or_else(|| Problem::illegal_argument("The type must be in [SPACE, SPACE_MEMBER, ADMIN]"))
}

/// POST `/auth/managers`
pub(crate) const CREATE: Operation = operation("auth", "createManager", "Names a manager.")
    .sent(json_of("Manager"))
    .gives(&[(201, done(json_of("Manager")))])
    .refuses(&[400, 415]);

/// POST `/auth/managers`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("manager", &request)?;
    let (user, type_name) = (given.text("user")?.unwrap_or_else(String::new), given.text("type")?);
    given.end()?;
    let kind = kind(type_name.as_deref())?;
    let space = api.space(&request).await?;
    api.users_to_change(&request).await?.create_manager(kind, &space, &user).await?;
    created(&json!({ "user": user, "type": kind.name(), "graphspace": space }))
}

/// DELETE `/auth/managers`
pub(crate) const REMOVE: Operation = operation("auth", "removeManager", "Takes back what somebody manages.")
    .query(&[&[params::USER, params::MANAGER_TYPE]])
    .gives(DONE)
    .refuses(&[400]);

/// DELETE `/auth/managers`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let (user, kind) = (given.get(&params::USER).unwrap_or(""), kind(given.get(&params::MANAGER_TYPE))?);
    let space = api.space(&request).await?;
    api.users_to_change(&request).await?.delete_manager(kind, &space, user).await?;
    Ok(no_content())
}

/// GET `/auth/managers/check`
pub(crate) const CHECK: Operation = operation("auth", "checkManager", "Whether whoever asks manages it.")
    .query(&[&[params::MANAGER_TYPE]])
    .gives(&[(200, done(json_of("ManagerCheck")))])
    .refuses(&[400]);

/// GET `/auth/managers/check`
pub(crate) async fn check(api: Api, request: Request) -> Result<Response, Problem> {
    let kind = kind(Given::of(&request).get(&params::MANAGER_TYPE))?;
    let space = api.space(&request).await?;
    let users = api.users(&request).await?;
    let roles = users.roles_in(&space, &users.caller().user).await?;
    let is_admin = kind == ManagerKind::Admin && users.caller().role.is_admin();
    ok(&json!({ "check": is_admin || roles.contains(&kind) }))
}

/// GET `/auth/managers/role`
pub(crate) const ROLES: Operation = operation("auth", "getManagerRoles", "What somebody manages.")
    .query(&[&[params::USER]])
    .gives(&[(200, done(json_of("ManagerRoles")))])
    .refuses(&[400]);

/// GET `/auth/managers/role`
pub(crate) async fn roles(api: Api, request: Request) -> Result<Response, Problem> {
    let user = Given::of(&request).get(&params::USER).unwrap_or("").to_owned();
    let space = api.space(&request).await?;
    let roles = api.users(&request).await?.roles_in(&space, &user).await?;
    let mut names: Vec<_> = roles.into_iter().map(ManagerKind::name).collect();
    if names.is_empty() {
        names.push("NONE");
    }
    ok(&json!({ "user": user, "graphspace": space, "roles": names }))
}
