//! JSON values as they are sent, and the names of types in messages: those of Java, which clients know.

use std::borrow::Cow;

use graph::{Cardinality, DataType};
use lang_json::{Kind, Reader};

/// The most letters that messages show of a value.
const SHOWN_LETTERS_MAX: usize = 128;

/// A JSON value, as far as it is a value of a property.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Text(Cow<'a, str>),
    Number(&'a str),
    Bool(bool),
    Null,
    /// Its text.
    Array(&'a str),
    /// Its text.
    Object(&'a str),
}

impl<'a> Token<'a> {
    /// The next value.
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, lang_json::Error> {
        Ok(match reader.peek()? {
            Kind::String => Self::Text(reader.string()?),
            Kind::Number => Self::Number(reader.finite_number()?),
            Kind::Bool => Self::Bool(reader.bool()?),
            Kind::Null => {
                reader.null()?;
                Self::Null
            }
            Kind::Array => Self::Array(reader.raw()?),
            Kind::Object => Self::Object(reader.raw()?),
        })
    }

    /// Its text: of a string without quotes, else as it was sent.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Number(text) | Self::Array(text) | Self::Object(text) => text,
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Null => "null",
        }
    }

    /// As messages show it: of a long text the beginning.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        shown(self.text())
    }
}

/// A text as messages show it: of a long one the beginning.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN_LETTERS_MAX) {
        Some((at, _)) => Cow::Owned(format!("{}…", text.get(..at).expect("a letter begins there"))),
        None => Cow::Borrowed(text),
    }
}

/// The class of one value.
fn class(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Object => "Object",
        DataType::Boolean => "Boolean",
        DataType::Byte => "Byte",
        DataType::Int => "Integer",
        DataType::Long => "Long",
        DataType::Float => "Float",
        DataType::Double => "Double",
        DataType::Text => "String",
        DataType::Blob => "Blob",
        DataType::Date => "Date",
        DataType::Uuid => "UUID",
    }
}

/// The class of a property: `String`, `List<String>`.
pub(super) fn expected(data_type: DataType, cardinality: Cardinality) -> String {
    let class = class(data_type);
    match cardinality {
        Cardinality::Single => class.to_owned(),
        Cardinality::List => format!("List<{class}>"),
        Cardinality::Set => format!("Set<{class}>"),
    }
}

/// The class of a value that was sent.
pub(super) fn actual(token: &Token<'_>) -> &'static str {
    match token {
        Token::Text(_) => "String",
        Token::Number(digits) if digits.contains(['.', 'e', 'E']) => "Double",
        Token::Number(digits) if digits.parse::<i32>().is_ok() => "Integer",
        Token::Number(digits) if digits.parse::<i64>().is_ok() => "Long",
        Token::Number(_) => "BigInteger",
        Token::Bool(_) => "Boolean",
        Token::Null => "null",
        Token::Array(_) => "ArrayList",
        Token::Object(_) => "LinkedHashMap",
    }
}
