//! The NGSI-LD API (ETSI GS CIM 009) over entities.
//!
//! [`front_end`] is the route table, one line per endpoint in the order of the standard. A request enters each room once:
//!
//! 1. `routes`: the handler reads, calls the model, and answers;
//! 2. `params`: the parameters, checked and typed; the queries in them are read by `lang-ngsi-ld`;
//! 3. `request`: the rest of the request: tenant, body, conditions, and the context, which `tenant-contexts` finds;
//! 4. `lang-ngsi-ld` turns JSON bodies into types of the model;
//! 5. `answer`: what the model returned, written by `render`, with the headers of the standard.
//!
//! `problem` words what is refused, wherever it is. The past of entities (`/temporal`) goes the same way and is written
//! straight from the model's columns.
//!
//! Resources of the standard that are not in the table (subscriptions, registrations, entity maps,
//! snapshots) have no stubs: they answer 404 in the standard's form, as any other path.

mod media;
mod problem;
mod state;
mod render;
mod params;
mod request;
mod answer;
mod operation;
mod openapi;
mod routes;
#[cfg(feature = "testing")]
pub mod testing;

pub use state::{Api, Limits};

use api_http::{
    Document, FrontEnd, Operation, Request, Response, Route, check_parameters, check_untagged, handler,
};
use http::Method;

use problem::{Problem, refuse};
use routes::temporal::{attributes as past_attributes, entities as past};
use routes::{attributes, batch, contexts, discovery, docs, entities, info, purge};

const ENTITIES: &str = "/ngsi-ld/v1/entities";
const ENTITY: &str = "/ngsi-ld/v1/entities/{id}";
const ATTRIBUTES: &str = "/ngsi-ld/v1/entities/{id}/attrs";
const ATTRIBUTE: &str = "/ngsi-ld/v1/entities/{id}/attrs/{attr}";
const PASTS: &str = "/ngsi-ld/v1/temporal/entities";
const PAST: &str = "/ngsi-ld/v1/temporal/entities/{id}";
const PAST_ATTRIBUTES: &str = "/ngsi-ld/v1/temporal/entities/{id}/attrs";
const PAST_ATTRIBUTE: &str = "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}";
const PAST_INSTANCE: &str = "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}/{instance}";
const CONTEXTS: &str = "/ngsi-ld/v1/jsonldContexts";
const CONTEXT: &str = "/ngsi-ld/v1/jsonldContexts/{id}";
const DOCUMENT: &str = "/ngsi-ld/v1/docs/openapi.json";

/// The front end: its routes, and how it words refusals.
pub fn front_end(api: &Api) -> FrontEnd {
    let mut routes = [entities_and_batches(api), pasts(api), names_and_broker(api)].concat();
    let lines = routes.iter().map(Route::line).chain([(Method::GET, DOCUMENT, &docs::DOCUMENT)]);
    let document = Document::new(openapi::description, lines);
    let give = move |_, _| docs::document(document.clone());
    routes.push(route(api, Method::GET, DOCUMENT, &docs::DOCUMENT, give));
    FrontEnd { name: "ngsi-ld", prefix: "/ngsi-ld/v1", routes, refuse }
}

/// What entities are (6.4 to 6.7, 6.14 to 6.17, 6.23, 6.31).
fn entities_and_batches(api: &Api) -> Vec<Route> {
    vec![
        route(api, Method::POST, ENTITIES, &entities::CREATE, entities::create),
        route(api, Method::GET, ENTITIES, &entities::QUERY, entities::query),
        route(api, Method::DELETE, ENTITIES, &purge::PURGE, purge::purge),
        route(api, Method::GET, ENTITY, &entities::RETRIEVE, entities::retrieve),
        route(api, Method::DELETE, ENTITY, &entities::DELETE, entities::delete),
        route(api, Method::PUT, ENTITY, &entities::REPLACE, entities::replace),
        route(api, Method::PATCH, ENTITY, &entities::MERGE, entities::merge),
        route(api, Method::POST, ATTRIBUTES, &attributes::APPEND, attributes::append),
        route(api, Method::PATCH, ATTRIBUTES, &attributes::UPDATE, attributes::update),
        route(api, Method::PATCH, ATTRIBUTE, &attributes::PATCH, attributes::patch),
        route(api, Method::DELETE, ATTRIBUTE, &attributes::DELETE, attributes::delete),
        route(api, Method::PUT, ATTRIBUTE, &attributes::REPLACE, attributes::replace),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/create", &batch::CREATE, batch::create),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/upsert", &batch::UPSERT, batch::upsert),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/update", &batch::UPDATE, batch::update),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/delete", &batch::DELETE, batch::delete),
        route(
            api,
            Method::POST,
            "/ngsi-ld/v1/entityOperations/query",
            &entities::QUERY_BY_POST,
            entities::query_by_post,
        ),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/merge", &batch::MERGE, batch::merge),
    ]
}

/// What entities were (6.18 to 6.22, 6.24).
fn pasts(api: &Api) -> Vec<Route> {
    vec![
        route(api, Method::POST, PASTS, &past::CREATE, past::create),
        route(api, Method::GET, PASTS, &past::QUERY, past::query),
        route(api, Method::GET, PAST, &past::RETRIEVE, past::retrieve),
        route(api, Method::DELETE, PAST, &past::DELETE, past::delete),
        route(api, Method::POST, PAST_ATTRIBUTES, &past_attributes::APPEND, past_attributes::append),
        route(api, Method::DELETE, PAST_ATTRIBUTE, &past_attributes::DELETE, past_attributes::delete),
        route(
            api,
            Method::PATCH,
            PAST_INSTANCE,
            &past_attributes::PATCH_INSTANCE,
            past_attributes::patch_instance,
        ),
        route(
            api,
            Method::DELETE,
            PAST_INSTANCE,
            &past_attributes::DELETE_INSTANCE,
            past_attributes::delete_instance,
        ),
        route(
            api,
            Method::POST,
            "/ngsi-ld/v1/temporal/entityOperations/query",
            &past::QUERY_BY_POST,
            past::query_by_post,
        ),
    ]
}

/// Types, attributes and contexts (6.25 to 6.30), and the broker itself.
fn names_and_broker(api: &Api) -> Vec<Route> {
    vec![
        route(api, Method::GET, "/ngsi-ld/v1/types", &discovery::TYPES, discovery::types),
        route(api, Method::GET, "/ngsi-ld/v1/types/{type}", &discovery::ENTITY_TYPE, discovery::entity_type),
        route(api, Method::GET, "/ngsi-ld/v1/attributes", &discovery::ATTRIBUTES, discovery::attributes),
        route(api, Method::GET, "/ngsi-ld/v1/attributes/{attr}", &discovery::ATTRIBUTE, discovery::attribute),
        route(api, Method::POST, CONTEXTS, &contexts::CREATE, contexts::create),
        route(api, Method::GET, CONTEXTS, &contexts::LIST, contexts::list),
        route(api, Method::GET, CONTEXT, &contexts::GET, contexts::get),
        route(api, Method::DELETE, CONTEXT, &contexts::DELETE, contexts::delete),
        route(
            api,
            Method::GET,
            "/ngsi-ld/v1/info/sourceIdentity",
            &info::SOURCE_IDENTITY,
            info::source_identity,
        ),
        route(api, Method::GET, "/ngsi-ld/v1/docs", &docs::PAGE, |_, _| docs::page()),
    ]
}

/// A route whose answers, problems included, name the tenant that the request named (6.3.14).
fn route<F, A>(
    api: &Api,
    method: Method,
    path: &'static str,
    operation: &'static Operation,
    function: F,
) -> Route
where
    F: Fn(Api, Request) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<Response, Problem>> + Send + 'static,
{
    let answer = move |api: Api, request: Request| {
        let function = function.clone();
        async move {
            let tenant = request
                .headers
                .get(api_http::TENANT)
                .or_else(|| request.headers.get(api_http::FIWARE_SERVICE));
            let tenant = tenant.cloned();
            let answered = match check(&request) {
                Ok(()) => function(api, request).await,
                Err(problem) => Err(problem),
            };
            let mut response = answered.unwrap_or_else(|problem| problem.response());
            if let Some(tenant) = tenant {
                response.headers_mut().insert(api_http::TENANT, tenant);
            }
            response
        }
    };
    Route { method, path, operation, handler: handler(api, answer), is_admin: false }
}

/// Checks what can be checked of any request before its handler sees it.
fn check(request: &Request) -> Result<(), Problem> {
    check_untagged(request)?;
    Ok(check_parameters(request)?)
}
