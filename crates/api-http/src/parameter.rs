//! Parameters of queries as they are declared, once: what a request is checked against, what a value is read by, and what the
//! description of the API says.

use serde_json::{Value, json};

/// A parameter of queries.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its name among the parameters of the API: another one where a word means different things to different operations.
    pub key: &'static str,
    /// What values look like.
    pub value: ParameterValue,
    /// Whether it may be given more than once.
    pub is_repeatable: bool,
    /// What it means, in a sentence.
    pub text: &'static str,
}

/// What the values of a parameter look like.
#[derive(Clone, Copy, Debug)]
pub enum ParameterValue {
    /// Any text.
    Text,
    /// A text such as these.
    Like(&'static [&'static str]),
    /// A date-time (RFC 3339).
    DateTime,
    /// `true` or `false`.
    Flag,
    /// A whole number from this one on.
    Number(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Whatever fits this JSON schema.
    Schema(fn() -> Value),
}

impl Parameter {
    /// A parameter that is given once at the most.
    pub const fn new(name: &'static str, value: ParameterValue, text: &'static str) -> Self {
        Self { name, key: name, value, is_repeatable: false, text }
    }

    /// The same under another name among the parameters of the API.
    pub const fn keyed(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// The same, and it may be repeated.
    pub const fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// As OpenAPI describes it.
    pub(crate) fn described(&self) -> Value {
        let schema = self.value.schema();
        let schema = if self.is_repeatable { json!({ "type": "array", "items": schema }) } else { schema };
        json!({ "name": self.name, "in": "query", "description": self.text, "schema": schema })
    }
}

/// Keys are unique within an API, names only within an operation.
impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Parameter {}

impl ParameterValue {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Like(examples) => json!({ "type": "string", "examples": examples }),
            Self::DateTime => json!({ "type": "string", "format": "date-time" }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Number(least) => json!({ "type": "integer", "minimum": least }),
            Self::Word(words) => json!({ "enum": words }),
            Self::Schema(schema) => schema(),
        }
    }
}
