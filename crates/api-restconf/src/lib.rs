//! RESTCONF (RFC 8040) over the configuration trees of anchors.
//!
//! [`front_ends`] is the route table. Each anchor has a root of its own, `/restconf/{dataspace}/{anchor}`; `/restconf` itself is the root
//! of the anchor that the settings name. A request walks `params` (query), `identifier` and `target` (path), `routes/body` (data), the model,
//! and back through `shape` and `writer`. Errors in bodies are worded where they are read, what the model refuses in `problem`.

mod media;
mod text;
mod place;
mod problem;
mod identifier;
mod names;
mod fields;
mod params;
mod target;
mod patch;
mod library;
mod writer;
mod shape;
mod state;
mod operation;
mod openapi;
mod routes;
mod table;
#[cfg(feature = "testing")]
pub mod testing;

pub use state::{Api, DefaultAnchor, Limits};

use api_http::{Document, FrontEnd};
use http::Method;

use problem::refuse;
use routes::{data, docs, patching, root, writing};
use table::{Table, of_anchor};

const PREFIX: &str = "/restconf";
const WELL_KNOWN: &str = "/.well-known";
/// The description of the API, for people and for programs.
const DOCS: &str = "/restconf/docs";
const DOCUMENT: &str = "/restconf/docs/openapi.json";

/// The front ends: one below `/restconf`, and one that tells where it is.
pub fn front_ends(api: &Api) -> Vec<FrontEnd> {
    let table = table(api);
    let (well_known, below) = table.routes.into_iter().partition(|route| route.path.starts_with(WELL_KNOWN));
    vec![
        FrontEnd { name: "restconf", prefix: PREFIX, routes: below, refuse },
        FrontEnd { name: "restconf", prefix: WELL_KNOWN, routes: well_known, refuse },
    ]
}

/// All routes.
fn table(api: &Api) -> Table<'_> {
    let mut table = Table::new(api);
    root_routes(&mut table);
    data_routes(&mut table);
    table.single(DOCS, &docs::PAGE, |_, _| docs::page());
    let own = (Method::GET, DOCUMENT, &docs::DOCUMENT);
    let document = Document::new(openapi::description, table.lines.iter().cloned().chain([own]));
    table.single(DOCUMENT, &docs::DOCUMENT, move |_, _| docs::document(document.clone()));
    table
}

/// Where RESTCONF is, and what it offers.
fn root_routes(table: &mut Table<'_>) {
    table.single("/.well-known/host-meta", &root::HOST_META, root::host_meta);
    table.single("/.well-known/host-meta.json", &root::HOST_META_JSON, root::host_meta_json);
    table.both(Method::GET, of_anchor!(""), &root::API, root::api);
    let path = of_anchor!("/yang-library-version");
    table.both(Method::GET, path, &root::LIBRARY_VERSION, root::library_version);
    table.both(Method::GET, of_anchor!("/operations"), &root::OPERATIONS, root::operations);
    table.both(Method::POST, of_anchor!("/operations/{operation}"), &root::INVOKE, root::invoke);
}

/// The datastore, and the resources in it.
fn data_routes(table: &mut Table<'_>) {
    let (all, one) = (of_anchor!("/data"), of_anchor!("/data/{*path}", "/data/{path}"));
    table.both(Method::GET, all, &data::GET_ALL, data::get);
    table.both(Method::POST, all, &writing::CREATE_TOP, writing::create);
    table.both(Method::PUT, all, &writing::REPLACE_ALL, writing::replace_all_data);
    table.both(Method::PATCH, all, &writing::MERGE_ALL, patching::merge_all_data);
    table.both(Method::GET, one, &data::GET, data::get);
    table.both(Method::POST, one, &writing::CREATE, writing::create);
    table.both(Method::PUT, one, &writing::REPLACE, writing::replace);
    table.both(Method::PATCH, one, &writing::MERGE, patching::merge);
    table.both(Method::DELETE, one, &writing::DELETE, writing::delete);
}
