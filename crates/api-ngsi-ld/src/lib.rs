//! The NGSI-LD API (ETSI GS CIM 009) over entities.
//!
//! [`front_end`] is the route table, one line per endpoint in the order of the standard. A request enters each room once:
//!
//! 1. `routes`: the handler reads, calls the model, and answers;
//! 2. `params`: the parameters, checked and typed, with the queries in them (`q`, `selection`, `geoquery`);
//! 3. `request`: the rest of the request: tenant, body, conditions, and the context, which `context` finds;
//! 4. `wire`: JSON bodies to types of the model;
//! 5. `answer`: what the model returned, written by `render`, with the headers of the standard.
//!
//! `problem` words what is refused, wherever it is. The past of entities (`/temporal`) goes the same way and is written
//! straight from the model's columns.
//!
//! Resources of the standard that are not in the table (subscriptions, registrations, entity maps,
//! snapshots) have no stubs: they answer 404 in the standard's form, as any other path.

mod media;
mod problem;
mod context;
mod state;
mod wire;
mod q;
mod selection;
mod geoquery;
mod render;
mod params;
mod request;
mod answer;
mod openapi;
mod routes;
#[cfg(feature = "testing")]
pub mod testing;

pub use context::{ContextError, ContextOptions, Contexts, FetchPolicy};
pub use state::{Api, Limits};

use api_http::{FrontEnd, Request, Response, Route, check_untagged, handler};
use http::Method;

use problem::{Problem, refuse};
use request::has_tags;
use routes::temporal::{attributes as past_attributes, entities as past};
use routes::{attributes, batch, contexts, discovery, docs, entities, info, purge};

/// The front end: its routes, and how it words refusals.
pub fn front_end(api: &Api) -> FrontEnd {
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
    let routes = vec![
        route(api, Method::POST, ENTITIES, entities::create),
        route(api, Method::GET, ENTITIES, entities::query),
        route(api, Method::DELETE, ENTITIES, purge::purge),
        route(api, Method::GET, ENTITY, entities::retrieve),
        route(api, Method::DELETE, ENTITY, entities::delete),
        route(api, Method::PUT, ENTITY, entities::replace),
        route(api, Method::PATCH, ENTITY, entities::merge),
        route(api, Method::POST, ATTRIBUTES, attributes::append),
        route(api, Method::PATCH, ATTRIBUTES, attributes::update),
        route(api, Method::PATCH, ATTRIBUTE, attributes::patch),
        route(api, Method::DELETE, ATTRIBUTE, attributes::delete),
        route(api, Method::PUT, ATTRIBUTE, attributes::replace),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/create", batch::create),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/upsert", batch::upsert),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/update", batch::update),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/delete", batch::delete),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/query", entities::query_by_post),
        route(api, Method::POST, "/ngsi-ld/v1/entityOperations/merge", batch::merge),
        route(api, Method::POST, PASTS, past::create),
        route(api, Method::GET, PASTS, past::query),
        route(api, Method::GET, PAST, past::retrieve),
        route(api, Method::DELETE, PAST, past::delete),
        route(api, Method::POST, PAST_ATTRIBUTES, past_attributes::append),
        route(api, Method::DELETE, PAST_ATTRIBUTE, past_attributes::delete),
        route(api, Method::PATCH, PAST_INSTANCE, past_attributes::patch_instance),
        route(api, Method::DELETE, PAST_INSTANCE, past_attributes::delete_instance),
        route(api, Method::POST, "/ngsi-ld/v1/temporal/entityOperations/query", past::query_by_post),
        route(api, Method::GET, "/ngsi-ld/v1/types", discovery::types),
        route(api, Method::GET, "/ngsi-ld/v1/types/{type}", discovery::entity_type),
        route(api, Method::GET, "/ngsi-ld/v1/attributes", discovery::attributes),
        route(api, Method::GET, "/ngsi-ld/v1/attributes/{attr}", discovery::attribute),
        route(api, Method::POST, CONTEXTS, contexts::create),
        route(api, Method::GET, CONTEXTS, contexts::list),
        route(api, Method::GET, CONTEXT, contexts::get),
        route(api, Method::DELETE, CONTEXT, contexts::delete),
        route(api, Method::GET, "/ngsi-ld/v1/info/sourceIdentity", info::source_identity),
        route(api, Method::GET, "/ngsi-ld/v1/docs", docs::page),
        route(api, Method::GET, "/ngsi-ld/v1/docs/openapi.json", docs::document),
    ];
    FrontEnd { name: "ngsi-ld", prefix: "/ngsi-ld/v1", routes, refuse }
}

/// A route whose answers, problems included, name the tenant that the request named (6.3.14).
fn route<F, A>(api: &Api, method: Method, path: &'static str, function: F) -> Route
where
    F: Fn(Api, Request) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = Result<Response, Problem>> + Send + 'static,
{
    let answer = move |api: Api, request: Request| async move {
        let tenant =
            request.headers.get(api_http::TENANT).or_else(|| request.headers.get(api_http::FIWARE_SERVICE));
        let tenant = tenant.cloned();
        let answered = match check_untagged(&request, has_tags(path)) {
            Ok(()) => function(api, request).await,
            Err(error) => Err(error.into()),
        };
        let mut response = answered.unwrap_or_else(|problem| problem.response());
        if let Some(tenant) = tenant {
            response.headers_mut().insert(api_http::TENANT, tenant);
        }
        response
    };
    Route { method, path, handler: handler(api, answer), is_admin: false }
}
