//! The HugeGraph REST API over graphs.
//!
//! [`front_ends`] is the route table, one line per endpoint, in the order of HugeGraph's own. Each resource of a graph space or a
//! graph has two paths: below `/graphspaces/{graphspace}`, and, as clients before 1.7 ask, without it, for the space `DEFAULT`.
//! A request walks `params` (query), `wire` (bodies), the model, and back.
//!
//! ```
//! use api_http::Router;
//! use api_hugegraph::{Api, Limits, front_ends};
//! use http::Method;
//!
//! let router = Router::new(front_ends(&Api::new(Limits { depth_max: 64 })));
//! for path in ["/graphspaces/DEFAULT/graphs/hugegraph/cypher", "/graphs/hugegraph/cypher"] {
//!     let found = router.find(&Method::GET, path).expect("a route");
//!     assert_eq!(found.operation.id, "cypherByQuery");
//! }
//! ```

mod problem;
#[expect(dead_code, reason = "for the routes of elements and schemas, which follow")]
mod wire;
#[expect(dead_code, unused_imports, reason = "for the route of jobs, which follows")]
mod algorithms;
mod state;
mod params;
mod operation;
mod openapi;
mod table;
mod routes;

pub use state::{Api, Limits};

use api_http::{Document, FrontEnd, Route};
use http::Method;

use problem::refuse;
use routes::{docs, languages, profile, refused};
use table::{Table, of_graph};

/// The description of the API, for people and for programs.
const DOCS: &str = "/hugegraph/docs";
const DOCUMENT: &str = "/hugegraph/docs/openapi.json";

/// The beginnings of paths whose refusals are worded here. Behind the last four nothing is served: clients ask for parts of
/// HugeGraph that are not there, and read why in its form.
const PREFIXES: [&str; 15] = [
    "/graphspaces",
    "/graphs",
    "/versions",
    "/apis",
    "/gremlin",
    "/auth",
    "/metrics",
    "/whiteiplist",
    "/arthas",
    "/raft",
    "/hugegraph",
    "/vermeer",
    "/pd",
    "/hstore",
    "/kvstore",
];

/// The front ends: one for each beginning of a path.
pub fn front_ends(api: &Api) -> Vec<FrontEnd> {
    let mut table = Table::new(api);
    server_routes(&mut table);
    language_routes(&mut table);
    refused_routes(&mut table);
    let lines: Vec<_> = table.described.iter().map(Route::line).collect();
    let listed = lines.clone();
    table.single(Method::GET, "/apis", &profile::APIS, move |_, _| profile::apis(listed.clone()));
    table.single(Method::GET, DOCS, &docs::PAGE, |_, _| docs::page());
    let own = [
        (Method::GET, "/apis", &profile::APIS),
        (Method::GET, DOCS, &docs::PAGE),
        (Method::GET, DOCUMENT, &docs::DOCUMENT),
    ];
    let document = Document::new(openapi::description, lines.into_iter().chain(own));
    let give = move |_, _| docs::document(document.clone());
    table.single(Method::GET, DOCUMENT, &docs::DOCUMENT, give);
    table.front_ends(&PREFIXES, refuse)
}

/// What is asked of the server as a whole.
fn server_routes(table: &mut Table<'_>) {
    table.single(Method::GET, "/versions", &profile::VERSIONS, profile::versions);
}

/// Languages of queries.
fn language_routes(table: &mut Table<'_>) {
    table.both(Method::GET, of_graph!("/cypher"), &languages::CYPHER_BY_QUERY, languages::refuse);
    table.both(Method::POST, of_graph!("/cypher"), &languages::CYPHER, languages::refuse);
    table.both(Method::POST, of_graph!("/jobs/gremlin"), &languages::GREMLIN_JOB, languages::refuse_json);
    table.single(Method::GET, "/gremlin", &languages::GREMLIN_BY_QUERY, languages::refuse);
    table.single(Method::POST, "/gremlin", &languages::GREMLIN, languages::refuse_json);
}

/// What HugeGraph has and this server has no use for.
fn refused_routes(table: &mut Table<'_>) {
    table.both(Method::GET, of_graph!("/raft/list_peers"), &refused::LIST_PEERS, refused::raft);
    table.both(Method::GET, of_graph!("/raft/get_leader"), &refused::GET_LEADER, refused::raft);
    table.both(Method::POST, of_graph!("/raft/set_leader"), &refused::SET_LEADER, refused::raft);
    table.both(Method::POST, of_graph!("/raft/transfer_leader"), &refused::TRANSFER_LEADER, refused::raft);
    table.both(Method::POST, of_graph!("/raft/add_peer"), &refused::ADD_PEER, refused::raft);
    table.both(Method::POST, of_graph!("/raft/remove_peer"), &refused::REMOVE_PEER, refused::raft);
    table.single(Method::GET, "/whiteiplist", &refused::WHITE_LIST, refused::white_list);
    table.single(Method::POST, "/whiteiplist", &refused::CHANGE_WHITE_LIST, refused::white_list);
    table.single(Method::PUT, "/whiteiplist", &refused::SWITCH_WHITE_LIST, refused::white_list);
    table.single(Method::PUT, "/arthas", &refused::ARTHAS, refused::arthas);
}
