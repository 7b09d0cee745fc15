//! The API as an OpenAPI 3.1 document: a table of operations, put together once. A test holds it against the
//! route table, so that every route is described and nothing else is.

mod operations;
mod schemas;

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::media::{ARROW, CSV, PARQUET};
use crate::problem::JSON;
use operations::{Body, Gives, OPERATIONS, Operation};

/// The document.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(make)
}

fn make() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(operation.method.to_ascii_lowercase(), describe(operation));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "TSM: time series",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Series of energy data: defined in repositories, written and read in bulk or one by one, on any \
                raster, in any unit. Everything below /tsm/v1/repositories is below /repositories, too.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": operations::TAGS.iter().map(|(name, text)| json!({ "name": name, "description": text })).collect::<Vec<_>>(),
        "paths": paths,
        "components": { "schemas": schemas::schemas(), "parameters": operations::parameters() },
    })
}

fn describe(operation: &Operation) -> Value {
    let in_path =
        operation.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let parameters: Vec<_> = in_path
        .map(|name| json!({ "$ref": format!("#/components/parameters/path.{name}") }))
        .chain(operation.query.iter().flat_map(|names| names.iter()).map(|name| {
            json!({ "$ref": format!("#/components/parameters/{}", operations::parameter_key(operation, name)) })
        }))
        .collect();
    let mut described = json!({
        "tags": [operation.tag],
        "summary": operation.summary,
        "operationId": operation.id,
        "parameters": parameters,
        "responses": responses(operation),
    });
    let body = match operation.body {
        Body::None => None,
        Body::Json(schema) => Some(json!({ JSON: { "schema": reference(schema) } })),
        Body::Points(schema) => Some(json!({
            JSON: { "schema": reference(schema) },
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
            json!({ "description": "Done.", "content": { JSON: { "schema": reference(schema) } } })
        }
        Gives::List(schema) => {
            let schema = json!({ "type": "array", "items": reference(schema) });
            json!({ "description": "Done.", "content": { JSON: { "schema": schema } } })
        }
        Gives::Points(schema) => json!({
            "description": "Points. Large answers are streamed; one that breaks off ends its connection.",
            "content": {
                JSON: { "schema": reference(schema) },
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
        let content = json!({ JSON: { "schema": reference("Error") } });
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

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn binary(text: &str) -> Value {
    json!({ "schema": { "type": "string", "format": "binary", "description": text } })
}

#[cfg(test)]
mod tests;
