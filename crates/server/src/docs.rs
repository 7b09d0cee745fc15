//! `/docs`: the server's own routes described, those of health and administration and those that clients of other brokers ask
//! for. Each is declared with its handler; here is what they have in common.

use api_http::{
    ApiDescription, Content, Document, FrontEnd, Gives, Operation, Refusal, Request, Response, Route,
    description_page, document_operation, handler, json_response, page_operation, schema_reference,
};
use http::{Method, StatusCode};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const DOCS: &str = "/docs";
const DOCUMENT: &str = "/docs/openapi.json";

/// GET `/docs`
const PAGE_OPERATION: Operation = page_operation("docs");
/// GET `/docs/openapi.json`
const DOCUMENT_OPERATION: Operation = document_operation("docs");

/// An answer with JSON of this schema.
pub(crate) const fn done(schema: &'static str) -> Gives {
    Gives::new("Done.", json_of(schema))
}

/// JSON of a schema.
pub(crate) const fn json_of(schema: &'static str) -> Content {
    Content::new(schema, |schema| json!({ JSON: { "schema": schema_reference(schema) } }))
}

/// The page and the document of these front ends, whose refusals are worded by `refuse`.
pub(crate) fn front_end(described: &[FrontEnd], refuse: fn(&Refusal, Option<&str>) -> Response) -> FrontEnd {
    let get =
        |path, operation, handler| Route { method: Method::GET, path, operation, handler, is_admin: false };
    let own = [(Method::GET, DOCS, &PAGE_OPERATION), (Method::GET, DOCUMENT, &DOCUMENT_OPERATION)];
    let routes = described.iter().flat_map(|front_end| &front_end.routes);
    let document = Document::new(description, routes.map(Route::line).chain(own));
    let routes = vec![
        get(DOCS, &PAGE_OPERATION, handler(&(), |(), _: Request| async { description_page() })),
        get(DOCUMENT, &DOCUMENT_OPERATION, handler(&document, give)),
    ];
    FrontEnd { name: "server", prefix: "/", routes, refuse }
}

async fn give(document: Document, _: Request) -> Response {
    json_response(StatusCode::OK, JSON, document.text())
}

fn description() -> ApiDescription {
    ApiDescription {
        title: "Twinfold",
        description: "The server itself: its health, its counters, its administration (for administrators only), and what \
            clients of other brokers ask for beside the standards. The APIs have pages of their own.",
        tags: &[
            ("server", "What this server is."),
            ("health", "Whether it lives, and whether it takes requests."),
            ("administration", "For administrators only: others find no such path."),
            ("brokers", "What clients of other context brokers ask for."),
            ("docs", "This description."),
        ],
        schemas: schemas(),
        path: &[("name", "The name of a tenant.")],
        refusal_schema: "Problem",
        refusal: |status| match status {
            400 => "The request is malformed; the title names what.",
            404 => "There is no such thing.",
            409 => "It exists, or is being made.",
            507 => "The disk is full.",
            _ => unreachable!("no operation declares that it refuses with {status}"),
        },
    }
}

fn schemas() -> Value {
    let text = json!({ "type": "string" });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    json!({
        "Problem": object(&["title", "status"], json!({ "title": text, "status": { "type": "integer" } })),
        "Health": object(&["status"], json!({ "status": { "enum": ["UP", "DOWN"] }, "detail": text })),
        "Version": object(&["name", "version"], json!({
            "name": text, "version": text, "orionld version": text, "timeZoneDatabase": text,
        })),
        "BuildInfo": object(&["build"], json!({ "build": object(&["name", "version"], json!({
            "group": text, "artifact": text, "name": text, "version": text,
        })) })),
        "Welcome": object(&["name", "version", "apis"], json!({
            "name": text,
            "version": text,
            "health": text,
            "metrics": text,
            "apis": { "type": "array", "items": object(&["name", "base", "docs"], json!({
                "name": text, "base": text, "docs": text,
            })) },
        })),
        "Backup": object(&["folder"], json!({
            "folder": { "type": "string", "description": "An absolute path of the server's machine, where nothing is yet." },
        })),
        "BackupDone": object(&["folder", "duration_ms"], json!({
            "folder": text, "duration_ms": { "type": "integer" },
        })),
        "Tenants": { "type": "array", "items": text },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_routes_are_described_too() {
        let front_end = front_end(&[], crate::admin::refuse);
        let document = Document::new(description, front_end.routes.iter().map(Route::line)).text();
        let document: Value = serde_json::from_slice(&document).unwrap();
        assert_eq!(document["paths"].as_object().unwrap().len(), 2);
    }
}
