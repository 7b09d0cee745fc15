//! Shortest paths by the sum of the weights of their edges.
//!
//! The weight of an edge is a number property; an edge that does not have it weighs 1, as do all if no property is named. A weight is not
//! negative. Vertices are found in the order of how far they are, those equally far in the order in which they were reached; the edges
//! of those equally far are read together.
//!
//! No more vertices are found than `capacity` says. [`single_source_shortest_paths`] ends when it has found `limit` of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use graph::{PropertyKeyId, VertexId};
use model_graph::Reader;

use crate::answer::{FoundPaths, Path};
use crate::layers::{Layers, NO_PARENT, place};
use crate::limits::{NO_LIMIT, check_limit, limit_of, refuse, within_capacity};
use crate::marks::PerVertex;
use crate::path_set::path_bytes;
use crate::walk::{Walk, Weighing};
use crate::{Error, Step, WalkOptions};

/// A lightest path between two vertices.
#[derive(Clone, Debug)]
pub struct WeightedShortestPath {
    /// Where it begins.
    pub source: VertexId,
    /// Where it ends.
    pub target: VertexId,
    /// Which edges are taken.
    pub step: Step,
    /// The property that is the weight.
    pub weight: PropertyKeyId,
    /// The most vertices that are found.
    pub capacity: i64,
}

/// The lightest paths from a vertex to others.
#[derive(Clone, Debug)]
pub struct SingleSourceShortestPath {
    /// Where they begin.
    pub source: VertexId,
    /// Which edges are taken.
    pub step: Step,
    /// The property that is the weight; `None`: all edges weigh 1.
    pub weight: Option<PropertyKeyId>,
    /// The most vertices that are found.
    pub capacity: i64,
    /// The most paths that are given.
    pub limit: i64,
}

impl WeightedShortestPath {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        self.step.check_within(self.capacity)
    }
}

impl SingleSourceShortestPath {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        self.step.check_within(self.capacity)?;
        check_limit(self.limit)
    }
}

/// A lightest path, with its weight, or none. Cost: the edges of all vertices that are less far than the target.
///
/// # Errors
///
/// If a parameter is refused, an end is not there, or the walk ends early.
pub async fn weighted_shortest_path(
    reader: &Reader,
    options: &WalkOptions,
    asked: &WeightedShortestPath,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let target = walk.begin_at(&asked.target, "target vertex").await?;
        let mut search = Search::new(source, Some(asked.weight), asked.capacity, NO_LIMIT);
        if source != target {
            search.run(&mut walk, &asked.step, Some(target)).await?;
        }
        let paths = search.path_to(target).into_iter().collect();
        finish(walk, paths, &asked.step, search.weighing).await
    };
    options.run(walk).await
}

/// The lightest paths to the vertices that are nearest, each with its weight, the lightest first. Cost: the edges of these vertices.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn single_source_shortest_paths(
    reader: &Reader,
    options: &WalkOptions,
    asked: &SingleSourceShortestPath,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let mut search = Search::new(source, asked.weight, asked.capacity, asked.limit);
        search.run(&mut walk, &asked.step, None).await?;
        let (mut paths, mut steps, mut bytes) = (Vec::new(), 0, search.bytes());
        for at in 1..search.found.len() {
            let path = search.path_at(at);
            steps += path.vertices.len();
            bytes += path_bytes(path.vertices.len());
            walk.pause(&mut steps, || bytes).await?;
            paths.push(path);
        }
        walk.check_memory(bytes)?;
        finish(walk, paths, &asked.step, search.weighing).await
    };
    options.run(walk).await
}

async fn finish(
    mut walk: Walk<'_>,
    paths: Vec<Path>,
    step: &Step,
    weighing: Weighing,
) -> Result<FoundPaths, Error> {
    let edges = walk.lightest_edges_of_paths(&paths, step, weighing).await?;
    Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
}

/// How far a vertex is; sorted as distances are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A vertex that may be found next: how far it is, when it was reached, which it is, and where the one before it lies.
type Candidate = (Distance, u32, u32, u32);

struct Search {
    weighing: Weighing,
    capacity: i64,
    limit: usize,
    /// The vertices that were found, each with the one before it; how far they are.
    found: Layers,
    distances: Vec<f64>,
    /// Where a vertex lies that was found.
    places: PerVertex<u32>,
    /// How far a vertex is by the ways that were seen, and in which order it was first reached.
    seen: PerVertex<(f64, u32)>,
    reached: u32,
    candidates: BinaryHeap<Reverse<Candidate>>,
}

impl Search {
    fn new(source: u32, weight: Option<PropertyKeyId>, capacity: i64, limit: i64) -> Self {
        let mut places = PerVertex::new(NO_PARENT);
        places.set(source, 0);
        Self {
            weighing: Weighing { key: weight, ..Weighing::ONE },
            capacity,
            limit: limit_of(limit).saturating_add(1),
            found: Layers::of(source),
            distances: vec![0.0],
            places,
            seen: PerVertex::new((f64::INFINITY, 0)),
            reached: 0,
            candidates: BinaryHeap::new(),
        }
    }

    /// Finds vertices until nothing is left, there are enough, or the target is found.
    async fn run(&mut self, walk: &mut Walk<'_>, step: &Step, target: Option<u32>) -> Result<(), Error> {
        let mut base = 0;
        while self.found.len() < self.limit {
            let frontier = self.found.vertices().get(base..).expect("what was found last").to_vec();
            if frontier.is_empty() || target.is_some_and(|target| self.places.get(target) != NO_PARENT) {
                break;
            }
            let mut expansion = walk.expand(&frontier, step).weighed(self.weighing);
            while let Some(hops) = expansion.next().await? {
                for hop in hops.iter().filter(|hop| self.places.get(hop.target) == NO_PARENT) {
                    if hop.weight < 0.0 || hop.weight.is_nan() {
                        return refuse(format!(
                            "The weight of an edge must be >= 0, but got: {}",
                            hop.weight
                        ));
                    }
                    let parent = place(base) + hop.place;
                    let so_far =
                        *self.distances.get(parent as usize).expect("each that was found is somewhere");
                    let distance = so_far + hop.weight;
                    let (before, mut reached) = self.seen.get(hop.target);
                    if distance < before {
                        if before == f64::INFINITY {
                            reached = self.reached;
                            self.reached += 1;
                        }
                        self.seen.set(hop.target, (distance, reached));
                        self.candidates.push(Reverse((Distance(distance), reached, hop.target, parent)));
                    }
                }
                expansion.check_memory(self.bytes() + 4 * frontier.len())?;
            }
            base = self.found.len();
            self.find_nearest();
            within_capacity(self.capacity, self.found.len(), "shortest path")?;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let candidates = size_of::<Candidate>() * self.candidates.capacity();
        let vertices = self.found.bytes() + 8 * self.distances.capacity();
        candidates + vertices + self.places.bytes() + self.seen.bytes()
    }

    /// Finds the nearest of the candidates, and all that are as near.
    fn find_nearest(&mut self) {
        let mut nearest = None;
        while let Some(Reverse((distance, _, vertex, parent))) = self.candidates.peek().copied() {
            if nearest.is_some_and(|nearest| nearest != distance) || self.found.len() >= self.limit {
                break;
            }
            self.candidates.pop();
            if self.places.get(vertex) == NO_PARENT {
                nearest = Some(distance);
                self.places.set(vertex, place(self.found.len()));
                self.found.push(vertex, parent);
                self.distances.push(distance.0);
            }
        }
    }

    fn path_to(&self, vertex: u32) -> Option<Path> {
        let at = self.places.get(vertex);
        (at != NO_PARENT).then(|| self.path_at(at as usize))
    }

    fn path_at(&self, at: usize) -> Path {
        let weight = *self.distances.get(at).expect("each that was found is somewhere");
        Path { weight, ..Path::of(self.found.path(at)) }
    }
}
