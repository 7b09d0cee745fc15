//! `/auth/belongs`: who is in which group.

use api_http::{Given, Operation, Request, Response, no_content};

use super::{LIMIT, created, id, limit, list_answer, members, needed, of_id};
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;
use crate::wire::users as wire;

/// GET `/auth/belongs`
pub(crate) const LIST: Operation = operation("auth", "listBelongs", "Who is in which group.")
    .query(&[&[params::USER, params::GROUP], LIMIT])
    .gives(&[(200, done(json_of("Belongs")))])
    .refuses(&[400]);

/// GET `/auth/belongs`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let of = (given.get(&params::USER), given.get(&params::GROUP));
    if of.0.is_some() && of.1.is_some() {
        return Err(Problem::illegal_argument("Can't pass both user and group at the same time"));
    }
    let belongs = api.users(&request).await?.list_belongs(of, limit(&request)?).await?;
    list_answer("belongs", &belongs, wire::belong)
}

/// POST `/auth/belongs`
pub(crate) const CREATE: Operation = operation("auth", "createBelong", "Puts a user into a group.")
    .sent(json_of("Belong"))
    .gives(&[(201, done(json_of("Belong")))])
    .refuses(&[400, 415]);

/// POST `/auth/belongs`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("belong", &request)?;
    let user = needed("belong", "user", given.text("user")?)?;
    let group = needed("belong", "group", given.text("group")?)?;
    let description = given.text("belong_description")?;
    given.end()?;
    let belong = api.users_to_change(&request).await?.create_belong(user, group, description).await?;
    created(&wire::belong(&belong))
}

/// GET `/auth/belongs/{id}`
pub(crate) const GET: Operation = operation("auth", "getBelong", "Who is in a group.")
    .gives(&[(200, done(json_of("Belong")))])
    .refuses(&[404]);

/// GET `/auth/belongs/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    ok(&wire::belong(&api.users(&request).await?.get_belong(id(&request)).await?))
}

/// PUT `/auth/belongs/{id}`
pub(crate) const UPDATE: Operation = operation("auth", "updateBelong", "Changes what is said of it.")
    .sent(json_of("Belong"))
    .gives(&[(200, done(json_of("Belong")))])
    .refuses(&[400, 415]);

/// PUT `/auth/belongs/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("belong", &request)?;
    let (user, group) = (given.text("user")?, given.text("group")?);
    let description = needed("belong", "description", given.text("belong_description")?)?;
    given.end()?;
    let users = api.users_to_change(&request).await?;
    let belong = users.update_belong(id(&request), (user.as_deref(), group.as_deref()), description).await;
    ok(&wire::belong(&belong.map_err(of_id("belong", &request))?))
}

/// DELETE `/auth/belongs/{id}`
pub(crate) const REMOVE: Operation =
    operation("auth", "removeBelong", "Takes a user out of a group.").gives(DONE).refuses(&[400]);

/// DELETE `/auth/belongs/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users_to_change(&request).await?;
    users.delete_belong(id(&request)).await.map_err(of_id("belong", &request))?;
    Ok(no_content())
}
