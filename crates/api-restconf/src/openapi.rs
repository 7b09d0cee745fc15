//! The OpenAPI document, apart from its operations, which are declared with their handlers.

use api_http::ApiDescription;
use serde_json::{Value, json};

/// The groups of operations.
const TAGS: &[(&str, &str)] = &[
    ("root", "Where RESTCONF is, and what it offers."),
    ("data", "The data of an anchor: read, create, replace, merge, delete."),
    ("docs", "This description."),
];

const PATH: &[(&str, &str)] = &[
    ("dataspace", "Name of the dataspace."),
    ("anchor", "Name of the anchor."),
    (
        "path",
        "Where in the data: names of nodes between slashes, the first with its module; of an entry of a list LIST=KEY,KEY, of a leaf-list LEAF-LIST=VALUE, with reserved characters percent-encoded (RFC 8040, 3.5.3).",
    ),
    ("operation", "Name of the operation."),
];

/// The description of the API.
pub(crate) fn description() -> ApiDescription {
    ApiDescription {
        title: "RESTCONF",
        description: "Configuration under YANG schemas by RFC 8040: the data of each anchor at \
            /restconf/{dataspace}/{anchor}/data, and of the one that the settings name at /restconf/data. JSON (RFC 7951) and XML. \
            Other methods than those listed are answered with 405 and the header Allow.",
        tags: TAGS,
        schemas: schemas(),
        path: PATH,
        refusal_schema: "Errors",
        refusal,
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed, or its data does not fit the schema; error-path says where.",
        404 => "The anchor, or what the path names, does not exist.",
        405 => "The resource cannot be written: it is state data.",
        406 => "None of the accepted media types is available.",
        409 => "What is to be created exists, or what must be there first does not.",
        412 => "A condition of the request does not hold, or the data would break a rule of its modules.",
        415 => "The media type of the body is not supported here.",
        _ => unreachable!("no operation declares that it refuses with {status}"),
    }
}

/// Shapes of bodies by name.
fn schemas() -> Value {
    let error = json!({
        "type": "object",
        "required": ["error-type", "error-tag"],
        "properties": {
            "error-type": { "enum": ["transport", "rpc", "protocol", "application"] },
            "error-tag": { "type": "string" },
            "error-app-tag": { "type": "string" },
            "error-path": { "type": "string", "description": "Where in the data (an instance-identifier)." },
            "error-message": { "type": "string" },
        },
    });
    json!({
        "Data": {
            "type": "object",
            "description": "Data by RFC 7951: one member, named MODULE:NAME, with what the node holds; of a list an array of entries.",
            "examples": [{ "example-jukebox:artist": [{ "name": "Foo Fighters" }] }],
        },
        "Root": {
            "type": "object",
            "properties": { "ietf-restconf:restconf": { "type": "object" } },
        },
        "HostMeta": {
            "type": "object",
            "properties": { "links": { "type": "array", "items": { "type": "object" } } },
        },
        "Errors": {
            "type": "object",
            "properties": {
                "ietf-restconf:errors": {
                    "type": "object",
                    "properties": { "error": { "type": "array", "items": error } },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests;
