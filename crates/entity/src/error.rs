//! Why the model refuses.

use store::ErrorKind;

use crate::{Limit, LimitName, Malformed, TermId};

/// A refusal; each variant is a decision a front end can take.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No tenant of that name was ever written to.
    #[error("no such tenant {0:?}")]
    NoSuchTenant(String),
    /// The tenant is new, and there are as many as may be.
    #[error("tenant {tenant:?} is not created: tenants_max allows {max} beside the default one")]
    TooManyTenants {
        /// Whose creation is refused.
        tenant: Box<str>,
        /// How many there may be.
        max: usize,
    },
    /// No entity has this id.
    #[error("no such entity {0:?}")]
    NoSuchEntity(Box<str>),
    /// An entity with this id exists already.
    #[error("entity {0:?} already exists")]
    AlreadyExists(Box<str>),
    /// The entity has no such attribute, or no instance with that datasetId.
    #[error("no such attribute")]
    NoSuchAttribute(TermId, Option<Box<str>>),
    /// No instance of the history has this id.
    #[error("no such instance {0}")]
    NoSuchInstance(crate::InstanceId),
    /// The entity is not in a state that the writer demanded.
    #[error("entity {0:?} is in another state than the one demanded")]
    StateDiffers(Box<str>),
    /// The operation would break a rule of the model: the message names the member.
    #[error("{0}")]
    Invalid(String),
    /// Other writers kept changing the same entity.
    #[error("too many concurrent writers of entity {0:?}")]
    Contention(Box<str>),
    /// Beyond a named limit.
    #[error("{0}")]
    Limit(Limit),
    /// Beyond a limit of the strands that history is stored in.
    #[error("one strand: {got}, {0}", got = .0.got)]
    StrandLimit(strands::LimitExceeded),
    /// The deadline came first.
    #[error(transparent)]
    TimedOut(#[from] store::TimedOut),
    /// The store refused.
    #[error("store refused")]
    Store(#[source] store::Error),
}

impl Error {
    /// Whether the store serves nobody now, whatever is asked for.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.kind().is_outage())
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error.kind() {
            ErrorKind::TenantRemoved => Self::NoSuchTenant(error.action().into()),
            _ => Self::Store(error),
        }
    }
}

impl From<store::retry::Exhausted> for Error {
    fn from(exhausted: store::retry::Exhausted) -> Self {
        Self::Contention(exhausted.what)
    }
}

impl From<Malformed> for Error {
    fn from(source: Malformed) -> Self {
        store::Error::new(ErrorKind::Corrupt, "reading a stored entity").with_source(source).into()
    }
}

impl From<strands::Error> for Error {
    fn from(error: strands::Error) -> Self {
        use strands::Error as Strands;
        let unexpected = |kind, error: Strands| {
            store::Error::new(kind, "reading or writing the history of an entity").with_source(error).into()
        };
        match error {
            Strands::Store(error) => error.into(),
            Strands::Limit(limit) => Self::StrandLimit(limit),
            Strands::Contention(name) => Self::Contention(name),
            error @ Strands::Malformed(_) => unexpected(ErrorKind::Corrupt, error),
            error => unexpected(ErrorKind::Misuse, error),
        }
    }
}

impl Limit {
    /// Refuses what is more than `max`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub fn check(name: LimitName, max: usize, got: usize) -> Result<(), Error> {
        if got <= max { Ok(()) } else { Err(Error::Limit(Self { name, max, got })) }
    }
}
