//! Why this crate refuses.

/// A refusal; a variant is a decision the caller can take.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// Something exceeds a named limit.
    #[error("{0}")]
    Limit(String),
    /// A definition or request that makes no sense; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Nothing is known under this name.
    #[error("{0} is not known")]
    NotFound(Box<str>),
}
