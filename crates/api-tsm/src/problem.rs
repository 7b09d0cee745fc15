//! Errors as the TSM API words them: a status, a word for programs, a sentence for people, and where the
//! request is about many series, which of them, which point and why.

use api_http::{
    BrokenOff, ConditionError, DataDamaged, MemoryFull, Refusal, RequestTimedOut, Response, TenantError,
    json_response, log_refusal,
};
use http::{HeaderValue, Method, StatusCode, header};
use model_series::{Error, RefusalKind, StoreErrorKind};
use serde::Serialize;

use crate::wire::WireError;

/// The media type of errors, and of all JSON.
pub(crate) const JSON: &str = "application/json";

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Problem {
    #[serde(skip)]
    pub status: StatusCode,
    /// A word for programs, one for each status.
    pub error: &'static str,
    /// A sentence for people.
    pub message: String,
    /// What exactly, where there is more to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
    /// Whether the cause is that stored data is damaged.
    #[serde(skip)]
    damage: bool,
}

/// What was wrong with one series.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Detail {
    /// The series as the client named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The position of the point among those given for the series, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl Problem {
    fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> Self {
        Self { status, error, message: message.into(), details: Vec::new(), damage: false }
    }

    /// The request cannot mean anything.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// What is asked for is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    /// What is to be created is there.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    /// What is there is not in a state that the request demands.
    pub(crate) fn precondition_failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", message)
    }

    /// Beyond a named limit.
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "TooLarge", message)
    }

    /// The client accepts nothing that can be answered.
    pub(crate) fn not_acceptable(offered: &[&str]) -> Self {
        let message = format!("this resource is given as {}", offered.join(", "));
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// The body is of a media type that is not read here.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// Try again later.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Unavailable", message)
    }

    /// There is no room for what is to be written; there may be later.
    pub(crate) fn disk_full() -> Self {
        let message =
            "the server's disk is full: nothing was acknowledged; writes are taken again once there is room";
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "DiskFull", message)
    }

    /// A fault of ours: what it was goes to the log, not to the client.
    pub(crate) fn internal() -> Self {
        let message = "the server failed; its log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// Stored data is damaged: which goes to the log.
    pub(crate) fn damaged() -> Self {
        let message = "stored data is damaged; the server's log says which";
        Self { damage: true, ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message) }
    }

    /// The same where the request said that nothing may be there: a condition that fails, not a conflict.
    pub(crate) fn unless_created(mut self, only_creates: bool) -> Self {
        if only_creates && self.status == StatusCode::CONFLICT {
            (self.status, self.error) = (StatusCode::PRECONDITION_FAILED, "PreconditionFailed");
        }
        self
    }

    /// The same about something that the request mentions besides its address: what is not known there is a fault of
    /// the request.
    pub(crate) fn mentioned(mut self) -> Self {
        if self.status == StatusCode::NOT_FOUND {
            (self.status, self.error) = (StatusCode::BAD_REQUEST, "BadRequest");
        }
        self
    }

    /// The same about one series; the sentence is the reason.
    pub(crate) fn about(mut self, series: impl Into<String>) -> Self {
        let reason = self.message.clone();
        self.details.push(Detail { series: Some(series.into()), position: None, reason });
        self
    }

    /// With one more detail.
    pub(crate) fn with(mut self, detail: Detail) -> Self {
        self.details.push(detail);
        self
    }

    /// The same, where stored data may be damaged besides.
    pub(crate) fn with_damage(mut self, damage: bool) -> Self {
        self.damage |= damage;
        self
    }

    /// The answer to the client.
    pub(crate) fn response(&self) -> Response {
        let body = serde_json::to_vec(self).expect("texts and numbers are always JSON");
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

/// Whether the cause is that stored data is damaged.
pub(crate) fn is_damage(error: &Error) -> bool {
    match error {
        Error::Malformed(_) => true,
        Error::Store(error) => error.kind() == StoreErrorKind::Corrupt,
        Error::Limit { .. }
        | Error::TooManyTenants { .. }
        | Error::TooManyRepositories { .. }
        | Error::Invalid(_)
        | Error::NotFound(_)
        | Error::AlreadyExists(_)
        | Error::StateDiffers(_)
        | Error::Refused(_)
        | Error::Contention(_) => false,
    }
}

/// Words a refusal of the model.
impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        match error {
            Error::Limit { .. } | Error::TooManyTenants { .. } | Error::TooManyRepositories { .. } => {
                Self::too_large(error.to_string())
            }
            Error::Invalid(_) => Self::bad_request(error.to_string()),
            Error::NotFound(_) => Self::not_found(error.to_string()),
            Error::AlreadyExists(_) => Self::conflict(error.to_string()),
            Error::StateDiffers(_) => Self::precondition_failed(error.to_string()),
            Error::Refused(refusals) => of_refusals(refusals),
            Error::Contention(_) => Self::unavailable(format!("{error}; try again")),
            Error::Malformed(error) => {
                tracing::error!(%error, "stored points are damaged");
                Self::damaged()
            }
            Error::Store(error) => of_store(error.kind(), error),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
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
            ConditionError::Malformed(_) => Self::bad_request(error.to_string()),
            ConditionError::Failed(_) => Self::precondition_failed(error.to_string()),
        }
    }
}

/// Words that other bodies and answers leave no memory for this one.
impl From<MemoryFull> for Problem {
    fn from(full: MemoryFull) -> Self {
        Self::unavailable(format!("{full}; try again"))
    }
}

/// Words why an answer that is under way breaks off.
impl From<Problem> for BrokenOff {
    fn from(problem: Problem) -> Self {
        Self(problem.message)
    }
}

/// Words what is wrong with a body of points.
impl From<WireError> for Problem {
    fn from(error: WireError) -> Self {
        let WireError { series, position, reason, is_limit } = error;
        let problem =
            if is_limit { Self::too_large(reason.clone()) } else { Self::bad_request(reason.clone()) };
        if series.is_none() && position.is_none() {
            return problem;
        }
        problem.with(Detail { series, position, reason })
    }
}

/// Words a request of which parts are refused: the first decides the status, all are listed.
fn of_refusals(refusals: &[model_series::Refusal]) -> Problem {
    let Some(first) = refusals.first() else { return Problem::internal() };
    let message = Error::Refused(refusals.to_vec()).to_string();
    let mut problem = match first.kind {
        RefusalKind::Limit => Problem::too_large(message),
        RefusalKind::Invalid => Problem::bad_request(message),
        RefusalKind::NotFound => Problem::not_found(message),
        RefusalKind::AlreadyExists => Problem::conflict(message),
    };
    problem.details = refusals
        .iter()
        .map(|refusal| Detail {
            series: Some(refusal.series.to_string()),
            position: refusal.position,
            reason: refusal.reason.clone(),
        })
        .collect();
    problem
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
            Problem::too_large("one series is given more than the store takes at once")
        }
        StoreErrorKind::TenantRemoved => Problem::not_found("the repository was removed meanwhile"),
        StoreErrorKind::Conflict
        | StoreErrorKind::Fenced
        | StoreErrorKind::OtherIncarnation
        | StoreErrorKind::Unknown
        | StoreErrorKind::Locked
        | StoreErrorKind::Misuse => Problem::internal(),
    }
}

/// Words what the server, or a body on its way in, refuses.
impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self::not_found("no resource has this path"),
            // The router adds the header `Allow`.
            Refusal::MethodNotAllowed(methods) => {
                let allowed = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
                let message = format!("this resource allows {allowed}");
                Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
            }
            Refusal::BodyTooLarge(_) | Refusal::StreamTooLarge(_) => Self::too_large(refusal.to_string()),
            Refusal::BadEncoding(detail) => Self::unsupported_media_type(format!("the body: {detail}")),
            Refusal::BrokenBody(detail) => Self::bad_request(format!("the body: {detail}")),
            Refusal::BadQuery(detail) | Refusal::BadHead(detail) => Self::bad_request(detail.as_str()),
            Refusal::EmptySegment => {
                Self::bad_request("a name is missing: the path has an empty segment (\"//\")")
            }
            Refusal::TimedOut(limit_ms) => Self::new(
                StatusCode::GATEWAY_TIMEOUT,
                "TimedOut",
                format!("the request took longer than {limit_ms} ms (request_duration_max)"),
            ),
            Refusal::Stalled(limit_ms) => Self::new(
                StatusCode::REQUEST_TIMEOUT,
                "TimedOut",
                format!("the body paused for longer than {limit_ms} ms"),
            ),
            Refusal::SlowBody(limit_ms) => Self::new(
                StatusCode::REQUEST_TIMEOUT,
                "TimedOut",
                format!("the body did not come within {limit_ms} ms"),
            ),
            Refusal::Unauthorized(detail) => {
                Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", detail.as_str())
            }
            Refusal::Forbidden(detail) => Self::new(StatusCode::FORBIDDEN, "Forbidden", detail.as_str()),
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
    use super::*;

    fn check(problem: &Problem, expected: &str) {
        assert_eq!(serde_json::to_string(problem).unwrap(), expected);
    }

    #[test]
    fn errors_name_series_position_and_reason() {
        let error = WireError {
            series: Some("a".into()),
            position: Some(12),
            reason: "no number".into(),
            is_limit: false,
        };
        check(
            &error.into(),
            r#"{"Error":"BadRequest","Message":"no number","Details":[{"Series":"a","Position":12,"Reason":"no number"}]}"#,
        );
        let error = WireError {
            series: None,
            position: None,
            reason: "at byte 7: no object".into(),
            is_limit: false,
        };
        check(&error.into(), r#"{"Error":"BadRequest","Message":"at byte 7: no object"}"#);
        let error = Problem::from(Error::NotFound("series x".into())).about("x");
        check(
            &error,
            r#"{"Error":"NotFound","Message":"series x is not known","Details":[{"Series":"x","Reason":"series x is not known"}]}"#,
        );
    }

    #[test]
    fn a_full_disk_and_a_lost_folder_say_so() {
        for (kind, status, words) in [
            (StoreErrorKind::NoSpace, 507, "disk is full"),
            (StoreErrorKind::FolderLost, 503, "data folder was removed"),
        ] {
            let problem = of_store(kind, &std::io::Error::other("write"));
            assert_eq!(problem.status.as_u16(), status);
            assert!(problem.message.contains(words), "{}", problem.message);
        }
    }

    #[test]
    fn damage_is_told_from_bugs() {
        let of_kind = |kind| Problem::from(Error::Store(store::Error::new(kind, "read a row")));
        let damaged = of_kind(StoreErrorKind::Corrupt);
        assert!(damaged.message.contains("stored data is damaged"));
        for (problem, is_damage) in [(damaged, true), (of_kind(StoreErrorKind::Misuse), false)] {
            let response = problem.response();
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(response.extensions().get::<DataDamaged>().is_some(), is_damage);
        }
    }

    #[test]
    fn every_status_has_one_word() {
        let problems = [
            Problem::from(Error::TooManyTenants { tenant: "t".into(), max: 1 }),
            Problem::from(Error::Invalid("i".into())),
            Problem::from(Error::NotFound("n".into())),
            Problem::from(Error::AlreadyExists("a".into())),
            Problem::from(Error::StateDiffers("s".into())),
            Problem::from(Error::Contention("c".into())),
            Problem::disk_full(),
            Problem::from(&Refusal::Busy),
            Problem::from(&Refusal::BodyTooLarge(1)),
            Problem::from(&Refusal::BadQuery("q".into())),
            Problem::from(&Refusal::Internal),
        ];
        let mut words: Vec<_> =
            problems.iter().map(|problem| (problem.status.as_u16(), problem.error)).collect();
        words.sort_unstable();
        words.dedup();
        let mut statuses: Vec<_> = words.iter().map(|(status, _)| *status).collect();
        statuses.dedup();
        assert_eq!(statuses.len(), words.len(), "{words:?}");
    }
}
