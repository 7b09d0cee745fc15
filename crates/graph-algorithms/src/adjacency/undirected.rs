//! Graphs whose edges have no direction: with all edges, and simple ones.

use super::Adjacency;
use crate::Error;

/// A graph whose edges have no direction: each is in the lists of both of its ends, a loop twice in that of its vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Undirected(Adjacency);

impl Undirected {
    /// The graph of all edges of `out`, without their directions: of each vertex first the neighbours along its edges, then those against.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyEdges`] if twice the edges are not counted in 32 bits.
    pub fn of(out: &Adjacency) -> Result<Undirected, Error> {
        let turned = || out.iter().map(|(from, to)| (to, from));
        let lists = match &out.weights {
            None => Adjacency::from_edges(out.vertices(), || out.iter().chain(turned())),
            Some(weights) => Adjacency::from_weighted_edges(out.vertices(), || {
                out.iter().chain(turned()).zip(weights.iter().chain(weights)).map(with_weight)
            }),
        };
        Ok(Undirected(lists?))
    }

    /// The lists of neighbours.
    #[must_use]
    #[inline]
    pub fn lists(&self) -> &Adjacency {
        &self.0
    }

    /// The lists of neighbours alone.
    #[must_use]
    pub fn into_lists(self) -> Adjacency {
        self.0
    }

    /// The graph without loops and without doubles; weights are dropped. Cost: sorts each list.
    #[must_use]
    pub fn into_simple(self) -> Simple {
        let mut lists = self.0;
        lists.weights = None;
        let mut end = 0;
        for vertex in 0..lists.vertices() {
            let range = lists.range(vertex);
            lists.starts[vertex as usize] = end;
            lists.targets[range.clone()].sort_unstable();
            let mut last = vertex;
            for from in range {
                let target = lists.targets[from];
                let doubled = end > lists.starts[vertex as usize] && target == last;
                if target != vertex && !doubled {
                    lists.targets[end as usize] = target;
                    last = target;
                    end += 1;
                }
            }
        }
        *lists.starts.last_mut().expect("a start more than vertices") = end;
        lists.targets.truncate(end as usize);
        lists.targets.shrink_to_fit();
        Simple(lists)
    }
}

fn with_weight(((from, to), &weight): ((u32, u32), &f32)) -> (u32, u32, f32) {
    (from, to, weight)
}

/// A graph whose edges have no direction, without loops and parallel edges. Lists are ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Simple(Adjacency);

impl Simple {
    /// The lists of neighbours, each edge at both of its ends.
    #[must_use]
    #[inline]
    pub fn lists(&self) -> &Adjacency {
        &self.0
    }

    /// How many edges there are, each counted once.
    #[must_use]
    pub fn edges(&self) -> u32 {
        self.0.edges() / 2
    }

    /// Each edge once, at the end that has the lower degree; of equal ones, at the lower vertex. A list then has at most as many edges as
    /// the root of twice all edges.
    pub(crate) fn oriented(&self) -> Adjacency {
        let lists = &self.0;
        let rank = |vertex: u32| (lists.degree(vertex), vertex);
        Adjacency::from_edges(lists.vertices(), || lists.iter().filter(|&(from, to)| rank(from) < rank(to)))
            .expect("the edges of a graph are edges of the same graph")
    }
}
