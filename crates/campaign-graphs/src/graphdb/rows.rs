//! The rows of the family as data, and the graphs that they run on.

use anyhow::Result;
use campaign::profile::Profile;
use campaign::workloads::{Named, Workload};
use serde::Deserialize;

use super::network::{self, Network};

/// The graph that is run only if asked for: its rows are a family of their own.
const LARGE: &str = "lj";

/// What a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Inserts the graph.
    Insert,
    /// Finds the neighbours of every vertex.
    Neighbours,
    /// Finds the two ends of every edge.
    Adjacent,
    /// Finds a shortest path from the first vertex to each of a hundred others.
    ShortestPath,
    /// Finds the vertices at a distance, from three sources.
    KOut,
    /// Finds the vertices within a distance, from three sources.
    KNeighbor,
    /// Finds communities.
    Louvain,
}

impl Test {
    /// Its name in workload files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Neighbours => "neighbours",
            Self::Adjacent => "adjacent",
            Self::ShortestPath => "shortest-path",
            Self::KOut => "k-out",
            Self::KNeighbor => "k-neighbor",
            Self::Louvain => "louvain",
        }
    }
}

/// The graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Graph {
    /// Mails: as many vertices and edges as email-enron.
    Enron,
    /// Goods bought together: as amazon0601.
    Amazon,
    /// Friends: as com-youtube.
    Youtube,
    /// Friends: as com-lj.
    Lj,
    /// With planted communities.
    #[serde(rename = "lfr-1000")]
    Lfr1000,
    /// With planted communities.
    #[serde(rename = "lfr-5000")]
    Lfr5000,
    /// With planted communities.
    #[serde(rename = "lfr-10000")]
    Lfr10000,
    /// With planted communities.
    #[serde(rename = "lfr-20000")]
    Lfr20000,
}

impl Graph {
    /// Vertices, and edges if they are published.
    pub fn published(self) -> (u32, Option<u64>) {
        match self {
            Self::Enron => (36_691, Some(367_661)),
            Self::Amazon => (403_393, Some(3_387_388)),
            Self::Youtube => (1_157_806, Some(2_987_624)),
            Self::Lj => (3_997_961, Some(34_681_189)),
            Self::Lfr1000 => (1_000, None),
            Self::Lfr5000 => (5_000, None),
            Self::Lfr10000 => (10_000, None),
            Self::Lfr20000 => (20_000, None),
        }
    }

    /// How many vertices it has at the size of `profile`.
    pub fn vertices(self, profile: Profile) -> u32 {
        let most = match profile {
            Profile::Smoke => 1_000,
            Profile::Short => 60_000,
            Profile::Full => u32::MAX,
        };
        self.published().0.min(most)
    }

    /// The graph at the size of `profile`: as many edges a vertex as published.
    pub fn network(self, seed: u64, profile: Profile) -> Network {
        let vertices = self.vertices(profile);
        match self.published() {
            (_, None) => network::planted(seed, vertices),
            (all, Some(edges)) => {
                let edges = edges * u64::from(vertices) / u64::from(all);
                network::grown(seed, vertices, usize::try_from(edges).unwrap_or(usize::MAX))
            }
        }
    }
}

/// Seconds of other databases on the machine of the published figure.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Besides {
    /// Titan 0.5.4 on Cassandra.
    pub titan: f64,
    /// Neo4j 2.0.1.
    pub neo4j: f64,
}

/// One row: a job on a graph, and what was published for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// What it does.
    pub test: Test,
    /// On what.
    pub graph: Graph,
    /// How far, for the walks.
    #[serde(default)]
    pub depth: u32,
    /// The published seconds.
    #[serde(default)]
    pub published: Option<f64>,
    /// Of others.
    #[serde(default)]
    pub besides: Option<Besides>,
    /// Why there are none.
    #[serde(default)]
    pub trouble: Option<String>,
}

impl Row {
    /// What the job counts, and how many of them there are.
    pub fn items(&self, network: &Network) -> (&'static str, u64) {
        match self.test {
            Test::Insert => ("edges", network.edges.len() as u64),
            Test::Neighbours | Test::Louvain => ("vertices", u64::from(network.vertices)),
            Test::Adjacent => ("edges", network.edges.len() as u64),
            Test::ShortestPath => ("paths", TARGETS as u64),
            Test::KOut | Test::KNeighbor => ("sources", SOURCES.len() as u64),
        }
    }

    /// How many of them there are in the graph as it was published.
    pub fn items_published(&self) -> Option<u64> {
        let (vertices, edges) = self.graph.published();
        match self.test {
            Test::Insert | Test::Adjacent => edges,
            Test::Neighbours | Test::Louvain => Some(u64::from(vertices)),
            Test::ShortestPath => Some(TARGETS as u64),
            Test::KOut | Test::KNeighbor => Some(SOURCES.len() as u64),
        }
    }
}

/// The sources of the walks, as published.
pub const SOURCES: [u32; 3] = [1, 111, 1_111];
/// Targets of shortest paths.
pub const TARGETS: usize = 100;
/// How long a shortest path may be, as in the benchmark.
pub const PATH_DEPTH: u32 = 5;

/// The source that stands for a published one in a graph that may be smaller.
pub fn source(published: u32, network: &Network) -> u32 {
    published % network.vertices.max(1)
}

/// The targets of shortest paths from the first vertex.
pub fn targets(seed: u64, network: &Network) -> Vec<u32> {
    let mut draws = campaign::draws::Draws::new(seed, 0x7461_7267);
    let other = |draw: u64| u32::try_from(1 + draw).expect("less than the number of vertices");
    let bound = u64::from(network.vertices.saturating_sub(1));
    (0..TARGETS).map(|_| other(draws.below(bound))).collect()
}

/// All rows but those of the large graph, or only those, as a family `name`.
///
/// # Errors
///
/// If the workload file is not as it should be, which a test excludes.
pub fn workload(name: &str, large: bool) -> Result<Workload<Row>> {
    let mut workload: Workload<Row> = Workload::parse(include_str!("../../workloads/graphdb.toml"))?;
    workload.rows.retain(|row| (row.graph == Graph::Lj) == large);
    name.clone_into(&mut workload.name);
    if large {
        workload.title.push_str(&format!(" ({LARGE})"));
    }
    Ok(workload)
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_scaled_with_their_density() {
        let network = Graph::Amazon.network(42, Profile::Smoke);
        assert_eq!((network.vertices, network.edges.len()), (1_000, 8_397));
        assert_eq!(Graph::Lfr1000.network(42, Profile::Full).vertices, 1_000);
        let targets = targets(42, &network);
        assert!(targets.len() == 100 && targets.iter().all(|target| (1..1_000).contains(target)));
    }

    #[test]
    fn the_large_graph_is_a_family_of_its_own() {
        let (most, large) = (workload("graphdb", false).unwrap(), workload("graphdb-lj", true).unwrap());
        assert_eq!((most.rows.len(), large.rows.len()), (28, 4));
        assert!(large.rows.iter().all(|row| row.id.ends_with("-lj") && row.published.is_some()));
        let published = |id: &str| most.rows.iter().find(|row| row.id == id).unwrap().published;
        assert_eq!((published("GD-FN-amazon"), published("GD-KN-6")), (Some(45.118), None));
        for row in &most.rows {
            assert!(row.published.is_some() != row.trouble.is_some(), "{}", row.id);
        }
    }
}
