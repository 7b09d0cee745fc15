//! The rows of the family as data, and the loads under which each of them runs.

use std::time::Duration;

use serde::Deserialize;

use campaign::profile::Profile;
use campaign::workloads::Named;

/// Connections of a search: more requests at once than two cores serve.
const SEARCH_CONNECTIONS: usize = 128;
/// Connections of the closed loops.
const CLOSED_CONNECTIONS: [usize; 2] = [32, 128];

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Creates many people.
    VertexBatch,
    /// Creates many acquaintances.
    EdgeBatch,
    /// Creates a person.
    Vertex,
    /// Creates an acquaintance.
    Edge,
    /// Reads a person by its id.
    VertexGet,
    /// Reads an acquaintance by its id.
    EdgeGet,
}

impl Work {
    /// Its name in workload files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::VertexBatch => "vertex-batch",
            Self::EdgeBatch => "edge-batch",
            Self::Vertex => "vertex",
            Self::Edge => "edge",
            Self::VertexGet => "vertex-get",
            Self::EdgeGet => "edge-get",
        }
    }

    /// Whether it reads only.
    pub fn reads(self) -> bool {
        matches!(self, Self::VertexGet | Self::EdgeGet)
    }

    /// Whether it is about edges.
    pub fn of_edges(self) -> bool {
        matches!(self, Self::EdgeBatch | Self::Edge | Self::EdgeGet)
    }
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Arrival {
    /// At a given rate, which is raised until the server does not bear it.
    #[default]
    Search,
    /// As soon as the last one of the connection is answered.
    Closed,
    /// About one a second from each connection, as published.
    Open,
}

/// What was published.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Requests a second.
    pub rate: f64,
    /// Mean latency.
    pub mean_ms: f64,
    /// Median of latency.
    pub median_ms: f64,
    /// The 90th percentile of latency.
    pub p90_ms: f64,
    /// The longest latency.
    pub max_ms: f64,
}

/// One row: a request, how such requests come, and what was published for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// What its requests do.
    pub work: Work,
    /// Elements of a request.
    pub batch: u64,
    /// Whether the server is to look whether the ends of edges are there.
    #[serde(default)]
    pub check_vertex: bool,
    /// Open connections: as published in the file, those of the load once expanded.
    pub connections: usize,
    /// The published figures.
    pub published: Figures,
    /// How requests come.
    #[serde(skip)]
    pub arrival: Arrival,
}

impl Row {
    /// This row under all loads.
    pub fn expanded(self) -> Vec<Self> {
        let under = |ending: &str, connections: usize, arrival: Arrival| Self {
            id: format!("{}-{ending}", self.id),
            connections,
            arrival,
            work: self.work,
            batch: self.batch,
            check_vertex: self.check_vertex,
            published: self.published,
        };
        let closed = CLOSED_CONNECTIONS;
        std::iter::once(under("search", SEARCH_CONNECTIONS, Arrival::Search))
            .chain(closed.map(|connections| under(&connections.to_string(), connections, Arrival::Closed)))
            .chain(std::iter::once(under(&self.connections.to_string(), self.connections, Arrival::Open)))
            .collect()
    }

    /// How many people, and how many acquaintances of them, are there before the load.
    pub fn preload(&self, profile: Profile) -> (u64, u64) {
        let (people, edges) = match profile {
            Profile::Smoke => (2_000, 4_000),
            Profile::Short => (200_000, 400_000),
            Profile::Full => (1_000_000, 3_000_000),
        };
        match self.work {
            Work::VertexBatch | Work::Vertex => (0, 0),
            Work::EdgeBatch | Work::Edge => (people, 0),
            Work::VertexGet | Work::EdgeGet => (people, edges),
        }
    }

    /// For how long requests come, in each step of a search or at all.
    pub fn duration(&self, profile: Profile) -> Duration {
        let milliseconds = match (self.arrival, profile) {
            (Arrival::Search, Profile::Smoke) => 250,
            (_, Profile::Smoke) => 700,
            (Arrival::Search, Profile::Short) => 1_500,
            (_, Profile::Short) => 10_000,
            (Arrival::Search, Profile::Full) => 10_000,
            (Arrival::Closed, Profile::Full) => 30_000,
            (Arrival::Open, Profile::Full) => 60_000,
        };
        Duration::from_millis(milliseconds)
    }

    /// A number for the names and draws of this row: on one server, no row writes what another wrote.
    pub fn stream(&self) -> u64 {
        let name = if self.work.reads() { "read" } else { self.id.as_str() };
        name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(131).wrapping_add(u64::from(byte))) & 0xFFFF
    }

    /// The first rate of a search.
    pub fn first_rate(&self) -> f64 {
        match self.work {
            Work::VertexBatch | Work::EdgeBatch => 200.0,
            Work::Vertex | Work::Edge => 4_000.0,
            Work::VertexGet | Work::EdgeGet => 10_000.0,
        }
    }
}

/// The most steps of a search.
pub fn steps_max(profile: Profile) -> usize {
    match profile {
        Profile::Smoke => 4,
        Profile::Short => 8,
        Profile::Full => 12,
    }
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::Row;
    use crate::hugegraph::tests::selected;

    #[test]
    fn rows_are_named_by_how_they_begin() {
        let rows = selected("");
        assert_eq!(rows.rows.len(), 28);
        let check = |names: &str, expected: &[&str]| rows.check_named(names, expected);
        let writing = rows.rows.iter().filter(|row| !row.work.reads());
        let streams: std::collections::HashSet<u64> = writing.clone().map(Row::stream).collect();
        assert_eq!(streams.len(), writing.count());
        check("hg-vb", &["HG-VB-search", "HG-VB-32", "HG-VB-128", "HG-VB-2200"]);
        check("HG-EB-c", &["HG-EB-check-search", "HG-EB-check-32", "HG-EB-check-128", "HG-EB-check-900"]);
        check("HG-VG-14000,HG-EG-13000", &["HG-VG-14000", "HG-EG-13000"]);
    }
}
