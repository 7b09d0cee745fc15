//! Why this crate refuses.

use graph::admit::AdmitError;
use graph::update::UpdateError;
use graph::{EdgeId, LabelId, VertexId};
use store::retry::Exhausted;
use store::{LimitExceeded, TimedOut};

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
    /// A request that cannot be carried out; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Nothing is known under this name or number.
    #[error("{0} does not exist")]
    NotFound(Box<str>),
    /// No vertex has this id.
    #[error("vertex {0} does not exist")]
    NoSuchVertex(VertexId),
    /// No edge has this id.
    #[error("edge {0} does not exist")]
    NoSuchEdge(Box<EdgeId>),
    /// The end of an edge is of another label than it demands.
    #[error("vertex {vertex} is of label {stored}, not of {demanded}")]
    OtherLabel {
        /// The vertex.
        vertex: VertexId,
        /// The label that it must have.
        demanded: LabelId,
        /// The one that it has.
        stored: LabelId,
    },
    /// The label of an element was removed since the element was read from a request: nobody would see it.
    #[error("the label of the element was removed meanwhile")]
    LabelRemoved,
    /// A property that may not be null is eliminated.
    #[error("property {0} may not be null")]
    NotNullable(Box<str>),
    /// Another element has the values of a UNIQUE index.
    #[error("another element has the same values of a unique index")]
    NotUnique,
    /// An element cannot be like this.
    #[error(transparent)]
    Admit(#[from] AdmitError),
    /// Properties cannot be changed like this.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// Something of this name is there already.
    #[error("{0} exists already")]
    AlreadyExists(Box<str>),
    /// A rule of schemas is against it.
    #[error(transparent)]
    Schema(graph::schema::SchemaError),
    /// There are as many as may be.
    #[error("too many {what}: at most {max}")]
    TooMany {
        /// What of.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// A query that no index serves.
    #[error(transparent)]
    Plan(#[from] graph::plan::PlanError),
    /// Other writers kept coming first.
    #[error("too many writers at once on {0}")]
    Contention(Box<str>),
    /// The work took longer than it may.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    /// Stored bytes are damaged.
    #[error(transparent)]
    Malformed(#[from] graph::Malformed),
    /// What the store refused.
    #[error(transparent)]
    Store(#[from] store::Error),
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
