//! Why this crate refuses.

/// A refusal; a variant is a decision the caller can take.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request that cannot be carried out; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// There is one of this kind and id.
    #[error("Can't save {kind} '{id}' that already exists")]
    Exists {
        /// `user`, `group`, …
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// There is none of this kind and id.
    #[error("Can't find {kind} with id '{id}'")]
    NotFound {
        /// `user`, `group`, …
        kind: &'static str,
        /// The id.
        id: String,
    },
    /// Nobody of this name has this password, or nobody was given this token.
    #[error("Incorrect username or password")]
    Unknown,
    /// Whoever asks may not do that; the text says what.
    #[error("Permission denied: {0}")]
    Forbidden(String),
    /// More passwords wait to be checked than may.
    #[error("too many passwords are being checked: try again")]
    Busy,
    /// Other changes kept coming first.
    #[error("too many changes of users at once: try again")]
    Contention,
    /// What the store of objects refused.
    #[error(transparent)]
    Objects(#[from] model_graph::Error),
    /// A stored object makes no sense.
    #[error("stored {kind} '{id}' is damaged")]
    Damaged {
        /// `user`, `group`, …
        kind: &'static str,
        /// Its id.
        id: String,
    },
}
