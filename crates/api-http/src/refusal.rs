//! Why a request is refused before a handler sees it, or behind it.

use http::{Method, StatusCode};

/// Why a request is refused before or behind a handler; each front end words it in its standard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// No route has this path.
    NotFound,
    /// The path has routes, but none for this method; these it has.
    MethodNotAllowed(Vec<Method>),
    /// The body is larger than so many bytes, the limit on bodies that are read whole; 0: none is taken.
    BodyTooLarge(usize),
    /// The body is larger than so many bytes, the limit on bodies that are read piece by piece.
    StreamTooLarge(usize),
    /// The body's content coding is unknown.
    BadEncoding(String),
    /// The body broke off, or its bytes are not in its content coding.
    BrokenBody(String),
    /// The query part, or a segment of the path, cannot be decoded: which, why, and where.
    BadQuery(String),
    /// A segment of the path is empty, so that the name or id which belongs there is missing.
    EmptySegment,
    /// The handler took longer than the limit on a request, in milliseconds.
    TimedOut(u64),
    /// The body paused for longer than the limit, in milliseconds.
    Stalled(u64),
    /// The body did not come within the limit on a request, in milliseconds.
    SlowBody(u64),
    /// The head of the request is not as HTTP wants it: what of it, and how.
    BadHead(String),
    /// Whoever asks does not say who he is, or is not who he says: why.
    Unauthorized(String),
    /// Whoever asks may not do that: what.
    Forbidden(String),
    /// What must be looked up first cannot be now: why.
    Unavailable(String),
    /// More requests are under way than the limit.
    Busy,
    /// Bodies and answers take all memory that they may.
    MemoryFull,
    /// The handler panicked (a bug); the message went to the log.
    Internal,
}

impl Refusal {
    /// The status most standards give it; a front end may choose another.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooLarge(_) | Self::StreamTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BadEncoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BrokenBody(_) | Self::BadQuery(_) | Self::EmptySegment | Self::BadHead(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::Stalled(_) | Self::SlowBody(_) => StatusCode::REQUEST_TIMEOUT,
            Self::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Busy | Self::MemoryFull | Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<crate::MemoryFull> for Refusal {
    fn from(_: crate::MemoryFull) -> Self {
        Self::MemoryFull
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => formatter.write_str("no such path"),
            Self::MethodNotAllowed(allowed) => {
                write!(formatter, "the path allows only {}", join_methods(allowed))
            }
            Self::BodyTooLarge(0) => formatter.write_str("no body is taken here"),
            Self::BodyTooLarge(limit) => {
                write!(formatter, "the body is larger than {limit} bytes (body_bytes_max)")
            }
            Self::StreamTooLarge(limit) => {
                write!(formatter, "the body is larger than {limit} bytes (stream_bytes_max)")
            }
            Self::BadEncoding(detail) | Self::BrokenBody(detail) => {
                write!(formatter, "the body cannot be read: {detail}")
            }
            Self::BadQuery(detail)
            | Self::BadHead(detail)
            | Self::Unauthorized(detail)
            | Self::Forbidden(detail)
            | Self::Unavailable(detail) => formatter.write_str(detail),
            Self::EmptySegment => formatter.write_str("a segment of the path is empty"),
            Self::TimedOut(limit) => write!(formatter, "not answered within {limit} ms"),
            Self::Stalled(limit) => write!(formatter, "the body paused for longer than {limit} ms"),
            Self::SlowBody(limit) => write!(formatter, "the body did not come within {limit} ms"),
            Self::Busy => formatter.write_str("more requests are under way than requests_max allows"),
            Self::MemoryFull => write!(formatter, "{}", crate::MemoryFull),
            Self::Internal => formatter.write_str("internal error"),
        }
    }
}

/// Methods as the header `Allow` lists them.
pub(crate) fn join_methods(methods: &[Method]) -> String {
    let names: Vec<_> = methods.iter().map(Method::as_str).collect();
    names.join(", ")
}
