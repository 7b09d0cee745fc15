//! `/cps/docs`: the API described, for people and for programs.

use api_http::{
    Document, Operation, Response, description_page, document_operation, json_response, page_operation,
};
use http::StatusCode;

use crate::media::JSON;
use crate::problem::Problem;

/// GET `/cps/docs`, `/swagger-ui/index.html`
pub(crate) const PAGE: Operation = page_operation("docs");

/// GET `/cps/docs`, `/swagger-ui/index.html`
pub(crate) async fn page() -> Result<Response, Problem> {
    Ok(description_page())
}

/// GET `/cps/docs/openapi.json`, `/v3/api-docs`
pub(crate) const DOCUMENT: Operation = document_operation("docs");

/// GET `/cps/docs/openapi.json`, `/v3/api-docs`
pub(crate) async fn document(document: Document) -> Result<Response, Problem> {
    Ok(json_response(StatusCode::OK, JSON, document.text()))
}
