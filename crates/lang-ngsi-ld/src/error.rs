//! Why a text is refused.

/// A refusal, in words for whoever sent the text; each variant is a decision that a front end takes.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// A body is not JSON: what is wrong, and where.
    #[error("{0}")]
    NotJson(String),
    /// It means nothing valid: which member or parameter, and what is wrong with it.
    #[error("{0}")]
    Invalid(String),
    /// A body holds more than a limit allows: which limit.
    #[error("{0}")]
    TooLarge(String),
    /// A query asks for more work than a limit allows: which limit.
    #[error("{0}")]
    TooComplex(String),
}

impl Error {
    /// A text that means nothing valid.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(text.into())
    }

    /// Which refusal it is, and its words.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        let variant = match self {
            Self::NotJson(_) => "NotJson",
            Self::Invalid(_) => "Invalid",
            Self::TooLarge(_) => "TooLarge",
            Self::TooComplex(_) => "TooComplex",
        };
        format!("{variant}: {self}")
    }
}
