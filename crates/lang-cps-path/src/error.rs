//! Why a text is not a CPS path.

/// Why a text is not a CPS path, and where.
///
/// Its display names all; [`ParseError::detail`] is the sentence that CPS answers with.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("Failed to parse at line {line} due to {cause} (column {column}): {expected}")]
pub struct ParseError {
    /// Where, in bytes from the beginning of the text.
    pub position: usize,
    /// The line of that place, from 1 on.
    pub line: usize,
    /// The column of that place in characters, from 1 on.
    pub column: usize,
    /// What is wrong, in the words of CPS where these are known.
    pub cause: Box<str>,
    /// What would be right.
    pub expected: Box<str>,
}

impl ParseError {
    /// The place of a fault in a text. Cost: O(position).
    pub(crate) fn new(text: &str, position: usize, cause: String, expected: &str) -> Self {
        let before = text.get(..position).expect("a token begins at the start of a character");
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).expect("a line begins behind a newline").chars().count() + 1;
        Self { position, line, column, cause: cause.into(), expected: expected.into() }
    }

    /// The sentence that CPS answers with, without column and advice.
    pub fn detail(&self) -> String {
        format!("Failed to parse at line {} due to {}", self.line, self.cause)
    }
}
