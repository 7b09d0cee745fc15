//! Paths that were found, each once, up to a limit.

use std::collections::HashSet;

use crate::Path;

/// Paths, each once: two are the same that pass the same vertices in the same order.
#[derive(Debug)]
pub(crate) struct PathSet {
    seen: HashSet<Vec<u32>>,
    paths: Vec<Path>,
    limit: usize,
}

impl PathSet {
    pub(crate) fn new(limit: usize) -> Self {
        Self { seen: HashSet::new(), paths: Vec::new(), limit }
    }

    /// Adds a path, if there is room. Whether there is room for more.
    pub(crate) fn add(&mut self, path: Path) -> bool {
        if !self.is_full() && self.seen.insert(path.vertices.clone()) {
            self.paths.push(path);
        }
        !self.is_full()
    }

    /// The same of a ring, which is the same the other way round.
    pub(crate) fn add_ring(&mut self, ring: Vec<u32>) -> bool {
        let back: Vec<u32> = ring.iter().rev().copied().collect();
        if self.seen.contains(&back) { !self.is_full() } else { self.add(Path::of(ring)) }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.paths.len() >= self.limit
    }

    pub(crate) fn into_paths(self) -> Vec<Path> {
        self.paths
    }
}
