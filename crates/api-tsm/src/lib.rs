//! The TSM API over series: time series as energy companies manage them.
//!
//! [`front_ends`] is the route table, one line per endpoint; each answers below `/tsm/v1` and, as HAKOM spells it,
//! below `/repositories`. A request walks `params` (query), `shapes` (master data) or [`wire`] (points), the model,
//! and back. Reads and writes of many series stream: `routes/answer` groups, reads and renders them on several
//! tasks in order, so an answer of any size needs the memory of a few chunks.
//!
//! ```
//! use api_http::Router;
//! use api_tsm::{Api, Limits, front_ends};
//! use http::Method;
//! # use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};
//! # let clock = Clock::manual(Timestamp(0));
//! # let strands = StrandOptions { block_points_max: 4096, overlays_max: 32, overlay_points_max: 16_384 };
//! # let options = SeriesOptions {
//! #     strands, tenants_max: 10, repositories_max: 10, catalogue_buckets: 1, definitions_cached_max: 10,
//! # };
//! # let repositories = Repositories::new(store::testing::memory(clock.clone()), options);
//! # let limits = Limits {
//! #     page_default: 20, page_max: 1000, request_series_max: 1000, answer_slots_max: 1_000_000,
//! #     write_points_max: 1_000_000, depth_max: 64, item_bytes_max: 1 << 16, batch_bytes_max: 1 << 22,
//! #     stall_max: std::time::Duration::from_secs(10), read_tasks: 2,
//! # };
//! let router = Router::new(front_ends(&Api::new(repositories, clock, limits)));
//! for path in ["/tsm/v1/repositories/grid/units/kWh", "/repositories/grid/units/kWh"] {
//!     let found = router.find(&Method::GET, path).expect("a route");
//!     assert_eq!(found.operation.id, "getUnit");
//!     assert_eq!(found.captures, ["grid", "kWh"]);
//! }
//! ```

pub mod wire;
mod problem;
mod media;
mod times;
mod notification;
mod shapes;
mod state;
mod params;
mod operation;
mod openapi;
mod routes;
#[cfg(feature = "testing")]
pub mod testing;

pub use notification::{change_body, notification};
pub use state::{Api, Limits};

use api_http::{
    Document, FrontEnd, Operation, Request, RequestStream, Response, Route, check_untagged, handler,
    streamed_handler,
};
use http::Method;

use problem::{Problem, refuse};
use routes::conditions::only_creates;
use routes::{attributes, bulk, data, docs, hooks, repositories, series, units};

/// The path below which the API is.
const BASE: &str = "/tsm/v1";
/// The same resources without that base.
const PLAIN: &str = "/repositories";

/// Its description, for people and for programs.
const DOCS: &str = "/tsm/v1/docs";
const DOCUMENT: &str = "/tsm/v1/docs/openapi.json";

/// The front ends: one below `/tsm/v1`, and the same resources below `/repositories`.
pub fn front_ends(api: &Api) -> Vec<FrontEnd> {
    let mut routes = routes(api);
    let lines = routes.iter().map(Route::line).chain([(Method::GET, DOCUMENT, &docs::DOCUMENT)]);
    let document = Document::new(openapi::description, lines);
    let give = move |_, _| docs::document(document.clone());
    routes.push(route(api, Method::GET, DOCUMENT, &docs::DOCUMENT, give));
    let plain = routes.iter().filter_map(|route| {
        let path = route.path.strip_prefix(BASE).filter(|path| path.starts_with(PLAIN))?;
        Some(Route { path, ..route.clone() })
    });
    let plain = plain.collect();
    vec![
        FrontEnd { name: "tsm", prefix: BASE, routes, refuse },
        FrontEnd { name: "tsm", prefix: PLAIN, routes: plain, refuse },
    ]
}

fn routes(api: &Api) -> Vec<Route> {
    const REPOSITORIES: &str = "/tsm/v1/repositories";
    const REPOSITORY: &str = "/tsm/v1/repositories/{repository}";
    const MANY_SERIES: &str = "/tsm/v1/repositories/{repository}/timeseries";
    const SERIES: &str = "/tsm/v1/repositories/{repository}/timeseries/{series}";
    const DEFINITIONS: &str = "/tsm/v1/repositories/{repository}/timeseriescollections/definition";
    const DATA: &str = "/tsm/v1/repositories/{repository}/timeseries/{series}/data";
    const MODIFICATIONS: &str = "/tsm/v1/repositories/{repository}/timeseries/{series}/data/modifications";
    const QUOTATIONS: &str = "/tsm/v1/repositories/{repository}/timeseries/{series}/quotations";
    const BULK: &str = "/tsm/v1/repositories/{repository}/timeseriescollections/data";
    const SUM: &str = "/tsm/v1/repositories/{repository}/timeseriescollections/data/sum";
    const UNITS: &str = "/tsm/v1/repositories/{repository}/units";
    const UNIT: &str = "/tsm/v1/repositories/{repository}/units/{unit}";
    const ATTRIBUTES: &str = "/tsm/v1/repositories/{repository}/attributes";
    const ATTRIBUTE: &str = "/tsm/v1/repositories/{repository}/attributes/{attribute}";
    const TYPES: &str = "/tsm/v1/repositories/{repository}/attributetypes";
    const TYPE: &str = "/tsm/v1/repositories/{repository}/attributetypes/{attribute}";
    const HOOKS: &str = "/tsm/v1/repositories/{repository}/hooks";
    const HOOK: &str = "/tsm/v1/repositories/{repository}/hooks/{hook}";
    vec![
        route(api, Method::GET, REPOSITORIES, &repositories::LIST, repositories::list),
        route(api, Method::POST, REPOSITORIES, &repositories::CREATE, repositories::create),
        route(api, Method::GET, REPOSITORY, &repositories::GET, repositories::get),
        route(api, Method::PUT, REPOSITORY, &repositories::REPLACE, repositories::replace),
        route(api, Method::DELETE, REPOSITORY, &repositories::REMOVE, repositories::remove),
        route(api, Method::GET, MANY_SERIES, &series::SEARCH, series::search),
        route(api, Method::POST, MANY_SERIES, &series::DEFINE, series::define),
        route(api, Method::GET, SERIES, &series::GET, series::get),
        route(api, Method::PUT, SERIES, &series::REPLACE, series::replace),
        route(api, Method::PATCH, SERIES, &series::PATCH, series::patch),
        route(api, Method::DELETE, SERIES, &series::REMOVE, series::remove),
        route(api, Method::POST, DEFINITIONS, &series::DEFINE_MANY, series::define_many),
        route(api, Method::GET, DATA, &data::READ, data::read),
        route(api, Method::PUT, DATA, &data::PUT, data::put),
        route(api, Method::PATCH, DATA, &data::PATCH, data::put),
        route(api, Method::DELETE, DATA, &data::REMOVE, data::remove),
        route(api, Method::GET, MODIFICATIONS, &data::MODIFICATIONS, data::modifications),
        route(api, Method::GET, QUOTATIONS, &data::QUOTATIONS, data::quotations),
        route(api, Method::GET, BULK, &bulk::READ, bulk::read),
        streamed(api, Method::PUT, BULK, &bulk::PUT, bulk::put),
        route(api, Method::POST, BULK, &bulk::READ_BY_BODY, bulk::read_by_body),
        route(api, Method::GET, SUM, &bulk::SUM, bulk::sum),
        route(api, Method::POST, SUM, &bulk::SUM_BY_BODY, bulk::sum_by_body),
        route(api, Method::GET, UNITS, &units::LIST, units::list),
        route(api, Method::POST, UNITS, &units::CREATE, units::create),
        route(api, Method::GET, UNIT, &units::GET, units::get),
        route(api, Method::PUT, UNIT, &units::PUT, units::put),
        route(api, Method::DELETE, UNIT, &units::REMOVE, units::remove),
        route(api, Method::GET, ATTRIBUTES, &attributes::LIST_ALIAS, attributes::list),
        route(api, Method::POST, ATTRIBUTES, &attributes::CREATE_ALIAS, attributes::create),
        route(api, Method::GET, ATTRIBUTE, &attributes::GET_ALIAS, attributes::get),
        route(api, Method::PUT, ATTRIBUTE, &attributes::PUT_ALIAS, attributes::put),
        route(api, Method::DELETE, ATTRIBUTE, &attributes::REMOVE_ALIAS, attributes::remove),
        route(api, Method::GET, TYPES, &attributes::LIST, attributes::list),
        route(api, Method::POST, TYPES, &attributes::CREATE, attributes::create),
        route(api, Method::GET, TYPE, &attributes::GET, attributes::get),
        route(api, Method::PUT, TYPE, &attributes::PUT, attributes::put),
        route(api, Method::DELETE, TYPE, &attributes::REMOVE, attributes::remove),
        route(api, Method::GET, HOOKS, &hooks::LIST, hooks::list),
        route(api, Method::POST, HOOKS, &hooks::CREATE, hooks::create),
        route(api, Method::GET, HOOK, &hooks::GET, hooks::get),
        route(api, Method::PUT, HOOK, &hooks::PUT, hooks::put),
        route(api, Method::DELETE, HOOK, &hooks::REMOVE, hooks::remove),
        route(api, Method::GET, DOCS, &docs::PAGE, |_, _| docs::page()),
    ]
}

/// A route that gets its body whole.
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
            let only_creates = only_creates(&request);
            let answered = match check(&request) {
                Ok(()) => function(api, request).await,
                Err(problem) => Err(problem),
            };
            answered.unwrap_or_else(|problem| problem.unless_created(only_creates).response())
        }
    };
    Route { method, path, operation, handler: handler(api, answer), is_admin: false }
}

/// A route that reads its body piece by piece.
fn streamed<F, A>(
    api: &Api,
    method: Method,
    path: &'static str,
    operation: &'static Operation,
    function: F,
) -> Route
where
    F: Fn(Api, Request, RequestStream) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = Result<Response, Problem>> + Send + 'static,
{
    let answer = move |api: Api, request: Request, body: RequestStream| async move {
        let answered = match check(&request) {
            Ok(()) => function(api, request, body).await,
            Err(problem) => {
                bulk::drain(body).await;
                Err(problem)
            }
        };
        answered.unwrap_or_else(|problem| problem.response())
    };
    Route { method, path, operation, handler: streamed_handler(api, answer), is_admin: false }
}

/// Checks what can be checked of any request before its handler sees it.
fn check(request: &Request) -> Result<(), Problem> {
    check_untagged(request)?;
    params::check(request)
}
