//! Rays and rings: paths from a vertex to where they cannot go on, and to where they come back to themselves.
//!
//! Paths go step by step, `max_depth` at most, and pass no vertex twice. A *ray* ends at a vertex without edges, at one whose only edge
//! is that by which it was reached (both ways), or at the depth; a path all of whose ways on lead back into it otherwise is none. A
//! *ring* is a path, and once more the vertex of it to which an edge leads back: the source alone if the source must be in the ring.
//! Both ways, an edge and back over the same edge is no ring; two edges of opposite direction are. A ring is the same the other way round.
//!
//! Both end with `limit` paths. More vertices than `capacity` says may not be reached when a path is found, nor before the last step.

use graph::{EdgeDirection, VertexId};
use model_graph::Reader;

use crate::answer::{FoundPaths, Path};
use crate::forest::{Forest, Groups};
use crate::layers::NO_PARENT;
use crate::limits::{check_capacity, check_degree, check_limit, check_positive, limit_of, within_capacity};
use crate::marks::{RoundMarks, VertexSet};
use crate::path_set::PathSet;
use crate::walk::{Hop, Walk};
use crate::{Direction, Error, Step, WalkOptions};

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct Rays {
    /// Where paths begin.
    pub source: VertexId,
    /// Which edges are taken; none is skipped for its degree.
    pub step: Step,
    /// The most edges of a path.
    pub max_depth: i64,
    /// The most vertices that are reached.
    pub capacity: i64,
    /// The most paths that are given.
    pub limit: i64,
}

impl Rays {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_positive(self.max_depth, "max depth")?;
        check_degree(self.step.max_degree)?;
        check_capacity(self.capacity)?;
        check_limit(self.limit)
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Rays,
    Rings { with_source: bool },
}

/// The rays from a vertex. Cost: the edges of all vertices up to the depth, and that of remembering all paths to them.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn rays(reader: &Reader, options: &WalkOptions, asked: &Rays) -> Result<FoundPaths, Error> {
    find(reader, options, asked, Kind::Rays).await
}

/// The rings that a walk from a vertex meets; those through the vertex itself alone, if asked for. Cost: as [`rays`].
///
/// # Errors
///
/// As [`rays`].
pub async fn rings(
    reader: &Reader,
    options: &WalkOptions,
    asked: &Rays,
    source_in_ring: bool,
) -> Result<FoundPaths, Error> {
    find(reader, options, asked, Kind::Rings { with_source: source_in_ring }).await
}

async fn find(reader: &Reader, options: &WalkOptions, asked: &Rays, kind: Kind) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let mut search = Search::new(source, asked, (kind, &walk));
        for left in (0..asked.max_depth).rev() {
            search.advance(&mut walk, asked, left == 0).await?;
            if search.found.is_full() || search.current.is_empty() {
                break;
            }
        }
        walk.check_memory(search.found.bytes())?;
        let paths = search.found.into_paths();
        let edges = walk.edges_of_paths(&paths, &[&asked.step]).await?;
        Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
    };
    options.run(walk).await
}

struct Search {
    source: u32,
    kind: Kind,
    both_ways: bool,
    forest: Forest,
    current: Vec<u32>,
    reached: VertexSet,
    reached_count: usize,
    found: PathSet,
}

impl Search {
    fn new(source: u32, asked: &Rays, (kind, walk): (Kind, &Walk<'_>)) -> Self {
        let mut forest = Forest::default();
        let mut reached = VertexSet::default();
        reached.insert(source);
        Self {
            source,
            kind,
            both_ways: asked.step.direction == Direction::Both,
            current: vec![forest.add(source, NO_PARENT)],
            forest,
            reached,
            reached_count: 1,
            found: PathSet::new(limit_of(asked.limit), walk.bytes_max()),
        }
    }

    async fn advance(&mut self, walk: &mut Walk<'_>, asked: &Rays, is_last: bool) -> Result<(), Error> {
        let what = if self.kind == Kind::Rays { "rays" } else { "rings" };
        let groups = Groups::of(std::mem::take(&mut self.current), &self.forest);
        let (mut marks, mut steps) = (RoundMarks::default(), 0);
        for (vertex, place) in groups.vertices.iter().zip(0..) {
            let hops = walk.edges_of(*vertex, &asked.step).await?;
            let beside = groups.bytes() + size_of_val(&hops[..]);
            marks.begin_round();
            let nodes = groups.nodes(place);
            if hops.is_empty() && self.kind == Kind::Rays {
                within_capacity(asked.capacity, self.reached_count, what)?;
                self.end_rays(nodes);
                if self.found.is_full() {
                    return Ok(());
                }
            }
            for hop in &hops {
                if !marks.insert(hop.target) {
                    continue;
                }
                if self.reached.insert(hop.target) {
                    self.reached_count += 1;
                }
                let found_before = self.found.len();
                self.take(nodes, hop, &hops);
                if self.found.len() > found_before {
                    within_capacity(asked.capacity, self.reached_count, what)?;
                }
                if self.found.is_full() {
                    return Ok(());
                }
                steps += nodes.len();
                walk.pause(&mut steps, || beside + marks.bytes() + self.bytes()).await?;
            }
            if !is_last {
                within_capacity(asked.capacity, self.reached_count, what)?;
            }
            walk.check_memory(groups.bytes() + marks.bytes() + self.bytes())?;
            walk.spend(std::mem::take(&mut steps) + nodes.len() + hops.len()).await?;
        }
        if is_last && self.kind == Kind::Rays {
            let nodes = std::mem::take(&mut self.current);
            if !nodes.is_empty() {
                within_capacity(asked.capacity, self.reached_count, what)?;
            }
            self.end_rays(&nodes);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.forest.bytes() + 4 * self.current.capacity() + self.reached.bytes() + self.found.bytes()
    }

    /// Follows an edge from paths that end in its vertex.
    fn take(&mut self, nodes: &[u32], hop: &Hop, hops: &[Hop]) {
        for node in nodes {
            if !self.forest.contains(*node, hop.target) {
                self.current.push(self.forest.add(hop.target, *node));
                continue;
            }
            let is_back = self.both_ways && self.forest.vertex_before(*node) == Some(hop.target);
            let goes_on = match self.kind {
                Kind::Rays if is_back && hops.len() == 1 => self.found.add(Path::of(self.forest.path(*node))),
                Kind::Rings { with_source } => {
                    let is_ring = (!with_source || hop.target == self.source)
                        && (!is_back || has_both_ways(hops, hop.target));
                    !is_ring || {
                        let mut ring = self.forest.path(*node);
                        ring.push(hop.target);
                        self.found.add_ring(ring)
                    }
                }
                Kind::Rays => true,
            };
            if !goes_on {
                return;
            }
        }
    }

    fn end_rays(&mut self, nodes: &[u32]) {
        for node in nodes {
            if !self.found.add(Path::of(self.forest.path(*node))) {
                return;
            }
        }
    }
}

/// Whether edges of both directions lead to a vertex.
fn has_both_ways(hops: &[Hop], target: u32) -> bool {
    let has = |way: EdgeDirection| hops.iter().any(|hop| hop.target == target && hop.way == way);
    has(EdgeDirection::Out) && has(EdgeDirection::In)
}
