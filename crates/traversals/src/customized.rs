//! Paths that take a list of steps, one after another, and where such paths from several vertices end together.
//!
//! [`customized_paths`]: no path passes a vertex twice; parallel edges make as many paths. Of the ways on from a vertex only `sample` are
//! followed, chosen at random. The weight of an edge is a number property; if paths are sorted by the sum of their weights, all are
//! found first, and `limit` says how many are given; else it ends with `limit` paths.
//!
//! [`customized_crosspoints`]: each pattern is a list of steps. The crosspoints are the vertices in which, by whichever pattern, paths from all
//! sources end; `limit` bounds them. If from one source no path ends anywhere, there is none.
//!
//! As many paths may be begun as `capacity` says, of crosspoints for each pattern.

use graph::{PropertyKeyId, VertexId};
use model_graph::Reader;

use crate::answer::{FoundPaths, Path, distinct};
use crate::forest::{Forest, Groups};
use crate::layers::NO_PARENT;
use crate::limits::{NO_LIMIT, check_capacity, check_limit, limit_of, require, within_capacity};
use crate::marks::{PerVertex, VertexSet};
use crate::path_set::path_bytes;
use crate::walk::{Walk, Weighing};
use crate::{Error, Step, WalkOptions};

/// How paths are sorted by the sum of their weights.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SortBy {
    /// Not at all.
    #[default]
    None,
    /// The lightest first.
    Increasing,
    /// The heaviest first.
    Decreasing,
}

/// A step of customized paths.
#[derive(Clone, Debug)]
pub struct CustomizedStep {
    /// Which edges are taken.
    pub step: Step,
    /// The property that is the weight of an edge.
    pub weight_by: Option<PropertyKeyId>,
    /// The weight of an edge that does not have it.
    pub default_weight: f64,
    /// The most ways on from a vertex; -1: all.
    pub sample: i64,
}

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct CustomizedPaths {
    /// Where paths begin; they are there.
    pub sources: Vec<VertexId>,
    /// The steps.
    pub steps: Vec<CustomizedStep>,
    /// How they are sorted.
    pub sort_by: SortBy,
    /// The most paths that are begun.
    pub capacity: i64,
    /// The most paths that are given.
    pub limit: i64,
    /// By which ways on are chosen.
    pub seed: u64,
}

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct CustomizedCrosspoints {
    /// Where paths begin; they are there.
    pub sources: Vec<VertexId>,
    /// The patterns: steps, of which there is at least one.
    pub path_patterns: Vec<Vec<Step>>,
    /// The most paths that are begun by a pattern.
    pub capacity: i64,
    /// The most crosspoints.
    pub limit: i64,
}

/// Vertices in which paths end together, and these paths.
#[derive(Debug)]
pub struct Crosspoints {
    /// The vertices.
    pub crosspoints: Vec<u32>,
    /// The paths that end in them.
    pub found: FoundPaths,
}

impl CustomizedPaths {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_sources(&self.sources)?;
        require(!self.steps.is_empty(), || "The steps can't be empty".into())?;
        for CustomizedStep { step, sample, .. } in &self.steps {
            let (sample, degree) = (*sample, step.max_degree);
            require(sample > 0 || sample == NO_LIMIT, || {
                format!("The sample must be > 0 or == -1, but got: {sample}")
            })?;
            require(degree == NO_LIMIT || degree >= sample, || {
                format!(
                    "The max degree must be greater than or equal to sample, but got max degree {degree} and sample {sample}"
                )
            })?;
            step.check()?;
        }
        check_capacity(self.capacity)?;
        check_limit(self.limit)
    }
}

impl CustomizedCrosspoints {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_sources(&self.sources)?;
        let is_whole =
            !self.path_patterns.is_empty() && self.path_patterns.iter().all(|steps| !steps.is_empty());
        require(is_whole, || "The steps pattern can't be empty".into())?;
        self.path_patterns.iter().flatten().try_for_each(Step::check)?;
        check_capacity(self.capacity)?;
        check_limit(self.limit)
    }
}

fn check_sources(sources: &[VertexId]) -> Result<(), Error> {
    require(!sources.is_empty(), || "The source vertices can't be empty".into())
}

/// The paths that take these steps. Cost: the edges of all vertices on them.
///
/// # Errors
///
/// If a parameter is refused, or the walk ends early.
pub async fn customized_paths(
    reader: &Reader,
    options: &WalkOptions,
    asked: &CustomizedPaths,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let sources = numbers(&mut walk, &asked.sources);
        let sorted = asked.sort_by != SortBy::None;
        let limit = limit_of(asked.limit);
        let mut pattern = Pattern::new(&sources, asked.capacity, "customized paths", asked.seed);
        let (last, before) = asked.steps.split_last().expect("there is a step");
        for step in before {
            pattern.advance(&mut walk, step, usize::MAX).await?;
        }
        pattern.advance(&mut walk, last, if sorted { usize::MAX } else { limit }).await?;
        if sorted {
            pattern.sort(&mut walk, asked.sort_by).await?;
        }
        pattern.current.truncate(limit);
        let (mut paths, mut steps, mut bytes) = (Vec::new(), 0, pattern.bytes());
        for node in &pattern.current {
            let path = pattern.path(*node, sorted);
            steps += path.vertices.len();
            bytes += path_bytes(path.vertices.len())
                + path.weights.as_ref().map_or(0, |weights| 8 * weights.len());
            walk.pause(&mut steps, || bytes).await?;
            paths.push(path);
        }
        walk.check_memory(bytes)?;
        let steps: Vec<&Step> = asked.steps.iter().map(|step| &step.step).collect();
        let edges = walk.edges_of_paths(&paths, &steps).await?;
        Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
    };
    options.run(walk).await
}

/// Where paths from all sources end. Cost: the edges of all vertices on paths that take one of the patterns.
///
/// # Errors
///
/// If a parameter is refused, or the walk ends early.
pub async fn customized_crosspoints(
    reader: &Reader,
    options: &WalkOptions,
    asked: &CustomizedCrosspoints,
) -> Result<Crosspoints, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let sources = numbers(&mut walk, &asked.sources);
        let (mut paths, mut spent, mut bytes) = (Vec::new(), 0, 0);
        for steps in &asked.path_patterns {
            let mut pattern = Pattern::new(&sources, asked.capacity, "customized crosspoints", 0);
            for step in steps {
                let step = CustomizedStep {
                    step: step.clone(),
                    weight_by: None,
                    default_weight: 0.0,
                    sample: NO_LIMIT,
                };
                pattern.advance(&mut walk, &step, usize::MAX).await?;
            }
            for node in &pattern.current {
                let path = pattern.path(*node, false);
                spent += path.vertices.len();
                // With the pair of its ends.
                bytes += path_bytes(path.vertices.len()) + 8;
                walk.pause(&mut spent, || bytes + pattern.bytes()).await?;
                paths.push(path);
            }
            walk.check_memory(bytes)?;
        }
        let crosspoints = common_ends(&sources, &paths, limit_of(asked.limit));
        let mut is_crosspoint = VertexSet::default();
        crosspoints.iter().for_each(|vertex| _ = is_crosspoint.insert(*vertex));
        paths.retain(|path| path.vertices.last().is_some_and(|end| is_crosspoint.contains(*end)));
        let steps: Vec<&Step> = asked.path_patterns.iter().flatten().collect();
        let edges = walk.edges_of_paths(&paths, &steps).await?;
        let found = FoundPaths { known: walk.known, paths, edges, measure: walk.measure };
        Ok(Crosspoints { crosspoints, found })
    };
    options.run(walk).await
}

fn numbers(walk: &mut Walk<'_>, ids: &[VertexId]) -> Vec<u32> {
    distinct(ids.iter().map(|id| walk.known.number(&id.to_key())))
}

/// The vertices in which paths from all sources end, in the order in which paths end in them.
fn common_ends(sources: &[u32], paths: &[Path], limit: usize) -> Vec<u32> {
    let ends = paths.iter().filter_map(|path| Some((*path.vertices.last()?, *path.vertices.first()?)));
    let mut pairs: Vec<(u32, u32)> = ends.clone().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut sources_of = PerVertex::new(0_u32);
    for (end, _) in pairs {
        *sources_of.slot(end) += 1;
    }
    let is_common = |end: &u32| sources_of.get(*end) as usize == sources.len();
    distinct(ends.map(|(end, _)| end)).into_iter().filter(is_common).take(limit).collect()
}

/// A way on: the vertex that it leads to, the node that it leaves, the weight of its edge.
type Way = (u32, u32, f64);

/// Paths that take steps one after another.
struct Pattern {
    forest: Forest,
    /// The weight of the edge to each node.
    weights: Vec<f64>,
    /// The ends of the paths that took all steps so far.
    current: Vec<u32>,
    begun: usize,
    capacity: i64,
    what: &'static str,
    random: u64,
}

impl Pattern {
    fn new(sources: &[u32], capacity: i64, what: &'static str, seed: u64) -> Self {
        let mut forest = Forest::default();
        let current: Vec<u32> = sources.iter().map(|source| forest.add(*source, NO_PARENT)).collect();
        let weights = vec![0.0; current.len()];
        Self { forest, weights, current, begun: 0, capacity, what, random: seed }
    }

    /// Goes a step further; ends with so many paths.
    async fn advance(
        &mut self,
        walk: &mut Walk<'_>,
        step: &CustomizedStep,
        limit: usize,
    ) -> Result<(), Error> {
        let groups = Groups::of(std::mem::take(&mut self.current), &self.forest);
        let weighing = Weighing { key: step.weight_by, missing: step.default_weight };
        let (mut ways, mut place, mut steps) = (Vec::new(), 0, 0);
        let mut expansion = walk.expand(&groups.vertices, &step.step).weighed(weighing);
        'walk: while let Some(hops) = expansion.next_taken().await? {
            for hop in &hops {
                if hop.place != place {
                    place = hop.place;
                    self.take(&mut ways, step.sample);
                    if self.current.len() >= limit {
                        break 'walk;
                    }
                }
                for node in groups.nodes(hop.place) {
                    steps += 1;
                    if !self.forest.contains(*node, hop.target) {
                        ways.push((hop.target, *node, hop.weight));
                        self.begun += 1;
                        within_capacity(self.capacity, self.begun, self.what)?;
                    }
                }
                let bytes = || self.bytes() + groups.bytes() + size_of::<Way>() * ways.capacity();
                expansion.pause(&mut steps, bytes).await?;
            }
            expansion.spend(std::mem::take(&mut steps)).await?;
        }
        self.take(&mut ways, step.sample);
        self.current.truncate(limit);
        walk.check_memory(self.bytes())
    }

    fn bytes(&self) -> usize {
        self.forest.bytes() + 8 * self.weights.capacity() + 4 * self.current.capacity()
    }

    /// Sorts the paths by the sum of the weights of their edges.
    async fn sort(&mut self, walk: &mut Walk<'_>, sort_by: SortBy) -> Result<(), Error> {
        let (mut sums, mut steps) = (Vec::with_capacity(self.current.len()), 0);
        walk.check_memory(self.bytes() + 16 * self.current.len())?;
        for node in &self.current {
            let path = self.path(*node, true);
            steps += path.vertices.len();
            walk.pause(&mut steps, || self.bytes() + 16 * self.current.len()).await?;
            sums.push((path.weight, *node));
        }
        match sort_by {
            SortBy::None => {}
            SortBy::Increasing => sums.sort_by(|(one, _), (two, _)| one.total_cmp(two)),
            SortBy::Decreasing => sums.sort_by(|(one, _), (two, _)| two.total_cmp(one)),
        }
        self.current = sums.into_iter().map(|(_, node)| node).collect();
        Ok(())
    }

    /// Follows the ways on from a vertex, or some of them.
    fn take(&mut self, ways: &mut Vec<Way>, sample: i64) {
        let sample = limit_of(sample).min(ways.len());
        // Those that are followed come to the front.
        if sample < ways.len() {
            for at in 0..sample {
                let other = at + self.random_below(ways.len() - at);
                ways.swap(at, other);
            }
        }
        for (vertex, parent, weight) in ways.drain(..).take(sample) {
            self.current.push(self.forest.add(vertex, parent));
            self.weights.push(weight);
        }
    }

    /// A number below another, by the seed.
    fn random_below(&mut self, end: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let below = (bits ^ (bits >> 31)) % end as u64;
        usize::try_from(below).expect("less than a number of this size")
    }

    fn path(&self, node: u32, with_weights: bool) -> Path {
        let way = self.forest.way(node);
        let vertices = way.iter().map(|node| self.forest.vertex(*node)).collect();
        if !with_weights {
            return Path::of(vertices);
        }
        let weight = |node: &u32| *self.weights.get(*node as usize).expect("each node has a weight");
        let weights: Vec<f64> = way.iter().skip(1).map(weight).collect();
        Path { weight: weights.iter().sum(), weights: Some(weights), ..Path::of(vertices) }
    }
}
