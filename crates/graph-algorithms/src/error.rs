//! Why a graph is not built, or an algorithm does not end.

/// Why a graph is not built, or an algorithm does not end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The [`crate::Run`] was asked whether to go on, and said no.
    #[error("stopped before the end")]
    Stopped,
    /// More edges than the caller allows, or than 32 bits count.
    #[error("the graph has more than {limit} edges")]
    TooManyEdges {
        /// The most that may be.
        limit: u32,
    },
    /// An edge leads from or to a vertex that the graph does not have.
    #[error("vertex {vertex} of an edge is not below the count of vertices, {vertices}")]
    NoSuchVertex {
        /// The vertex of the edge.
        vertex: u32,
        /// How many vertices the graph has.
        vertices: u32,
    },
    /// A weight that is negative, infinite or no number.
    #[error("the weight of an edge must be finite and at least 0, got {0}")]
    Weight(f32),
}
