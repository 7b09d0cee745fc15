//! Why this crate refuses.

use strands::LimitExceeded;

/// A refusal; a variant is a decision the caller can take.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// More than a limit allows.
    #[error("{what}: {}, {limit}", .limit.got)]
    Limit {
        /// What was counted.
        what: Box<str>,
        /// How many there were, and may be.
        limit: LimitExceeded,
    },
    /// A definition or request that makes no sense; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Nothing is known under this name.
    #[error("{0} is not known")]
    NotFound(Box<str>),
}
