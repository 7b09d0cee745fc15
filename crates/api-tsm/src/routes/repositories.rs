//! `/repositories`: named collections of series.

use api_http::{Operation, Request, Response, no_content};

use super::conditions::{state_condition, tagged_answer};
use super::{check_json, created, ok, tenant};
use crate::operation::{
    DONE, FIND_REFUSALS, NEW_REFUSALS, PUT_REFUSALS, done, json_list, json_of, operation,
};
use crate::problem::Problem;
use crate::shapes::{RepositoryGiven, RepositoryShape, read_json};
use crate::state::Api;

/// GET `/repositories`
pub(crate) const LIST: Operation =
    operation("repositories", "listRepositories", "All repositories of the tenant.")
        .gives(&[(200, done(json_list("Repository")))])
        .refuses(&[400]);

/// GET `/repositories`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let all = api.repositories(&request).await?.list().await?;
    ok(&all.into_iter().map(RepositoryShape::from).collect::<Vec<_>>())
}

/// POST `/repositories`
pub(crate) const CREATE: Operation = operation(
    "repositories",
    "createRepository",
    "Creates a repository. (Repositories are also created by the first write to them.)",
)
.sent(json_of("Repository"))
.gives(&[(201, done(json_of("Repository")))])
.refuses(NEW_REFUSALS)
.making_one();

/// POST `/repositories`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let draft = read_json::<RepositoryGiven>(&request.body)?.draft()?;
    let name = draft.name.clone();
    let repositories = api.shared.repositories.of_or_create(&tenant(&request)?, &draft).await?;
    let info = repositories.create(draft, api.shared.clock.now()).await?;
    created(&request, &name, &RepositoryShape::from(info))
}

/// GET `/repositories/{repository}`
pub(crate) const GET: Operation = operation("repositories", "getRepository", "One repository.")
    .gives(&[(200, done(json_of("Repository")))])
    .refuses(FIND_REFUSALS)
    .about_one();

/// GET `/repositories/{repository}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let info = api.repositories(&request).await?.info(request.capture(0)).await?;
    tagged_answer(&request, info.fingerprint(), ok(&RepositoryShape::from(info))?)
}

/// PUT `/repositories/{repository}`
pub(crate) const REPLACE: Operation =
    operation("repositories", "changeRepository", "Replaces the description of a repository.")
        .sent(json_of("Repository"))
        .gives(&[(200, done(json_of("Repository")))])
        .refuses(PUT_REFUSALS)
        .about_one();

/// PUT `/repositories/{repository}`
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let name = request.capture(0);
    let change = read_json::<RepositoryGiven>(&request.body)?.change(name)?;
    let repositories = api.repositories(&request).await?.when(state_condition(&request)?);
    let info = repositories.change(name, change).await?;
    ok(&RepositoryShape::from(info))
}

/// DELETE `/repositories/{repository}`
pub(crate) const REMOVE: Operation =
    operation("repositories", "removeRepository", "Deletes a repository and everything in it.")
        .gives(DONE)
        .refuses(FIND_REFUSALS)
        .about_one();

/// DELETE `/repositories/{repository}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let repositories = api.repositories(&request).await?.when(state_condition(&request)?);
    repositories.remove(request.capture(0)).await?;
    Ok(no_content())
}
