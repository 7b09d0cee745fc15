//! Why a body is refused: gathered on the way out of the parser, worded once.

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
    /// The attributes it stands in, innermost first.
    path: Vec<String>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The body is not JSON.
    Json(lang_json::Error),
    /// It is JSON, and not what was asked for.
    Data(String),
}

pub(super) type Outcome<T> = Result<T, Box<Fault>>;

impl Fault {
    /// A body that says something wrong.
    pub(super) fn data(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { path: Vec::new(), what: What::Data(message.into()) })
    }

    /// The fault lies within this attribute.
    pub(super) fn within(mut self: Box<Self>, attribute: &str) -> Box<Self> {
        self.path.push(attribute.to_owned());
        self
    }

    /// The answer to the client.
    pub(super) fn into_problem(self) -> Problem {
        let message = match self.what {
            What::Json(error) if error.problem != lang_json::Problem::Depth => {
                return Problem::invalid_request(format!("the body is not JSON: {error}"));
            }
            What::Json(error) => error.to_string(),
            What::Data(message) => message,
        };
        if self.path.is_empty() {
            return Problem::bad_request(message);
        }
        let path: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
        Problem::bad_request(format!("attribute {:?}: {message}", path.join(".")))
    }
}

impl From<lang_json::Error> for Box<Fault> {
    #[cold]
    fn from(error: lang_json::Error) -> Self {
        Box::new(Fault { path: Vec::new(), what: What::Json(error) })
    }
}
