//! What the OpenAPI document of the API says beside its operations, which are declared with their handlers.

mod schemas;

use api_http::ApiDescription;

/// What the operations are grouped by.
const TAGS: &[(&str, &str)] = &[
    ("entities", "Entities: made, found, changed, removed."),
    ("attributes", "Attributes of one entity."),
    ("batches", "Many entities in one request."),
    ("past", "What entities were: instances of their attributes over time."),
    ("names", "Types and attributes in use, and the contexts that spell their names."),
    ("broker", "This broker, and this description."),
];

const PATH: &[(&str, &str)] = &[
    ("id", "The id of an entity, or of a context (its URL for a cached one), percent-encoded where needed."),
    ("attr", "The name of an attribute."),
    ("instance", "The id of an instance."),
    ("type", "The name of a type."),
];

/// What is said of the API.
pub(crate) fn description() -> ApiDescription {
    ApiDescription {
        title: "NGSI-LD",
        description: "Entities of digital twins, their history, and their names (ETSI GS CIM 009). Subscriptions, \
            registrations, entity maps and snapshots are not there yet. A path answers other methods than those below with \
            405 and Allow.",
        tags: TAGS,
        schemas: schemas::schemas(),
        path: PATH,
        refusal_schema: "ProblemDetails",
        refusal,
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed or means nothing valid; the detail names what.",
        403 => {
            "The query asks for more work, or more results, than a limit allows; the detail names the limit."
        }
        404 => "The entity, attribute, type, context or tenant is not there.",
        406 => "None of the accepted media types is given.",
        409 => "An entity of this id exists already.",
        412 => "The state is not the one that If-Match or If-None-Match names.",
        413 => "Beyond a limit; the detail names it.",
        415 => "The body's media type is not read here.",
        422 => "The operation is not supported, or a setting forbids it; the detail says which.",
        504 => {
            "A remote context cannot be had (LdContextNotAvailable), or the request took longer than \
             request_duration_max (InternalError)."
        }
        _ => unreachable!("no operation declares that it refuses with {status}"),
    }
}
