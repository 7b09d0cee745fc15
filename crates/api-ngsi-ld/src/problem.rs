//! Errors as NGSI-LD words them (ETSI GS CIM 009, 5.5.2 and 6.3.2): a problem body and a status.

use api_http::{
    ConditionError, DataDamaged, MemoryFull, Refusal, RequestTimedOut, Response, TenantError, json_response,
    log_refusal,
};
use http::{HeaderValue, Method, StatusCode, header};
use lang_json::ObjectWriter;
use lang_ngsi_ld::Error as TextError;
use model_entities::{Error, Limit, LimitName, StoreErrorKind, TermId};
use tenant_contexts::Error as ContextError;

const TYPE_PREFIX: &str = "https://uri.etsi.org/ngsi-ld/errors/";

/// An NGSI-LD error (RFC 7807): type `https://uri.etsi.org/ngsi-ld/errors/<kind>`, title, detail, status.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// The last part of the error type (table 5.5.2-1).
    pub kind: &'static str,
    /// What kind of error it is, for people.
    pub title: &'static str,
    /// What was wrong this time; names the offending member.
    pub detail: String,
    /// Whether the cause is that stored data is damaged.
    damage: bool,
}

impl Problem {
    fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, title, detail: detail.into(), damage: false }
    }

    /// The request is well-formed and means nothing valid.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequestData", "Bad request data", detail)
    }

    /// The request is syntactically wrong: no JSON, a parameter that is not allowed here.
    pub(crate) fn invalid_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "InvalidRequest", "Invalid request", detail)
    }

    /// The entity, attribute, type or context is not there.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "ResourceNotFound", "Resource not found", detail)
    }

    /// No entity has this id.
    pub(crate) fn no_such_entity(id: &str) -> Self {
        Self::not_found(format!("entity {id:?} does not exist"))
    }

    /// What is to be created exists.
    pub(crate) fn already_exists(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "AlreadyExists", "Already exists", detail)
    }

    /// The resource is not in a state that the request demands.
    pub(crate) fn precondition_failed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "InvalidRequest", "Precondition failed", detail)
    }

    /// The operation is not available on this resource.
    pub(crate) fn operation_not_supported(detail: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self::new(status, "OperationNotSupported", "Operation not supported", detail)
    }

    /// A remote `@context` cannot be had.
    pub(crate) fn ld_context_not_available(detail: impl Into<String>) -> Self {
        let status = StatusCode::GATEWAY_TIMEOUT;
        Self::new(status, "LdContextNotAvailable", "JSON-LD @context not available", detail)
    }

    /// The tenant was never written to.
    pub(crate) fn no_such_tenant(name: &str) -> Self {
        let detail = format!("tenant {name:?} does not exist");
        Self::new(StatusCode::NOT_FOUND, "NonexistentTenant", "Tenant does not exist", detail)
    }

    /// The query asks for more work than a limit allows.
    pub(crate) fn too_complex_query(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "TooComplexQuery", "Query too complex", detail)
    }

    /// The query would give more than a limit allows.
    pub(crate) fn too_many_results(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "TooManyResults", "Too many results", detail)
    }

    /// None of the media types the client accepts can be given.
    pub(crate) fn not_acceptable(offered: &str) -> Self {
        let detail = format!("Accept admits none of {offered}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "InvalidRequest", "Not acceptable", detail)
    }

    /// The body is of a media type that this operation does not read.
    pub(crate) fn unsupported_media_type(detail: impl Into<String>) -> Self {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Self::new(status, "InvalidRequest", "Unsupported media type", detail)
    }

    /// The request, or what it would store, is larger than a limit.
    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "BadRequestData", "Too large", detail)
    }

    /// The server cannot do it now; it may later.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "InternalError", "Service unavailable", detail)
    }

    /// The disk has no room for a write; it may have later.
    pub(crate) fn disk_full() -> Self {
        let detail =
            "the server's disk is full: nothing was acknowledged; writes are taken again once there is room";
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "InternalError", "Disk full", detail)
    }

    /// Bodies and answers take all memory that they may.
    pub(crate) fn memory_full() -> Self {
        Self::unavailable(format!("{MemoryFull}; try again"))
    }

    /// The deadline came first.
    pub(crate) fn timed_out(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "InternalError", "Timed out", detail)
    }

    /// A fault of ours: what it was goes to the log, not to the client.
    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            "Internal error",
            "the server failed; its log says why",
        )
    }

    /// Stored data is damaged: which goes to the log.
    pub(crate) fn damaged() -> Self {
        let detail = "stored data is damaged; the server's log says which".to_owned();
        Self { damage: true, detail, ..Self::internal() }
    }

    /// The entity with this id is damaged.
    pub(crate) fn damaged_entity(id: &str) -> Self {
        tracing::error!(id, "a stored entity is damaged");
        Self::damaged()
    }

    /// Whether the cause is that stored data is damaged.
    pub(crate) fn is_damage(&self) -> bool {
        self.damage
    }

    /// Whether the cause is that the deadline came first; a context that cannot be had has the same status.
    fn is_timed_out(&self) -> bool {
        self.status == StatusCode::GATEWAY_TIMEOUT && self.kind == "InternalError"
    }

    /// Appends the problem as a JSON object.
    pub(crate) fn write(&self, out: &mut String) {
        let mut problem = ObjectWriter::begin(out);
        problem.string("type", &[TYPE_PREFIX, self.kind].concat());
        problem.string("title", self.title);
        problem.string("detail", &self.detail);
        problem.raw("status", self.status.as_str());
        problem.end();
    }

    /// The answer to the client.
    pub(crate) fn response(&self) -> Response {
        let mut body = String::with_capacity(192 + self.detail.len());
        self.write(&mut body);
        let mut response = json_response(self.status, "application/json", body);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.damage {
            response.extensions_mut().insert(DataDamaged);
        }
        if self.is_timed_out() {
            response.extensions_mut().insert(RequestTimedOut);
        }
        response
    }
}

/// Words headers that do not say whose data is meant.
impl From<TenantError> for Problem {
    fn from(error: TenantError) -> Self {
        Self::bad_request(error.to_string())
    }
}

/// Words a condition that does not hold, or cannot be read.
impl From<ConditionError> for Problem {
    fn from(error: ConditionError) -> Self {
        match error {
            ConditionError::Malformed(_) => Self::invalid_request(error.to_string()),
            ConditionError::Failed(_) => Self::precondition_failed(error.to_string()),
        }
    }
}

/// Words a refusal of the contexts.
impl From<ContextError> for Problem {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::NotJson(detail) => Self::invalid_request(detail),
            ContextError::Invalid(detail) => Self::bad_request(detail),
            ContextError::Unavailable(detail) => Self::ld_context_not_available(detail),
            ContextError::NotAllowed(detail) => Self::operation_not_supported(detail),
            ContextError::TooLarge(detail) => Self::too_large(detail),
            ContextError::NoSuchContext(_) => Self::not_found(error.to_string()),
            ContextError::Damaged => Self::damaged(),
            ContextError::Failed => Self::internal(),
            ContextError::Model(error) => write_problem(&error, unnamed),
        }
    }
}

/// Words a text that is refused.
impl From<TextError> for Problem {
    fn from(error: TextError) -> Self {
        match error {
            TextError::NotJson(detail) => Self::invalid_request(detail),
            TextError::Invalid(detail) => Self::bad_request(detail),
            TextError::TooLarge(detail) => Self::too_large(detail),
            TextError::TooComplex(detail) => Self::too_complex_query(detail),
        }
    }
}

/// The name of an attribute where there are no names.
pub(crate) fn unnamed(_: TermId) -> &'static str {
    "attribute"
}

/// Words a refusal of the model; `name` spells a term.
pub(crate) fn problem<'n>(error: &Error, name: impl FnOnce(TermId) -> &'n str) -> Problem {
    match error {
        Error::NoSuchTenant(name) => Problem::no_such_tenant(name),
        Error::TooManyTenants { .. } => Problem::operation_not_supported(error.to_string()),
        Error::NoSuchEntity(id) => Problem::no_such_entity(id),
        Error::AlreadyExists(id) => Problem::already_exists(format!("entity {id:?} exists already")),
        Error::NoSuchAttribute(term, dataset) => {
            let name = name(*term);
            Problem::not_found(match dataset {
                Some(dataset) => {
                    format!("the entity has no instance of attribute {name:?} with datasetId {dataset:?}")
                }
                None => format!("the entity has no such instance of attribute {name:?}"),
            })
        }
        Error::StateDiffers(id) => Problem::precondition_failed(format!(
            "entity {id:?} is not in a state that If-Match and If-None-Match admit"
        )),
        Error::NoSuchInstance(id) => Problem::not_found(format!("instance {id} does not exist")),
        Error::Invalid(detail) => Problem::bad_request(detail.as_str()),
        Error::Contention(id) => {
            Problem::unavailable(format!("too many writers of entity {id:?} at once; try again"))
        }
        Error::Limit(limit) => Problem::too_complex_query(beyond(limit)),
        Error::StrandLimit(_) => Problem::too_complex_query(error.to_string()),
        Error::TimedOut(timed_out) => Problem::timed_out(timed_out.to_string()),
        Error::Store(error) => store_problem(error.kind(), error),
    }
}

/// Words a refusal of a write: its limits are on what is stored, not on a query.
pub(crate) fn write_problem<'n>(error: &Error, name: impl FnOnce(TermId) -> &'n str) -> Problem {
    match error {
        Error::Limit(limit) => Problem::too_large(beyond(limit)),
        Error::StrandLimit(_) => Problem::too_large(error.to_string()),
        error => problem(error, name),
    }
}

/// Words what is beyond a limit, and says which parameter to change where one decides.
fn beyond(limit: &Limit) -> String {
    let Limit { name, max, .. } = limit;
    let label = name.as_str();
    match name {
        LimitName::ScannedEntities { is_indexing: false } => format!(
            "the query looks at more than {max} entities ({label}): narrow it down by type, id or scopeQ"
        ),
        LimitName::LinkedEntities => {
            format!("parameter q follows relationships to more than {max} entities ({label})")
        }
        LimitName::SortedEntities => {
            format!("parameters offset and limit reach beyond {max} sorted entities ({label})")
        }
        LimitName::SortKeyBytes => format!(
            "parameter orderBy: what entities are sorted by takes more than {max} bytes ({label}): ask for fewer entities, or \
             order by fewer members"
        ),
        LimitName::InstancesOfOneTime => format!(
            "an attribute has more than {max} instances of the same time, which one answer must hold together ({label}): ask for \
             fewer attributes or datasetIds"
        ),
        LimitName::ScannedEntities { is_indexing: true }
        | LimitName::EntityBytes
        | LimitName::IdBytes
        | LimitName::ScopeBytes
        | LimitName::Types
        | LimitName::Scopes
        | LimitName::Attributes
        | LimitName::SubAttributes
        | LimitName::Instances
        | LimitName::IndexRows
        | LimitName::IndexBytes
        | LimitName::NameBytes
        | LimitName::Names
        | LimitName::ConsumerNameBytes
        | LimitName::Consumers => limit.to_string(),
    }
}

fn store_problem(kind: StoreErrorKind, error: &dyn std::error::Error) -> Problem {
    // What is too large is the client's fault.
    if kind != StoreErrorKind::TooLarge {
        log_refusal(error, kind.is_outage());
    }
    match kind {
        StoreErrorKind::Corrupt => Problem::damaged(),
        StoreErrorKind::Unavailable => Problem::unavailable("the store cannot serve now"),
        StoreErrorKind::Changed => {
            Problem::unavailable("what is read changes faster than it can be read: try again")
        }
        StoreErrorKind::TooLarge => {
            Problem::too_large(format!("the store does not take so much at once: {error}"))
        }
        StoreErrorKind::NoSpace => Problem::disk_full(),
        StoreErrorKind::FolderLost => {
            Problem::unavailable("the server's data folder was removed or replaced: nothing is written")
        }
        // The model words it as a tenant that does not exist.
        StoreErrorKind::TenantRemoved
        | StoreErrorKind::Conflict
        | StoreErrorKind::Fenced
        | StoreErrorKind::OtherIncarnation
        | StoreErrorKind::Unknown
        | StoreErrorKind::Locked
        | StoreErrorKind::Misuse => Problem::internal(),
    }
}

/// Words what the server refuses before or after a handler.
pub(crate) fn refuse(refusal: &Refusal, _: Option<&str>) -> Response {
    let plain = |status: StatusCode, kind: &'static str, title: &'static str, detail: String| {
        Problem::new(status, kind, title, detail).response()
    };
    match refusal {
        Refusal::NotFound => Problem::not_found("no NGSI-LD resource has this path").response(),
        // The router adds the header `Allow`.
        Refusal::MethodNotAllowed(methods) => {
            let allowed = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
            let detail = format!("this resource allows {allowed}");
            plain(StatusCode::METHOD_NOT_ALLOWED, "OperationNotSupported", "Method not allowed", detail)
        }
        Refusal::BodyTooLarge(_) | Refusal::StreamTooLarge(_) => {
            Problem::too_large(refusal.to_string()).response()
        }
        Refusal::BadEncoding(detail) => {
            Problem::unsupported_media_type(format!("Content-Encoding: {detail}")).response()
        }
        Refusal::BrokenBody(detail) => Problem::invalid_request(format!("the body: {detail}")).response(),
        Refusal::BadQuery(detail) | Refusal::BadHead(detail) => {
            Problem::invalid_request(detail.as_str()).response()
        }
        Refusal::EmptySegment => {
            let detail = "an id or name is missing: the path has an empty segment (\"//\")";
            Problem::bad_request(detail).response()
        }
        Refusal::TimedOut(limit_ms) => {
            let detail = format!("the request took longer than {limit_ms} ms (request_duration_max)");
            Problem::timed_out(detail).response()
        }
        Refusal::Stalled(limit_ms) => {
            let detail = format!("the body paused for longer than {limit_ms} ms");
            plain(StatusCode::REQUEST_TIMEOUT, "InvalidRequest", "Timed out", detail)
        }
        Refusal::SlowBody(limit_ms) => {
            let detail = format!("the body did not come within {limit_ms} ms");
            plain(StatusCode::REQUEST_TIMEOUT, "InvalidRequest", "Timed out", detail)
        }
        Refusal::Unauthorized(detail) => {
            plain(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized", detail.clone())
        }
        Refusal::Forbidden(detail) => plain(StatusCode::FORBIDDEN, "Forbidden", "Forbidden", detail.clone()),
        Refusal::Unavailable(detail) => Problem::unavailable(detail.as_str()).response(),
        Refusal::Busy => {
            Problem::unavailable("more requests at once than requests_max allows; try again").response()
        }
        Refusal::MemoryFull => Problem::memory_full().response(),
        Refusal::Internal => Problem::internal().response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_lost_folder_say_so() {
        for (kind, status, words) in [
            (StoreErrorKind::NoSpace, 507, "disk is full"),
            (StoreErrorKind::FolderLost, 503, "data folder was removed"),
        ] {
            let problem = store_problem(kind, &std::io::Error::other("write"));
            assert_eq!(problem.status.as_u16(), status);
            assert!(problem.detail.contains(words), "{}", problem.detail);
        }
    }

    #[test]
    fn an_answer_says_when_to_try_again() {
        for (problem, retry_after) in [
            (Problem::memory_full(), Some("1")),
            (store_problem(StoreErrorKind::Unavailable, &std::io::Error::other("read a row")), Some("1")),
            (Problem::disk_full(), None),
            (Problem::timed_out("the query took too long"), None),
            (Problem::internal(), None),
        ] {
            let response = problem.response();
            let given = response.headers().get(header::RETRY_AFTER);
            assert_eq!(given.and_then(|given| given.to_str().ok()), retry_after, "{problem:?}");
        }
    }

    #[test]
    fn a_request_beyond_its_time_is_no_context_that_cannot_be_had() {
        for (problem, is_timed_out) in
            [(Problem::timed_out("the query"), true), (Problem::ld_context_not_available("it"), false)]
        {
            let response = problem.response();
            assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
            assert_eq!(response.extensions().get::<RequestTimedOut>().is_some(), is_timed_out);
        }
    }

    #[test]
    fn damage_differs_from_bugs() {
        for (kind, is_damage) in [(StoreErrorKind::Corrupt, true), (StoreErrorKind::Misuse, false)] {
            let problem = store_problem(kind, &std::io::Error::other("read a row"));
            assert_eq!(problem.detail.contains("stored data is damaged"), is_damage);
            let response = problem.response();
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(response.extensions().get::<DataDamaged>().is_some(), is_damage);
        }
    }
}
