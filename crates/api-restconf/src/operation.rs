//! What operations have in common: the tenant, and how bodies and answers are described.

use api_http::{Content, Gives, Header, Operation, schema_reference};
use serde_json::json;

use crate::media::{YANG_JSON, YANG_XML};

/// The header that names the tenant.
const TENANT: Header = Header {
    name: "NGSILD-Tenant",
    text: "Tenant of the anchor; Fiware-Service is another name for this header. Default: the default tenant.",
};

pub(crate) const READ_REFUSALS: &[u16] = &[400, 404, 406];
pub(crate) const WRITE_REFUSALS: &[u16] = &[400, 404, 405, 409, 412, 415];

/// 204.
pub(crate) const DONE: &[(u16, Gives)] = &[(204, Gives::nothing("Done."))];
/// 201.
pub(crate) const CREATED: &[(u16, Gives)] =
    &[(201, Gives::nothing("Created; the header Location says where."))];
/// Either.
pub(crate) const CREATED_OR_DONE: &[(u16, Gives)] =
    &[(201, Gives::nothing("Created; the header Location says where.")), (204, Gives::nothing("Replaced."))];

/// An operation on an anchor of a tenant.
pub(crate) const fn operation(tag: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(tag, id, summary).headers(&[TENANT])
}

/// Data in both forms.
pub(crate) const fn data_of(schema: &'static str) -> Content {
    Content::new(schema, |schema| {
        let xml = json!({ "type": "string", "description": "The same as XML." });
        json!({ YANG_JSON: { "schema": schema_reference(schema) }, YANG_XML: { "schema": xml } })
    })
}

/// An answer with this body.
pub(crate) const fn done(content: Content) -> Gives {
    Gives::new("Done.", content)
}
