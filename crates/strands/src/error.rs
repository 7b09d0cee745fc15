//! Why strands refuse.

use store::LimitExceeded;

/// A refusal; a variant is a decision that the caller can take.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// More of a strand than a limit allows.
    #[error("one strand: {got}, {0}", got = .0.got)]
    Limit(LimitExceeded),
    /// A request that makes no sense, whatever is stored; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Other writers kept coming first.
    #[error("too many writers at once on {0}")]
    Contention(Box<str>),
    /// Stored bytes are damaged.
    #[error(transparent)]
    Malformed(#[from] crate::codec::Malformed),
    /// What the store refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<LimitExceeded> for Error {
    fn from(limit: LimitExceeded) -> Self {
        Self::Limit(limit)
    }
}

impl Error {
    /// Whether the store serves nobody now, whatever is asked for.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.kind().is_outage())
    }
}
