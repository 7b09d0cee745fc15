//! Errors as HugeGraph words them: a status, and the name of an exception with its message. Clients look for those names, and
//! for some of the messages.

use api_http::{
    ConditionError, DataDamaged, MemoryFull, ParameterError, Refusal, RequestTimedOut, Response, TenantError,
    json_response, log_refusal,
};
use graph::Malformed;
use graph::admit::AdmitError;
use graph::plan::PlanError;
use graph::schema::SchemaError;
use graph::update::UpdateError;
use http::{HeaderValue, StatusCode, header};
use model_graph::{Error, StoreErrorKind};
use serde::Serialize;

/// The media type of errors, and of all JSON.
pub const JSON: &str = "application/json;charset=UTF-8";

const ILLEGAL_ARGUMENT: &str = "class java.lang.IllegalArgumentException";
const NOT_FOUND: &str = "class org.apache.hugegraph.exception.NotFoundException";
const EXISTED: &str = "class org.apache.hugegraph.exception.ExistedException";
const LIMIT_EXCEEDED: &str = "class org.apache.hugegraph.exception.LimitExceedException";
const UNSUPPORTED: &str = "class java.lang.UnsupportedOperationException";
const NOT_AUTHORIZED: &str = "class jakarta.ws.rs.NotAuthorizedException";
const FORBIDDEN: &str = "class jakarta.ws.rs.ForbiddenException";
const NO_PATH: &str = "class jakarta.ws.rs.NotFoundException";
const NOT_ALLOWED: &str = "class jakarta.ws.rs.NotAllowedException";
const NOT_SUPPORTED: &str = "class jakarta.ws.rs.NotSupportedException";
const BAD_REQUEST: &str = "class jakarta.ws.rs.BadRequestException";
const CLIENT_ERROR: &str = "class jakarta.ws.rs.ClientErrorException";
const NO_INDEX: &str = "class org.apache.hugegraph.exception.NoIndexException";
const UNAVAILABLE: &str = "class jakarta.ws.rs.ServiceUnavailableException";
const SERVER_ERROR: &str = "class org.apache.hugegraph.HugeException";

/// The most letters of a message: what was sent is shown by its beginning.
const MESSAGE_LETTERS_MAX: usize = 2_048;

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The status of the answer.
    pub status: StatusCode,
    /// The exception, as HugeGraph would name it.
    exception: &'static str,
    /// A sentence for people.
    pub message: String,
    /// Whether the cause is that stored data is damaged.
    damage: bool,
}

/// The body of an error.
#[derive(Serialize)]
struct Body<'a> {
    exception: &'static str,
    message: &'a str,
    cause: &'static str,
    /// Traces lead through code: there are none.
    trace: [(); 0],
}

impl Problem {
    fn new(status: StatusCode, exception: &'static str, message: impl Into<String>) -> Self {
        let mut message = message.into();
        cut(&mut message, MESSAGE_LETTERS_MAX);
        Self { status, exception, message, damage: false }
    }

    /// The request cannot mean anything, or may not be.
    pub fn illegal_argument(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ILLEGAL_ARGUMENT, message)
    }

    /// The body is not what it must be.
    pub fn bad_body(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, BAD_REQUEST, message)
    }

    /// What is asked for is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, NOT_FOUND, message)
    }

    /// Something of the name is there.
    pub fn existed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, EXISTED, message)
    }

    /// Beyond a named limit.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, LIMIT_EXCEEDED, message)
    }

    /// An action that there is none of.
    pub fn not_supported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, NOT_SUPPORTED, message)
    }

    /// Try again later.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE, message)
    }

    /// There is no room for what is to be written; there may be later.
    fn disk_full() -> Self {
        let message =
            "the server's disk is full: nothing was acknowledged; writes are taken again once there is room";
        Self::new(StatusCode::INSUFFICIENT_STORAGE, SERVER_ERROR, message)
    }

    /// Stored data is damaged: which goes to the log.
    pub fn damaged() -> Self {
        let message = "stored data is damaged; the server's log says which";
        Self { damage: true, ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, SERVER_ERROR, message) }
    }

    /// What is asked for is not built.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, UNSUPPORTED, message)
    }

    /// The body is of a media type that is not read here.
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, NOT_SUPPORTED, message)
    }

    /// A fault of ours: what it was goes to the log, not to the client.
    pub fn internal() -> Self {
        let message = "the server failed; its log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, SERVER_ERROR, message)
    }

    /// Whoever asks may not do that.
    fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, FORBIDDEN, message)
    }

    /// Whoever asks is not who he says.
    pub fn not_authorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, NOT_AUTHORIZED, message)
    }

    /// The answer to the client.
    pub fn response(&self) -> Response {
        let body = Body { exception: self.exception, message: &self.message, cause: "", trace: [] };
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

/// Leaves the first letters of a text, and says that there were more.
fn cut(text: &mut String, letters_max: usize) {
    if let Some((at, _)) = text.char_indices().nth(letters_max) {
        text.truncate(at);
        text.push('…');
    }
}

/// Words a refusal of the model.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::Limit { .. } | Error::TooMany { .. } => Self::limit(error.to_string()),
            Error::Invalid(message) => Self::illegal_argument(message.as_str()),
            Error::NotFound(_) => Self::not_found(error.to_string()),
            Error::NoSuchVertex(id) => Self::not_found(format!("vertex with id '{id}' does not exist")),
            Error::NoSuchEdge(id) => Self::not_found(format!("edge with id '{id}' does not exist")),
            Error::OtherLabel { .. } => Self::illegal_argument(error.to_string()),
            Error::Admit(error) => Self::from(error.clone()),
            Error::NotNullable(name) => {
                Self::illegal_argument(format!("Can't remove non-null property '{name}'"))
            }
            Error::LabelRemoved => {
                Self::illegal_argument("Undefined label: that of the vertex or edge was removed meanwhile")
            }
            Error::NotUnique => Self::illegal_argument(
                "Unique constraint conflict is found: another element has the same values",
            ),
            Error::Update(error) => Self::from(error),
            Error::AlreadyExists(_) => Self::existed(error.to_string()),
            Error::Schema(error) => Self::from(error),
            Error::Plan(error) => Self::from(error),
            Error::Contention(_) => Self::unavailable(format!("{error}; try again")),
            Error::TimedOut(_) => Self::new(StatusCode::GATEWAY_TIMEOUT, SERVER_ERROR, error.to_string()),
            Error::Malformed(error) => Self::from(*error),
            Error::Store(error) => match error.limit() {
                Some(limit) => Self::limit(format!(
                    "one element takes more than the store takes at once: {}, {limit}",
                    limit.got
                )),
                None => of_store(error.kind(), error),
            },
        }
    }
}

/// Words that an element cannot be what was sent.
impl From<AdmitError> for Problem {
    fn from(error: AdmitError) -> Self {
        match error {
            AdmitError::Malformed(error) => Self::from(error),
            AdmitError::IdGiven { .. }
            | AdmitError::IdNeeded { .. }
            | AdmitError::KeyMissing { .. }
            | AdmitError::PropertyMissing { .. }
            | AdmitError::IdEmpty
            | AdmitError::IdTooLong(_) => Self::illegal_argument(error.to_string()),
        }
    }
}

/// Words that properties cannot be changed like this.
impl From<&UpdateError> for Problem {
    fn from(error: &UpdateError) -> Self {
        match error {
            UpdateError::Malformed(error) => Self::from(*error),
            UpdateError::Strategy { .. } | UpdateError::Overflow(_) => {
                Self::illegal_argument(error.to_string())
            }
        }
    }
}

/// Words a refusal of a schema.
impl From<&SchemaError> for Problem {
    fn from(error: &SchemaError) -> Self {
        match error {
            SchemaError::Existed { .. } | SchemaError::BeingRemoved { .. } => {
                Self::existed(error.to_string())
            }
            SchemaError::NotFound { .. } => Self::not_found(error.to_string()),
            SchemaError::NothingToChange(_)
            | SchemaError::NotAllowed(_)
            | SchemaError::Invalid(_)
            | SchemaError::WrongMode(_)
            | SchemaError::InUse(_) => Self::illegal_argument(error.to_string()),
            SchemaError::Limit { .. } => Self::limit(error.to_string()),
        }
    }
}

/// Words that stored elements are damaged.
impl From<&PlanError> for Problem {
    fn from(error: &PlanError) -> Self {
        let exception = match error {
            PlanError::NoIndex { .. } => NO_INDEX,
            PlanError::NotReady { .. } => ILLEGAL_ARGUMENT,
        };
        Self::new(StatusCode::BAD_REQUEST, exception, error.to_string())
    }
}

impl From<Malformed> for Problem {
    fn from(error: Malformed) -> Self {
        tracing::error!(%error, "stored elements are damaged");
        Self::damaged()
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
        StoreErrorKind::TooLarge => Problem::limit("one element is larger than the store takes at once"),
        StoreErrorKind::TenantRemoved => Problem::not_found("the graph was removed meanwhile"),
        StoreErrorKind::Conflict
        | StoreErrorKind::Fenced
        | StoreErrorKind::OtherIncarnation
        | StoreErrorKind::Unknown
        | StoreErrorKind::Locked
        | StoreErrorKind::Misuse => Problem::internal(),
    }
}

/// Words why a walk is refused, or ends without an answer.
impl From<traversals::Error> for Problem {
    fn from(error: traversals::Error) -> Self {
        match error {
            traversals::Error::Graph(error) => error.into(),
            traversals::Error::TimedOut(error) => Self::from(Error::TimedOut(error)),
            traversals::Error::MemoryFull => MemoryFull.into(),
            traversals::Error::Parameter(_) | traversals::Error::NoSuchVertex { .. } => {
                Self::illegal_argument(error.to_string())
            }
            traversals::Error::Capacity { .. }
            | traversals::Error::CapacityBeforeDepth { .. }
            | traversals::Error::Memory { .. } => Self::limit(error.to_string()),
        }
    }
}

/// Words what is refused of users.
impl From<access::Error> for Problem {
    fn from(error: access::Error) -> Self {
        match error {
            access::Error::Invalid(_) | access::Error::Exists { .. } => {
                Self::illegal_argument(error.to_string())
            }
            access::Error::NotFound { .. } => Self::not_found(error.to_string()),
            access::Error::Unknown => Self::not_authorized(error.to_string()),
            access::Error::Forbidden(_) => Self::forbidden(error.to_string()),
            access::Error::Busy | access::Error::Contention => Self::unavailable(error.to_string()),
            access::Error::Objects(error) => error.into(),
            access::Error::Damaged { .. } => {
                tracing::error!(%error, "a stored user is damaged");
                Self::damaged()
            }
        }
    }
}

/// Words what is no JSON, or not the JSON that is expected.
impl From<lang_json::Error> for Problem {
    fn from(error: lang_json::Error) -> Self {
        Self::bad_body(format!("the body cannot be read as JSON: {error}"))
    }
}

/// Words headers that do not say whose data is meant.
impl From<TenantError> for Problem {
    fn from(error: TenantError) -> Self {
        Self::illegal_argument(error.to_string())
    }
}

/// Words a condition, which no resource here heeds.
impl From<ConditionError> for Problem {
    fn from(error: ConditionError) -> Self {
        match error {
            ConditionError::Malformed(_) => Self::illegal_argument(error.to_string()),
            ConditionError::Failed(_) => {
                Self::new(StatusCode::PRECONDITION_FAILED, CLIENT_ERROR, error.to_string())
            }
        }
    }
}

/// Words why parameters are refused.
impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        Self::illegal_argument(match error {
            ParameterError::Unknown { name, .. } => format!("Unknown parameter '{name}'"),
            ParameterError::Twice(name) => format!("The parameter '{name}' is given twice"),
            ParameterError::NoFlag(name, given) => {
                format!("The parameter '{name}' must be true or false, but got '{given}'")
            }
            ParameterError::NoNumber { name, given, least, most: u64::MAX } => {
                format!("The parameter '{name}' must be a whole number >= {least}, but got '{given}'")
            }
            ParameterError::NoNumber { name, given, least, most } => {
                format!(
                    "The parameter '{name}' must be a whole number in [{least}, {most}], but got '{given}'"
                )
            }
            ParameterError::Value(name, reason) => format!("The parameter '{name}' is wrong: {reason}"),
        })
    }
}

/// Words that other bodies and answers leave no memory for this one.
impl From<MemoryFull> for Problem {
    fn from(error: MemoryFull) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE, error.to_string())
    }
}

/// Words a refusal of the model, for who answers beside the handlers here.
pub fn refusal(error: Error) -> Response {
    Problem::from(error).response()
}

/// Words a refusal before a handler or behind it.
pub fn refuse(refusal: &Refusal, _: Option<&str>) -> Response {
    let exception = match refusal {
        Refusal::NotFound | Refusal::EmptySegment => NO_PATH,
        Refusal::MethodNotAllowed(_) => NOT_ALLOWED,
        Refusal::BadEncoding(_) => NOT_SUPPORTED,
        Refusal::BodyTooLarge(_)
        | Refusal::StreamTooLarge(_)
        | Refusal::Stalled(_)
        | Refusal::SlowBody(_) => CLIENT_ERROR,
        Refusal::BrokenBody(_) | Refusal::BadQuery(_) | Refusal::BadHead(_) => BAD_REQUEST,
        Refusal::Unauthorized(_) => NOT_AUTHORIZED,
        Refusal::Forbidden(_) => FORBIDDEN,
        Refusal::Busy | Refusal::MemoryFull | Refusal::Unavailable(_) => UNAVAILABLE,
        Refusal::TimedOut(_) | Refusal::Internal => SERVER_ERROR,
    };
    let message = match refusal {
        // The words that clients know of an overload.
        Refusal::Busy => "The server is too busy to process the request".to_owned(),
        other => other.to_string(),
    };
    Problem::new(refusal.status(), exception, message).response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_store_does_not_take_names_the_limit() {
        let limit = store::LimitExceeded { name: "COMMIT_ROWS_MAX", max: 100_000, got: 120_005 };
        let problem = Problem::from(Error::from(store::Error::too_large("write rows", limit)));
        assert_eq!(problem.status, StatusCode::BAD_REQUEST);
        let expected = "one element takes more than the store takes at once: 120005, at most 100000 are allowed \
             (COMMIT_ROWS_MAX)";
        assert_eq!(problem.message, expected);
    }
}
