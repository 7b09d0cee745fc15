//! How many vertices a list of steps leads to.
//!
//! The edges of the last step are counted, those of earlier ones only if the vertices in between count, too; then so does the source. Edges are
//! followed by depth: all ways over the first edge of a vertex before those over its second. A vertex from which the walk went on once, at
//! whatever step, is passed over when it is met again, as long as no more than `dedup_size` of them are remembered (0: none is, -1: all).
//! Vertices at the very end are counted once for each edge.
//!
//! Of a vertex with `skip_degree` edges or more none count; with more than `max_degree`, so many.

use graph::VertexId;
use model_graph::Reader;

use crate::layers::place;
use crate::limits::{NO_LIMIT, check_dedup_size, limit_of, require};
use crate::marks::VertexSet;
use crate::walk::Walk;
use crate::{Error, Measure, Step, WalkOptions};

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct Count {
    /// Where it begins.
    pub source: VertexId,
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether vertices in between count.
    pub contains_traversed: bool,
    /// How many vertices are remembered.
    pub dedup_size: i64,
}

/// A count, and what was read for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counted {
    /// The count.
    pub count: u64,
    /// What was read.
    pub measure: Measure,
}

impl Count {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require(!self.steps.is_empty(), || "The steps can't be empty".into())?;
        self.steps.iter().try_for_each(Step::check)?;
        check_dedup_size(self.dedup_size)
    }
}

/// How many vertices the steps lead to. Cost: the edges of all vertices that are passed.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn count(reader: &Reader, options: &WalkOptions, asked: &Count) -> Result<Counted, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let mut passed = Passed { vertices: VertexSet::default(), count: 0, size: asked.dedup_size };
        let mut count = u64::from(asked.contains_traversed);
        let last = place(asked.steps.len() - 1);
        // Vertices from which the walk is to go on, the next one last, and the step that each takes.
        let mut pending = vec![(source, 0_u32)];
        while let Some((vertex, at)) = pending.pop() {
            // Of a single step nothing is remembered.
            if last > 0 && !passed.is_first(vertex) {
                continue;
            }
            let step = asked.steps.get(at as usize).expect("steps up to the last");
            let hops = walk.edges_of(vertex, step).await?;
            if at == last || asked.contains_traversed {
                count += hops.len() as u64;
            }
            if at < last {
                pending.extend(hops.iter().rev().map(|hop| (hop.target, at + 1)));
                walk.check_memory(8 * pending.capacity() + passed.vertices.bytes())?;
            }
        }
        Ok(Counted { count, measure: walk.measure })
    };
    options.run(walk).await
}

/// Vertices from which the walk went on.
struct Passed {
    vertices: VertexSet,
    count: usize,
    size: i64,
}

impl Passed {
    /// Whether the walk did not go on from this vertex before, as far as is remembered.
    fn is_first(&mut self, vertex: u32) -> bool {
        if self.vertices.contains(vertex) {
            return false;
        }
        if self.size == NO_LIMIT || self.count < limit_of(self.size) {
            self.vertices.insert(vertex);
            self.count += 1;
        }
        true
    }
}
