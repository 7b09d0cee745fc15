//! Why a text is not JSON, and where.

/// A text that is not the JSON that was asked for.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct Error {
    /// What is wrong.
    pub problem: Problem,
    /// The offset in bytes from the start of the text.
    pub at: usize,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The text ends within a value.
    #[error("unexpected end of JSON")]
    End,
    /// A byte that is not allowed here.
    #[error("unexpected character in JSON")]
    Unexpected,
    /// A string with a bare control character or a bad escape.
    #[error("malformed JSON string")]
    String,
    /// A number outside of the grammar.
    #[error("malformed JSON number")]
    Number,
    /// A number beyond what a double can hold, such as `1e400`.
    #[error("JSON number beyond the range of doubles")]
    Range,
    /// Objects and arrays nested deeper than the limit.
    #[error("JSON nested too deeply")]
    Depth,
    /// Something follows the value.
    #[error("trailing characters after JSON")]
    Trailing,
    /// Another kind of value was expected here.
    #[error("another kind of JSON value expected")]
    Kind,
}
