//! `/docs`: the API described, for people and for programs.

use api_http::{Request, Response, json_response};
use http::StatusCode;

use super::ok;
use crate::openapi;
use crate::params::Given;
use crate::problem::Problem;
use crate::state::Api;

/// A page that renders the description, all in one file.
const PAGE: &str = include_str!("docs.html");

/// GET `/tsm/v1/docs`
pub(crate) async fn page(_: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    Ok(json_response(StatusCode::OK, "text/html; charset=utf-8", PAGE))
}

/// GET `/tsm/v1/docs/openapi.json`
pub(crate) async fn document(_: Api, request: Request) -> Result<Response, Problem> {
    Given::new(&request, &[])?;
    ok(openapi::document())
}
