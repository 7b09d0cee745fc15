//! What operations have in common: the tenant, and how bodies and answers are described.

use api_http::{Content, Gives, Header, Operation, schema_reference};
use serde_json::json;

/// The media type as descriptions give it.
const JSON: &str = "application/json";

/// The header that names the tenant.
const TENANT: Header = Header {
    name: "NGSILD-Tenant",
    text: "Tenant of the graphs; Fiware-Service is another name for this header. Default: the default tenant.",
};

/// 204.
pub(crate) const DONE: &[(u16, Gives)] = &[(204, Gives::nothing("Done."))];

/// An operation on the graphs of a tenant.
pub(crate) const fn operation(tag: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(tag, id, summary).headers(&[TENANT])
}

/// JSON of a schema.
pub(crate) const fn json_of(schema: &'static str) -> Content {
    Content::new(schema, |schema| json!({ JSON: { "schema": schema_reference(schema) } }))
}

/// A list of them.
pub(crate) const fn json_list(schema: &'static str) -> Content {
    Content::new(schema, |schema| {
        let schema = json!({ "type": "array", "items": schema_reference(schema) });
        json!({ JSON: { "schema": schema } })
    })
}

/// An answer with this body.
pub(crate) const fn done(content: Content) -> Gives {
    Gives::new("Done.", content)
}
