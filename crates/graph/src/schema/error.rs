//! Why a change of a schema is refused. Clients look for the texts.

use super::kinds::SchemaKind;

/// Why a change of a schema is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SchemaError {
    /// There is a part of this kind and name, or with this number.
    #[error("The {what} '{name}' has existed")]
    Existed {
        /// What of: its kind, or the number of its kind.
        what: Box<str>,
        /// Its name or number.
        name: Box<str>,
    },
    /// What a part with this number has left is still being removed.
    #[error("The {} id '{number}' is still being removed", .kind.readable_name())]
    BeingRemoved {
        /// Its kind.
        kind: SchemaKind,
        /// Its number.
        number: u32,
    },
    /// There is no part of this kind and name.
    #[error("{} with name '{name}' does not exist", .kind.readable_name())]
    NotFound {
        /// Its kind.
        kind: SchemaKind,
        /// Its name.
        name: Box<str>,
    },
    /// There is nothing of this name to be changed.
    #[error("{0}")]
    NothingToChange(Box<str>),
    /// It would be against the rules for a part as it is.
    #[error("{0}")]
    NotAllowed(Box<str>),
    /// The draft says what cannot be.
    #[error("{0}")]
    Invalid(Box<str>),
    /// The mode of the graph does not take it.
    #[error("{0}")]
    WrongMode(Box<str>),
    /// Another part needs the one that is to go.
    #[error("{0}")]
    InUse(Box<str>),
    /// A limit would be passed.
    #[error("{what}: at most {max}")]
    Limit {
        /// What there would be too much of.
        what: Box<str>,
        /// So much may be.
        max: usize,
    },
}

impl SchemaError {
    pub(super) fn invalid(text: impl Into<Box<str>>) -> Self {
        Self::Invalid(text.into())
    }

    pub(super) fn not_allowed(text: impl Into<Box<str>>) -> Self {
        Self::NotAllowed(text.into())
    }

    /// A name of a draft that stands for nothing.
    pub(super) fn undefined(kind: SchemaKind, name: &str) -> Self {
        Self::Invalid(format!("Undefined {}: '{name}'", kind.readable_name()).into())
    }

    pub(super) fn nothing_to_change(kind: SchemaKind, name: &str) -> Self {
        let text = format!("Can't update {} '{name}' since it doesn't exist", kind.readable_name());
        Self::NothingToChange(text.into())
    }
}
