//! Doors for fuzzing: readers of parameters and of master data, which are private. Not part of the API.

use std::time::Duration;

use api_http::{Given, Operation, Params, Request};
use jiff::tz::TimeZone;
use model_series::Zone;

use crate::params::{PAGE, READ, ReadGiven, SEARCH, check, search};
use crate::shapes::{
    AttributeContext, AttributeTypeShape, HookGiven, RepositoryGiven, SeriesGiven, UnitGiven,
    parse_day_start, read_json, series_refs,
};
use crate::state::Limits;
use crate::times::parse_moment;

const LIMITS: Limits = Limits {
    page_default: 20,
    page_max: 1000,
    request_series_max: 100,
    answer_slots_max: 1000,
    write_points_max: 1000,
    depth_max: 16,
    item_bytes_max: 1000,
    batch_bytes_max: 10_000,
    stall_max: Duration::from_secs(1),
    read_tasks: 1,
};

/// Whether the parameters of a read of points are taken, and those of a search for series.
pub fn parameters(query: &str) -> (bool, bool) {
    const READING: Operation = Operation::new("", "read", "").query(&[READ]);
    const SEARCHING: Operation = Operation::new("", "search", "").query(&[SEARCH, PAGE]);
    let Ok(params) = Params::parse(query) else { return (false, false) };
    let request = |operation| {
        let request = Request { params: params.clone(), operation, ..Request::default() };
        check(&request).is_ok().then_some(request)
    };
    let read = |request: Request| {
        let given = ReadGiven::new(&Given::of(&request));
        given.and_then(|given| given.request(&Zone::utc())).is_ok()
    };
    let searched = |request: Request| search(&Given::of(&request), &LIMITS).is_ok();
    (request(&READING).is_some_and(read), request(&SEARCHING).is_some_and(searched))
}

/// A moment in nanoseconds since 1970; `None` if the text is none, or beyond them.
pub fn moment(text: &str) -> Option<i64> {
    parse_moment(text).ok()?.in_zone(&TimeZone::UTC).ok()
}

/// The beginning of days in seconds after midnight; `None` if the text is no time of day.
pub fn day_start(text: &str) -> Option<u32> {
    parse_day_start(text).ok()
}

/// Whether a body is a repository, a series, a unit, an attribute type, and a hook; and as a text it names series.
pub fn master_data(body: &[u8]) -> [bool; 5] {
    let _ = std::str::from_utf8(body).map(series_refs);
    let series = |given: SeriesGiven| given.draft(&AttributeContext::default()).is_ok();
    [
        read_json(body).is_ok_and(|given: RepositoryGiven| given.draft().is_ok()),
        read_json(body).is_ok_and(series),
        read_json(body).is_ok_and(|given: UnitGiven| given.unit(None).is_ok()),
        read_json(body).is_ok_and(|given: AttributeTypeShape| given.attribute_type(None).is_ok()),
        read_json(body).is_ok_and(|given: HookGiven| given.hook(None).is_ok()),
    ]
}
