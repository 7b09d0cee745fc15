//! Why this crate refuses.

use store::LimitExceeded;
use store::retry::Exhausted;

/// A refusal; a variant is a decision the caller can take.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// More than a limit allows.
    #[error("{what}: {}, {limit}", .limit.got)]
    Limit {
        /// What was counted, and of what.
        what: Box<str>,
        /// How many there were, and may be.
        limit: LimitExceeded,
    },
    /// The tenant is new, and there are as many as may be.
    #[error("tenant {tenant} is not created: tenants_max allows {max} beside the default one")]
    TooManyTenants {
        /// Whose creation is refused.
        tenant: Box<str>,
        /// How many there may be.
        max: usize,
    },
    /// The repository is new, and there are as many as may be.
    #[error("repository {repository} is not created: repositories_max allows {max} beside `default`")]
    TooManyRepositories {
        /// Whose creation is refused.
        repository: Box<str>,
        /// How many there may be.
        max: usize,
    },
    /// A request that cannot be carried out; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Nothing is known under this name or number.
    #[error("{0} is not known")]
    NotFound(Box<str>),
    /// Something of this name is there already.
    #[error("{0} exists already")]
    AlreadyExists(Box<str>),
    /// It is not in a state that the writer demanded.
    #[error("{0} is in another state than the one demanded")]
    StateDiffers(Box<str>),
    /// Parts of a request are refused, so nothing of it was done; at most [`Refusal::REFUSALS_MAX`] are listed.
    #[error("{}", told(.0))]
    Refused(Vec<Refusal>),
    /// Other writers kept coming first.
    #[error("too many writers at once on {0}")]
    Contention(Box<str>),
    /// Stored bytes are damaged.
    #[error(transparent)]
    Malformed(#[from] crate::Malformed),
    /// What the store refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// Refuses more than `max` of `what`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub(crate) fn check_limit(
        name: &'static str,
        max: usize,
        got: usize,
        what: impl FnOnce() -> String,
    ) -> Result<(), Self> {
        LimitExceeded::check(name, max, got).map_err(|limit| Self::Limit { what: what().into(), limit })
    }

    /// Whether the store serves nobody now, whatever is asked for.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.kind().is_outage())
    }
}

impl From<Exhausted> for Error {
    fn from(exhausted: Exhausted) -> Self {
        Self::Contention(exhausted.what)
    }
}

impl From<rasters::Error> for Error {
    fn from(error: rasters::Error) -> Self {
        match error {
            rasters::Error::Limit { what, limit } => Self::Limit { what, limit },
            rasters::Error::Invalid(text) => Self::Invalid(text),
            rasters::Error::NotFound(name) => Self::NotFound(name),
        }
    }
}

impl From<strands::Error> for Error {
    fn from(error: strands::Error) -> Self {
        match error {
            strands::Error::Limit(limit) => Self::Limit { what: "one strand".into(), limit },
            strands::Error::Invalid(text) => Self::Invalid(text),
            strands::Error::Contention(name) => Self::Contention(name),
            strands::Error::Malformed(error) => Self::Malformed(error),
            strands::Error::Store(error) => Self::Store(error),
        }
    }
}

/// A part of a request that is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// Which part, counted from 0 in the order of the request.
    pub place: usize,
    /// The name of the series.
    pub series: Box<str>,
    /// Which point of the part, counted from 0; none if it is not about a point.
    pub position: Option<usize>,
    /// What kind of refusal.
    pub kind: RefusalKind,
    /// Why.
    pub reason: String,
}

/// The decision a caller can take on a [`Refusal`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RefusalKind {
    /// See [`Error::Limit`].
    Limit,
    /// See [`Error::Invalid`].
    Invalid,
    /// See [`Error::NotFound`].
    NotFound,
    /// See [`Error::AlreadyExists`].
    AlreadyExists,
}

impl Refusal {
    /// The most that are listed of one request.
    pub const REFUSALS_MAX: usize = 100;
}

fn told(refusals: &[Refusal]) -> String {
    match refusals {
        [] => "refused".into(),
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "series {}", self.series)?;
        if let Some(position) = self.position {
            write!(f, ", position {position}")?;
        }
        write!(f, ": {}", self.reason)
    }
}
