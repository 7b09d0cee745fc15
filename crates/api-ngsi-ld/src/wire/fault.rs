//! Why a body is refused: gathered on the way out of the parser, worded once.

use lang_json::Problem as JsonProblem;

use crate::problem::Problem;

/// Why a body was not taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum WireError {
    /// It is wrong.
    Problem(Problem),
    /// It uses names (IRIs, each once) that must be interned first; then it can be parsed again.
    Unknown(Vec<String>),
}

impl From<Problem> for WireError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
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

    /// The answer to the client.
    pub(super) fn into_problem(self) -> Problem {
        let (message, worded): (String, fn(String) -> Problem) = match self.what {
            What::Json(error) if !matches!(error.problem, JsonProblem::Depth | JsonProblem::Range) => {
                return Problem::invalid_request(format!("the body is not JSON: {error}"));
            }
            What::Json(error) if error.problem == JsonProblem::Depth => {
                (format!("{error} (depth_max)"), Problem::bad_request)
            }
            What::Json(error) => (error.to_string(), Problem::bad_request),
            What::Data(message) => (message, Problem::bad_request),
            What::Limit(message) => (message, Problem::too_large),
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
