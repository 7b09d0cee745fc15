//! Why a context cannot be had, hosted or removed.

/// A refusal; each variant is a decision that a front end takes.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text of a document to host is not JSON: what is wrong, and where.
    #[error("{0}")]
    NotJson(String),
    /// It is no context, or refers to something that is none: which document, what is wrong, and where.
    #[error("{0}")]
    Invalid(String),
    /// A document from elsewhere did not come, or is no context any more; another attempt may succeed.
    #[error("{0}")]
    Unavailable(String),
    /// The server's settings do not allow it, or the operator's contexts would change: which setting decides.
    #[error("{0}")]
    NotAllowed(String),
    /// There is more of it than a limit allows: which limit.
    #[error("{0}")]
    TooLarge(String),
    /// The tenant has no context with this id or URL.
    #[error("no context has the id or URL {0:?}")]
    NoSuchContext(Box<str>),
    /// A stored context is damaged; the log says which.
    #[error("a stored context is damaged")]
    Damaged,
    /// Parsing ended in a panic: a fault of ours, which is in the log.
    #[error("parsing a context failed")]
    Failed,
    /// The model refused.
    #[error(transparent)]
    Model(#[from] model_entities::Error),
}
