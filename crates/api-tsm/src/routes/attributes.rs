//! `/attributetypes`, which `/attributes` means too: what can be said of series.

use api_http::{Operation, Request, Response, no_content};
use model_series::{AttributeType, Repository};

use super::conditions::tagged_answer;
use super::{check_json, created, ok};
use crate::operation::{
    DONE, FIND_REFUSALS, NEW_REFUSALS, PUT_REFUSALS, done, json_list, json_of, operation,
};
use crate::problem::Problem;
use crate::shapes::{AttributeTypeShape, read_json};
use crate::state::Api;

/// GET `/repositories/{repository}/attributes`
pub(crate) const LIST_ALIAS: Operation =
    operation("attributes", "listAttributes", "Another name for the same operation on attributetypes.")
        .gives(&[(200, done(json_list("AttributeType")))])
        .refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/attributetypes`
pub(crate) const LIST: Operation = operation("attributes", "listAttributeTypes", "All attribute types.")
    .gives(&[(200, done(json_list("AttributeType")))])
    .refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/attributetypes`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let types = api.repository(&request).await?.attribute_types().await?;
    ok(&types.into_iter().map(AttributeTypeShape::from).collect::<Vec<_>>())
}

async fn find(repository: &Repository, name: &str) -> Result<Option<AttributeType>, Problem> {
    Ok(repository.attribute_types().await?.into_iter().find(|held| *held.name == *name))
}

/// POST `/repositories/{repository}/attributes`
pub(crate) const CREATE_ALIAS: Operation =
    operation("attributes", "createAttribute", "Another name for the same operation on attributetypes.")
        .sent(json_of("AttributeType"))
        .gives(&[(201, done(json_of("AttributeType")))])
        .refuses(NEW_REFUSALS)
        .making_one();

/// POST `/repositories/{repository}/attributetypes`
pub(crate) const CREATE: Operation =
    operation("attributes", "createAttributeType", "Creates an attribute type.")
        .sent(json_of("AttributeType"))
        .gives(&[(201, done(json_of("AttributeType")))])
        .refuses(NEW_REFUSALS)
        .making_one();

/// POST `/repositories/{repository}/attributetypes`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let given = read_json::<AttributeTypeShape>(&request.body)?.attribute_type(None)?;
    let repository = api.repository_to_fill(&request).await?;
    repository.create_attribute_type(&given).await?;
    let name = given.name.clone();
    created(&request, &name, &AttributeTypeShape::from(given))
}

/// GET `/repositories/{repository}/attributes/{attribute}`
pub(crate) const GET_ALIAS: Operation =
    operation("attributes", "getAttribute", "Another name for the same operation on attributetypes.")
        .gives(&[(200, done(json_of("AttributeType")))])
        .refuses(FIND_REFUSALS)
        .about_one();

/// GET `/repositories/{repository}/attributetypes/{attribute}`
pub(crate) const GET: Operation = operation("attributes", "getAttributeType", "One attribute type.")
    .gives(&[(200, done(json_of("AttributeType")))])
    .refuses(FIND_REFUSALS)
    .about_one();

/// GET `/repositories/{repository}/attributetypes/{type}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let name = request.capture(1);
    let found = find(&api.repository(&request).await?, name).await?;
    let found = found.ok_or_else(|| Problem::not_found(format!("attribute type {name} is not known")))?;
    tagged_answer(&request, found.fingerprint(), ok(&AttributeTypeShape::from(found))?)
}

/// PUT `/repositories/{repository}/attributes/{attribute}`
pub(crate) const PUT_ALIAS: Operation =
    operation("attributes", "putAttribute", "Another name for the same operation on attributetypes.")
        .sent(json_of("AttributeType"))
        .gives(DONE)
        .refuses(PUT_REFUSALS)
        .about_one();

/// PUT `/repositories/{repository}/attributetypes/{attribute}`
pub(crate) const PUT: Operation =
    operation("attributes", "putAttributeType", "Creates or replaces an attribute type.")
        .sent(json_of("AttributeType"))
        .gives(DONE)
        .refuses(PUT_REFUSALS)
        .about_one();

/// PUT `/repositories/{repository}/attributetypes/{type}`
pub(crate) async fn put(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let given = read_json::<AttributeTypeShape>(&request.body)?.attribute_type(Some(request.capture(1)))?;
    api.repository_to_fill(&request).await?.put_attribute_type(given).await?;
    Ok(no_content())
}

/// DELETE `/repositories/{repository}/attributes/{attribute}`
pub(crate) const REMOVE_ALIAS: Operation =
    operation("attributes", "removeAttribute", "Another name for the same operation on attributetypes.")
        .gives(DONE)
        .refuses(FIND_REFUSALS)
        .about_one();

/// DELETE `/repositories/{repository}/attributetypes/{attribute}`
pub(crate) const REMOVE: Operation =
    operation("attributes", "removeAttributeType", "Deletes an attribute type that no series uses.")
        .gives(DONE)
        .refuses(FIND_REFUSALS)
        .about_one();

/// DELETE `/repositories/{repository}/attributetypes/{type}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    api.repository_to_change(&request).await?.remove_attribute_type(request.capture(1)).await?;
    Ok(no_content())
}
