//! `/auth/accesses`: what a group may do with a target.

use access::Action;
use api_http::{Given, Operation, Request, Response, no_content};

use super::{LIMIT, created, id, limit, list_answer, members, needed, of_id};
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;
use crate::wire::users::{self as wire, Members};

/// GET `/auth/accesses`
pub(crate) const LIST: Operation = operation("auth", "listAccesses", "What groups may do with targets.")
    .query(&[&[params::GROUP, params::TARGET], LIMIT])
    .gives(&[(200, done(json_of("Accesses")))])
    .refuses(&[400]);

/// GET `/auth/accesses`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let of = (given.get(&params::GROUP), given.get(&params::TARGET));
    if of.0.is_some() && of.1.is_some() {
        return Err(Problem::illegal_argument("Can't pass both group and target at the same time"));
    }
    let accesses = api.users(&request).await?.list_accesses(of, limit(&request)?).await?;
    list_answer("accesses", &accesses, wire::access)
}

/// POST `/auth/accesses`
pub(crate) const CREATE: Operation =
    operation("auth", "createAccess", "Lets a group do something with a target.")
        .sent(json_of("Access"))
        .gives(&[(201, done(json_of("Access")))])
        .refuses(&[400, 415]);

/// POST `/auth/accesses`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("access", &request)?;
    let group = needed("access", "group", given.text("group")?)?;
    let target = needed("access", "target", given.text("target")?)?;
    let action = permission(&mut given)?;
    let missing = || Problem::illegal_argument("The permission of access can't be null");
    let (action, description) = (action.ok_or_else(missing)?, given.text("access_description")?);
    given.end()?;
    let users = api.users_to_change(&request).await?;
    let access = users.create_access((group, target), action, description).await?;
    created(&wire::access(&access))
}

fn permission(given: &mut Members) -> Result<Option<Action>, Problem> {
    let Some(name) = given.text("access_permission")? else { return Ok(None) };
    let action = Action::from_name(&name).ok_or_else(|| {
        let known: Vec<_> = Action::ALL.into_iter().map(Action::name).collect();
        Problem::bad_body(format!("access_permission '{name}' is none of {}", known.join(", ")))
    });
    action.map(Some)
}

/// GET `/auth/accesses/{id}`
pub(crate) const GET: Operation = operation("auth", "getAccess", "What a group may do with a target.")
    .gives(&[(200, done(json_of("Access")))])
    .refuses(&[404]);

/// GET `/auth/accesses/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    ok(&wire::access(&api.users(&request).await?.get_access(id(&request)).await?))
}

/// PUT `/auth/accesses/{id}`
pub(crate) const UPDATE: Operation = operation("auth", "updateAccess", "Changes what is said of it.")
    .sent(json_of("Access"))
    .gives(&[(200, done(json_of("Access")))])
    .refuses(&[400, 415]);

/// PUT `/auth/accesses/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("access", &request)?;
    let (group, target, action) = (given.text("group")?, given.text("target")?, permission(&mut given)?);
    let description = needed("access", "description", given.text("access_description")?)?;
    given.end()?;
    let users = api.users_to_change(&request).await?;
    let same = (group.as_deref(), target.as_deref(), action);
    let access = users.update_access(id(&request), same, description).await;
    ok(&wire::access(&access.map_err(of_id("access", &request))?))
}

/// DELETE `/auth/accesses/{id}`
pub(crate) const REMOVE: Operation =
    operation("auth", "removeAccess", "Takes back what a group may do.").gives(DONE).refuses(&[400]);

/// DELETE `/auth/accesses/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users_to_change(&request).await?;
    users.delete_access(id(&request)).await.map_err(of_id("access", &request))?;
    Ok(no_content())
}
