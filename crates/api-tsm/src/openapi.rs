//! The API as an OpenAPI 3.1 document: a table of operations, put together once. A test holds it against the
//! route table, so that every route is described and nothing else is.

mod operations;
mod schemas;

use std::sync::OnceLock;

use api_http::{ApiDescription, parameter_reference, path_parameters, schema_reference};
use serde_json::{Map, Value, json};

use crate::media::{ARROW, CSV, PARQUET};
use crate::problem::JSON;
use operations::{Body, Gives, OPERATIONS, Operation};

/// Where single things are made, unless they are there (`If-None-Match: *`).
const MAKING: &[&str] =
    &["/repositories", "/timeseries", "/units", "/attributetypes", "/attributes", "/hooks"];

/// The document.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(make)
}

fn make() -> Value {
    let described =
        OPERATIONS.iter().map(|operation| (operation.method, operation.path, describe(operation)));
    let description = ApiDescription {
        title: "TSM: time series",
        description: "Series of energy data: defined in repositories, written and read in bulk or one by one, on any \
            raster, in any unit. Everything below /tsm/v1/repositories is below /repositories, too. A path answers other methods than \
            those below with 405 and Allow.",
        tags: operations::TAGS,
        schemas: schemas::schemas(),
        parameters: operations::parameters(),
        refusal_schema: "Error",
        is_conditional: |method, path| {
            path.ends_with('}') || method == "POST" && MAKING.iter().any(|end| path.ends_with(end))
        },
    };
    description.document(described)
}

fn describe(operation: &Operation) -> Value {
    let query = operation.query.iter().flat_map(|names| names.iter());
    let query = query.map(|name| parameter_reference(&operations::parameter_key(operation, name)));
    let is_of_tenant = operation.path.contains("/repositories");
    let header = is_of_tenant.then(|| parameter_reference("header.NGSILD-Tenant"));
    let parameters: Vec<_> = path_parameters(operation.path).chain(query).chain(header).collect();
    let mut described = json!({
        "tags": [operation.tag],
        "summary": operation.summary,
        "operationId": operation.id,
        "parameters": parameters,
        "responses": responses(operation),
    });
    let body = match operation.body {
        Body::None => None,
        Body::Json(schema) => Some(json!({ JSON: { "schema": schema_reference(schema) } })),
        Body::Points(schema) => Some(json!({
            JSON: { "schema": schema_reference(schema) },
            ARROW: binary("Columns series, time, value, flag."),
            CSV: binary("Header series,time,value,flag."),
        })),
    };
    if let (Some(content), Some(described)) = (body, described.as_object_mut()) {
        described.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    described
}

fn responses(operation: &Operation) -> Value {
    let success = match operation.gives {
        Gives::Nothing => json!({ "description": "Done." }),
        Gives::Json(schema) => {
            json!({ "description": "Done.", "content": { JSON: { "schema": schema_reference(schema) } } })
        }
        Gives::List(schema) => {
            let schema = json!({ "type": "array", "items": schema_reference(schema) });
            json!({ "description": "Done.", "content": { JSON: { "schema": schema } } })
        }
        Gives::Points(schema) => json!({
            "description": "Points. Large answers are streamed; one that breaks off ends its connection.",
            "content": {
                JSON: { "schema": schema_reference(schema) },
                ARROW: binary("Columns series, time, value, flag."),
                CSV: binary("Header series,time,value,flag."),
                PARQUET: binary("The same columns."),
            },
        }),
        Gives::Page => json!({ "description": "A page for people.", "content": { "text/html": {} } }),
        Gives::Document => json!({ "description": "This document.", "content": { JSON: {} } }),
    };
    let mut responses = Map::new();
    responses.insert(operation.status.to_string(), success);
    for status in operation.refusals {
        let content = json!({ JSON: { "schema": schema_reference("Error") } });
        let described = json!({ "description": refusal(*status), "content": content });
        responses.insert(status.to_string(), described);
    }
    Value::Object(responses)
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed; the message names what.",
        404 => "Something that is named is not known.",
        406 => "None of the accepted media types is given.",
        409 => "Something of this name exists already.",
        413 => "Beyond a limit; the message names it.",
        415 => "The body's media type is not read here.",
        _ => "Refused.",
    }
}

fn binary(text: &str) -> Value {
    json!({ "schema": { "type": "string", "format": "binary", "description": text } })
}

#[cfg(test)]
mod tests;
