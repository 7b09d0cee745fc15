//! The CPS API over configuration: trees of YANG-modelled data, as clients of ONAP CPS ask for them.
//!
//! [`front_ends`] is the route table, one line per endpoint; versions 1, 2 and 3 answer below `/cps/api`. A request walks
//! `params` (query) and `media` (JSON or XML), the model, and back through `wire`, which writes trees as they are read: an
//! answer of any size needs the memory of a few chunks.

mod problem;
mod media;
mod names;
mod params;
mod state;
mod operation;
mod table;
mod openapi;
mod upload;
mod notification;
mod wire;
mod change_data;
mod routes;
#[cfg(feature = "testing")]
pub mod testing;

pub use change_data::{CHANGE_DATA_BYTES_MAX, ChangeData, PlaceTexts};
pub use notification::{
    EVENTS_MEDIA_TYPE, KafkaEvent, PlaceChange, PlaceData, change_event, events_body, kafka_event,
};
pub use state::{Api, Limits};

use api_http::{Document, Frame as _, FrontEnd, Route};
use http::Method;

use problem::refuse;
use routes::{
    across, anchors, data, dataspaces, delta, docs, lists, node, query, schema_sets, subscriptions,
};
use table::{Cps, Table, both, of_anchor};

/// The path below which the API is described, for people and for programs.
const DOCS: &str = "/cps/docs";
const DOCUMENT: &str = "/cps/docs/openapi.json";
/// Where clients of the original look for the description.
const SWAGGER: &str = "/swagger-ui/index.html";
const SWAGGER_DOCUMENT: &str = "/swagger-ui/index.html/openapi.json";
const API_DOCS: &str = "/v3/api-docs";

/// The front ends: the API below `/cps`, and its description where clients of the original look for it.
pub fn front_ends(api: &Api) -> Vec<FrontEnd> {
    let mut table = Table::new(api);
    dataspace_routes(&mut table);
    schema_set_routes(&mut table);
    anchor_routes(&mut table);
    subscription_routes(&mut table);
    data_routes(&mut table);
    delta_routes(&mut table);
    query_routes(&mut table);
    table.single(Method::GET, DOCS, &docs::PAGE, |_, _| docs::page());
    let lines = table.described.iter().map(Route::line).chain([(Method::GET, DOCUMENT, &docs::DOCUMENT)]);
    let document = Document::new(openapi::description, lines);
    let give = |path| {
        let document = document.clone();
        Cps::route(api, Method::GET, path, &docs::DOCUMENT, move |_, _| docs::document(document.clone()))
    };
    let page = Cps::route(api, Method::GET, SWAGGER, &docs::PAGE, |_, _| docs::page());
    let routes = table.described.into_iter().chain(table.older).chain([give(DOCUMENT)]).collect();
    let front_end = |prefix, routes| FrontEnd { name: "cps", prefix, routes, refuse };
    vec![
        front_end("/cps", routes),
        front_end("/swagger-ui", vec![page, give(SWAGGER_DOCUMENT)]),
        front_end("/v3", vec![give(API_DOCS)]),
    ]
}

fn dataspace_routes(table: &mut Table<'_>) {
    const DATASPACES: table::Paths = both!("/dataspaces");
    const LIST: table::Paths = both!("/admin/dataspaces");
    const ONE: table::Paths = both!("/admin/dataspaces/{dataspace}");
    const CLEAN: table::Paths = both!("/admin/dataspaces/{dataspace}/actions/clean");
    table.single(Method::POST, DATASPACES.new, &dataspaces::CREATE, dataspaces::create);
    table.single(Method::POST, DATASPACES.old, &dataspaces::CREATE_V1, dataspaces::create_v1);
    table.both(Method::DELETE, DATASPACES, &dataspaces::REMOVE, dataspaces::remove);
    table.both(Method::GET, LIST, &dataspaces::LIST, dataspaces::list);
    table.both(Method::GET, ONE, &dataspaces::GET, dataspaces::get);
    table.both(Method::POST, CLEAN, &dataspaces::CLEAN, dataspaces::clean);
}

fn schema_set_routes(table: &mut Table<'_>) {
    const SCHEMA_SETS: table::Paths = both!("/dataspaces/{dataspace}/schema-sets");
    const ONE: table::Paths = both!("/dataspaces/{dataspace}/schema-sets/{schema-set}");
    table.streamed(Method::POST, SCHEMA_SETS.new, &schema_sets::CREATE, schema_sets::create);
    table.streamed(Method::POST, SCHEMA_SETS.old, &schema_sets::CREATE_V1, schema_sets::create_v1);
    table.both(Method::GET, SCHEMA_SETS, &schema_sets::LIST, schema_sets::list);
    table.both(Method::GET, ONE, &schema_sets::GET, schema_sets::get);
    table.both(Method::DELETE, ONE, &schema_sets::REMOVE, schema_sets::remove);
}

fn anchor_routes(table: &mut Table<'_>) {
    const ANCHORS: table::Paths = both!("/dataspaces/{dataspace}/anchors");
    const ONE: table::Paths = of_anchor!("");
    table.single(Method::POST, ANCHORS.new, &anchors::CREATE, anchors::create);
    table.single(Method::POST, ANCHORS.old, &anchors::CREATE_V1, anchors::create_v1);
    table.both(Method::GET, ANCHORS, &anchors::LIST, anchors::list);
    table.both(Method::GET, ONE, &anchors::GET, anchors::get);
    table.both(Method::DELETE, ONE, &anchors::REMOVE, anchors::remove);
}

fn subscription_routes(table: &mut Table<'_>) {
    const SUBSCRIPTIONS: &str = "/cps/api/v2/notification-subscription";
    table.single(Method::GET, SUBSCRIPTIONS, &subscriptions::GET, subscriptions::get);
    table.single(Method::POST, SUBSCRIPTIONS, &subscriptions::CREATE, subscriptions::create);
    table.single(Method::DELETE, SUBSCRIPTIONS, &subscriptions::REMOVE, subscriptions::remove);
}

fn data_routes(table: &mut Table<'_>) {
    const NODES: table::Paths = of_anchor!("/nodes");
    const LISTS: table::Paths = of_anchor!("/list-nodes");
    const NODE: table::Paths = of_anchor!("/node");
    const NODE_V3: &str = "/cps/api/v3/dataspaces/{dataspace}/anchors/{anchor}/node";
    table.both(Method::POST, NODES, &data::CREATE, data::create);
    table.both(Method::PATCH, NODES, &data::UPDATE, data::update);
    table.both(Method::PUT, NODES, &data::REPLACE, data::replace);
    table.both(Method::DELETE, NODES, &data::REMOVE, data::remove);
    table.both(Method::POST, LISTS, &lists::ADD, lists::add);
    table.both(Method::PUT, LISTS, &lists::REPLACE, lists::replace);
    table.single(Method::DELETE, LISTS.old, &lists::REMOVE_V1, lists::remove_v1);
    table.single(Method::GET, NODE.old, &node::GET_V1, node::get_v1);
    table.single(Method::GET, NODE.new, &node::GET, node::get);
    table.single(Method::GET, NODE_V3, &node::GET_V3, node::get_v3);
}

fn delta_routes(table: &mut Table<'_>) {
    const DELTA: &str = of_anchor!("/delta").new;
    const APPLY: &str = of_anchor!("/applyChangesInDeltaReport").new;
    table.single(Method::GET, DELTA, &delta::BETWEEN, delta::between);
    table.streamed(Method::POST, DELTA, &delta::TO_BODY, delta::to_body);
    table.single(Method::POST, APPLY, &delta::APPLY, delta::apply);
}

fn query_routes(table: &mut Table<'_>) {
    const QUERY: table::Paths = of_anchor!("/nodes/query");
    const ACROSS: &str = "/cps/api/v2/dataspaces/{dataspace}/nodes/query";
    table.single(Method::GET, QUERY.old, &query::GET_V1, query::get_v1);
    table.single(Method::GET, QUERY.new, &query::GET, query::get);
    table.single(Method::POST, QUERY.new, &query::COMPOSITE, query::composite);
    table.single(Method::GET, ACROSS, &across::GET, across::get);
}
