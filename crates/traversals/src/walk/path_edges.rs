//! The edges of paths, looked for once the paths are found: a walk remembers vertices alone.

use std::collections::{HashMap, HashSet};

use graph::EdgeId;

use super::Walk;
use super::Weighing;
use super::expansion::{edges_wanted, is_of_labels, passes};
use crate::limits::limit_of;
use crate::path_set::path_bytes;
use crate::{Error, Path, Step};

/// Bytes of a pair of vertices in the sets and maps below, with the id of an edge; ids are seldom longer.
const PAIR_BYTES: usize = 320;

impl Walk<'_> {
    /// The edges of paths that these steps took, each once: between two vertices the last that one of the steps takes, or else one that it
    /// takes the other way. Cost: the edges of each vertex of a path.
    pub(crate) async fn edges_of_paths(
        &mut self,
        paths: &[Path],
        steps: &[&Step],
    ) -> Result<Vec<EdgeId>, Error> {
        self.find_path_edges(paths, steps, None).await
    }

    /// The same of lightest paths: of the edges between two vertices the lightest.
    pub(crate) async fn lightest_edges_of_paths(
        &mut self,
        paths: &[Path],
        step: &Step,
        weighing: Weighing,
    ) -> Result<Vec<EdgeId>, Error> {
        self.find_path_edges(paths, &[step], Some(weighing)).await
    }

    async fn find_path_edges(
        &mut self,
        paths: &[Path],
        steps: &[&Step],
        weighing: Option<Weighing>,
    ) -> Result<Vec<EdgeId>, Error> {
        let mut pairs = Vec::new();
        let mut seen = HashSet::new();
        for path in paths {
            for pair in path.vertices.windows(2) {
                let &[one, two] = pair else { continue };
                if seen.insert((one, two)) {
                    pairs.push((one, two));
                }
            }
        }
        self.check_memory(paths.iter().map(|path| path_bytes(path.vertices.len())).sum::<usize>())?;
        self.check_more(PAIR_BYTES * pairs.len())?;
        let mut found = HashMap::new();
        for step in steps {
            self.find_edges(&pairs, (step, weighing), false, &mut found).await?;
        }
        for step in steps {
            self.find_edges(&pairs, (&step.reversed(), weighing), true, &mut found).await?;
        }
        let mut given = HashSet::new();
        let edges =
            pairs.iter().filter_map(|pair| found.remove(pair)).filter(|edge| given.insert(edge.clone()));
        Ok(edges.collect())
    }

    /// Looks for the edges of pairs that were not found yet, at their first vertex, or at their second.
    async fn find_edges(
        &mut self,
        pairs: &[(u32, u32)],
        (step, weighing): (&Step, Option<Weighing>),
        at_second: bool,
        found: &mut HashMap<(u32, u32), EdgeId>,
    ) -> Result<(), Error> {
        let mut wanted: HashMap<u32, HashSet<u32>> = HashMap::new();
        for (one, two) in pairs.iter().filter(|pair| !found.contains_key(pair)) {
            let (at, other) = if at_second { (*two, *one) } else { (*one, *two) };
            wanted.entry(at).or_default().insert(other);
        }
        for (at, others) in wanted {
            for (other, edge) in self.edges_to(at, &others, (step, weighing)).await? {
                found.insert(if at_second { (other, at) } else { (at, other) }, edge);
            }
        }
        Ok(())
    }

    /// The last edge that a step takes from a vertex to each of some others, or the lightest.
    async fn edges_to(
        &mut self,
        vertex: u32,
        others: &HashSet<u32>,
        (step, weighing): (&Step, Option<Weighing>),
    ) -> Result<HashMap<u32, EdgeId>, Error> {
        let (reader, key) = (self.reader, self.known.key(vertex).to_vec());
        let labels: Vec<_> = step.labels.iter().map(|label| label.label).collect();
        let (mut found, mut weights) = (HashMap::new(), HashMap::new());
        let (mut unread, mut left) = (edges_wanted(step), limit_of(step.max_degree));
        for way in step.direction.ways() {
            let mut pages = reader.edges(&key, *way, &labels);
            while unread.min(left) > 0
                && let Some(page) = pages.next().await?
            {
                for edge in page.iter() {
                    let edge = edge?;
                    if unread.min(left) == 0 || !is_of_labels(step, &edge) {
                        continue;
                    }
                    unread -= 1;
                    if !passes(step, &edge)? {
                        continue;
                    }
                    left -= 1;
                    let other = self.known.find(edge.key.other).filter(|other| others.contains(other));
                    if let Some(other) = other {
                        if let Some(weighing) = weighing {
                            let weight = weighing.of(&edge)?;
                            if weights.get(&other).is_some_and(|lightest| weight >= *lightest) {
                                continue;
                            }
                            weights.insert(other, weight);
                        }
                        let id =
                            edge.key.to_id().ok_or(graph::Malformed).map_err(model_graph::Error::from)?;
                        found.insert(other, id);
                    }
                }
                self.spend(page.rows()).await?;
            }
        }
        Ok(found)
    }
}
