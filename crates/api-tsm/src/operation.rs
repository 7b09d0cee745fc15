//! What operations have in common: the tenant, and how bodies and answers are described.

use api_http::{Content, Gives, Header, Operation, schema_reference};
use serde_json::{Value, json};

use crate::media::{ARROW, CSV, PARQUET};
use crate::params;
use crate::problem::JSON;

/// The header that names the tenant.
const TENANT: Header = Header {
    name: "NGSILD-Tenant",
    text: "Tenant of the repositories; Fiware-Service is another name for this header. Default: the default tenant.",
};

pub(crate) const READ_REFUSALS: &[u16] = &[400, 404, 406, 413];
pub(crate) const WRITE_REFUSALS: &[u16] = &[400, 404, 413, 415];
pub(crate) const NEW_REFUSALS: &[u16] = &[400, 404, 409, 415];
pub(crate) const FIND_REFUSALS: &[u16] = &[400, 404];
pub(crate) const PUT_REFUSALS: &[u16] = &[400, 404, 415];

/// 204.
pub(crate) const DONE: &[(u16, Gives)] = &[(204, Gives::nothing("Done."))];

/// An operation on the repositories of a tenant.
pub(crate) const fn operation(tag: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(tag, id, summary).headers(&[TENANT]).query(&[params::ANY])
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

/// Points that are sent.
pub(crate) const fn points_sent(schema: &'static str) -> Content {
    Content::new(schema, |schema| {
        json!({
            JSON: { "schema": schema_reference(schema) },
            ARROW: binary("Columns series, time, value, flag."),
            CSV: binary("Header series,time,value,flag."),
        })
    })
}

/// An answer with this body.
pub(crate) const fn done(content: Content) -> Gives {
    Gives::new("Done.", content)
}

/// An answer with points.
pub(crate) const fn gives_points(schema: &'static str) -> Gives {
    let content = Content::new(schema, |schema| {
        json!({
            JSON: { "schema": schema_reference(schema) },
            ARROW: binary("Columns series, time, value, flag."),
            CSV: binary("Header series,time,value,flag."),
            PARQUET: binary("The same columns."),
        })
    });
    Gives::new(
        "Points. Large answers are streamed; if one cannot be completed, the connection is closed early.",
        content,
    )
}

fn binary(text: &str) -> Value {
    json!({ "schema": { "type": "string", "format": "binary", "description": text } })
}
