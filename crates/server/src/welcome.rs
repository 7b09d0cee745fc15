//! `/`: what this is, for people in a browser; for programs the same as JSON.

use std::fmt::Write as _;

use api_http::{
    Content, FrontEnd, Gives, Operation, Request, Response, Route, accept, handler, json_response,
    schema_reference,
};
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};

use crate::admin::{answer, refuse};

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
const PAGE: &str = include_str!("welcome.html");

/// An API that is served: its name, where it begins, and where it is described.
pub(crate) type Served = (&'static str, &'static str, &'static str);

/// What is said; clones share.
#[derive(Clone)]
struct Welcome {
    page: std::sync::Arc<str>,
    facts: std::sync::Arc<serde_json::Value>,
}

/// The route, whose page lists these APIs.
pub(crate) fn front_end(apis: &[Served]) -> FrontEnd {
    let mut links = String::new();
    for (name, base, docs) in apis {
        // Names and paths are ours: nothing in them needs escaping. A String takes whatever is written.
        let _ = writeln!(links, "<li><a href=\"{docs}\">{name}</a>, under <code>{base}</code></li>");
    }
    let page = PAGE.replace("{version}", env!("CARGO_PKG_VERSION")).replace("{apis}", links.trim_end());
    let apis: Vec<_> =
        apis.iter().map(|(name, base, docs)| json!({ "name": name, "base": base, "docs": docs })).collect();
    let facts = json!({
        "name": "twinfold",
        "version": env!("CARGO_PKG_VERSION"),
        "health": "/health/ready",
        "metrics": "/metrics",
        "apis": apis,
    });
    let welcome = Welcome { page: page.into(), facts: facts.into() };
    let handler = handler(&welcome, greet);
    let routes =
        vec![Route { method: Method::GET, path: "/", operation: &WELCOME, handler, is_admin: false }];
    FrontEnd { name: "server", prefix: "/", routes, refuse }
}

/// GET `/`
const WELCOME: Operation =
    Operation::new("server", "welcome", "What this is: a page for browsers, facts for programs.")
        .gives(&[(200, Gives::new("First steps.", Content::new("Welcome", page_and_facts)))]);

fn page_and_facts(schema: &str) -> Value {
    json!({ JSON: { "schema": schema_reference(schema) }, "text/html": {} })
}

async fn greet(welcome: Welcome, request: Request) -> Response {
    // Whoever does not ask for a page gets facts, whatever is accepted: nobody is refused at the door.
    let is_page = accept(request.header("accept"), &[JSON, "text/html"]) == Some("text/html");
    let mut response = if is_page {
        json_response(StatusCode::OK, HTML, welcome.page.as_bytes().to_vec())
    } else {
        answer(StatusCode::OK, &welcome.facts)
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}
