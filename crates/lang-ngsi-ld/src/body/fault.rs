//! Why a body is refused: gathered on the way out of the parser, worded once.

use lang_json::Problem as JsonProblem;

use crate::error::Error;

/// Why a body was not taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BodyError {
    /// It is wrong.
    Refused(Error),
    /// It uses names (IRIs, each once) that must be interned first; then it can be parsed again.
    Unknown(Vec<String>),
}

impl From<Error> for BodyError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// What is wrong with a body, boxed so that results stay small where nothing is.
#[derive(Debug)]
pub(super) struct Fault {
    /// The attributes it lies in, innermost first.
    path: Vec<String>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The body is not JSON.
    Json(lang_json::Error),
    /// It is JSON, and not what was asked for.
    Data(String),
    /// It holds more than a limit allows.
    Limit(String),
}

/// The most characters of a wrong value that a refusal shows.
const FOUND_CHARS_MAX: usize = 60;

pub(super) type Outcome<T> = Result<T, Box<Fault>>;

impl Fault {
    /// A body that says something wrong.
    pub(super) fn data(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { path: Vec::new(), what: What::Data(message.into()) })
    }

    /// A member that is something else than it must be; `found` is its JSON.
    #[cold]
    pub(super) fn expected(member: &str, expected: &str, found: &str) -> Box<Self> {
        let is_long = found.chars().nth(FOUND_CHARS_MAX).is_some();
        let shown: String = found.chars().take(FOUND_CHARS_MAX).collect();
        let more = if is_long { "…" } else { "" };
        Self::data(format!("{member:?} must be {expected}, not {shown}{more}"))
    }

    /// An attribute whose type is none of an attribute.
    #[cold]
    pub(super) fn no_kind(name: &str) -> Box<Self> {
        Self::data(format!(
            "\"type\": {name:?} is no kind of attribute (Property, GeoProperty, Relationship, LanguageProperty, VocabProperty, \
             JsonProperty, ListProperty, ListRelationship)"
        ))
    }

    /// A body that holds more than a limit allows, which the message names.
    pub(super) fn limit(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { path: Vec::new(), what: What::Limit(message.into()) })
    }

    /// The fault lies within this attribute.
    pub(super) fn within(mut self: Box<Self>, attribute: &str) -> Box<Self> {
        self.path.push(attribute.to_owned());
        self
    }

    /// In words.
    pub(super) fn into_error(self) -> Error {
        let (message, worded): (String, fn(String) -> Error) = match self.what {
            What::Json(error) if !matches!(error.problem, JsonProblem::Depth | JsonProblem::Range) => {
                return Error::NotJson(format!("the body is not JSON: {error}"));
            }
            What::Json(error) if error.problem == JsonProblem::Depth => {
                (format!("{error} (depth_max)"), Error::Invalid)
            }
            What::Json(error) => (error.to_string(), Error::Invalid),
            What::Data(message) => (message, Error::Invalid),
            What::Limit(message) => (message, Error::TooLarge),
        };
        if self.path.is_empty() {
            return worded(message);
        }
        let path: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
        worded(format!("attribute {:?}: {message}", path.join(".")))
    }
}

impl From<lang_json::Error> for Box<Fault> {
    #[cold]
    fn from(error: lang_json::Error) -> Self {
        Box::new(Fault { path: Vec::new(), what: What::Json(error) })
    }
}
