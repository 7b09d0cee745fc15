//! The OpenAPI document, apart from its operations, which are declared with their handlers.

mod schemas;

use api_http::ApiDescription;

/// The groups of operations.
const TAGS: &[(&str, &str)] = &[
    ("admin", "Dataspaces, schema sets, anchors; whom changes are sent to."),
    ("data", "Nodes of an anchor: create, read, change, delete."),
    ("query", "Nodes found by CPS path."),
    ("delta", "What differs between trees, and making it so."),
    ("docs", "This description."),
];

const PATH: &[(&str, &str)] = &[
    ("dataspace", "Name of the dataspace."),
    ("schema-set", "Name of the schema set."),
    ("anchor", "Name of the anchor; of a delta that of the source."),
];

/// The description of the API.
pub(crate) fn description() -> ApiDescription {
    ApiDescription {
        title: "CPS: configuration under YANG schemas",
        description: "Trees of YANG-modelled data as ONAP CPS 3.8 serves them. What version 1 of the API has and is not listed \
            here is the same below /cps/api/v1. What a request to write does not find is answered with 400; 404 is for reads. \
            Data is JSON or XML, by Content-Type and Accept.",
        tags: TAGS,
        schemas: schemas::schemas(),
        path: PATH,
        refusal_schema: "ErrorMessage",
        refusal,
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => {
            "The request is malformed, the data does not fit its schema, or something that it names does not exist."
        }
        404 => "There is no node at the path.",
        409 => "It exists already, or is in use.",
        413 => "A limit is exceeded; the details name it.",
        415 => "The media type of the body is not supported here.",
        _ => unreachable!("no operation declares that it refuses with {status}"),
    }
}

#[cfg(test)]
mod tests;
