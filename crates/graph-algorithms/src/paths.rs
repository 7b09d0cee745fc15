//! All shortest paths from one source: the state of a breadth-first walk that centralities fold.

use crate::run::Pace;
use crate::{Adjacency, Error};

/// A walk that has not reached a vertex.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// A breadth-first walk from one source; its memory is used for the next one.
pub(crate) struct Walk {
    /// The vertices reached, in the order of their distances.
    pub(crate) order: Vec<u32>,
    pub(crate) distances: Vec<u32>,
}

impl Walk {
    pub(crate) fn new(vertices: u32) -> Walk {
        Walk { order: Vec::new(), distances: vec![UNREACHED; vertices as usize] }
    }

    /// Reaches all vertices within `depth` steps of `source`; `meet` hears of each edge (from, to) of a shortest path, those from nearer
    /// vertices first.
    #[inline]
    pub(crate) fn from(
        &mut self,
        graph: &Adjacency,
        source: u32,
        depth: u32,
        pace: &mut Pace<'_>,
        mut meet: impl FnMut(u32, u32),
    ) -> Result<(), Error> {
        for vertex in self.order.drain(..) {
            self.distances[vertex as usize] = UNREACHED;
        }
        self.order.push(source);
        self.distances[source as usize] = 0;
        let mut at = 0;
        while let Some(&from) = self.order.get(at) {
            at += 1;
            let distance = self.distances[from as usize];
            if distance >= depth {
                break;
            }
            let neighbors = graph.neighbors(from);
            pace.step(neighbors.len() + 1)?;
            for &to in neighbors {
                let reached = &mut self.distances[to as usize];
                if *reached == UNREACHED {
                    *reached = distance + 1;
                    self.order.push(to);
                }
                if *reached == distance + 1 {
                    meet(from, to);
                }
            }
        }
        Ok(())
    }
}
