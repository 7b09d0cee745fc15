//! `/docs`: the API described, for people and for programs.

use api_http::{
    Document, Operation, Response, description_page, document_operation, json_response, page_operation,
};
use http::StatusCode;

use crate::params;
use crate::problem::{JSON, Problem};

/// GET `/tsm/v1/docs`
pub(crate) const PAGE: Operation = page_operation("docs").query(&[params::ANY]);

/// GET `/tsm/v1/docs`
pub(crate) async fn page() -> Result<Response, Problem> {
    Ok(description_page())
}

/// GET `/tsm/v1/docs/openapi.json`
pub(crate) const DOCUMENT: Operation = document_operation("docs").query(&[params::ANY]);

/// GET `/tsm/v1/docs/openapi.json`
pub(crate) async fn document(document: Document) -> Result<Response, Problem> {
    Ok(json_response(StatusCode::OK, JSON, document.text()))
}
