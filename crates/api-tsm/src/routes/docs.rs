//! `/docs`: the API described, for people and for programs.

use api_http::{Request, Response, description_page};

use super::ok;
use crate::openapi;
use crate::params::Given;
use crate::problem::Problem;
use crate::state::Api;

/// GET `/tsm/v1/docs`
pub(crate) async fn page(_: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    Ok(description_page())
}

/// GET `/tsm/v1/docs/openapi.json`
pub(crate) async fn document(_: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    ok(openapi::document())
}
