//! Why a call does not come about, or its answer is not taken.

use std::time::Duration;

/// Why a call does not come about, or its answer is not taken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// The URL, or one that a redirect leads to, cannot be called.
    #[error("{0}")]
    Invalid(String),
    /// The policy forbids the address in the URL.
    #[error("{0} is no address that may be called")]
    AddressForbidden(String),
    /// The policy forbids the name, or all addresses that it stands for.
    #[error("{0} stands for no address that may be called")]
    NameForbidden(String),
    /// More redirects than are followed.
    #[error("more than {0} redirects")]
    Redirects(usize),
    /// The body is larger than what is taken.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// It took longer than is waited for.
    #[error("no whole answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The client could not be made, or the other side could not be reached, or broke off.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// What the HTTP client says, in one line and without the URL, which may hold a secret.
    pub(crate) fn of_client(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(inner) = source {
            if let Some(refused) = inner.downcast_ref::<Self>() {
                return refused.clone();
            }
            text.push_str(": ");
            text.push_str(&inner.to_string());
            source = inner.source();
        }
        Self::Failed(text)
    }
}
