//! Errors as CPS words them: `{"status","message","details"}`. Where the original is known to say something, it is said in its
//! words; where it answers 500 for what is the client's fault, the answer is 400, and nothing internal is told.

use api_http::{
    BrokenOff, ConditionError, DataDamaged, MediaType, MemoryFull, Refusal, RequestTimedOut, Response,
    TenantError, json_response, log_refusal,
};
use http::{HeaderValue, Method, StatusCode, header};
use lang_yang::CompileError;
use model_config::{Error, Kind, StoreErrorKind};
use serde::Serialize;

/// The media type of JSON.
pub(crate) const JSON: MediaType = "application/json";

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// What kind of mistake, in few words.
    pub(crate) message: String,
    /// What exactly is wrong, and what would be right.
    pub(crate) details: String,
    /// Whether the cause is that stored data is damaged.
    damage: bool,
}

/// The body of an error.
#[derive(Serialize)]
struct Body<'a> {
    status: String,
    message: &'a str,
    details: &'a str,
}

/// What the original calls whatever is there already.
const EXISTS: &str = "Already defined exception";
/// What it calls a node that is not there.
const NO_NODE: &str = "DataNode not found";

impl Problem {
    fn new(status: StatusCode, message: impl Into<String>, details: impl Into<String>) -> Self {
        Self { status, message: message.into(), details: details.into(), damage: false }
    }

    /// The request cannot mean anything.
    pub(crate) fn bad_request(message: impl Into<String>, details: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, details)
    }

    /// A parameter is missing or wrong.
    pub(crate) fn validation(details: impl Into<String>) -> Self {
        Self::bad_request("Validation Error.", details)
    }

    /// The data does not fit its schema, or is none.
    pub(crate) fn invalid_data(details: impl Into<String>) -> Self {
        Self::bad_request("Data Validation Failed", details)
    }

    /// A path cannot be read, or means nothing that could be.
    pub(crate) fn bad_path(details: impl Into<String>) -> Self {
        Self::bad_request("Error while parsing cpsPath expression", details)
    }

    /// There is no such dataspace.
    pub(crate) fn no_dataspace(name: &str) -> Self {
        Self::bad_request("Dataspace not found", format!("Dataspace with name {name} does not exist."))
    }

    /// There is no such schema set.
    pub(crate) fn no_schema_set(name: &str, dataspace: &str) -> Self {
        Self::bad_request(
            "Schema Set not found.",
            format!("Schema Set with name {name} was not found for dataspace {dataspace}."),
        )
    }

    /// There is no such anchor.
    pub(crate) fn no_anchor(name: &str, dataspace: &str) -> Self {
        Self::bad_request(
            "Anchor not found",
            format!("Anchor with name {name} does not exist in dataspace {dataspace}."),
        )
    }

    /// There is no node at a path: 404 where it is read, 400 where it was to be written.
    pub(crate) fn no_node(xpath: &str, (dataspace, anchor): (&str, &str)) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            NO_NODE,
            format!(
                "DataNode with xpath {xpath} was not found for anchor {anchor} and dataspace {dataspace}."
            ),
        )
    }

    /// A node that a body names is not there.
    pub(crate) fn no_node_of_body((dataspace, anchor): (&str, &str)) -> Self {
        Self::bad_request(
            NO_NODE,
            format!("DataNode not found for anchor {anchor} and dataspace {dataspace}."),
        )
    }

    /// There is a dataspace of this name.
    pub(crate) fn dataspace_exists(name: &str) -> Self {
        Self::conflict(EXISTS, format!("{name} already exists."))
    }

    /// There is a schema set of this name.
    pub(crate) fn schema_set_exists(name: &str, dataspace: &str) -> Self {
        Self::conflict(EXISTS, format!("Schema Set with name {name} already exists for {dataspace}."))
    }

    /// There is an anchor of this name.
    pub(crate) fn anchor_exists(name: &str, dataspace: &str) -> Self {
        Self::conflict(EXISTS, format!("Anchor with name {name} already exists for {dataspace}."))
    }

    /// So many of the nodes that are to be created are there.
    pub(crate) fn nodes_exist(count: usize, anchor: &str) -> Self {
        Self::conflict(EXISTS, format!("{count} data node(s) already exist for {anchor}."))
    }

    /// A dataspace is not empty.
    pub(crate) fn dataspace_in_use(name: &str, details: impl Into<String>) -> Self {
        Self::conflict(format!("Dataspace with name {name} is being used."), details)
    }

    /// A schema set has anchors.
    pub(crate) fn schema_set_in_use(name: &str, dataspace: &str) -> Self {
        Self::conflict(
            "Schema Set is being used.",
            format!(
                "Schema Set with name {name} in dataspace {dataspace} is having Anchor records associated."
            ),
        )
    }

    /// Modules that are no YANG, or do not go together.
    pub(crate) fn invalid_yang(error: &CompileError) -> Self {
        let details = match &error.file {
            Some(file) => {
                let line = error.line.map_or_else(String::new, |line| format!(" (line {line})"));
                if error.is_dependency {
                    format!("{file}{line}: {}", error.message)
                } else {
                    format!("Yang syntax validation failed for resource {file}:\n{}{line}", error.message)
                }
            }
            None => error.message.to_string(),
        };
        Self::bad_request("Yang resource is invalid.", details)
    }

    /// What is there does not go with the request.
    pub(crate) fn conflict(message: impl Into<String>, details: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message, details)
    }

    /// Beyond a named limit.
    pub(crate) fn too_large(details: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "Limit exceeded", details)
    }

    /// The body is of a media type that is not read here.
    pub(crate) fn unsupported_media_type(given: &str) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Unsupported media type",
            format!("the body must be application/json or application/xml, not {given:?}"),
        )
    }

    /// Try again later.
    pub(crate) fn unavailable(details: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Not available", details)
    }

    /// A fault of ours: what it was goes to the log, not to the client.
    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error", "the server failed; its log says why")
    }

    /// Stored data is damaged: which goes to the log.
    pub(crate) fn damaged() -> Self {
        Self {
            damage: true,
            details: "stored data is damaged; the server's log says which".into(),
            ..Self::internal()
        }
    }

    /// There is no room for what is to be written; there may be later.
    pub(crate) fn disk_full() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "Disk full",
            "the server's disk is full: nothing was acknowledged; writes are taken again once there is room",
        )
    }

    /// The same as the answer to a write, where what is not there is a fault of the request.
    pub(crate) fn of_write(mut self) -> Self {
        if self.status == StatusCode::NOT_FOUND {
            self.status = StatusCode::BAD_REQUEST;
        }
        self
    }

    /// The answer to the client.
    pub(crate) fn response(&self) -> Response {
        let name = self
            .status
            .canonical_reason()
            .expect("we answer with statuses that have names")
            .to_uppercase()
            .replace([' ', '-'], "_");
        let status = format!("{} {name}", self.status.as_u16());
        let body = Body { status, message: &self.message, details: &self.details };
        let body = serde_json::to_vec(&body).expect("texts are always JSON");
        let mut response = json_response(self.status, JSON, body);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.damage {
            response.extensions_mut().insert(DataDamaged);
        }
        if self.status == StatusCode::GATEWAY_TIMEOUT {
            response.extensions_mut().insert(RequestTimedOut);
        }
        response
    }
}

/// Words a refusal of the model. What is about the nodes of one anchor is worded where the anchor is known.
impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        match error {
            // A tenant that is not there has no dataspaces.
            Error::UnknownTenant(_) => Self::validation(error.to_string()),
            Error::UnknownDataspace(name) => Self::no_dataspace(name),
            Error::UnknownSchemaSet { dataspace, name } => Self::no_schema_set(name, dataspace),
            Error::UnknownAnchor { dataspace, name } => Self::no_anchor(name, dataspace),
            Error::UnknownVersion { .. } | Error::Invalid(_) => Self::validation(error.to_string()),
            Error::AlreadyExists { kind, name } => match kind {
                Kind::Dataspace => Self::dataspace_exists(name),
                Kind::SchemaSet | Kind::Anchor => {
                    Self::conflict(EXISTS, format!("{kind} {name} already exists."))
                }
            },
            Error::InUse { kind: Kind::Dataspace, name, by } => {
                Self::dataspace_in_use(name, format!("Dataspace contains {by}."))
            }
            Error::InUse { .. } => Self::conflict("In use", error.to_string()),
            Error::Yang(error) => Self::invalid_yang(error),
            Error::Edit(error) => Self::invalid_data(error.to_string()),
            Error::Data(error) => Self::invalid_data(error.to_string()),
            Error::Conflict { .. } => Self::conflict("Conflict", error.to_string()),
            Error::Contention(_) => Self::unavailable(format!("{error}; try again")),
            Error::Limit { .. } => Self::too_large(error.to_string()),
            Error::TimedOut(_) => Self::new(StatusCode::GATEWAY_TIMEOUT, "Timed out", error.to_string()),
            Error::Store(error) => of_store(error.kind(), error),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

fn of_store(kind: StoreErrorKind, error: &dyn std::error::Error) -> Problem {
    // What is too large is the client's error: it is not logged.
    if kind != StoreErrorKind::TooLarge {
        log_refusal(error, kind.is_outage());
    }
    match kind {
        StoreErrorKind::Corrupt => Problem::damaged(),
        StoreErrorKind::Unavailable => Problem::unavailable("the store cannot serve now"),
        StoreErrorKind::Changed => {
            Problem::unavailable("what is read changes faster than it can be read: try again")
        }
        StoreErrorKind::NoSpace => Problem::disk_full(),
        StoreErrorKind::FolderLost => {
            Problem::unavailable("the server's data folder was removed or replaced: nothing is written")
        }
        StoreErrorKind::TooLarge => {
            Problem::too_large("the request changes more than the store takes at once")
        }
        StoreErrorKind::TenantRemoved => Problem::validation("the tenant was removed meanwhile"),
        StoreErrorKind::Conflict
        | StoreErrorKind::Fenced
        | StoreErrorKind::OtherIncarnation
        | StoreErrorKind::Unknown
        | StoreErrorKind::Locked
        | StoreErrorKind::Misuse => Problem::internal(),
    }
}

/// Words headers that do not say whose data is meant.
impl From<TenantError> for Problem {
    fn from(error: TenantError) -> Self {
        Self::validation(error.to_string())
    }
}

/// Words a condition: nothing of this API has tags.
impl From<ConditionError> for Problem {
    fn from(error: ConditionError) -> Self {
        match error {
            ConditionError::Malformed(_) => Self::validation(error.to_string()),
            ConditionError::Failed(_) => {
                Self::new(StatusCode::PRECONDITION_FAILED, "Precondition failed", error.to_string())
            }
        }
    }
}

/// Words why an answer that is under way breaks off.
impl From<Problem> for BrokenOff {
    fn from(problem: Problem) -> Self {
        Self(problem.details)
    }
}

/// Words that other bodies and answers leave no memory for this one.
impl From<MemoryFull> for Problem {
    fn from(full: MemoryFull) -> Self {
        Self::unavailable(format!("{full}; try again"))
    }
}

/// Words what the server, or a body on its way in, refuses.
impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::NotFound => {
                Self::new(StatusCode::NOT_FOUND, "Resource not found", "no resource has this path")
            }
            // The router adds the header `Allow`.
            Refusal::MethodNotAllowed(methods) => {
                let allowed = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
                let details = format!("this resource allows {allowed}");
                Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", details)
            }
            Refusal::BodyTooLarge(_) | Refusal::StreamTooLarge(_) => Self::too_large(refusal.to_string()),
            Refusal::BadEncoding(detail) => Self::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Unsupported media type",
                format!("the body: {detail}"),
            ),
            Refusal::BrokenBody(detail) => Self::bad_request("Bad Request", format!("the body: {detail}")),
            Refusal::BadQuery(detail) | Refusal::BadHead(detail) => {
                Self::bad_request("Bad Request", detail.as_str())
            }
            Refusal::EmptySegment => {
                Self::bad_request("Bad Request", "a name is missing: the path has an empty segment (\"//\")")
            }
            Refusal::TimedOut(_) => Self::new(
                StatusCode::GATEWAY_TIMEOUT,
                "Timed out",
                format!("{refusal} (request_duration_max)"),
            ),
            Refusal::Stalled(_) | Refusal::SlowBody(_) => {
                Self::new(StatusCode::REQUEST_TIMEOUT, "Timed out", refusal.to_string())
            }
            Refusal::Unauthorized(detail) => {
                Self::new(StatusCode::UNAUTHORIZED, "Unauthorized request", detail.as_str())
            }
            Refusal::Forbidden(detail) => {
                Self::new(StatusCode::FORBIDDEN, "Request Forbidden", detail.as_str())
            }
            Refusal::Unavailable(detail) => Self::unavailable(detail.as_str()),
            Refusal::Busy => Self::unavailable("more requests at once than requests_max allows; try again"),
            Refusal::MemoryFull => MemoryFull.into(),
            Refusal::Internal => Self::internal(),
        }
    }
}

/// The answer to a request that the server refuses.
pub(crate) fn refuse(refusal: &Refusal, _: Option<&str>) -> Response {
    Problem::from(refusal).response()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn check(problem: Problem, expected: &str) {
        let body = problem.response().into_body().collect().await.expect("a whole body").to_bytes();
        assert_eq!(std::str::from_utf8(&body).expect("text"), expected);
    }

    #[tokio::test]
    async fn errors_have_three_members() {
        check(
            Problem::no_dataspace("nope"),
            r#"{"status":"400 BAD_REQUEST","message":"Dataspace not found","details":"Dataspace with name nope does not exist."}"#,
        )
        .await;
        check(
            Problem::schema_set_exists("s", "g"),
            r#"{"status":"409 CONFLICT","message":"Already defined exception","details":"Schema Set with name s already exists for g."}"#,
        )
        .await;
    }

    #[test]
    fn only_reads_do_not_find() {
        let problem = Problem::no_node("/nope", ("g", "a"));
        assert_eq!(problem.status, StatusCode::NOT_FOUND);
        assert_eq!(problem.of_write().status, StatusCode::BAD_REQUEST);
    }
}
