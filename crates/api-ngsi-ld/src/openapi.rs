//! The API as an OpenAPI 3.1 document: a table of operations, put together once. A test holds it against the
//! route table, so that every route is described and nothing else is.

mod operations;
mod parameters;
mod schemas;

use std::sync::OnceLock;

use api_http::{ApiDescription, parameter_reference, path_parameters, schema_reference};
use serde_json::{Map, Value, json};

use crate::media::{GEO_JSON, JSON, JSON_LD};
use operations::{Body, Gives, OPERATIONS, Operation, TAGS};

/// The document.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(make)
}

fn make() -> Value {
    let described =
        OPERATIONS.iter().map(|operation| (operation.method, operation.path, describe(operation)));
    let description = ApiDescription {
        title: "NGSI-LD",
        description: "Entities of digital twins, their past, and their names (ETSI GS CIM 009). Subscriptions, \
            registrations, entity maps and snapshots are not there yet. A path answers other methods than those below with \
            405 and Allow.",
        tags: TAGS,
        schemas: schemas::schemas(),
        parameters: parameters::parameters(),
        refusal_schema: "ProblemDetails",
        is_conditional: |method, path| {
            let is_one = path.contains("/{id}") && !path.contains("/temporal/");
            is_one || (method, path) == ("POST", "/ngsi-ld/v1/entities")
        },
    };
    description.document(described)
}

fn describe(operation: &Operation) -> Value {
    let headers = operation.headers().map(|key| parameter_reference(&key));
    let query = operation.query.iter().map(|name| parameter_reference(&operation.parameter_key(name)));
    let parameters: Vec<_> = path_parameters(operation.path).chain(headers).chain(query).collect();
    let mut described = json!({
        "tags": [operation.tag],
        "summary": operation.summary,
        "operationId": operation.id,
        "parameters": parameters,
        "responses": responses(operation),
    });
    if let (Some(content), Some(described)) = (content_sent(operation.body), described.as_object_mut()) {
        described.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    described
}

fn content_sent(body: Body) -> Option<Value> {
    let plain = |schema: Value| json!({ JSON: { "schema": schema }, JSON_LD: { "schema": schema } });
    match body {
        Body::None => None,
        Body::Json(schema) => Some(plain(schema_reference(schema))),
        Body::List(schema) => Some(plain(list(schema))),
        Body::Merge(schema) => {
            let schema = schema_reference(schema);
            Some(json!({
                JSON: { "schema": schema },
                JSON_LD: { "schema": schema },
                "application/merge-patch+json": { "schema": schema },
            }))
        }
    }
}

fn responses(operation: &Operation) -> Value {
    let mut responses = Map::new();
    for (status, gives) in operation.gives {
        responses.insert(status.to_string(), success(*gives));
    }
    for status in operation.refusals {
        let content = json!({ JSON: { "schema": schema_reference("ProblemDetails") } });
        let described = json!({ "description": refusal(*status), "content": content });
        responses.insert(status.to_string(), described);
    }
    Value::Object(responses)
}

fn success(gives: Gives) -> Value {
    let described = |text: &str, content: Value| json!({ "description": text, "content": content });
    let plain = |schema: Value| json!({ JSON: { "schema": schema }, JSON_LD: { "schema": schema } });
    match gives {
        Gives::Nothing => json!({ "description": "Done." }),
        Gives::Created => json!({ "description": "Made; the header Location says where." }),
        Gives::Json(schema) => described("Done.", plain(schema_reference(schema))),
        Gives::List(schema) => described("Done.", plain(list(schema))),
        Gives::Partly => described(
            "Done in part: what was done, and what was not, and why.",
            json!({ JSON: { "schema": schema_reference("BatchOperationResult") } }),
        ),
        Gives::NotAll => described(
            "Done in part: some attributes are as they were, and why.",
            json!({ JSON: { "schema": schema_reference("UpdateResult") } }),
        ),
        Gives::Part(schema) => described(
            "A part of what there is; the header Content-Range says which times it covers.",
            plain(schema_reference(schema)),
        ),
        Gives::Parts(schema) => described(
            "A part of what there is; the header Content-Range says which times it covers.",
            plain(list(schema)),
        ),
        Gives::Entity => {
            let schema = schema_reference("Entity");
            let geo = json!({ "type": "object", "description": "A GeoJSON feature." });
            described("The entity.", geo_too(plain(schema), &geo))
        }
        Gives::Entities => {
            let geo = json!({ "type": "object", "description": "A GeoJSON feature collection." });
            described(
                "A page of entities; the header Link leads to the next.",
                geo_too(plain(list("Entity")), &geo),
            )
        }
        Gives::Page => described("A page for people.", json!({ "text/html": {} })),
        Gives::Document => described("This document.", json!({ JSON: {} })),
    }
}

fn geo_too(mut content: Value, schema: &Value) -> Value {
    if let Some(content) = content.as_object_mut() {
        content.insert(GEO_JSON.to_owned(), json!({ "schema": schema }));
    }
    content
}

fn list(schema: &str) -> Value {
    json!({ "type": "array", "items": schema_reference(schema) })
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed or means nothing valid; the detail names what.",
        403 => {
            "The query asks for more work, or more results, than a limit allows; the detail names the limit."
        }
        404 => "The entity, attribute, type, context or tenant is not there.",
        406 => "None of the accepted media types is given.",
        409 => "An entity of this id exists already.",
        412 => "The state is not the one that If-Match or If-None-Match names.",
        413 => "Beyond a limit; the detail names it.",
        415 => "The body's media type is not read here.",
        422 => "The operation is not supported, or a setting forbids it; the detail says which.",
        504 => {
            "A remote context cannot be had (LdContextNotAvailable), or the request took longer than \
             request_duration_max (InternalError)."
        }
        _ => "Refused.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_worded() {
        let statuses = OPERATIONS.iter().flat_map(|operation| operation.refusals);
        for status in statuses {
            assert_ne!(refusal(*status), "Refused.", "{status}");
        }
    }

    #[test]
    fn parameters_are_what_their_operations_take() {
        let of = |id: &str| OPERATIONS.iter().find(|operation| operation.id == id).unwrap().query;
        assert_eq!(of("queryEntities"), crate::params::QUERY);
        assert!(of("mergeEntity").contains(&"observedAt"));
        let merge = &document()["paths"]["/ngsi-ld/v1/entities/{id}"]["patch"]["parameters"];
        let refers = |key: &str| merge.as_array().unwrap().contains(&parameter_reference(key));
        assert!(refers("merge.observedAt") && refers("options.write") && refers("header.NGSILD-Tenant"));
    }

    #[test]
    fn conditions_are_described_where_they_are_heeded() {
        let responses = |path: &str, method: &str| {
            &document()["paths"][format!("/ngsi-ld/v1/{path}")][method]["responses"]
        };
        assert_eq!(responses("entities/{id}", "get")["304"]["$ref"], "#/components/responses/NotModified");
        assert_eq!(responses("entities/{id}", "patch")["412"]["$ref"], "#/components/responses/StateDiffers");
        assert!(responses("entities", "post")["412"].is_object());
        assert!(responses("entities", "get")["304"].is_null());
        assert!(responses("temporal/entities/{id}", "delete")["412"].is_null());
        let late = responses("entities/{id}", "get")["504"]["description"].as_str().unwrap();
        assert!(late.contains("request_duration_max"), "{late}");
    }
}
