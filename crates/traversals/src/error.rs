//! Why a walk is refused or ends without an answer.

use graph::VertexId;

/// Why a walk is refused or ends without an answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter is not one that a walk can have; says which, and what it may be.
    #[error("{0}")]
    Parameter(String),
    /// A vertex from which, or to which, the walk was to go is not in the graph.
    #[error("The {role} with id '{id}' does not exist")]
    NoSuchVertex {
        /// What it was to be.
        role: &'static str,
        /// Its id.
        id: VertexId,
    },
    /// It visited more than its capacity allows.
    #[error("Exceed capacity '{capacity}' while finding {what}")]
    Capacity {
        /// The capacity.
        capacity: i64,
        /// What it was to find.
        what: &'static str,
    },
    /// It visited as much as its capacity allows before it was as deep as it was to go.
    #[error("Reach capacity '{capacity}' while remaining depth '{depth}'")]
    CapacityBeforeDepth {
        /// The capacity.
        capacity: i64,
        /// Steps that were left.
        depth: i64,
    },
    /// What it had to remember took more memory than one walk may have.
    #[error(
        "the walk needs more than walk_memory_bytes_max, {bytes_max} bytes; lower its max_depth, max_degree or capacity"
    )]
    Memory {
        /// The most bytes.
        bytes_max: usize,
    },
    /// Others take the memory that it shares with them.
    #[error("other requests take the memory that the walk needs (memory_bytes_max)")]
    MemoryFull,
    /// It did not end before its deadline.
    #[error(transparent)]
    TimedOut(#[from] store::TimedOut),
    /// The graph could not be read.
    #[error(transparent)]
    Graph(#[from] model_graph::Error),
}
