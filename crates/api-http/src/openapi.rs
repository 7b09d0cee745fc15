//! APIs described: the OpenAPI document that is made of the operations of a route table, and the page that shows it to people.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::{Content, Gives, Operation, Response, Route, Tagging, json_response};

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
    /// The descriptions of the `{name}` segments of paths.
    pub path: &'static [(&'static str, &'static str)],
    /// The shape of the bodies of refusals.
    pub refusal_schema: &'static str,
    /// What a refusal with this status means.
    pub refusal: fn(u16) -> &'static str,
}

/// The document of an API, made of its routes when somebody first asks for it. Clones share it.
#[derive(Clone)]
pub struct Document(Arc<Shared>);

struct Shared {
    describe: fn() -> ApiDescription,
    lines: Vec<Line>,
    text: OnceLock<Bytes>,
}

/// A route as it is described: method, path, and what it does.
pub type Line = (Method, &'static str, &'static Operation);

impl Document {
    /// The document of these routes.
    pub fn new(describe: fn() -> ApiDescription, lines: impl IntoIterator<Item = Line>) -> Self {
        let lines = lines.into_iter().collect();
        Self(Arc::new(Shared { describe, lines, text: OnceLock::new() }))
    }

    /// As JSON. Cost: some milliseconds at the first call, a count afterwards.
    pub fn text(&self) -> Bytes {
        self.0.text.get_or_init(|| self.make().to_string().into()).clone()
    }

    fn make(&self) -> Value {
        (self.0.describe)().document(&self.0.lines)
    }
}

impl Route {
    /// What a description says of it.
    pub fn line(&self) -> Line {
        (self.method.clone(), self.path, self.operation)
    }
}

/// The name of the refusal that says when to try again.
const UNAVAILABLE: &str = "Unavailable";

/// What any operation may be refused with: status, name, and what it means.
const SHARED: &[(&str, &str, &str)] = &[
    ("408", "BodyLate", "The body did not come in time (stall_duration_max, request_duration_max)."),
    (
        "412",
        "StateDiffers",
        "The state is not the one that If-Match or If-None-Match names; nothing was changed.",
    ),
    ("413", "TooLarge", "Beyond a limit, which is named."),
    ("503", UNAVAILABLE, "Not now: too much is under way, or the store cannot serve."),
    ("504", "TimedOut", "The request took longer than request_duration_max."),
    ("507", "DiskFull", "The server's disk is full: nothing was acknowledged."),
];

/// The header parameters of conditional requests: name, and what it means.
const CONDITIONS: &[(&str, &str)] = &[
    ("If-Match", "Tags, or *: only if the thing is in a state of one of them."),
    ("If-None-Match", "Tags, or *: only if the thing is in no state of them."),
];

impl ApiDescription {
    /// The OpenAPI 3.1 document of these routes.
    fn document(self, lines: &[Line]) -> Value {
        let mut paths: Map<String, Value> = Map::new();
        for (method, path, operation) in lines {
            let described = self.describe(method, path, operation);
            let item = paths.entry(*path).or_insert_with(|| json!({}));
            insert(item, &method.as_str().to_ascii_lowercase(), described);
        }
        let tags = self.tags.iter().map(|(name, text)| json!({ "name": name, "description": text }));
        let tags: Vec<_> = tags.collect();
        let mut components = json!({
            "parameters": self.parameters(lines),
            "responses": self.shared_responses(lines),
            "headers": {},
        });
        insert(&mut components, "schemas", self.schemas);
        if lines.iter().any(|(method, _, operation)| gives_tag(method, operation)) {
            let text = "The state, for If-Match and If-None-Match.";
            let tag = json!({ "description": text, "schema": { "type": "string" } });
            insert(&mut components, "headers", json!({ "ETag": tag }));
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": self.title,
                "version": env!("CARGO_PKG_VERSION"),
                "description": self.description,
                "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{ "url": "/" }],
            "tags": tags,
            "paths": paths,
            "components": components,
        })
    }

    /// What is said of one route.
    fn describe(&self, method: &Method, path: &str, operation: &Operation) -> Value {
        let headers = operation.headers.iter().map(|header| header_key(header.name));
        let query = operation.query.iter().flat_map(|group| group.iter());
        let query = query.map(|parameter| parameter.key.to_owned());
        let conditions = conditions(method, operation.tagging).map(|(name, _)| header_key(name));
        let keys = path_names(path).map(path_key).chain(headers).chain(query).chain(conditions);
        let mut described = json!({
            "tags": [operation.tag],
            "summary": operation.summary,
            "operationId": operation.id,
            "parameters": keys.map(|key| parameter_reference(&key)).collect::<Vec<_>>(),
            "responses": self.responses(method, operation),
        });
        if let Some(body) = operation.body {
            insert(&mut described, "requestBody", json!({ "required": true, "content": body.described() }));
        }
        described
    }

    /// What it answers, and what it refuses with: what it words itself, and what any operation may.
    fn responses(&self, method: &Method, operation: &Operation) -> Value {
        let mut responses = json!({});
        for (status, gives) in operation.answers {
            let mut described = json!({ "description": gives.text });
            if let Some(content) = gives.content {
                insert(&mut described, "content", content.described());
            }
            if *status == 200 && gives_tag(method, operation) {
                let tag = json!({ "$ref": "#/components/headers/ETag" });
                insert(&mut described, "headers", json!({ "ETag": tag }));
            }
            insert(&mut responses, &status.to_string(), described);
        }
        for status in operation.refusals {
            let schema = schema_reference(self.refusal_schema);
            let content = json!({ "application/json": { "schema": schema } });
            let described = json!({ "description": (self.refusal)(*status), "content": content });
            insert(&mut responses, &status.to_string(), described);
        }
        for (status, name) in shared_refusals(method, operation) {
            insert(&mut responses, status, response_reference(name));
        }
        if gives_tag(method, operation) {
            insert(&mut responses, "304", response_reference("NotModified"));
        }
        responses
    }

    /// All parameters of the routes by key.
    ///
    /// # Panics
    ///
    /// If two parameters differ and have one key, or a name in a path has no description: a bug.
    fn parameters(&self, lines: &[Line]) -> Value {
        let mut all = Map::new();
        for (method, path, operation) in lines {
            for name in path_names(path) {
                let text = self.path.iter().find(|(known, _)| *known == name);
                let (_, text) = text.unwrap_or_else(|| panic!("{path}: {{{name}}} has no description"));
                let schema = json!({ "type": "string" });
                let parameter = json!({
                    "name": name, "in": "path", "required": true, "description": text, "schema": schema,
                });
                all.insert(path_key(name), parameter);
            }
            for header in operation.headers {
                all.insert(header_key(header.name), described_header(header.name, header.text, json!({})));
            }
            for (name, text) in conditions(method, operation.tagging) {
                let more = json!({ "examples": ["\"8c1f3a\""] });
                all.insert(header_key(name), described_header(name, text, more));
            }
            for parameter in operation.query.iter().flat_map(|group| group.iter()) {
                let described = parameter.described();
                let before = all.insert(parameter.key.to_owned(), described.clone());
                let same = before.is_none_or(|before| before == described);
                assert!(same, "two parameters have the key {}", parameter.key);
            }
        }
        Value::Object(all)
    }

    /// The refusals that operations share, as far as these do.
    fn shared_responses(&self, lines: &[Line]) -> Value {
        let mut used: BTreeSet<_> = BTreeSet::new();
        for (method, _, operation) in lines {
            used.extend(shared_refusals(method, operation).map(|(_, name)| name));
        }
        let mut all = json!({});
        for (_, name, text) in SHARED.iter().filter(|(_, name, _)| used.contains(name)) {
            let schema = schema_reference(self.refusal_schema);
            let content = json!({ "application/json": { "schema": schema } });
            let mut response = json!({ "description": text, "content": content });
            if *name == UNAVAILABLE {
                let retry =
                    json!({ "description": "Seconds until the next try.", "schema": { "type": "integer" } });
                insert(&mut response, "headers", json!({ "Retry-After": retry }));
            }
            insert(&mut all, name, response);
        }
        if lines.iter().any(|(method, _, operation)| gives_tag(method, operation)) {
            let text = "The client has it: If-None-Match names its state.";
            insert(&mut all, "NotModified", json!({ "description": text }));
        }
        all
    }
}

/// The refusals that an operation shares with others: those that fit it, and that it does not word itself.
fn shared_refusals(
    method: &Method,
    operation: &Operation,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has = |status: u16| operation.answers.iter().any(|(answer, _)| *answer == status);
    let writes = matches!(*method, Method::PUT | Method::PATCH | Method::DELETE) || has(201) || has(204);
    let (has_body, is_conditional) = (operation.body.is_some(), operation.tagging != Tagging::None);
    let is_read = method == Method::GET;
    let fitting = SHARED.iter().filter(move |(status, ..)| match *status {
        "408" | "413" => has_body,
        "412" => is_conditional && !is_read,
        "507" => writes,
        _ => true,
    });
    let answers = operation.answers.iter().map(|(status, _)| *status);
    let own: Vec<_> = answers.chain(operation.refusals.iter().copied()).map(|own| own.to_string()).collect();
    fitting
        .filter(move |(status, ..)| !own.iter().any(|own| own == status))
        .map(|(status, name, _)| (*status, *name))
}

/// The conditions that an operation heeds. Where something is read or made, no state is demanded.
fn conditions(
    method: &Method,
    tagging: Tagging,
) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let demands_state = tagging == Tagging::One && method != Method::GET;
    CONDITIONS
        .iter()
        .filter(move |(name, _)| tagging != Tagging::None && (*name != "If-Match" || demands_state))
}

/// Whether its answers have entity tags.
fn gives_tag(method: &Method, operation: &Operation) -> bool {
    operation.tagging != Tagging::None && method == Method::GET
}

fn described_header(name: &str, text: &str, more: Value) -> Value {
    let mut schema = json!({ "type": "string" });
    if let (Some(schema), Value::Object(more)) = (schema.as_object_mut(), more) {
        schema.extend(more);
    }
    json!({ "name": name, "in": "header", "description": text, "schema": schema })
}

/// Puts a member into what `json!` made an object.
fn insert(object: &mut Value, name: &str, value: Value) {
    let members = object.as_object_mut().expect("an object, by how it was made");
    members.insert(name.to_owned(), value);
}

/// The names in a path.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn path_key(name: &str) -> String {
    format!("path.{name}")
}

fn header_key(name: &str) -> String {
    format!("header.{name}")
}

/// The operation of the page that shows an API to people.
pub const fn page_operation(tag: &'static str) -> Operation {
    Operation::new(tag, "docs", "This description, for people.").gives(PAGE_GIVEN).refuses(&[400])
}

/// The operation of the document that describes an API to programs.
pub const fn document_operation(tag: &'static str) -> Operation {
    Operation::new(tag, "openapi", "This description, for programs.").gives(DOCUMENT_GIVEN).refuses(&[400])
}

const PAGE_GIVEN: &[(u16, Gives)] =
    &[(200, Gives::new("A page for people.", Content::new("", |_| json!({ "text/html": {} }))))];
const DOCUMENT_GIVEN: &[(u16, Gives)] =
    &[(200, Gives::new("This document.", Content::new("", |_| json!({ "application/json": {} }))))];

/// The page that shows the document beside it.
pub fn description_page() -> Response {
    json_response(StatusCode::OK, "text/html; charset=utf-8", PAGE)
}

/// A reference to a parameter by its key.
pub(crate) fn parameter_reference(key: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{key}") })
}

/// A reference to a schema by its name.
pub fn schema_reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn response_reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{name}") })
}
