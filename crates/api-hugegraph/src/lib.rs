//! The HugeGraph REST API over graphs.
//!
//! [`front_ends`] is the route table, one line per endpoint, in the order of HugeGraph's own. Each resource of a graph space or a
//! graph has two paths: below `/graphspaces/{graphspace}`, and, as clients before 1.7 ask, without it, for the space `DEFAULT`.
//! A request walks `params` (query), `wire` (bodies), the model, and back.
//!
//! ```
//! use api_http::Router;
//! use api_hugegraph::{Api, Lane, Limits, front_ends};
//! use http::Method;
//!
//! # use model_graph::{Clock, GraphOptions, Graphs, Timestamp};
//! # let clock = Clock::manual(Timestamp(0));
//! # let options = GraphOptions { tenants_max: 10, graphs_max: 10, buckets: 1 };
//! # let graphs = Graphs::new(store::testing::memory(clock.clone()), options);
//! let limits = Limits { depth_max: 64, batch_elements_max: 2_500, walk_memory_bytes_max: 512 << 20 };
//! # let options = api_hugegraph::AlgorithmOptions { memory_bytes_max: 1 << 20, threads: std::num::NonZeroUsize::MIN };
//! # let algorithms = api_hugegraph::AlgorithmJobs::new(graphs.clone(), clock.clone(), options);
//! # let options = api_hugegraph::AccessOptions {
//! #     is_on: false,
//! #     admin_password: None,
//! #     token_duration: std::time::Duration::from_secs(60),
//! #     password_rounds: std::num::NonZeroU32::MIN,
//! #     random: |bytes| bytes.fill(0),
//! # };
//! # let users = api_hugegraph::Users::new(graphs.clone(), clock.clone(), options);
//! let api = Api::new((graphs, users), clock, limits, algorithms, Lane::new(1));
//! let router = Router::new(front_ends(&api));
//! for path in ["/graphspaces/DEFAULT/graphs/hugegraph/cypher", "/graphs/hugegraph/cypher"] {
//!     let found = router.find(&Method::GET, path).expect("a route");
//!     assert_eq!(found.operation.id, "cypherByQuery");
//! }
//! ```

mod algorithms;
mod state;
mod needs;
mod callers;
mod params;
mod operation;
pub mod metrics;
mod openapi;
mod table;
mod routes;

use api_hugegraph_wire::{self as wire, problem};

pub use access::{AccessOptions, PASSWORD_BYTES_MAX, Users};
pub use algorithms::{AlgorithmJobs, AlgorithmOptions};
pub use callers::administrators_only;
pub use problem::{refusal, refuse};
pub use state::{Api, Limits};
pub use traversals::{Lane, WALK_BYTES_MAX};

use api_http::{Document, FrontEnd, Route};
use http::Method;

use graph::schema::SchemaKind;
use routes::{
    auth, docs, edges, graphs, jobs, languages, profile, refused, scans, schema, spaces, tasks, traversers,
    variables, vertices,
};
use table::{Paths, Table, of_graph, of_space};

/// The description of the API, for people and for programs.
const DOCS: &str = "/hugegraph/docs";
const DOCUMENT: &str = "/hugegraph/docs/openapi.json";

/// The beginnings of paths whose refusals are worded here. Behind the last four nothing is served: clients ask for parts of
/// HugeGraph that are not there, and read why in its form.
const PREFIXES: [&str; 14] = [
    "/graphspaces",
    "/graphs",
    "/versions",
    "/apis",
    "/gremlin",
    "/auth",
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
    graph_routes(&mut table);
    schema_routes(&mut table);
    element_routes(&mut table);
    scan_routes(&mut table);
    task_routes(&mut table);
    traversers::routes(&mut table);
    language_routes(&mut table);
    auth::routes(&mut table);
    refused_routes(&mut table);
    // The server has the routes of metrics.
    let metrics = metrics::PAGES.iter().map(|(path, operation, _)| (Method::GET, *path, *operation));
    let lines: Vec<_> = table.described.iter().map(Route::line).chain(metrics).collect();
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

/// Graphs, and what they are set to.
fn graph_routes(table: &mut Table<'_>) {
    table.single(Method::GET, "/graphspaces", &spaces::LIST, spaces::list);
    table.single(Method::POST, "/graphspaces", &spaces::CREATE, spaces::create);
    table.single(Method::GET, "/graphspaces/profile", &spaces::PROFILE, spaces::profile);
    table.single(Method::GET, "/graphspaces/{graphspace}", &spaces::GET, spaces::get);
    table.single(Method::PUT, "/graphspaces/{graphspace}", &spaces::MANAGE, spaces::manage);
    table.single(Method::DELETE, "/graphspaces/{graphspace}", &spaces::REMOVE, spaces::remove);
    table.both(Method::GET, of_space!("/graphs"), &graphs::LIST, graphs::list);
    table.both(Method::PUT, of_space!("/graphs/manage"), &graphs::MANAGE, graphs::manage);
    table.both(Method::GET, of_graph!(""), &graphs::GET, graphs::get);
    table.both(Method::POST, of_graph!(""), &graphs::CREATE, graphs::create);
    table.both(Method::DELETE, of_graph!(""), &graphs::DROP, graphs::drop_graph);
    table.both(Method::DELETE, of_graph!("/clear"), &graphs::CLEAR, graphs::clear);
    table.both(Method::GET, of_graph!("/conf"), &graphs::CONFIGURATION, graphs::configuration);
    table.both(Method::GET, of_graph!("/mode"), &graphs::GET_MODE, graphs::mode);
    table.both(Method::PUT, of_graph!("/mode"), &graphs::SET_MODE, graphs::set_mode);
    table.both(Method::GET, of_graph!("/graph_read_mode"), &graphs::GET_READ_MODE, graphs::read_mode);
    table.both(Method::PUT, of_graph!("/graph_read_mode"), &graphs::SET_READ_MODE, graphs::set_read_mode);
    table.both(Method::PUT, of_graph!("/compact"), &graphs::COMPACT, graphs::compact);
    table.both(Method::PUT, of_graph!("/snapshot_create"), &graphs::CREATE_SNAPSHOT, graphs::snapshot);
    table.both(Method::PUT, of_graph!("/snapshot_resume"), &graphs::RESUME_SNAPSHOT, graphs::snapshot);
}

/// Schemas: four kinds of parts, each with the same operations.
fn schema_routes(table: &mut Table<'_>) {
    table.both(Method::GET, of_graph!("/schema"), &schema::ALL, schema::all);
    let paths = [of_graph!("/schema/propertykeys"), of_graph!("/schema/propertykeys/{name}")];
    part_routes(table, SchemaKind::PropertyKey, paths);
    let paths = [of_graph!("/schema/vertexlabels"), of_graph!("/schema/vertexlabels/{name}")];
    part_routes(table, SchemaKind::VertexLabel, paths);
    let paths = [of_graph!("/schema/edgelabels"), of_graph!("/schema/edgelabels/{name}")];
    part_routes(table, SchemaKind::EdgeLabel, paths);
    let paths = [of_graph!("/schema/indexlabels"), of_graph!("/schema/indexlabels/{name}")];
    part_routes(table, SchemaKind::IndexLabel, paths);
    let path = of_graph!("/jobs/rebuild/vertexlabels/{name}");
    table.of_kind(Method::PUT, path, &schema::REBUILD_VERTEX_LABEL, SchemaKind::VertexLabel, schema::rebuild);
    let path = of_graph!("/jobs/rebuild/edgelabels/{name}");
    table.of_kind(Method::PUT, path, &schema::REBUILD_EDGE_LABEL, SchemaKind::EdgeLabel, schema::rebuild);
    let path = of_graph!("/jobs/rebuild/indexlabels/{name}");
    table.of_kind(Method::PUT, path, &schema::REBUILD_INDEX_LABEL, SchemaKind::IndexLabel, schema::rebuild);
}

/// One kind of parts: the paths of all and of one.
fn part_routes(table: &mut Table<'_>, kind: SchemaKind, [all, one]: [Paths; 2]) {
    let operations = schema::operations_of(kind);
    table.of_kind(Method::GET, all, &operations.list, kind, schema::list);
    table.of_kind(Method::POST, all, &operations.create, kind, schema::create);
    table.of_kind(Method::GET, one, &operations.get, kind, schema::get);
    table.of_kind(Method::PUT, one, &operations.update, kind, schema::update);
    table.of_kind(Method::DELETE, one, &operations.remove, kind, schema::remove);
}

/// Vertices and edges.
fn element_routes(table: &mut Table<'_>) {
    table.both(Method::GET, of_graph!("/graph/vertices"), &vertices::LIST, vertices::list);
    table.both(Method::POST, of_graph!("/graph/vertices"), &vertices::CREATE, vertices::create);
    table.both(
        Method::POST,
        of_graph!("/graph/vertices/batch"),
        &vertices::CREATE_MANY,
        vertices::create_many,
    );
    table.both(
        Method::PUT,
        of_graph!("/graph/vertices/batch"),
        &vertices::UPDATE_MANY,
        vertices::update_many,
    );
    table.both(
        Method::DELETE,
        of_graph!("/graph/vertices/batch"),
        &vertices::REMOVE_MANY,
        vertices::remove_many,
    );
    table.both(Method::GET, of_graph!("/graph/vertices/{id}"), &vertices::GET, vertices::get);
    table.both(Method::PUT, of_graph!("/graph/vertices/{id}"), &vertices::UPDATE, vertices::update);
    table.both(Method::DELETE, of_graph!("/graph/vertices/{id}"), &vertices::REMOVE, vertices::remove);
    table.both(Method::GET, of_graph!("/graph/edges"), &edges::LIST, edges::list);
    table.both(Method::POST, of_graph!("/graph/edges"), &edges::CREATE, edges::create);
    table.both(Method::POST, of_graph!("/graph/edges/batch"), &edges::CREATE_MANY, edges::create_many);
    table.both(Method::PUT, of_graph!("/graph/edges/batch"), &edges::UPDATE_MANY, edges::update_many);
    table.both(Method::DELETE, of_graph!("/graph/edges/batch"), &edges::REMOVE_MANY, edges::remove_many);
    table.both(Method::GET, of_graph!("/graph/edges/{id}"), &edges::GET, edges::get);
    table.both(Method::PUT, of_graph!("/graph/edges/{id}"), &edges::UPDATE, edges::update);
    table.both(Method::DELETE, of_graph!("/graph/edges/{id}"), &edges::REMOVE, edges::remove);
}

/// All elements, shard by shard, and those of some ids.
fn scan_routes(table: &mut Table<'_>) {
    table.both(Method::GET, of_graph!("/traversers/vertices"), &scans::VERTICES, scans::vertices);
    table.both(
        Method::GET,
        of_graph!("/traversers/vertices/shards"),
        &scans::VERTEX_SHARDS,
        scans::vertex_shards,
    );
    table.both(
        Method::GET,
        of_graph!("/traversers/vertices/scan"),
        &scans::SCAN_VERTICES,
        scans::scan_vertices,
    );
    table.both(Method::GET, of_graph!("/traversers/edges"), &scans::EDGES, scans::edges);
    table.both(Method::GET, of_graph!("/traversers/edges/shards"), &scans::EDGE_SHARDS, scans::edge_shards);
    table.both(Method::GET, of_graph!("/traversers/edges/scan"), &scans::SCAN_EDGES, scans::scan_edges);
}

/// Tasks, and variables.
fn task_routes(table: &mut Table<'_>) {
    table.both(Method::GET, of_graph!("/tasks"), &tasks::LIST, tasks::list);
    table.both(Method::GET, of_graph!("/tasks/{id}"), &tasks::GET, tasks::get);
    table.both(Method::PUT, of_graph!("/tasks/{id}"), &tasks::CANCEL, tasks::cancel);
    table.both(Method::DELETE, of_graph!("/tasks/{id}"), &tasks::REMOVE, tasks::remove);
    table.both(Method::POST, of_graph!("/jobs/algorithm/{name}"), &jobs::ALGORITHM, jobs::algorithm);
    table.both(Method::POST, of_graph!("/jobs/computer/{name}"), &jobs::COMPUTER, jobs::computer);
    table.both(Method::GET, of_graph!("/variables"), &variables::LIST, variables::list);
    table.both(Method::GET, of_graph!("/variables/{key}"), &variables::GET, variables::get);
    table.both(Method::PUT, of_graph!("/variables/{key}"), &variables::PUT, variables::put);
    table.both(Method::DELETE, of_graph!("/variables/{key}"), &variables::REMOVE, variables::remove);
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
