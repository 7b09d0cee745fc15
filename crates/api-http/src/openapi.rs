//! APIs described: what the OpenAPI documents of front ends have in common, and the page that shows one to people. Each
//! front end has a table of its own operations; [`testing::check_description`](crate::testing::check_description) holds
//! it against the routes.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{Response, json_response};

/// A page that renders the document at `openapi.json` below its own path; all in one file.
const PAGE: &str = include_str!("openapi/page.html");

/// What a document says beside its operations.
#[derive(Debug)]
pub struct ApiDescription {
    /// The name of the API.
    pub title: &'static str,
    /// What it is, in a sentence or two.
    pub description: &'static str,
    /// What operations are grouped by, and what each group is.
    pub tags: &'static [(&'static str, &'static str)],
    /// Shapes of bodies by name.
    pub schemas: Value,
    /// Parameters by key; those in paths as `path.{name}`.
    pub parameters: Value,
}

impl ApiDescription {
    /// The OpenAPI 3.1 document with these operations: method, path, and what is said of it.
    pub fn document<'a>(self, operations: impl IntoIterator<Item = (&'a str, &'a str, Value)>) -> Value {
        let mut paths: Map<String, Value> = Map::new();
        for (method, path, described) in operations {
            let item = paths.entry(path).or_insert_with(|| json!({}));
            if let Some(item) = item.as_object_mut() {
                item.insert(method.to_ascii_lowercase(), described);
            }
        }
        let tags = self.tags.iter().map(|(name, text)| json!({ "name": name, "description": text }));
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": self.title,
                "version": env!("CARGO_PKG_VERSION"),
                "description": self.description,
                "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{ "url": "/" }],
            "tags": tags.collect::<Vec<_>>(),
            "paths": paths,
            "components": { "schemas": self.schemas, "parameters": self.parameters },
        })
    }
}

/// The page that shows the document beside it.
pub fn description_page() -> Response {
    json_response(StatusCode::OK, "text/html; charset=utf-8", PAGE)
}

/// References to the parameters in a path.
pub fn path_parameters(path: &str) -> impl Iterator<Item = Value> {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| parameter_reference(&format!("path.{name}")))
}

/// A reference to a parameter by its key.
pub fn parameter_reference(key: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{key}") })
}

/// A reference to a schema by its name.
pub fn schema_reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A parameter in a path.
pub fn path_parameter(name: &str, text: &str) -> Value {
    let schema = json!({ "type": "string" });
    json!({ "name": name, "in": "path", "required": true, "description": text, "schema": schema })
}

/// A parameter of the query.
pub fn query_parameter(name: &str, text: &str, schema: &Value) -> Value {
    json!({ "name": name, "in": "query", "description": text, "schema": schema })
}
