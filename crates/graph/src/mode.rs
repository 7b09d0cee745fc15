//! What a graph is set to: how it takes writes, and which properties it reads.

use crate::codes::coded;

coded! {
    /// How a graph takes writes.
    GraphMode {
        /// As usual.
        None = 0, "NONE";
        /// An empty graph is filled from a backup: parts of the schema and vertices bring their numbers and ids.
        Restoring = 1, "RESTORING";
        /// Parts of other graphs are taken in: vertices bring their ids, parts of the schema get numbers of this graph.
        Merging = 2, "MERGING";
        /// Much is written at once: ids of vertices at the ends of edges are not looked up.
        Loading = 3, "LOADING";
    }
}

#[expect(clippy::derivable_impls, reason = "the table of kinds takes no attributes")]
impl Default for ReadMode {
    fn default() -> Self {
        Self::OltpOnly
    }
}

impl GraphMode {
    /// Whether vertices with automatic ids may bring their own.
    pub fn takes_ids(self) -> bool {
        matches!(self, Self::Restoring | Self::Merging)
    }
}

coded! {
    /// Which properties a graph reads: those written with elements (OLTP), and those computed later (OLAP).
    ReadMode {
        /// Both.
        All = 1, "ALL";
        /// Those written with elements.
        OltpOnly = 2, "OLTP_ONLY";
        /// Those computed later.
        OlapOnly = 3, "OLAP_ONLY";
    }
}
