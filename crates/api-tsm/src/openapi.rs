//! The OpenAPI document, apart from its operations, which are declared with their handlers.

mod schemas;

use api_http::ApiDescription;

/// The groups of operations.
const TAGS: &[(&str, &str)] = &[
    ("repositories", "Named collections of series."),
    ("series", "Definitions of series: find, create, change, delete."),
    ("data", "Points of one series."),
    ("bulk", "Points of many series in one request, and their sum."),
    ("units", "Units of measurement."),
    ("attributes", "Types of the attributes that series have."),
    ("hooks", "Receivers that are notified of changes."),
    ("docs", "This description."),
];

const PATH: &[(&str, &str)] = &[
    ("repository", "Name of the repository."),
    ("series", "ID or name of the series; digits are tried as an ID first."),
    ("unit", "Name of the unit."),
    ("attribute", "Name of the attribute type."),
    ("hook", "Name of the hook."),
];

/// The description of the API.
pub(crate) fn description() -> ApiDescription {
    ApiDescription {
        title: "TSM: time series",
        description: "Time series of energy data: defined in repositories, written and read one by one or in bulk, at any \
            interval and in any unit. All paths below /tsm/v1/repositories are also available below /repositories. Other methods \
            than those listed are answered with 405 and the header Allow.",
        tags: TAGS,
        schemas: schemas::schemas(),
        path: PATH,
        refusal_schema: "Error",
        refusal,
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed; the message says what is wrong.",
        404 => "Something that the request names does not exist.",
        406 => "None of the accepted media types is available.",
        409 => "Something with this name exists already.",
        413 => "A limit is exceeded; the message names it.",
        415 => "The media type of the body is not supported here.",
        _ => unreachable!("no operation declares that it refuses with {status}"),
    }
}

#[cfg(test)]
mod tests;
