//! Why a text is not a formula.

/// Why a text is not a formula.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("formula, position {position}: {message}")]
pub struct ParseError {
    /// Where, in bytes from the beginning of the text.
    pub position: usize,
    /// What was expected, or what is wrong.
    pub message: String,
}
