//! `/docs`: the API described, for people and for programs.

use api_http::{
    Document, Operation, Response, description_page, document_operation, json_response, page_operation,
};
use http::StatusCode;

use crate::media::JSON;
use crate::problem::Problem;

/// GET /docs
pub(crate) const PAGE: Operation = page_operation("broker");

/// GET /ngsi-ld/v1/docs
pub(crate) async fn page() -> Result<Response, Problem> {
    Ok(description_page())
}

/// GET /docs/openapi.json
pub(crate) const DOCUMENT: Operation = document_operation("broker");

/// GET /ngsi-ld/v1/docs/openapi.json
pub(crate) async fn document(document: Document) -> Result<Response, Problem> {
    Ok(json_response(StatusCode::OK, JSON, document.text()))
}
