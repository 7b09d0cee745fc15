//! Paths that were found, each once, up to a limit.

use std::collections::HashSet;

use crate::Path;

/// Bytes that a list on the heap takes beside what is in it.
const LIST_BYTES: usize = size_of::<Vec<u32>>() + 16;

/// Bytes that a path of so many vertices takes.
pub(crate) fn path_bytes(vertices: usize) -> usize {
    size_of::<Path>() + LIST_BYTES + 4 * vertices
}

/// Paths, each once: two are the same that pass the same vertices in the same order.
#[derive(Debug)]
pub(crate) struct PathSet {
    seen: HashSet<Vec<u32>>,
    paths: Vec<Path>,
    bytes: usize,
    limit: usize,
    bytes_max: usize,
}

impl PathSet {
    /// Room for so many paths, and for no more bytes than these: as many as the walk may remember.
    pub(crate) fn new(limit: usize, bytes_max: usize) -> Self {
        Self { seen: HashSet::new(), paths: Vec::new(), bytes: 0, limit, bytes_max }
    }

    /// Adds a path, if there is room. Whether there is room for more.
    pub(crate) fn add(&mut self, path: Path) -> bool {
        if !self.is_full() && self.seen.insert(path.vertices.clone()) {
            // The vertices twice, and a slot of the set.
            self.bytes += path_bytes(path.vertices.len()) + 2 * LIST_BYTES + 4 * path.vertices.len();
            self.paths.push(path);
        }
        !self.is_full()
    }

    /// The same of a ring, which is the same the other way round.
    pub(crate) fn add_ring(&mut self, ring: Vec<u32>) -> bool {
        let back: Vec<u32> = ring.iter().rev().copied().collect();
        if self.seen.contains(&back) { !self.is_full() } else { self.add(Path::of(ring)) }
    }

    /// Whether there are as many as are wanted, or more bytes than a walk may remember: whoever checks the memory then is refused.
    pub(crate) fn is_full(&self) -> bool {
        self.paths.len() >= self.limit || self.bytes > self.bytes_max
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The paths.
    pub(crate) fn into_paths(self) -> Vec<Path> {
        self.paths
    }
}
