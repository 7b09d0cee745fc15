//! What operations have in common: the tenant, and how bodies and answers are described.

use api_http::{Content, Gives, Header, Operation, schema_reference};
use serde_json::json;

use crate::media::{JSON, XML};

/// The header that names the tenant.
const TENANT: Header = Header {
    name: "NGSILD-Tenant",
    text: "Tenant of the dataspaces; Fiware-Service is another name for this header. Default: the default tenant.",
};

/// 201 without a body, as version 2 answers.
pub(crate) const CREATED: &[(u16, Gives)] = &[(201, Gives::nothing("Created."))];
/// 201 with the name of what was created, as version 1 answers.
pub(crate) const NAMED: &[(u16, Gives)] = &[(
    201,
    Gives::new(
        "Created: its name.",
        Content::new("", |_| json!({ "text/plain": { "schema": { "type": "string" } } })),
    ),
)];
/// 200 without a body.
pub(crate) const DONE: &[(u16, Gives)] = &[(200, Gives::nothing("Done."))];
/// 204.
pub(crate) const GONE: &[(u16, Gives)] = &[(204, Gives::nothing("Done."))];
/// 201, or 200 for a dry run.
pub(crate) const CREATED_OR_CHECKED: &[(u16, Gives)] =
    &[(201, Gives::nothing("Created.")), (200, Gives::nothing("Checked: a dry run stores nothing."))];

/// An operation on the dataspaces of a tenant.
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

/// Data in either form.
pub(crate) const fn data_of(schema: &'static str) -> Content {
    Content::new(
        schema,
        |schema| json!({ JSON: { "schema": schema_reference(schema) }, XML: { "schema": { "type": "string" } } }),
    )
}

/// A form with files.
pub(crate) const fn form_of(schema: &'static str) -> Content {
    Content::new(schema, |schema| json!({ "multipart/form-data": { "schema": schema_reference(schema) } }))
}

/// An answer with this body.
pub(crate) const fn done(content: Content) -> Gives {
    Gives::new("Done.", content)
}
