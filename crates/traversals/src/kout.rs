//! K-out: the vertices that are a number of steps away from one.
//!
//! By breadth, layer by layer: a layer has the vertices that one step leads to from the layer before, each once, never the source. If only the
//! nearest are wanted, it has none that an earlier layer had; else a vertex may be in several layers, by ways of different lengths. The last
//! layer is the answer; no more than `limit` of it are looked for.
//!
//! `capacity` bounds the vertices that are reached: who has as many before the last layer gets [`Error::CapacityBeforeDepth`]. The last layer
//! is bounded by `limit` alone. Where it is asked for without steps ([`Kout::basic`]), as HugeGraph does it, the source counts, too, a vertex
//! counts in each layer that it is in, and the last layer ends at the capacity.
//!
//! By depth, the answer is the same if all vertices are wanted; vertices near the first edges come first, so that a small `limit` is reached
//! without reading whole layers. If only the nearest are wanted, a vertex is left out once it was passed on a shorter way; one that is
//! nearer by a way not taken yet may be given. At `capacity` it ends with what it has.

use std::collections::VecDeque;
use std::ops::Range;

use graph::VertexId;
use model_graph::Reader;

use crate::answer::Reached;
use crate::layers::{Layers, place};
use crate::limits::{NO_LIMIT, check_capacity, check_limit, check_positive, limit_of, require};
use crate::marks::{RoundMarks, VertexSet};
use crate::path_set::path_bytes;
use crate::walk::Walk;
use crate::{Error, LabelFilter, Path, Step, WalkOptions};

/// Vertices from which a walk by depth goes on at once.
const BRANCHES_AT_ONCE: usize = 1_000;

/// In which order vertices are visited.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TraverseMode {
    /// Layer by layer.
    #[default]
    Breadth,
    /// The ways over the first edges first.
    Depth,
}

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct Kout {
    /// Where it begins.
    pub source: VertexId,
    /// Which edges are taken.
    pub step: Step,
    /// Filters of the vertices at both ends of each edge; empty: any vertex.
    pub vertex_filters: Vec<LabelFilter>,
    /// How many steps away.
    pub max_depth: i64,
    /// Only those to which no shorter way leads.
    pub nearest: bool,
    /// The most vertices that are visited.
    pub capacity: i64,
    /// The most vertices that are given.
    pub limit: i64,
    /// A way to each.
    pub with_paths: bool,
    /// In which order vertices are visited.
    pub mode: TraverseMode,
    /// Whether it is asked for without steps, which says what `capacity` counts.
    pub basic: bool,
}

impl Kout {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_positive(self.max_depth, "k-out max_depth")?;
        self.step.check()?;
        check_capacity(self.capacity)?;
        check_limit(self.limit)?;
        let (capacity, limit) = (self.capacity, self.limit);
        let is_within = capacity == NO_LIMIT || (limit != NO_LIMIT && capacity >= limit);
        require(!self.basic || is_within, || {
            format!("Capacity can't be less than limit, but got capacity '{capacity}' and limit '{limit}'")
        })
    }
}

/// The vertices that are a number of steps away from one. Cost: the edges of all vertices that are fewer steps away.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn kout(reader: &Reader, options: &WalkOptions, asked: &Kout) -> Result<Reached, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let found = match asked.mode {
            TraverseMode::Breadth => by_breadth(&mut walk, source, asked).await?,
            TraverseMode::Depth => by_depth(&mut walk, source, asked).await?,
        };
        found.give(walk, &asked.step, asked.with_paths).await
    };
    options.run(walk).await
}

/// Vertices that were passed, and where those lie that are the answer.
pub(crate) struct Found {
    pub(crate) layers: Layers,
    pub(crate) places: Range<usize>,
}

impl Found {
    /// The answer.
    pub(crate) async fn give(
        self,
        mut walk: Walk<'_>,
        step: &Step,
        with_paths: bool,
    ) -> Result<Reached, Error> {
        let vertices = self.layers.vertices().get(self.places.clone()).expect("places of layers").to_vec();
        let (mut paths, mut edges) = (Vec::new(), Vec::new());
        if with_paths {
            let (mut steps, mut bytes) = (0, self.layers.bytes() + 4 * vertices.len());
            for place in self.places {
                let path = Path::of(self.layers.path(place));
                steps += path.vertices.len();
                bytes += path_bytes(path.vertices.len());
                walk.pause(&mut steps, || bytes).await?;
                paths.push(path);
            }
            walk.check_memory(bytes)?;
            edges = walk.edges_of_paths(&paths, &[step]).await?;
        }
        Ok(Reached { known: walk.known, vertices, paths, edges, measure: walk.measure })
    }
}

async fn by_breadth(walk: &mut Walk<'_>, source: u32, asked: &Kout) -> Result<Found, Error> {
    let (mut layers, mut seen, mut marks) = (Layers::of(source), VertexSet::default(), RoundMarks::default());
    seen.insert(source);
    let (limit, capacity) = (limit_of(asked.limit), limit_of(asked.capacity));
    let mut visited = usize::from(asked.basic);
    for depth in (0..asked.max_depth).rev() {
        let (frontier, base) = (layers.last().to_vec(), place(layers.last_start()));
        let left = if asked.basic { capacity.saturating_sub(visited) } else { usize::MAX };
        if depth == 0 && left == 0 {
            layers.close();
            break;
        }
        let full = layers.len().saturating_add(limit.min(left));
        marks.begin_round();
        let mut expansion = walk.expand(&frontier, &asked.step).between(&asked.vertex_filters);
        'layer: while let Some(hops) = expansion.next().await? {
            for hop in hops {
                let is_first = seen.insert(hop.target);
                let is_new = match asked.nearest {
                    true => is_first,
                    false => hop.target != source && marks.insert(hop.target),
                };
                if is_new {
                    layers.push(hop.target, base + hop.place);
                    visited += usize::from(is_first || asked.basic);
                    if depth == 0 && layers.len() >= full {
                        break 'layer;
                    }
                }
            }
            if depth > 0 && visited >= capacity {
                return Err(Error::CapacityBeforeDepth { capacity: asked.capacity, depth });
            }
            expansion.check_memory(layers.bytes() + seen.bytes() + marks.bytes() + 4 * frontier.len())?;
        }
        layers.close();
        if layers.last().is_empty() {
            break;
        }
    }
    let places = layers.last_start()..layers.last_end();
    Ok(Found { layers, places })
}

/// A walk by depth. Vertices that were passed, and those found, lie in trees of their own: the answer is the layer behind all that was
/// passed.
async fn by_depth(walk: &mut Walk<'_>, source: u32, asked: &Kout) -> Result<Found, Error> {
    let mut tree = Layers::of(source);
    let mut pending =
        Pending { levels: vec![VecDeque::from([0])], passed: Vec::new(), nearest: asked.nearest };
    pending.is_new(0, source);
    let (mut found, mut answer) = (VertexSet::default(), Vec::new());
    let (limit, capacity) = (limit_of(asked.limit), limit_of(asked.capacity));
    'walk: while let Some((level, places)) = pending.take() {
        let frontier: Vec<u32> = places.iter().map(|at| tree.vertex(*at as usize)).collect();
        let is_last = level as i64 + 1 == asked.max_depth;
        let mut expansion = walk.expand(&frontier, &asked.step).between(&asked.vertex_filters);
        while let Some(hops) = expansion.next().await? {
            for hop in hops.iter().filter(|hop| hop.target != source) {
                let parent = *places.get(hop.place as usize).expect("places are of the frontier");
                if is_last {
                    let is_near = !asked.nearest || !pending.was_passed(hop.target);
                    if is_near && found.insert(hop.target) {
                        answer.push((hop.target, parent));
                        if answer.len() >= limit {
                            break 'walk;
                        }
                    }
                } else if pending.is_new(level + 1, hop.target) {
                    pending.push(level + 1, place(tree.len()));
                    tree.push(hop.target, parent);
                }
            }
            if tree.len() > capacity {
                break 'walk;
            }
            expansion.check_memory(tree.bytes() + pending.bytes() + found.bytes() + 8 * answer.capacity())?;
        }
    }
    tree.close();
    for (vertex, parent) in answer {
        tree.push(vertex, parent);
    }
    tree.close();
    let places = tree.last_start()..tree.last_end();
    Ok(Found { layers: tree, places })
}

/// Vertices from which a walk by depth is to go on, by how far away they are.
struct Pending {
    levels: Vec<VecDeque<u32>>,
    /// Vertices that were passed: on any level, or on each.
    passed: Vec<VertexSet>,
    nearest: bool,
}

impl Pending {
    /// Some of those that are farthest away, in the order in which they came.
    fn take(&mut self) -> Option<(usize, Vec<u32>)> {
        let level = self.levels.iter().rposition(|level| !level.is_empty())?;
        let places = self.levels.get_mut(level).expect("a level that was found");
        Some((level, places.drain(..places.len().min(BRANCHES_AT_ONCE)).collect()))
    }

    /// Each set has a bit for each number up to the highest of its own: they are as many as there are levels.
    fn bytes(&self) -> usize {
        let levels: usize = self.levels.iter().map(|level| 4 * level.capacity()).sum();
        levels + self.passed.iter().map(VertexSet::bytes).sum::<usize>()
    }

    fn push(&mut self, level: usize, place: u32) {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, VecDeque::new);
        }
        self.levels.get_mut(level).expect("as many levels as it is far").push_back(place);
    }

    /// Whether a vertex was not passed before, on this level if all ways count.
    fn is_new(&mut self, level: usize, vertex: u32) -> bool {
        let level = if self.nearest { 0 } else { level };
        if self.passed.len() <= level {
            self.passed.resize_with(level + 1, VertexSet::default);
        }
        self.passed.get_mut(level).expect("as many levels as it is far").insert(vertex)
    }

    fn was_passed(&self, vertex: u32) -> bool {
        self.passed.iter().any(|passed| passed.contains(vertex))
    }
}
