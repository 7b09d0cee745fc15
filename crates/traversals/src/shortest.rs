//! Shortest paths between two vertices, by the number of their edges.
//!
//! Two walks, one from each end, take turns: the one whose last layer is smaller goes one step further. Where one reaches a vertex of the other's
//! last layer, a path is found; no path is longer than `max_depth` edges. A path is between two different vertices; from a vertex to
//! itself leads that vertex alone.
//!
//! A walk goes to no vertex beyond one of `skip_degree` edges or more, and does not meet the other in such a one: the edges are counted the
//! way that this walk takes them.
//! After each step both walks together may have reached as many vertices as `capacity` says.
//!
//! [`all_shortest_paths`] gives every shortest path, also those that differ only far from where the walks meet; together they may have
//! as many vertices as `capacity` says.

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{FoundPaths, Path};
use crate::dag::Dag;
use crate::limits::{ENDS_MAX, check_positive, limit_of, require, within_capacity};
use crate::path_set::path_bytes;
use crate::walk::Walk;
use crate::{Error, Step, WalkOptions};

/// What is looked for, as errors name it.
const WHAT: &str = "shortest path";

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct ShortestPath {
    /// Where paths begin.
    pub source: VertexId,
    /// Where they end.
    pub target: VertexId,
    /// Which edges are taken.
    pub step: Step,
    /// The most edges.
    pub max_depth: i64,
    /// The most vertices that are visited.
    pub capacity: i64,
}

/// Shortest paths between each two of some vertices.
#[derive(Clone, Debug)]
pub struct MultiNodeShortestPath {
    /// The vertices; they are there.
    pub vertices: Vec<VertexId>,
    /// Which edges are taken.
    pub step: Step,
    /// The most edges of a path.
    pub max_depth: i64,
    /// The most vertices that are visited for each two.
    pub capacity: i64,
}

impl ShortestPath {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_positive(self.max_depth, "max depth")?;
        self.step.check_within(self.capacity)
    }
}

impl MultiNodeShortestPath {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_positive(self.max_depth, "max depth")?;
        self.step.check_within(self.capacity)?;
        let count = self.vertices.len();
        require((2..=ENDS_MAX).contains(&count), || {
            format!(
                "The number of vertices of multiple node shortest path must in [2, {ENDS_MAX}], but got: {count}"
            )
        })
    }
}

/// A shortest path, or none. Cost: the edges of vertices that are up to half its length away from one of its ends.
///
/// # Errors
///
/// If a parameter is refused, an end is not there, or the walk ends early.
pub async fn shortest_path(
    reader: &Reader,
    options: &WalkOptions,
    asked: &ShortestPath,
) -> Result<FoundPaths, Error> {
    find(reader, options, asked, false).await
}

/// All shortest paths. Cost: as one, and that of writing them down.
///
/// # Errors
///
/// As [`shortest_path`].
pub async fn all_shortest_paths(
    reader: &Reader,
    options: &WalkOptions,
    asked: &ShortestPath,
) -> Result<FoundPaths, Error> {
    find(reader, options, asked, true).await
}

async fn find(
    reader: &Reader,
    options: &WalkOptions,
    asked: &ShortestPath,
    all: bool,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let target = walk.begin_at(&asked.target, "target vertex").await?;
        let paths = between(&mut walk, (source, target), asked, all).await?;
        let edges = walk.edges_of_paths(&paths, &[&asked.step]).await?;
        Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
    };
    options.run(walk).await
}

/// A shortest path between each two of some vertices, in their order; none where there is none. Cost: as [`shortest_path`] for each two.
///
/// # Errors
///
/// As [`shortest_path`].
pub async fn multi_node_shortest_path(
    reader: &Reader,
    options: &WalkOptions,
    asked: &MultiNodeShortestPath,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let mut paths = Vec::new();
        for (at, source) in asked.vertices.iter().enumerate() {
            for target in asked.vertices.iter().skip(at + 1) {
                let MultiNodeShortestPath { step, max_depth, capacity, .. } = asked.clone();
                let pair = ShortestPath {
                    source: source.clone(),
                    target: target.clone(),
                    step,
                    max_depth,
                    capacity,
                };
                let source = walk.begin_at(source, "source vertex").await?;
                let target = walk.begin_at(target, "target vertex").await?;
                paths.extend(between(&mut walk, (source, target), &pair, false).await?);
            }
        }
        let edges = walk.edges_of_paths(&paths, &[&asked.step]).await?;
        Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
    };
    options.run(walk).await
}

/// The shortest paths between two vertices: one, or all.
async fn between(
    walk: &mut Walk<'_>,
    (source, target): (u32, u32),
    asked: &ShortestPath,
    all: bool,
) -> Result<Vec<Path>, Error> {
    if source == target {
        return Ok(vec![Path::of(vec![source])]);
    }
    let (mut ahead, mut back) = (Dag::of(source), Dag::of(target));
    let backwards = asked.step.reversed();
    for _ in 0..asked.max_depth {
        let visited = ahead.len() + back.len();
        within_capacity(asked.capacity, visited, WHAT)?;
        let goes_ahead = ahead.last().len() <= back.last().len();
        let (side, other, step) = match goes_ahead {
            true => (&mut ahead, &back, &asked.step),
            false => (&mut back, &ahead, &backwards),
        };
        let meetings = advance(walk, side, other, step, all).await?;
        if !meetings.is_empty() {
            let (at, met): (Vec<_>, Vec<_>) = meetings.into_iter().unzip();
            let (from, to) = if goes_ahead { (at, met) } else { (met, at) };
            let pairs = from.into_iter().zip(to).collect();
            return paths_of(walk, (&ahead, &back), pairs, all.then_some(asked.capacity)).await;
        }
        if side.last().is_empty() {
            break;
        }
        walk.check_memory(ahead.bytes() + back.bytes())?;
    }
    Ok(Vec::new())
}

/// Takes one side a step further. Gives where it met the other: the vertex it came from, on its side, and the one it met, on the other.
async fn advance(
    walk: &mut Walk<'_>,
    side: &mut Dag,
    other: &Dag,
    step: &Step,
    all: bool,
) -> Result<Vec<(u32, u32)>, Error> {
    let (frontier, base) = (side.last(), side.last_start());
    let mut meetings = Vec::new();
    let stops_at_first = !all && step.skip_degree == 0;
    let mut expansion = walk.expand(&frontier, step);
    'layer: while let Some(hops) = expansion.next().await? {
        for hop in hops {
            let parent = base + hop.place;
            if let Some(met) = other.find_in_last(hop.target) {
                meetings.push((parent, met));
                if stops_at_first {
                    break 'layer;
                }
            }
            if !side.has(hop.target) || (all && side.has_in_open(hop.target)) {
                side.add(hop.target, Some(parent));
            }
        }
        expansion.check_memory(side.bytes() + other.bytes() + 8 * meetings.capacity())?;
    }
    side.close();
    meetings.sort_unstable();
    meetings.dedup();
    if step.skip_degree > 0 {
        return without_hubs(walk, meetings, other, step).await;
    }
    Ok(meetings)
}

/// Leaves out where the sides met in a vertex that is skipped for its edges.
async fn without_hubs(
    walk: &mut Walk<'_>,
    meetings: Vec<(u32, u32)>,
    other: &Dag,
    step: &Step,
) -> Result<Vec<(u32, u32)>, Error> {
    let counting = Step { max_degree: step.skip_degree, skip_degree: 0, ..step.clone() };
    let (mut kept, mut judged) = (Vec::new(), std::collections::HashMap::new());
    for (at, met) in meetings {
        let is_hub = match judged.get(&met) {
            Some(is_hub) => *is_hub,
            None => {
                let degree = walk.edges_of(other.vertex(met), &counting).await?.len();
                let is_hub = degree >= limit_of(step.skip_degree);
                judged.insert(met, is_hub);
                is_hub
            }
        };
        if !is_hub {
            kept.push((at, met));
        }
    }
    Ok(kept)
}

/// The paths through pairs of nodes, of the side from the source and of that from the target: all, of so many vertices, or the first.
async fn paths_of(
    walk: &mut Walk<'_>,
    (ahead, back): (&Dag, &Dag),
    pairs: Vec<(u32, u32)>,
    capacity: Option<i64>,
) -> Result<Vec<Path>, Error> {
    let (mut paths, mut vertices, mut bytes) = (Vec::new(), 0, 8 * pairs.capacity());
    bytes += ahead.bytes() + back.bytes();
    let (mut way, mut rest, mut steps) = (Vec::new(), Vec::new(), 0);
    for (from, to) in pairs {
        let mut begins = ahead.ways(from);
        while begins.next(&mut way, &mut steps, |_, _| true) {
            let mut ends = back.ways(to);
            while ends.next(&mut rest, &mut steps, |_, _| true) {
                let path: Vec<u32> = way.iter().rev().chain(&rest).copied().collect();
                vertices += path.len();
                steps += path.len();
                bytes += path_bytes(path.len());
                paths.push(Path::of(path));
                let Some(capacity) = capacity else { return Ok(paths) };
                within_capacity(capacity, vertices, WHAT)?;
                walk.pause(&mut steps, || bytes).await?;
            }
            walk.pause(&mut steps, || bytes).await?;
        }
    }
    walk.check_memory(bytes)?;
    Ok(paths)
}
