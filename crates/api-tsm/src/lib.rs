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

use api_http::{Document, Frame, FrontEnd, Request, Response, Route, check_untagged};
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
    routes.push(Tsm::route(api, Method::GET, DOCUMENT, &docs::DOCUMENT, give));
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
        Tsm::route(api, Method::GET, REPOSITORIES, &repositories::LIST, repositories::list),
        Tsm::route(api, Method::POST, REPOSITORIES, &repositories::CREATE, repositories::create),
        Tsm::route(api, Method::GET, REPOSITORY, &repositories::GET, repositories::get),
        Tsm::route(api, Method::PUT, REPOSITORY, &repositories::REPLACE, repositories::replace),
        Tsm::route(api, Method::DELETE, REPOSITORY, &repositories::REMOVE, repositories::remove),
        Tsm::route(api, Method::GET, MANY_SERIES, &series::SEARCH, series::search),
        Tsm::route(api, Method::POST, MANY_SERIES, &series::DEFINE, series::define),
        Tsm::route(api, Method::GET, SERIES, &series::GET, series::get),
        Tsm::route(api, Method::PUT, SERIES, &series::REPLACE, series::replace),
        Tsm::route(api, Method::PATCH, SERIES, &series::PATCH, series::patch),
        Tsm::route(api, Method::DELETE, SERIES, &series::REMOVE, series::remove),
        Tsm::route(api, Method::POST, DEFINITIONS, &series::DEFINE_MANY, series::define_many),
        Tsm::route(api, Method::GET, DATA, &data::READ, data::read),
        Tsm::route(api, Method::PUT, DATA, &data::PUT, data::put),
        Tsm::route(api, Method::PATCH, DATA, &data::PATCH, data::put),
        Tsm::route(api, Method::DELETE, DATA, &data::REMOVE, data::remove),
        Tsm::route(api, Method::GET, MODIFICATIONS, &data::MODIFICATIONS, data::modifications),
        Tsm::route(api, Method::GET, QUOTATIONS, &data::QUOTATIONS, data::quotations),
        Tsm::route(api, Method::GET, BULK, &bulk::READ, bulk::read),
        Tsm::streamed(api, Method::PUT, BULK, &bulk::PUT, bulk::put),
        Tsm::route(api, Method::POST, BULK, &bulk::READ_BY_BODY, bulk::read_by_body),
        Tsm::route(api, Method::GET, SUM, &bulk::SUM, bulk::sum),
        Tsm::route(api, Method::POST, SUM, &bulk::SUM_BY_BODY, bulk::sum_by_body),
        Tsm::route(api, Method::GET, UNITS, &units::LIST, units::list),
        Tsm::route(api, Method::POST, UNITS, &units::CREATE, units::create),
        Tsm::route(api, Method::GET, UNIT, &units::GET, units::get),
        Tsm::route(api, Method::PUT, UNIT, &units::PUT, units::put),
        Tsm::route(api, Method::DELETE, UNIT, &units::REMOVE, units::remove),
        Tsm::route(api, Method::GET, ATTRIBUTES, &attributes::LIST_ALIAS, attributes::list),
        Tsm::route(api, Method::POST, ATTRIBUTES, &attributes::CREATE_ALIAS, attributes::create),
        Tsm::route(api, Method::GET, ATTRIBUTE, &attributes::GET_ALIAS, attributes::get),
        Tsm::route(api, Method::PUT, ATTRIBUTE, &attributes::PUT_ALIAS, attributes::put),
        Tsm::route(api, Method::DELETE, ATTRIBUTE, &attributes::REMOVE_ALIAS, attributes::remove),
        Tsm::route(api, Method::GET, TYPES, &attributes::LIST, attributes::list),
        Tsm::route(api, Method::POST, TYPES, &attributes::CREATE, attributes::create),
        Tsm::route(api, Method::GET, TYPE, &attributes::GET, attributes::get),
        Tsm::route(api, Method::PUT, TYPE, &attributes::PUT, attributes::put),
        Tsm::route(api, Method::DELETE, TYPE, &attributes::REMOVE, attributes::remove),
        Tsm::route(api, Method::GET, HOOKS, &hooks::LIST, hooks::list),
        Tsm::route(api, Method::POST, HOOKS, &hooks::CREATE, hooks::create),
        Tsm::route(api, Method::GET, HOOK, &hooks::GET, hooks::get),
        Tsm::route(api, Method::PUT, HOOK, &hooks::PUT, hooks::put),
        Tsm::route(api, Method::DELETE, HOOK, &hooks::REMOVE, hooks::remove),
        Tsm::route(api, Method::GET, DOCS, &docs::PAGE, |_, _| docs::page()),
    ]
}

/// Problems say whether a request could only have created something.
struct Tsm;

impl Frame for Tsm {
    type Problem = Problem;
    type Note = bool;

    fn note(request: &Request) -> bool {
        only_creates(request)
    }

    fn check(request: &Request) -> Result<(), Problem> {
        check_untagged(request)?;
        params::check(request)
    }

    fn answer(only_creates: bool, answered: Result<Response, Problem>) -> Response {
        answered.unwrap_or_else(|problem| problem.unless_created(only_creates).response())
    }
}
