//! Whether the answers were right, against plain walks over the edges as they were generated. Shared with the rows that
//! run in process.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use campaign::findings::Findings;

use super::network::Network;
use super::rows::{PATH_DEPTH, Row, SOURCES, Test, source, targets};
use super::walk::{Walk, modularity};

/// The least share of the planted partition's modularity that found communities must have.
const MODULARITY_SHARE_MIN: f64 = 0.9;

/// What a job answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answers {
    /// Nothing to look at, or what there is to look at is on the server: how many vertices and edges it has.
    Inserted(u64, u64),
    /// The number of neighbours of each vertex.
    Degrees(Vec<u32>),
    /// How many edges had both ends, and the sum of these.
    Ends(u64, u64),
    /// A path for each target; empty: there is none.
    Paths(Vec<Vec<u32>>),
    /// The vertices found from each source.
    Reached(Vec<Vec<u32>>),
    /// The community of each vertex.
    Communities(Vec<u32>),
    /// Only the modularity of the communities found.
    Modularity(f64),
}

/// Compares the answers of `row` with what must come out.
pub fn check(row: &Row, seed: u64, network: &Network, answers: Answers, findings: &mut Findings) {
    let edges = network.edges.len() as u64;
    match answers {
        Answers::Inserted(vertices, found) => {
            findings.note(same("vertices and edges", (vertices, found), (u64::from(network.vertices), edges)))
        }
        Answers::Degrees(found) => {
            let walk = Walk::new(network);
            findings.note(same("vertices", found.len() as u64, u64::from(network.vertices)));
            for (vertex, found) in (0..).zip(found) {
                let expected = walk.of(vertex).len() as u64;
                findings.note(same(&format!("neighbours of {vertex}"), u64::from(found), expected));
            }
        }
        Answers::Ends(found, sum) => {
            let expected = network.edges.iter().map(|(one, other)| u64::from(*one) + u64::from(*other)).sum();
            findings.note(same("edges and the sum of their ends", (found, sum), (edges, expected)));
        }
        Answers::Paths(paths) => {
            let walk = Walk::new(network);
            let distances = walk.distances(0, PATH_DEPTH);
            let targets = targets(seed, network);
            findings.note(same("paths", paths.len() as u64, targets.len() as u64));
            for (target, path) in targets.into_iter().zip(paths) {
                let distance =
                    distances.get(usize::try_from(target).unwrap_or(usize::MAX)).copied().flatten();
                findings.note(is_path(&walk, target, &path, distance));
            }
        }
        Answers::Reached(found) => {
            let walk = Walk::new(network);
            findings.note(same("sources", found.len() as u64, SOURCES.len() as u64));
            for (published, found) in SOURCES.into_iter().zip(found) {
                findings.note(is_reached(&walk, row, source(published, network), &found));
            }
        }
        Answers::Communities(found) => {
            findings.note(same("vertices", found.len() as u64, u64::from(network.vertices)));
            findings.note(is_good(network, modularity(network, &found)));
        }
        Answers::Modularity(found) => findings.note(is_good(network, found)),
    }
}

fn same<T: PartialEq + std::fmt::Debug + Copy>(what: &str, found: T, expected: T) -> Result<()> {
    ensure!(found == expected, "{what}: {found:?}, it must be {expected:?}");
    Ok(())
}

/// As long as the distance, from the first vertex to the target, edge by edge.
fn is_path(walk: &Walk, target: u32, path: &[u32], distance: Option<u32>) -> Result<()> {
    let Some(distance) = distance else {
        ensure!(path.is_empty(), "a path to {target}, which is farther than {PATH_DEPTH}: {path:?}");
        return Ok(());
    };
    let ends = (path.first().copied(), path.last().copied());
    ensure!(ends == (Some(0), Some(target)), "the path to {target} is {path:?}");
    ensure!(
        path.len() as u64 == u64::from(distance) + 1,
        "{target} is {distance} away, the path is {path:?}"
    );
    for step in path.windows(2) {
        if let [from, to] = step {
            ensure!(walk.of(*from).contains(to), "no edge between {from} and {to}");
        }
    }
    Ok(())
}

fn is_reached(walk: &Walk, row: &Row, source: u32, found: &[u32]) -> Result<()> {
    let distances = walk.distances(source, row.depth);
    let wanted = |distance: u32| match row.test {
        Test::KOut => distance == row.depth,
        _ => (1..=row.depth).contains(&distance),
    };
    let expected: BTreeSet<u32> = (0..)
        .zip(&distances)
        .filter(|(_, found)| found.is_some_and(wanted))
        .map(|(vertex, _)| vertex)
        .collect();
    let set: BTreeSet<u32> = found.iter().copied().collect();
    ensure!(set.len() == found.len(), "a vertex is answered twice from {source}");
    ensure!(
        set == expected,
        "{} vertices from {source} at depth {}, there are {}",
        set.len(),
        row.depth,
        expected.len()
    );
    Ok(())
}

fn is_good(network: &Network, found: f64) -> Result<()> {
    let planted = modularity(network, &network.communities);
    ensure!(
        found >= planted * MODULARITY_SHARE_MIN,
        "the modularity of the communities found is {found:.3}, that of the planted ones {planted:.3}"
    );
    Ok(())
}
