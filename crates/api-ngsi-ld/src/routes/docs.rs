//! `/docs`: the API described, for people and for programs.

use api_http::{Request, Response, description_page, json_response};
use http::StatusCode;

use crate::media::JSON;
use crate::openapi;
use crate::params::check_parameters;
use crate::problem::Problem;
use crate::state::Api;

/// GET /ngsi-ld/v1/docs
pub(crate) async fn page(_: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &[])?;
    Ok(description_page())
}

/// GET /ngsi-ld/v1/docs/openapi.json
pub(crate) async fn document(_: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &[])?;
    Ok(json_response(StatusCode::OK, JSON, openapi::document().to_string()))
}
