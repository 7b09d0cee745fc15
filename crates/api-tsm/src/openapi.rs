//! What the OpenAPI document of the API says beside its operations, which are declared with their handlers.

mod schemas;

use api_http::ApiDescription;

/// What the operations are grouped by.
const TAGS: &[(&str, &str)] = &[
    ("repositories", "Spaces of series."),
    ("series", "Definitions: searched for, made, changed, removed."),
    ("data", "Points of one series."),
    ("bulk", "Points of many series in one request, and their sum."),
    ("units", "What values are measured in."),
    ("attributes", "What can be said of series."),
    ("hooks", "Who is told of changes."),
    ("docs", "This description."),
];

const PATH: &[(&str, &str)] = &[
    ("repository", "The repository's name."),
    ("series", "The series' ID or name; digits are an ID before they are a name."),
    ("unit", "The unit's name."),
    ("attribute", "The type's name."),
    ("hook", "The hook's name."),
];

/// What is said of the API.
pub(crate) fn description() -> ApiDescription {
    ApiDescription {
        title: "TSM: time series",
        description: "Series of energy data: defined in repositories, written and read in bulk or one by one, on any \
            raster, in any unit. Everything below /tsm/v1/repositories is below /repositories, too. A path answers other methods than \
            those below with 405 and Allow.",
        tags: TAGS,
        schemas: schemas::schemas(),
        path: PATH,
        refusal_schema: "Error",
        refusal,
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed; the message names what.",
        404 => "Something that is named is not known.",
        406 => "None of the accepted media types is given.",
        409 => "Something of this name exists already.",
        413 => "Beyond a limit; the message names it.",
        415 => "The body's media type is not read here.",
        _ => unreachable!("no operation declares that it refuses with {status}"),
    }
}

#[cfg(test)]
mod tests;
