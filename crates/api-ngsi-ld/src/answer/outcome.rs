//! The answer to a write of attributes: what of it was done.

use api_http::{Response, json_response};
use http::StatusCode;
use lang_json::write_string;
use model_entities::{Change, NotUpdated, TermId};
use tenant_contexts::SCOPE_IRI;

use super::no_content;
use crate::media::JSON;
use crate::request::Session;

/// 204, or 207 with an UpdateResult (5.2.18) where something was left as it is.
pub(crate) fn outcome(session: &Session, change: &Change) -> Response {
    if change.not_updated.is_empty() {
        return no_content();
    }
    let iri = |out: &mut String, term: TermId| write_string(out, &session.names.iri_of(term));
    let mut out = String::from("{\"updated\":[");
    for (index, term) in change.updated.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        iri(&mut out, *term);
    }
    if change.scoped {
        out.push_str(if change.updated.is_empty() { "" } else { "," });
        write_string(&mut out, SCOPE_IRI);
    }
    out.push_str("],\"notUpdated\":[");
    for (index, (term, NotUpdated::Exists)) in change.not_updated.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str("{\"attributeName\":");
        iri(&mut out, *term);
        out.push_str(",\"reason\":");
        write_string(&mut out, "the entity has this attribute already, and noOverwrite was asked for");
        out.push('}');
    }
    out.push_str("]}");
    json_response(StatusCode::MULTI_STATUS, JSON, out)
}
