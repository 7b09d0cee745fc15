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
    /// The shape of the bodies of refusals.
    pub refusal_schema: &'static str,
    /// Whether an operation (method and path) is about something that has an `ETag`.
    pub is_conditional: fn(&str, &str) -> bool,
}

/// What any operation may be refused with: status, name, and what it means.
const SHARED: &[(&str, &str, &str)] = &[
    ("408", "BodyLate", "The body did not come in time (stall_duration_max, request_duration_max)."),
    (
        "412",
        "StateDiffers",
        "The state is not the one that If-Match or If-None-Match names; nothing was changed.",
    ),
    ("413", "TooLarge", "Beyond a limit, which is named."),
    ("503", "Unavailable", "Not now: too much is under way, or the store cannot serve."),
    ("504", "TimedOut", "The request took longer than request_duration_max."),
    ("507", "DiskFull", "The server's disk is full: nothing was acknowledged."),
];

/// The header parameters of conditional requests: name, and what it means.
const CONDITIONS: &[(&str, &str)] = &[
    ("If-Match", "Tags, or *: only if the thing is in a state of one of them."),
    ("If-None-Match", "Tags, or *: only if the thing is in no state of them."),
];

impl ApiDescription {
    /// The OpenAPI 3.1 document with these operations: method, path, and what is said of it.
    pub fn document<'a>(self, operations: impl IntoIterator<Item = (&'a str, &'a str, Value)>) -> Value {
        let mut paths: Map<String, Value> = Map::new();
        for (method, path, mut described) in operations {
            self.share(method, path, &mut described);
            let item = paths.entry(path).or_insert_with(|| json!({}));
            if let Some(item) = item.as_object_mut() {
                item.insert(method.to_ascii_lowercase(), described);
            }
        }
        let (responses, mut parameters) = (self.shared_responses(), self.parameters);
        if let Some(parameters) = parameters.as_object_mut() {
            for (name, text) in CONDITIONS {
                let schema = json!({ "type": "string", "examples": ["\"8c1f3a\""] });
                let parameter =
                    json!({ "name": name, "in": "header", "description": text, "schema": schema });
                parameters.insert(format!("header.{name}"), parameter);
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
            "components": {
                "schemas": self.schemas,
                "parameters": parameters,
                "responses": responses,
                "headers": { "ETag": {
                    "description": "The state, for If-Match and If-None-Match.",
                    "schema": { "type": "string" },
                } },
            },
        })
    }

    fn shared_responses(&self) -> Map<String, Value> {
        let schema = schema_reference(self.refusal_schema);
        let described = |(status, name, text): &(&str, &str, &str)| {
            let content = json!({ "application/json": { "schema": schema } });
            let mut response = json!({ "description": text, "content": content });
            if *status == "503"
                && let Some(response) = response.as_object_mut()
            {
                let retry =
                    json!({ "description": "Seconds until the next try.", "schema": { "type": "integer" } });
                response.insert("headers".to_owned(), json!({ "Retry-After": retry }));
            }
            ((*name).to_owned(), response)
        };
        let unchanged = json!({ "description": "The client has it: If-None-Match names its state." });
        let unchanged = ("NotModified".to_owned(), unchanged);
        SHARED.iter().map(described).chain([unchanged]).collect()
    }

    /// Adds what operations have in common to one of them: refusals that it does not word itself, and conditions.
    fn share(&self, method: &str, path: &str, described: &mut Value) {
        let has_body = described.get("requestBody").is_some();
        let is_conditional = (self.is_conditional)(method, path);
        let has_answer = |status: &str| described["responses"].get(status).is_some();
        let makes = method == "POST" && has_answer("201");
        let writes = matches!(method, "PUT" | "PATCH" | "DELETE") || has_answer("201") || has_answer("204");
        // Where something is read or made, no state is demanded.
        let demands_state = is_conditional && method != "GET" && !makes;
        let demands =
            CONDITIONS.iter().filter(|(name, _)| is_conditional && (*name != "If-Match" || demands_state));
        if let Some(parameters) = described.get_mut("parameters").and_then(Value::as_array_mut) {
            parameters.extend(demands.map(|(name, _)| parameter_reference(&format!("header.{name}"))));
        }
        let Some(responses) = described.get_mut("responses").and_then(Value::as_object_mut) else { return };
        for (status, name, _) in SHARED {
            let fits = match *status {
                "408" | "413" => has_body,
                "412" => is_conditional && method != "GET",
                "507" => writes,
                _ => true,
            };
            if fits && !responses.contains_key(*status) {
                responses.insert((*status).to_owned(), response_reference(name));
            }
        }
        if is_conditional && method == "GET" {
            responses.insert("304".to_owned(), response_reference("NotModified"));
            if let Some(given) = responses.get_mut("200").and_then(Value::as_object_mut) {
                let tag = json!({ "$ref": "#/components/headers/ETag" });
                given.insert("headers".to_owned(), json!({ "ETag": tag }));
            }
        }
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

fn response_reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{name}") })
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
