//! The answer to a write of attributes: what of it was done.

use api_http::{Response, json_response, no_content};
use http::StatusCode;
use lang_json::{ArrayWriter, ObjectWriter};
use model_entities::{Change, NotUpdated};
use tenant_contexts::SCOPE_IRI;

use crate::media::JSON;
use crate::request::Session;

/// 204, or 207 with an UpdateResult (5.2.18) where something was left as it is.
pub(crate) fn outcome(session: &Session, change: &Change) -> Response {
    if change.not_updated.is_empty() {
        return no_content();
    }
    let mut out = String::new();
    let mut result = ObjectWriter::begin(&mut out);
    let mut updated = ArrayWriter::begin(result.member("updated"));
    for term in &change.updated {
        updated.string(&session.names.iri_of(*term));
    }
    if change.scoped {
        updated.string(SCOPE_IRI);
    }
    updated.end();
    let mut not_updated = ArrayWriter::begin(result.member("notUpdated"));
    for (term, NotUpdated::Exists) in &change.not_updated {
        let mut left = ObjectWriter::begin(not_updated.item());
        left.string("attributeName", &session.names.iri_of(*term));
        left.string("reason", "the entity has this attribute already, and noOverwrite was asked for");
        left.end();
    }
    not_updated.end();
    result.end();
    json_response(StatusCode::MULTI_STATUS, JSON, out)
}
