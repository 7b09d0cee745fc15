//! `/dataspaces`, `/admin/dataspaces`: what anchors and schema sets lie in.

use api_http::{Given, Operation, Request, Response, no_content};
use serde::Serialize;

use super::{created, named, ok};
use crate::names::check_name;
use crate::operation::{CREATED, GONE, NAMED, done, json_list, json_of, operation};
use crate::params::{self, required};
use crate::problem::Problem;
use crate::state::Api;

/// A dataspace as it is answered.
#[derive(Debug, Serialize)]
struct DataspaceDetails<'a> {
    name: &'a str,
}

/// POST `/v2/dataspaces`
pub(crate) const CREATE: Operation = operation("admin", "createDataspace", "Creates a dataspace.")
    .query(&[&[params::DATASPACE]])
    .gives(CREATED)
    .refuses(&[400, 409]);

/// POST `/v2/dataspaces`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    make(&api, &request).await?;
    Ok(created())
}

/// POST `/v1/dataspaces`
pub(crate) const CREATE_V1: Operation =
    operation("admin", "createDataspaceV1", "Creates a dataspace, and answers its name.")
        .query(&[&[params::DATASPACE]])
        .gives(NAMED)
        .refuses(&[400, 409]);

/// POST `/v1/dataspaces`
pub(crate) async fn create_v1(api: Api, request: Request) -> Result<Response, Problem> {
    make(&api, &request).await.map(|name| named(&name))
}

async fn make(api: &Api, request: &Request) -> Result<String, Problem> {
    let given = Given::of(request);
    let name = required(&given, &params::DATASPACE)?;
    check_name(name)?;
    let configs = api.configs_or_create(request).await?;
    configs.create_dataspace(name).await?;
    Ok(name.to_owned())
}

/// DELETE `/dataspaces`
pub(crate) const REMOVE: Operation =
    operation("admin", "deleteDataspace", "Deletes a dataspace in which nothing is left.")
        .query(&[&[params::DATASPACE]])
        .gives(GONE)
        .refuses(&[400, 409]);

/// DELETE `/dataspaces`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let name = required(&given, &params::DATASPACE)?;
    api.configs(&request).await?.remove_dataspace(name).await?;
    Ok(no_content())
}

/// GET `/admin/dataspaces`
pub(crate) const LIST: Operation = operation("admin", "getAllDataspaces", "All dataspaces.")
    .gives(&[(200, done(json_list("DataspaceDetails")))])
    .refuses(&[400]);

/// GET `/admin/dataspaces`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let found = api.configs(&request).await?.dataspaces().await?;
    ok(&found.iter().map(|info| DataspaceDetails { name: &info.name }).collect::<Vec<_>>())
}

/// GET `/admin/dataspaces/{dataspace}`
pub(crate) const GET: Operation = operation("admin", "getDataspace", "One dataspace.")
    .gives(&[(200, done(json_of("DataspaceDetails")))])
    .refuses(&[400]);

/// GET `/admin/dataspaces/{dataspace}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let name = request.capture(0);
    api.configs(&request).await?.dataspace(name).await?;
    ok(&DataspaceDetails { name })
}

/// POST `/admin/dataspaces/{dataspace}/actions/clean`
pub(crate) const CLEAN: Operation =
    operation("admin", "cleanDataspace", "Deletes the schema sets of a dataspace that no anchor uses.")
        .gives(GONE)
        .refuses(&[400]);

/// POST `/admin/dataspaces/{dataspace}/actions/clean`
pub(crate) async fn clean(api: Api, request: Request) -> Result<Response, Problem> {
    api.configs(&request).await?.clean_dataspace(request.capture(0)).await?;
    Ok(no_content())
}
