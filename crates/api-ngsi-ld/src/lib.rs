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
//! `problem` words what is refused, wherever it is. The history of entities (`/temporal`) goes the same way and is written
//! straight from the model's columns.
//!
//! Resources of the standard that are not in the table (subscriptions, registrations, entity maps,
//! snapshots) have no stubs: they answer 404 in the standard's form, as any other path.
//!
//! ```
//! use api_http::{Request, Router};
//! use api_ngsi_ld::{Api, Limits, front_end};
//! use http::{Method, StatusCode};
//! use model_entities::{Clock, Entities};
//! use tenant_contexts::Contexts;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = store::testing::memory(Clock::System);
//! let entities = Entities::new(store, tenant_contexts::testing::entity_options());
//! let contexts = Contexts::new(tenant_contexts::testing::options())?.hosting(entities.clone(), Clock::System);
//! let limits = Limits {
//!     page_default: 30,
//!     page_max: 1_000,
//!     page_bytes_max: 1 << 20,
//!     batch_entities_max: 1_000,
//!     depth_max: 64,
//!     join_level_max: 5,
//!     join_entities_max: 1_000,
//!     temporal_instances_max: 100_000,
//!     q_nodes_max: 64,
//!     q_values_max: 20,
//!     geo_positions_max: 100,
//! };
//! let router = Router::new(vec![front_end(&Api::new(entities, contexts, Clock::System, limits, "broker"))]);
//!
//! let found = router.find(&Method::GET, "/ngsi-ld/v1/entities/urn:ngsi-ld:Station:1").expect("a route");
//! let request = Request { operation: found.operation, captures: found.captures, ..Request::default() };
//! assert_eq!(found.handler.answer(request).await.status(), StatusCode::NOT_FOUND);
//! # Ok(())
//! # }
//! ```

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

use api_http::{Document, Frame, FrontEnd, Request, Response, Route, check_parameters, check_untagged};
use http::{HeaderValue, Method};

use problem::{Problem, refuse};
use routes::temporal::{attributes as history_attributes, entities as history};
use routes::{attributes, batch, contexts, discovery, docs, entities, info, purge};

const ENTITIES: &str = "/ngsi-ld/v1/entities";
const ENTITY: &str = "/ngsi-ld/v1/entities/{id}";
const ATTRIBUTES: &str = "/ngsi-ld/v1/entities/{id}/attrs";
const ATTRIBUTE: &str = "/ngsi-ld/v1/entities/{id}/attrs/{attr}";
const HISTORIES: &str = "/ngsi-ld/v1/temporal/entities";
const HISTORY: &str = "/ngsi-ld/v1/temporal/entities/{id}";
const HISTORY_ATTRIBUTES: &str = "/ngsi-ld/v1/temporal/entities/{id}/attrs";
const HISTORY_ATTRIBUTE: &str = "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}";
const HISTORY_INSTANCE: &str = "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}/{instance}";
const CONTEXTS: &str = "/ngsi-ld/v1/jsonldContexts";
const CONTEXT: &str = "/ngsi-ld/v1/jsonldContexts/{id}";
const DOCUMENT: &str = "/ngsi-ld/v1/docs/openapi.json";

/// The front end: its routes, and how it words refusals.
pub fn front_end(api: &Api) -> FrontEnd {
    let mut routes = [entities_and_batches(api), histories(api), names_and_broker(api)].concat();
    let lines = routes.iter().map(Route::line).chain([(Method::GET, DOCUMENT, &docs::DOCUMENT)]);
    let document = Document::new(openapi::description, lines);
    let give = move |_, _| docs::document(document.clone());
    routes.push(NgsiLd::route(api, Method::GET, DOCUMENT, &docs::DOCUMENT, give));
    FrontEnd { name: "ngsi-ld", prefix: "/ngsi-ld/v1", routes, refuse }
}

/// What entities are (6.4 to 6.7, 6.14 to 6.17, 6.23, 6.31).
fn entities_and_batches(api: &Api) -> Vec<Route> {
    vec![
        NgsiLd::route(api, Method::POST, ENTITIES, &entities::CREATE, entities::create),
        NgsiLd::route(api, Method::GET, ENTITIES, &entities::QUERY, entities::query),
        NgsiLd::route(api, Method::DELETE, ENTITIES, &purge::PURGE, purge::purge),
        NgsiLd::route(api, Method::GET, ENTITY, &entities::RETRIEVE, entities::retrieve),
        NgsiLd::route(api, Method::DELETE, ENTITY, &entities::DELETE, entities::delete),
        NgsiLd::route(api, Method::PUT, ENTITY, &entities::REPLACE, entities::replace),
        NgsiLd::route(api, Method::PATCH, ENTITY, &entities::MERGE, entities::merge),
        NgsiLd::route(api, Method::POST, ATTRIBUTES, &attributes::APPEND, attributes::append),
        NgsiLd::route(api, Method::PATCH, ATTRIBUTES, &attributes::UPDATE, attributes::update),
        NgsiLd::route(api, Method::PATCH, ATTRIBUTE, &attributes::PATCH, attributes::patch),
        NgsiLd::route(api, Method::DELETE, ATTRIBUTE, &attributes::DELETE, attributes::delete),
        NgsiLd::route(api, Method::PUT, ATTRIBUTE, &attributes::REPLACE, attributes::replace),
        NgsiLd::route(
            api,
            Method::POST,
            "/ngsi-ld/v1/entityOperations/create",
            &batch::CREATE,
            batch::create,
        ),
        NgsiLd::route(
            api,
            Method::POST,
            "/ngsi-ld/v1/entityOperations/upsert",
            &batch::UPSERT,
            batch::upsert,
        ),
        NgsiLd::route(
            api,
            Method::POST,
            "/ngsi-ld/v1/entityOperations/update",
            &batch::UPDATE,
            batch::update,
        ),
        NgsiLd::route(
            api,
            Method::POST,
            "/ngsi-ld/v1/entityOperations/delete",
            &batch::DELETE,
            batch::delete,
        ),
        NgsiLd::route(
            api,
            Method::POST,
            "/ngsi-ld/v1/entityOperations/query",
            &entities::QUERY_BY_POST,
            entities::query_by_post,
        ),
        NgsiLd::route(api, Method::POST, "/ngsi-ld/v1/entityOperations/merge", &batch::MERGE, batch::merge),
    ]
}

/// What entities were (6.18 to 6.22, 6.24).
fn histories(api: &Api) -> Vec<Route> {
    vec![
        NgsiLd::route(api, Method::POST, HISTORIES, &history::CREATE, history::create),
        NgsiLd::route(api, Method::GET, HISTORIES, &history::QUERY, history::query),
        NgsiLd::route(api, Method::GET, HISTORY, &history::RETRIEVE, history::retrieve),
        NgsiLd::route(api, Method::DELETE, HISTORY, &history::DELETE, history::delete),
        NgsiLd::route(
            api,
            Method::POST,
            HISTORY_ATTRIBUTES,
            &history_attributes::APPEND,
            history_attributes::append,
        ),
        NgsiLd::route(
            api,
            Method::DELETE,
            HISTORY_ATTRIBUTE,
            &history_attributes::DELETE,
            history_attributes::delete,
        ),
        NgsiLd::route(
            api,
            Method::PATCH,
            HISTORY_INSTANCE,
            &history_attributes::PATCH_INSTANCE,
            history_attributes::patch_instance,
        ),
        NgsiLd::route(
            api,
            Method::DELETE,
            HISTORY_INSTANCE,
            &history_attributes::DELETE_INSTANCE,
            history_attributes::delete_instance,
        ),
        NgsiLd::route(
            api,
            Method::POST,
            "/ngsi-ld/v1/temporal/entityOperations/query",
            &history::QUERY_BY_POST,
            history::query_by_post,
        ),
    ]
}

/// Types, attributes and contexts (6.25 to 6.30), and the broker itself.
fn names_and_broker(api: &Api) -> Vec<Route> {
    vec![
        NgsiLd::route(api, Method::GET, "/ngsi-ld/v1/types", &discovery::TYPES, discovery::types),
        NgsiLd::route(
            api,
            Method::GET,
            "/ngsi-ld/v1/types/{type}",
            &discovery::ENTITY_TYPE,
            discovery::entity_type,
        ),
        NgsiLd::route(
            api,
            Method::GET,
            "/ngsi-ld/v1/attributes",
            &discovery::ATTRIBUTES,
            discovery::attributes,
        ),
        NgsiLd::route(
            api,
            Method::GET,
            "/ngsi-ld/v1/attributes/{attr}",
            &discovery::ATTRIBUTE,
            discovery::attribute,
        ),
        NgsiLd::route(api, Method::POST, CONTEXTS, &contexts::CREATE, contexts::create),
        NgsiLd::route(api, Method::GET, CONTEXTS, &contexts::LIST, contexts::list),
        NgsiLd::route(api, Method::GET, CONTEXT, &contexts::GET, contexts::get),
        NgsiLd::route(api, Method::DELETE, CONTEXT, &contexts::DELETE, contexts::delete),
        NgsiLd::route(
            api,
            Method::GET,
            "/ngsi-ld/v1/info/sourceIdentity",
            &info::SOURCE_IDENTITY,
            info::source_identity,
        ),
        NgsiLd::route(api, Method::GET, "/ngsi-ld/v1/docs", &docs::PAGE, |_, _| docs::page()),
    ]
}

/// Answers, problems included, name the tenant that the request named (6.3.14).
struct NgsiLd;

impl Frame for NgsiLd {
    type Problem = Problem;
    type Note = Option<HeaderValue>;

    fn note(request: &Request) -> Option<HeaderValue> {
        let headers = &request.headers;
        headers.get(api_http::TENANT).or_else(|| headers.get(api_http::FIWARE_SERVICE)).cloned()
    }

    fn check(request: &Request) -> Result<(), Problem> {
        check_untagged(request)?;
        Ok(check_parameters(request)?)
    }

    fn answer(tenant: Option<HeaderValue>, answered: Result<Response, Problem>) -> Response {
        let mut response = answered.unwrap_or_else(|problem| problem.response());
        if let Some(tenant) = tenant {
            response.headers_mut().insert(api_http::TENANT, tenant);
        }
        response
    }
}
