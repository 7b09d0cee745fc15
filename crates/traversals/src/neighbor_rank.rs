//! Neighbour rank: how much of a vertex reaches others, step by step.
//!
//! A rank of 1 lies on the source. A step leads from one layer of vertices to the next; a vertex gives the share `alpha` of its rank on, in
//! equal parts: to each vertex of its own layer and of earlier layers that its edges lead to, and over each path to each vertex that is new.
//! Parts within a layer arrive before the layer gives on; parts to earlier layers are added there and go no further; nothing
//! goes back to the source. Each step gives its `top` vertices with the highest ranks.
//!
//! No more paths than `capacity` says may be begun.

use std::collections::HashSet;

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{Measure, top};
use crate::forest::{Forest, Groups};
use crate::layers::NO_PARENT;
use crate::limits::{DEPTH_MAX, check_alpha, check_capacity, limit_of, require, within_capacity};
use crate::marks::PerVertex;
use crate::similarity::precise;
use crate::walk::{Hop, Walk};
use crate::{Error, Numbering, Step, WalkOptions};

/// The most vertices that a step gives.
const TOP_MAX: i64 = 1_000;

/// A step.
#[derive(Clone, Debug)]
pub struct RankStep {
    /// Which edges are taken.
    pub step: Step,
    /// The most vertices that it gives.
    pub top: i64,
}

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct NeighborRank {
    /// Where it begins.
    pub source: VertexId,
    /// The steps.
    pub steps: Vec<RankStep>,
    /// The share of its rank that a vertex gives on.
    pub alpha: f64,
    /// The most paths that are begun.
    pub capacity: i64,
}

/// The ranks of each layer, from the source on.
#[derive(Debug)]
pub struct LayerRanks {
    /// The ids of the vertices.
    pub known: Numbering,
    /// The vertices of each layer, with their ranks.
    pub layers: Vec<Vec<(u32, f64)>>,
    /// What was read.
    pub measure: Measure,
}

impl NeighborRank {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require(!self.steps.is_empty(), || "The steps of rank request can't be empty".into())?;
        require(self.steps.len() <= limit_of(DEPTH_MAX), || {
            format!("The steps length of rank request can't exceed {DEPTH_MAX}")
        })?;
        check_alpha(self.alpha, "rank request")?;
        for step in &self.steps {
            require((1..=TOP_MAX).contains(&step.top), || {
                format!("The top of each layer must be in (0, {TOP_MAX}], but got {}", step.top)
            })?;
            step.step.check()?;
        }
        check_capacity(self.capacity)
    }
}

/// The ranks of the vertices that steps lead to. Cost: the edges of all vertices that are passed, and that of remembering all paths to them.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn neighbor_rank(
    reader: &Reader,
    options: &WalkOptions,
    asked: &NeighborRank,
) -> Result<LayerRanks, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let mut search = Search::of(source);
        for step in &asked.steps {
            search.advance(&mut walk, &step.step, asked).await?;
        }
        let tops = std::iter::once(1).chain(asked.steps.iter().map(|step| limit_of(step.top)));
        let layers = search.layers.into_iter().zip(tops).map(|(layer, limit)| top(layer.ranks, true, limit));
        Ok(LayerRanks { layers: layers.collect(), known: walk.known, measure: walk.measure })
    };
    options.run(walk).await
}

/// The vertices of a layer and their ranks.
struct Layer {
    ranks: Vec<(u32, f64)>,
    places: PerVertex<u32>,
}

impl Layer {
    fn new() -> Self {
        Self { ranks: Vec::new(), places: PerVertex::new(NO_PARENT) }
    }

    fn has(&self, vertex: u32) -> bool {
        self.places.get(vertex) != NO_PARENT
    }

    fn rank(&self, vertex: u32) -> f64 {
        self.ranks.get(self.places.get(vertex) as usize).map_or(0.0, |(_, rank)| *rank)
    }

    fn add(&mut self, vertex: u32, part: f64) {
        if !self.has(vertex) {
            self.places.set(vertex, crate::layers::place(self.ranks.len()));
            self.ranks.push((vertex, 0.0));
        }
        let (_, rank) = self.ranks.get_mut(self.places.get(vertex) as usize).expect("it was given a place");
        *rank += part;
    }
}

/// What a vertex gives on, as long as the ranks of its layer may still grow.
struct Gift {
    vertex: u32,
    parts: usize,
    /// The new vertices, once for each path.
    new: Vec<u32>,
}

struct Search {
    layers: Vec<Layer>,
    forest: Forest,
    current: Vec<u32>,
    begun: usize,
}

impl Search {
    fn of(source: u32) -> Self {
        let (mut layer, mut forest) = (Layer::new(), Forest::default());
        layer.add(source, 1.0);
        let current = vec![forest.add(source, NO_PARENT)];
        Self { layers: vec![layer], forest, current, begun: 0 }
    }

    async fn advance(&mut self, walk: &mut Walk<'_>, step: &Step, asked: &NeighborRank) -> Result<(), Error> {
        let groups = Groups::of(std::mem::take(&mut self.current), &self.forest);
        let (mut gifts, mut within) = (Vec::new(), Vec::new());
        for (vertex, place) in groups.vertices.iter().zip(0..) {
            let hops = walk.edges_of(*vertex, step).await?;
            gifts.push(self.gift(*vertex, groups.nodes(place), &hops, asked, &mut within)?);
            walk.spend(groups.nodes(place).len() * hops.len()).await?;
        }
        let last = self.layers.last_mut().expect("the layer of the source is there");
        for (vertex, part) in within {
            last.add(vertex, part);
        }
        let mut next = Layer::new();
        for gift in gifts.iter().filter(|gift| gift.parts > 0) {
            let part = last.rank(gift.vertex) * asked.alpha / precise(gift.parts);
            gift.new.iter().for_each(|vertex| next.add(*vertex, part));
        }
        self.layers.push(next);
        walk.check_memory(2 * self.forest.bytes())
    }

    /// What a vertex gives on. What it gives to earlier layers is added there; what it gives within its own is noted.
    fn gift(
        &mut self,
        vertex: u32,
        nodes: &[u32],
        hops: &[Hop],
        asked: &NeighborRank,
        within: &mut Vec<(u32, f64)>,
    ) -> Result<Gift, Error> {
        let (mut same, mut earlier, mut new) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let (last, before) = self.layers.split_last().expect("the layer of the source is there");
        for hop in hops {
            // The layer of the source takes no part.
            let is_earlier = |layer: &Layer| layer.has(hop.target);
            if last.has(hop.target) {
                if seen.insert(hop.target) {
                    same.push(hop.target);
                }
            } else if let Some(at) = before.iter().skip(1).rposition(is_earlier) {
                if seen.insert(hop.target) {
                    earlier.push((at + 1, hop.target));
                }
            } else {
                for node in nodes {
                    if self.forest.contains(*node, hop.target) {
                        continue;
                    }
                    self.current.push(self.forest.add(hop.target, *node));
                    new.push(hop.target);
                    self.begun += 1;
                    within_capacity(asked.capacity, self.begun, "neighbor rank")?;
                }
            }
        }
        let parts = same.len() + earlier.len() + new.len();
        if parts > 0 {
            let part = last.rank(vertex) * asked.alpha / precise(parts);
            within.extend(same.into_iter().map(|vertex| (vertex, part)));
            for (at, vertex) in earlier {
                self.layers.get_mut(at).expect("an earlier layer").add(vertex, part);
            }
        }
        Ok(Gift { vertex, parts, new })
    }
}
