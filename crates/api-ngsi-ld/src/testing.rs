//! Doors for fuzzing: readers of parameters and headers, which are private. Not part of the API.

use api_http::{Operation, Params, Request, check_parameters};
use http::{HeaderValue, header};
use tenant_contexts::Names;

use crate::params::{
    EntityParams, HISTORY_QUERY, QUERY, TemporalParams, parse_query_body, parse_temporal_body,
};
use crate::request::context_link;
use crate::state::Limits;

const LIMITS: Limits = Limits {
    page_default: 20,
    page_max: 1000,
    batch_entities_max: 100,
    depth_max: 64,
    join_level_max: 4,
    join_entities_max: 10,
    temporal_instances_max: 100,
    q_nodes_max: 100,
    q_values_max: 100,
    geo_positions_max: 100,
    page_bytes_max: 1 << 20,
};

const PRESENT: Operation = Operation::new("", "present", "").query(QUERY);
const PAST: Operation = Operation::new("", "past", "").query(HISTORY_QUERY);

/// Whether the parameters of a query of entities are taken: of their present, and of their past.
pub fn parameters(query: &str, names: &Names) -> (bool, bool) {
    let Ok(params) = Params::parse(query) else { return (false, false) };
    let request = |operation| {
        let request = Request { params: params.clone(), operation, ..Request::default() };
        check_parameters(&request).is_ok().then_some(request)
    };
    let present = |request| EntityParams::of_query(&request, names, &LIMITS).is_ok();
    let past = |request| TemporalParams::of_query(&request, names, &LIMITS).is_ok();
    (request(&PRESENT).is_some_and(present), request(&PAST).is_some_and(past))
}

/// Whether the body of a query of entities is taken: of their present, and of their past.
pub fn query_body(body: &str, names: &Names) -> (bool, bool) {
    let request = |operation| Request { operation, ..Request::default() };
    let present = parse_query_body(body, &request(&PRESENT), names, &LIMITS);
    (present.is_ok(), parse_temporal_body(body, &request(&PAST), names, &LIMITS).is_ok())
}

/// The context that a header `Link` names.
pub fn link(value: HeaderValue) -> Option<String> {
    let mut request = Request::default();
    request.headers.insert(header::LINK, value);
    context_link(&request).ok().flatten().map(str::to_owned)
}
