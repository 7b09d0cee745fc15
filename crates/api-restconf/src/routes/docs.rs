//! `/restconf/docs`: the API described, for people and for programs.

use api_http::{
    Document, Operation, Response, description_page, document_operation, json_response, page_operation,
};
use http::StatusCode;

use crate::problem::Problem;

/// GET `/restconf/docs`
pub(crate) const PAGE: Operation = page_operation("docs");

/// GET `/restconf/docs`
pub(crate) async fn page() -> Result<Response, Problem> {
    Ok(description_page())
}

/// GET `/restconf/docs/openapi.json`
pub(crate) const DOCUMENT: Operation = document_operation("docs");

/// GET `/restconf/docs/openapi.json`
pub(crate) async fn document(document: Document) -> Result<Response, Problem> {
    Ok(json_response(StatusCode::OK, "application/json", document.text()))
}
