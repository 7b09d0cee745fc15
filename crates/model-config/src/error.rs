//! Why this crate refuses.

use config::ApplyError;
use lang_yang::{CompileError, Invalid};
use store::retry::Exhausted;
use store::{LimitExceeded, TimedOut};

use crate::version::VersionId;

/// A refusal; a variant is a decision the caller can take.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No tenant has this name.
    #[error("tenant '{0}' does not exist")]
    UnknownTenant(Box<str>),
    /// The tenant has no dataspace of this name.
    #[error("dataspace '{0}' does not exist")]
    UnknownDataspace(Box<str>),
    /// The dataspace has no schema set of this name.
    #[error("schema set '{name}' does not exist in dataspace '{dataspace}'")]
    UnknownSchemaSet {
        /// The dataspace.
        dataspace: Box<str>,
        /// The name that was asked for.
        name: Box<str>,
    },
    /// The dataspace has no anchor of this name, or not the one that the caller knew.
    #[error("anchor '{name}' does not exist in dataspace '{dataspace}'")]
    UnknownAnchor {
        /// The dataspace.
        dataspace: Box<str>,
        /// The name that was asked for.
        name: Box<str>,
    },
    /// The version never was, or is no longer kept.
    #[error("version {version} of anchor '{anchor}' does not exist, or is no longer kept")]
    UnknownVersion {
        /// The anchor.
        anchor: Box<str>,
        /// The version that was asked for.
        version: VersionId,
    },
    /// Something of this name is there already.
    #[error("{kind} '{name}' exists already")]
    AlreadyExists {
        /// What.
        kind: Kind,
        /// Its name.
        name: Box<str>,
    },
    /// It cannot be removed before what uses it is.
    #[error("{kind} '{name}' is in use by {by}")]
    InUse {
        /// What.
        kind: Kind,
        /// Its name.
        name: Box<str>,
        /// What uses it.
        by: Box<str>,
    },
    /// A request that cannot be carried out; the text says why.
    #[error("{0}")]
    Invalid(Box<str>),
    /// Modules that are no YANG, or do not go together.
    #[error(transparent)]
    Yang(#[from] CompileError),
    /// The tree cannot be changed like this.
    #[error(transparent)]
    Edit(ApplyError),
    /// The whole of the data would break a rule of its modules, in an anchor that demands them all.
    #[error(transparent)]
    Data(#[from] Invalid),
    /// The anchor is of another version than the one that was named.
    #[error("anchor '{anchor}' is of version {head}, not of version {expected}")]
    Conflict {
        /// The anchor.
        anchor: Box<str>,
        /// Its version.
        head: VersionId,
        /// The version that it was to have.
        expected: VersionId,
    },
    /// Other writers kept coming first.
    #[error("too many writers at once on {0}")]
    Contention(Box<str>),
    /// More than a limit allows.
    #[error("{what}: {}, {limit}", .limit.got)]
    Limit {
        /// What was counted, and of what.
        what: Box<str>,
        /// How many there were, and may be.
        limit: LimitExceeded,
    },
    /// The work took longer than it may.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    /// What the store refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// What has a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A dataspace.
    Dataspace,
    /// A schema set.
    SchemaSet,
    /// An anchor.
    Anchor,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Dataspace => "dataspace",
            Self::SchemaSet => "schema set",
            Self::Anchor => "anchor",
        })
    }
}

impl Error {
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

/// An error for stored bytes that make no sense.
pub(crate) fn damaged(what: &str) -> Error {
    store::Error::new(store::ErrorKind::Corrupt, format!("read {what}: its bytes make no sense")).into()
}
