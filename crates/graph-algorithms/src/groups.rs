//! Vertices in groups that do not overlap: components, communities.

/// Vertices in groups that do not overlap. Groups are numbered from 0 in the order of their smallest vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    of: Vec<u32>,
    count: u32,
}

impl Groups {
    /// Groups of vertices with equal labels; labels are below the count of vertices.
    pub(crate) fn from_labels(mut labels: Vec<u32>) -> Groups {
        let mut number_of = vec![u32::MAX; labels.len()];
        let mut count = 0;
        for label in &mut labels {
            let number = &mut number_of[*label as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
            *label = *number;
        }
        Groups { of: labels, count }
    }

    /// The group of a vertex.
    ///
    /// # Panics
    ///
    /// If the graph has no such vertex.
    #[must_use]
    #[inline]
    pub fn of(&self, vertex: u32) -> u32 {
        self.of[vertex as usize]
    }

    /// The group of each vertex.
    #[must_use]
    pub fn by_vertex(&self) -> &[u32] {
        &self.of
    }

    /// How many groups there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many vertices each group has.
    #[must_use]
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.count as usize];
        for &group in &self.of {
            sizes[group as usize] += 1;
        }
        sizes
    }

    /// The vertices of each group, ascending.
    #[must_use]
    pub fn members(&self) -> Vec<Vec<u32>> {
        let mut members: Vec<Vec<u32>> =
            self.sizes().into_iter().map(|size| Vec::with_capacity(size as usize)).collect();
        for (vertex, &group) in self.of.iter().enumerate() {
            members[group as usize].push(vertex as u32);
        }
        members
    }

    /// The groups of vertices whose groups `next` groups again.
    pub(crate) fn then(&self, next: &Groups) -> Groups {
        Groups { of: self.of.iter().map(|&group| next.of(group)).collect(), count: next.count }
    }
}
