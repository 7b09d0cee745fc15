//! `/attributetypes`, which `/attributes` means too: what can be said of series.

use api_http::{Request, Response};
use model_series::{AttributeType, Repository};

use super::conditions::tagged_answer;
use super::{check_json, created, no_content, ok};
use crate::params::Given;
use crate::problem::Problem;
use crate::shapes::{AttributeTypeShape, read_json};
use crate::state::Api;

/// GET `/repositories/{repository}/attributetypes`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    let types = api.repository(&request).await?.attribute_types().await?;
    ok(&types.into_iter().map(AttributeTypeShape::from).collect::<Vec<_>>())
}

async fn find(repository: &Repository, name: &str) -> Result<Option<AttributeType>, Problem> {
    Ok(repository.attribute_types().await?.into_iter().find(|held| *held.name == *name))
}

/// POST `/repositories/{repository}/attributetypes`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    check_json(&request)?;
    let given = read_json::<AttributeTypeShape>(&request.body)?.attribute_type(None)?;
    let repository = api.repository_to_fill(&request).await?;
    repository.create_attribute_type(&given).await?;
    let name = given.name.clone();
    created(&request, &name, &AttributeTypeShape::from(given))
}

/// GET `/repositories/{repository}/attributetypes/{type}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    let name = request.capture(1);
    let found = find(&api.repository(&request).await?, name).await?;
    let found = found.ok_or_else(|| Problem::not_found(format!("attribute type {name} is not known")))?;
    tagged_answer(&request, found.fingerprint(), ok(&AttributeTypeShape::from(found))?)
}

/// PUT `/repositories/{repository}/attributetypes/{type}`
pub(crate) async fn put(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    check_json(&request)?;
    let given = read_json::<AttributeTypeShape>(&request.body)?.attribute_type(Some(request.capture(1)))?;
    api.repository_to_fill(&request).await?.put_attribute_type(given).await?;
    Ok(no_content())
}

/// DELETE `/repositories/{repository}/attributetypes/{type}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    api.repository_to_change(&request).await?.remove_attribute_type(request.capture(1)).await?;
    Ok(no_content())
}
