//! `/repositories`: spaces of series.

use api_http::{Request, Response};

use super::conditions::{state_condition, tagged_answer};
use super::{check_json, created, no_content, ok, tenant};
use crate::params::Given;
use crate::problem::Problem;
use crate::shapes::{RepositoryGiven, RepositoryShape, read_json};
use crate::state::Api;

/// GET `/repositories`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    let all = api.repositories(&request).await?.list().await?;
    ok(&all.into_iter().map(RepositoryShape::from).collect::<Vec<_>>())
}

/// POST `/repositories`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    check_json(&request)?;
    let draft = read_json::<RepositoryGiven>(&request.body)?.draft()?;
    let name = draft.name.clone();
    let repositories = api.shared.repositories.of_or_create(&tenant(&request)?, &draft).await?;
    let info = repositories.create(draft, api.shared.clock.now()).await?;
    created(&request, &name, &RepositoryShape::from(info))
}

/// GET `/repositories/{repository}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    let info = api.repositories(&request).await?.info(request.capture(0)).await?;
    tagged_answer(&request, info.fingerprint(), ok(&RepositoryShape::from(info))?)
}

/// PUT `/repositories/{repository}`
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    check_json(&request)?;
    let name = request.capture(0);
    let change = read_json::<RepositoryGiven>(&request.body)?.change(name)?;
    let repositories = api.repositories(&request).await?.when(state_condition(&request)?);
    let info = repositories.change(name, change).await?;
    ok(&RepositoryShape::from(info))
}

/// DELETE `/repositories/{repository}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    let repositories = api.repositories(&request).await?.when(state_condition(&request)?);
    repositories.remove(request.capture(0)).await?;
    Ok(no_content())
}
