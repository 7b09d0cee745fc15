//! `/units`: what values are measured in.

use api_http::{Operation, Request, Response, no_content};

use super::conditions::tagged_answer;
use super::{check_json, created, ok};
use crate::operation::{
    DONE, FIND_REFUSALS, NEW_REFUSALS, PUT_REFUSALS, done, json_list, json_of, operation,
};
use crate::problem::Problem;
use crate::shapes::{UnitGiven, UnitShape, read_json};
use crate::state::Api;

/// GET `/repositories/{repository}/units`
pub(crate) const LIST: Operation = operation("units", "listUnits", "All units.")
    .gives(&[(200, done(json_list("Unit")))])
    .refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/units`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let units = api.repository(&request).await?.units().await?;
    let mut units: Vec<_> = units.iter().collect();
    units.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    ok(&units.into_iter().map(UnitShape::from).collect::<Vec<_>>())
}

/// POST `/repositories/{repository}/units`
pub(crate) const CREATE: Operation = operation("units", "createUnit", "Creates a unit.")
    .sent(json_of("Unit"))
    .gives(&[(201, done(json_of("Unit")))])
    .refuses(NEW_REFUSALS)
    .making_one();

/// POST `/repositories/{repository}/units`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let unit = read_json::<UnitGiven>(&request.body)?.unit(None)?;
    let repository = api.repository_to_fill(&request).await?;
    repository.create_unit(unit.clone()).await.map_err(|error| Problem::from(error).mentioned())?;
    created(&request, &unit.name, &UnitShape::from(&unit))
}

/// GET `/repositories/{repository}/units/{unit}`
pub(crate) const GET: Operation = operation("units", "getUnit", "One unit.")
    .gives(&[(200, done(json_of("Unit")))])
    .refuses(FIND_REFUSALS)
    .about_one();

/// GET `/repositories/{repository}/units/{unit}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let units = api.repository(&request).await?.units().await?;
    let unit = units.get(request.capture(1)).map_err(model_series::Error::from)?;
    tagged_answer(&request, model_series::unit_fingerprint(unit), ok(&UnitShape::from(unit))?)
}

/// PUT `/repositories/{repository}/units/{unit}`
pub(crate) const PUT: Operation = operation("units", "putUnit", "Creates or replaces a unit.")
    .sent(json_of("Unit"))
    .gives(DONE)
    .refuses(PUT_REFUSALS)
    .about_one();

/// PUT `/repositories/{repository}/units/{unit}`
pub(crate) async fn put(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let unit = read_json::<UnitGiven>(&request.body)?.unit(Some(request.capture(1)))?;
    let repository = api.repository_to_fill(&request).await?;
    repository.put_unit(unit).await.map_err(|error| Problem::from(error).mentioned())?;
    Ok(no_content())
}

/// DELETE `/repositories/{repository}/units/{unit}`
pub(crate) const REMOVE: Operation = operation("units", "removeUnit", "Deletes a unit that is not in use.")
    .gives(DONE)
    .refuses(FIND_REFUSALS)
    .about_one();

/// DELETE `/repositories/{repository}/units/{unit}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    api.repository_to_change(&request).await?.remove_unit(request.capture(1)).await?;
    Ok(no_content())
}
