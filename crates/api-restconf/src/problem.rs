//! Errors in the words of RESTCONF (RFC 8040, section 7): a type, a tag, where it makes sense a path, and a sentence. The tag
//! decides the status.

use api_http::{
    ConditionError, DataDamaged, MemoryFull, ParameterError, Refusal, RequestTimedOut, Response, TenantError,
    json_response, log_refusal,
};
use config::ApplyError;
use http::{HeaderValue, Method, StatusCode, header};
use lang_json::{ArrayWriter, ObjectWriter};
use lang_yang::{Invalid, Schema};
use model_config::{Error, StoreErrorKind};

use crate::media::{Accepted, DEFAULT, Form};
use crate::place::ErrorPath;
use crate::text::{element_into, escape_into};

/// The namespace of `errors`.
const NAMESPACE: &str = "urn:ietf:params:xml:ns:yang:ietf-restconf";

/// What is allowed where nothing can be written.
const READ_METHODS: &str = "GET, HEAD, OPTIONS";

/// The layer that an error is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Layer {
    /// HTTP itself: media types, sizes, times.
    Transport,
    /// The request as RESTCONF means it: paths, parameters, bodies.
    Protocol,
    /// What the data is, or must be.
    Application,
}

/// What is wrong, in the words of NETCONF (RFC 6241, appendix A).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Tag {
    InUse,
    InvalidValue,
    TooBig,
    MissingElement,
    BadElement,
    UnknownElement,
    UnknownNamespace,
    AccessDenied,
    ResourceDenied,
    DataExists,
    DataMissing,
    OperationNotSupported,
    OperationFailed,
    MalformedMessage,
}

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    layer: Layer,
    pub(crate) tag: Tag,
    app_tag: Option<&'static str>,
    path: Option<Box<ErrorPath>>,
    pub(crate) message: String,
    /// The methods that the resource has, for the header `Allow` of a 405 that the router knows nothing of.
    allowed: Option<&'static str>,
    /// Whether the cause is that stored data is damaged.
    damage: bool,
}

impl Tag {
    fn name(self) -> &'static str {
        match self {
            Self::InUse => "in-use",
            Self::InvalidValue => "invalid-value",
            Self::TooBig => "too-big",
            Self::MissingElement => "missing-element",
            Self::BadElement => "bad-element",
            Self::UnknownElement => "unknown-element",
            Self::UnknownNamespace => "unknown-namespace",
            Self::AccessDenied => "access-denied",
            Self::ResourceDenied => "resource-denied",
            Self::DataExists => "data-exists",
            Self::DataMissing => "data-missing",
            Self::OperationNotSupported => "operation-not-supported",
            Self::OperationFailed => "operation-failed",
            Self::MalformedMessage => "malformed-message",
        }
    }

    /// The status that goes with it (RFC 8040, section 7); of those that have two, the first.
    fn status(self) -> StatusCode {
        match self {
            Self::InUse | Self::ResourceDenied | Self::DataExists | Self::DataMissing => StatusCode::CONFLICT,
            Self::TooBig => StatusCode::PAYLOAD_TOO_LARGE,
            Self::AccessDenied => StatusCode::FORBIDDEN,
            Self::OperationNotSupported => StatusCode::METHOD_NOT_ALLOWED,
            Self::OperationFailed => StatusCode::PRECONDITION_FAILED,
            Self::InvalidValue
            | Self::MissingElement
            | Self::BadElement
            | Self::UnknownElement
            | Self::UnknownNamespace
            | Self::MalformedMessage => StatusCode::BAD_REQUEST,
        }
    }
}

impl Layer {
    fn name(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Protocol => "protocol",
            Self::Application => "application",
        }
    }
}

impl Problem {
    fn new(layer: Layer, tag: Tag, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status: tag.status(),
            layer,
            tag,
            app_tag: None,
            path: None,
            message,
            allowed: None,
            damage: false,
        }
    }

    /// What the request says is wrong.
    pub(crate) fn protocol(tag: Tag, message: impl Into<String>) -> Self {
        Self::new(Layer::Protocol, tag, message)
    }

    /// What the data is forbids it.
    pub(crate) fn application(tag: Tag, message: impl Into<String>) -> Self {
        Self::new(Layer::Application, tag, message)
    }

    /// The request cannot mean anything.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::protocol(Tag::InvalidValue, message)
    }

    /// The resource can be read, not written.
    pub(crate) fn read_only(message: impl Into<String>) -> Self {
        Self { allowed: Some(READ_METHODS), ..Self::protocol(Tag::OperationNotSupported, message) }
    }

    /// What is asked for is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::invalid(message).with_status(StatusCode::NOT_FOUND)
    }

    /// A condition of the request does not hold.
    pub(crate) fn precondition_failed(message: impl Into<String>) -> Self {
        Self::protocol(Tag::OperationFailed, message)
    }

    /// None of the accepted media types is offered.
    pub(crate) fn not_acceptable() -> Self {
        let message = "the answer is offered as application/yang-data+json and application/yang-data+xml \
            (also as application/json and application/xml); the header Accept takes none of them";
        Self::new(Layer::Transport, Tag::InvalidValue, message).with_status(StatusCode::NOT_ACCEPTABLE)
    }

    /// The body is of a media type that is not read here.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        let problem = Self::new(Layer::Transport, Tag::InvalidValue, message);
        problem.with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
    }

    /// Try again later.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        let problem = Self::new(Layer::Transport, Tag::ResourceDenied, message);
        problem.with_status(StatusCode::SERVICE_UNAVAILABLE)
    }

    /// There is no room for what is to be written; there may be later.
    pub(crate) fn disk_full() -> Self {
        let message =
            "the server's disk is full: nothing was acknowledged; writes are taken again once there is room";
        let problem = Self::new(Layer::Transport, Tag::ResourceDenied, message);
        problem.with_status(StatusCode::INSUFFICIENT_STORAGE)
    }

    /// A fault of ours: what it was goes to the log, not to the client.
    pub(crate) fn internal() -> Self {
        let message = "the server failed; its log says why";
        let problem = Self::application(Tag::OperationFailed, message);
        problem.with_status(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Stored data is damaged: which goes to the log.
    pub(crate) fn damaged() -> Self {
        let message = "stored data is damaged; the server's log says which".into();
        Self { damage: true, message, ..Self::internal() }
    }

    /// The same with another status.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same where the resource of the request has these methods.
    pub(crate) fn with_allowed(self, allowed: &'static str) -> Self {
        Self { allowed: Some(allowed), ..self }
    }

    /// The same with a word for programs (RFC 7950, section 15).
    pub(crate) fn with_app_tag(self, app_tag: &'static str) -> Self {
        Self { app_tag: Some(app_tag), ..self }
    }

    /// The same about this place; nothing changes if it has one already.
    pub(crate) fn at(mut self, path: ErrorPath) -> Self {
        if !path.text.is_empty() {
            self.path.get_or_insert_with(|| Box::new(path));
        }
        self
    }

    /// The same, where its place says no namespaces yet: those of this schema.
    pub(crate) fn named(mut self, schema: &Schema) -> Self {
        if let Some(path) = &mut self.path
            && path.namespaces.is_empty()
        {
            **path = ErrorPath::of(schema, std::mem::take(&mut path.text));
        }
        self
    }

    /// The place that it is about; empty for none.
    #[cfg(test)]
    pub(crate) fn place(&self) -> &str {
        self.path.as_ref().map_or("", |path| &path.text)
    }

    /// The answer to the client, in the form that it accepts.
    pub(crate) fn response(&self, accepted: Accepted) -> Response {
        let body = match accepted.form {
            Form::Json => self.json(),
            Form::Xml => self.xml(),
        };
        let mut response = json_response(self.status, accepted.media, body);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(allowed) = self.allowed {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        if self.damage {
            response.extensions_mut().insert(DataDamaged);
        }
        if self.status == StatusCode::GATEWAY_TIMEOUT {
            response.extensions_mut().insert(RequestTimedOut);
        }
        response
    }

    fn json(&self) -> String {
        let mut out = String::new();
        let mut message = ObjectWriter::begin(&mut out);
        let mut errors = ObjectWriter::begin(message.literal("\"ietf-restconf:errors\":"));
        self.put_json(errors.literal("\"error\":"));
        errors.end();
        message.end();
        out
    }

    /// Appends the list of errors that it is alone in.
    pub(crate) fn put_json(&self, out: &mut String) {
        let mut list = ArrayWriter::begin(out);
        let mut error = ObjectWriter::begin(list.item());
        error.string("error-type", self.layer.name());
        error.string("error-tag", self.tag.name());
        if let Some(app_tag) = self.app_tag {
            error.string("error-app-tag", app_tag);
        }
        if let Some(path) = &self.path {
            error.string("error-path", &path.text);
        }
        error.string("error-message", &self.message);
        error.end();
        list.end();
    }

    fn xml(&self) -> String {
        let mut out = format!("<errors xmlns=\"{NAMESPACE}\">");
        self.put_xml(&mut out);
        out.push_str("</errors>");
        out
    }

    /// Appends the element `error`.
    pub(crate) fn put_xml(&self, out: &mut String) {
        out.push_str("<error>");
        element_into(out, "error-type", self.layer.name());
        element_into(out, "error-tag", self.tag.name());
        if let Some(app_tag) = self.app_tag {
            element_into(out, "error-app-tag", app_tag);
        }
        if let Some(path) = &self.path {
            out.push_str("<error-path");
            for (module, namespace) in &path.namespaces {
                out.push_str(" xmlns:");
                out.push_str(module);
                out.push_str("=\"");
                escape_into(out, namespace);
                out.push('"');
            }
            out.push('>');
            escape_into(out, &path.for_xml());
            out.push_str("</error-path>");
        }
        element_into(out, "error-message", &self.message);
        out.push_str("</error>");
    }
}

/// Words headers that do not say whose data is meant.
impl From<TenantError> for Problem {
    fn from(error: TenantError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// Words a condition that does not hold, or cannot be read.
impl From<ConditionError> for Problem {
    fn from(error: ConditionError) -> Self {
        match error {
            ConditionError::Malformed(_) => Self::invalid(error.to_string()),
            ConditionError::Failed(_) => Self::precondition_failed(error.to_string()),
        }
    }
}

/// Words what the model refuses.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::UnknownTenant(_)
            | Error::UnknownDataspace(_)
            | Error::UnknownSchemaSet { .. }
            | Error::UnknownAnchor { .. }
            | Error::UnknownVersion { .. } => Self::not_found(message),
            Error::AlreadyExists { .. } => Self::application(Tag::DataExists, message),
            Error::InUse { .. } => Self::application(Tag::InUse, message),
            Error::Invalid(_) | Error::Yang(_) => Self::application(Tag::InvalidValue, message),
            Error::Edit(error) => of_edit(&error),
            Error::Data(invalid) => of_rule(invalid),
            Error::Conflict { .. } => {
                Self::precondition_failed(format!("{message}: another change came first"))
            }
            Error::Contention(_) => Self::unavailable(format!("{message}; try again")),
            Error::Limit { .. } => Self::application(Tag::TooBig, message),
            Error::TimedOut(_) => Self::new(Layer::Transport, Tag::ResourceDenied, message)
                .with_status(StatusCode::GATEWAY_TIMEOUT),
            Error::Store(error) => of_store(error.kind(), &error),
        }
    }
}

/// Words a change that the tree does not take.
fn of_edit(error: &ApplyError) -> Problem {
    let tag = match error {
        // The model loads pages that are missing, and asks again.
        ApplyError::Fault(_) => return Problem::internal(),
        ApplyError::Exists(_) => Tag::DataExists,
        ApplyError::NotFound(_) => Tag::DataMissing,
        ApplyError::Duplicate(_) => Tag::BadElement,
        ApplyError::MissingKey { .. } => Tag::MissingElement,
        ApplyError::KeyChange(_) | ApplyError::Misplaced { .. } => Tag::InvalidValue,
        ApplyError::TooLarge { .. } => Tag::TooBig,
    };
    Problem::application(tag, error.to_string())
}

/// Words a rule of the modules that the data would break: its place is where the rule is.
fn of_rule(invalid: Invalid) -> Problem {
    let problem = Problem::application(Tag::OperationFailed, invalid.message);
    match invalid.path {
        Some(path) => problem.at(ErrorPath { text: path.into(), namespaces: Vec::new() }),
        None => problem,
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
            Problem::application(Tag::TooBig, "one change is larger than the store takes at once")
        }
        StoreErrorKind::TenantRemoved => Problem::not_found("the tenant was removed meanwhile"),
        StoreErrorKind::Conflict
        | StoreErrorKind::Fenced
        | StoreErrorKind::OtherIncarnation
        | StoreErrorKind::Unknown
        | StoreErrorKind::Locked
        | StoreErrorKind::Misuse => Problem::internal(),
    }
}

/// Words parameters that cannot be taken; RESTCONF has one tag for all of them (section 4.8).
impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        let message = match error {
            ParameterError::Unknown { name, known } => {
                let names: Vec<_> =
                    known.iter().flat_map(|group| group.iter()).map(|known| known.name).collect();
                match names.as_slice() {
                    [] => format!("this method has no parameters on this resource, so not {name:?}"),
                    names => format!(
                        "this method has no parameter {name:?} on this resource, only {}",
                        names.join(", ")
                    ),
                }
            }
            ParameterError::Twice(name) => format!("parameter {name} is given twice; it may be given once"),
            ParameterError::NoFlag(name, given) => {
                format!("parameter {name} must be true or false, not {given:?}")
            }
            ParameterError::NoNumber { name, given, least, most } => {
                format!("parameter {name} must be a whole number from {least} to {most}, not {given:?}")
            }
            ParameterError::Value(name, reason) => format!("parameter {name}: {reason}"),
        };
        Self::invalid(message)
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
        let transport = |tag, message: String| Self::new(Layer::Transport, tag, message);
        match refusal {
            Refusal::NotFound => Self::not_found(
                "no resource has this path: data is at {root}/data, where {root} is /restconf/{dataspace}/{anchor}",
            ),
            // The router adds the header `Allow`.
            Refusal::MethodNotAllowed(methods) => {
                let allowed = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
                Self::protocol(Tag::OperationNotSupported, format!("this resource allows {allowed}"))
            }
            Refusal::BodyTooLarge(_) | Refusal::StreamTooLarge(_) => {
                transport(Tag::TooBig, refusal.to_string())
            }
            Refusal::BadEncoding(detail) => Self::unsupported_media_type(format!("the body: {detail}")),
            Refusal::BrokenBody(detail) => transport(Tag::MalformedMessage, format!("the body: {detail}")),
            Refusal::BadQuery(detail) => Self::invalid(detail.as_str()),
            Refusal::BadHead(detail) => transport(Tag::MalformedMessage, detail.clone()),
            Refusal::EmptySegment => {
                Self::invalid("a name is missing: the path has an empty segment (\"//\")")
            }
            Refusal::TimedOut(_) => {
                transport(Tag::ResourceDenied, refusal.to_string()).with_status(StatusCode::GATEWAY_TIMEOUT)
            }
            Refusal::Stalled(_) | Refusal::SlowBody(_) => {
                transport(Tag::ResourceDenied, refusal.to_string()).with_status(StatusCode::REQUEST_TIMEOUT)
            }
            Refusal::Unauthorized(detail) => {
                Self::protocol(Tag::AccessDenied, detail.as_str()).with_status(StatusCode::UNAUTHORIZED)
            }
            Refusal::Forbidden(detail) => Self::protocol(Tag::AccessDenied, detail.as_str()),
            Refusal::Unavailable(detail) => Self::unavailable(detail.as_str()),
            Refusal::Busy => Self::unavailable(format!("{refusal}; try again")),
            Refusal::MemoryFull => MemoryFull.into(),
            Refusal::Internal => Self::internal(),
        }
    }
}

/// The answer to a request with this header `Accept` that the server refuses.
pub(crate) fn refuse(refusal: &Refusal, accept: Option<&str>) -> Response {
    let mut response = Problem::from(refusal).response(Accepted::by_header(accept).unwrap_or(DEFAULT));
    check_before_reuse(&mut response);
    response
}

/// Says of an answer that it must not be given again unasked: every answer says whether it may (RFC 8040, section 5.5).
pub(crate) fn check_before_reuse(response: &mut Response) {
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> Problem {
        let namespaces = vec![("example-jukebox".into(), "http://example.com/ns?a&b".into())];
        let path =
            ErrorPath { text: "/example-jukebox:jukebox/library/artist[name='a<b']".into(), namespaces };
        Problem::application(Tag::DataMissing, "no such \"artist\"")
            .with_app_tag("instance-required")
            .at(path)
    }

    #[test]
    fn errors_are_json_or_xml() {
        assert_eq!(
            missing().json(),
            r#"{"ietf-restconf:errors":{"error":[{"error-type":"application","error-tag":"data-missing","error-app-tag":"instance-required","error-path":"/example-jukebox:jukebox/library/artist[name='a<b']","error-message":"no such \"artist\""}]}}"#
        );
        assert_eq!(
            missing().xml(),
            "<errors xmlns=\"urn:ietf:params:xml:ns:yang:ietf-restconf\"><error><error-type>application</error-type>\
             <error-tag>data-missing</error-tag><error-app-tag>instance-required</error-app-tag>\
             <error-path xmlns:example-jukebox=\"http://example.com/ns?a&amp;b\">\
             /example-jukebox:jukebox/example-jukebox:library/example-jukebox:artist[example-jukebox:name='a&lt;b']</error-path>\
             <error-message>no such &quot;artist&quot;</error-message></error></errors>"
        );
        assert_eq!(missing().status, StatusCode::CONFLICT);
    }

    #[test]
    fn what_is_said_first_of_a_place_counts() {
        let other = ErrorPath { text: "/x:y".into(), namespaces: Vec::new() };
        assert_eq!(missing().at(other).path, missing().path);
        assert_eq!(Problem::invalid("x").at(ErrorPath::default()).path, None);
    }

    #[test]
    fn parameters_are_named_with_what_would_be_right() {
        let problem = Problem::from(ParameterError::Unknown { name: "insert".into(), known: &[] });
        assert_eq!(problem.message, "this method has no parameters on this resource, so not \"insert\"");
        let problem = Problem::from(ParameterError::Value("depth", "it must be at least 1".into()));
        assert_eq!((problem.status.as_u16(), problem.tag), (400, Tag::InvalidValue));
        assert_eq!(problem.message, "parameter depth: it must be at least 1");
    }

    #[test]
    fn refusals_have_the_status_of_http_and_a_tag() {
        for (refusal, status, tag) in [
            (Refusal::NotFound, 404, "invalid-value"),
            (Refusal::MethodNotAllowed(vec![Method::GET]), 405, "operation-not-supported"),
            (Refusal::BodyTooLarge(1), 413, "too-big"),
            (Refusal::BrokenBody("x".into()), 400, "malformed-message"),
            (Refusal::BadEncoding("x".into()), 415, "invalid-value"),
            (Refusal::Busy, 503, "resource-denied"),
            (Refusal::Unauthorized("x".into()), 401, "access-denied"),
            (Refusal::Forbidden("x".into()), 403, "access-denied"),
            (Refusal::TimedOut(1), 504, "resource-denied"),
            (Refusal::SlowBody(1), 408, "resource-denied"),
            (Refusal::Internal, 500, "operation-failed"),
        ] {
            let problem = Problem::from(&refusal);
            assert_eq!((problem.status.as_u16(), problem.tag.name()), (status, tag), "{refusal:?}");
        }
        assert!(refuse(&Refusal::Busy, None).headers().contains_key(header::RETRY_AFTER));
    }

    #[test]
    fn refusals_have_the_form_that_is_accepted() {
        for (accept, media) in [
            (None, "application/yang-data+json"),
            (Some("application/yang-data+xml"), "application/yang-data+xml"),
            (Some("application/xml, */*;q=0.1"), "application/xml"),
            (Some("text/html"), "application/yang-data+json"),
        ] {
            let refused = refuse(&Refusal::NotFound, accept);
            assert_eq!(refused.headers().get(header::CONTENT_TYPE).unwrap(), media);
            assert_eq!(refused.headers().get(header::CACHE_CONTROL).unwrap(), "no-cache");
        }
    }
}
