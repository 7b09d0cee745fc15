//! What a route does, declared with it: its parameters, what it is sent and answers. Requests are checked against it, and the
//! [description](crate::Document) of the API is made of it.

use serde_json::Value;

use crate::Parameter;

/// An operation of an API. Made by [`Operation::new`] and what follows it, in a constant beside its handler:
///
/// ```
/// use api_http::{Content, Gives, Operation, Parameter, ParameterValue, schema_reference};
/// use serde_json::{Value, json};
///
/// const LIMIT: Parameter = Parameter::new("limit", ParameterValue::Number(1), "The most rows of a page.");
///
/// /// JSON of a schema.
/// fn json(schema: &str) -> Value {
///     json!({ "application/json": { "schema": schema_reference(schema) } })
/// }
///
/// /// GET /units
/// static LIST: Operation = Operation::new("units", "listUnits", "All units.")
///     .query(&[&[LIMIT]])
///     .gives(&[(200, Gives::new("Done.", Content::new("Units", json)))])
///     .refuses(&[400, 404]);
/// assert!(LIST.has(&LIMIT));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name of its group.
    pub tag: &'static str,
    /// Its name: no other operation of the API has it.
    pub id: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Headers that it heeds beside those of HTTP.
    pub headers: &'static [Header],
    /// Its parameters, in groups that operations share.
    pub query: &'static [&'static [Parameter]],
    /// What it is sent.
    pub body: Option<Content>,
    /// What it answers, by status.
    pub answers: &'static [(u16, Gives)],
    /// Statuses that it refuses with, apart from those that any operation may.
    pub refusals: &'static [u16],
    /// What it has to do with entity tags.
    pub tagging: Tagging,
    /// The media types of the patches that it takes, as the header `Accept-Patch` lists them (RFC 5789, section 3.1).
    pub accept_patch: Option<&'static str>,
}

/// A header that operations heed.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub text: &'static str,
}

/// A body: the name of a schema, and what the front end says of its media types.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    schema: &'static str,
    describe: fn(&str) -> Value,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Gives {
    /// What it says.
    pub text: &'static str,
    /// Its body, if it has one.
    pub content: Option<Content>,
}

/// What an operation has to do with entity tags (RFC 9110, section 8.8.3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tagging {
    /// What it is about has no tags; a write that demands one is refused.
    None,
    /// It is about one thing that has a tag: reads give it, writes heed `If-Match` and `If-None-Match`.
    One,
    /// It makes one thing that will have a tag, unless `If-None-Match` forbids it.
    New,
}

impl Operation {
    /// An undeclared operation, for requests that tests make without a route.
    pub const UNDECLARED: Self = Self::new("", "undeclared", "");

    /// An operation without parameters, body and answers.
    pub const fn new(tag: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self {
            tag,
            id,
            summary,
            headers: &[],
            query: &[],
            body: None,
            answers: &[],
            refusals: &[],
            tagging: Tagging::None,
            accept_patch: None,
        }
    }

    /// The same with these headers.
    pub const fn headers(self, headers: &'static [Header]) -> Self {
        Self { headers, ..self }
    }

    /// The same with these parameters.
    pub const fn query(self, query: &'static [&'static [Parameter]]) -> Self {
        Self { query, ..self }
    }

    /// The same with a body.
    pub const fn sent(self, body: Content) -> Self {
        Self { body: Some(body), ..self }
    }

    /// The same with these answers.
    pub const fn gives(self, answers: &'static [(u16, Gives)]) -> Self {
        Self { answers, ..self }
    }

    /// The same with these refusals.
    pub const fn refuses(self, refusals: &'static [u16]) -> Self {
        Self { refusals, ..self }
    }

    /// The same about one thing that has a tag.
    pub const fn about_one(self) -> Self {
        Self { tagging: Tagging::One, ..self }
    }

    /// The same, which makes one thing that will have a tag.
    pub const fn making_one(self) -> Self {
        Self { tagging: Tagging::New, ..self }
    }

    /// The same, which takes patches of these media types.
    pub const fn patched_as(self, media: &'static str) -> Self {
        Self { accept_patch: Some(media), ..self }
    }

    /// Whether it declares a parameter of this name.
    pub fn has(&self, parameter: &Parameter) -> bool {
        self.find(parameter.name).is_some()
    }

    /// The parameter of this name. Cost: a comparison with each.
    pub(crate) fn find(&self, name: &str) -> Option<&'static Parameter> {
        self.query.iter().flat_map(|group| group.iter()).find(|parameter| parameter.name == name)
    }
}

impl Content {
    /// The schema of this name, in the media types that `describe` gives it in.
    pub const fn new(schema: &'static str, describe: fn(&str) -> Value) -> Self {
        Self { schema, describe }
    }

    pub(crate) fn described(self) -> Value {
        (self.describe)(self.schema)
    }
}

impl Gives {
    /// An answer with a body.
    pub const fn new(text: &'static str, content: Content) -> Self {
        Self { text, content: Some(content) }
    }

    /// An answer without one.
    pub const fn nothing(text: &'static str) -> Self {
        Self { text, content: None }
    }
}
