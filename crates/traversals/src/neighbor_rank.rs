//! Neighbour rank: how much of a vertex reaches others, step by step.
//!
//! A rank of 1 lies on the source. A step leads from one layer of vertices to the next; a vertex gives the share `alpha` of its rank on, in
//! equal parts: to each vertex of its own layer and of earlier layers that its edges lead to, and over each path to each vertex that is new.
//! Parts within a layer arrive before the layer gives on; parts to earlier layers are added there and go no further; nothing
//! goes back to the source. Each step gives its `top` vertices with the highest ranks.
//!
//! No more paths than `capacity` says may be begun.

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{Measure, top};
use crate::layers::place;
use crate::limits::{DEPTH_MAX, check_alpha, check_capacity, limit_of, require, within_capacity};
use crate::marks::{PerVertex, RoundMarks};
use crate::similarity::precise;
use crate::walk::{Hop, Walk};
use crate::{Error, Numbering, Step, WalkOptions};

/// What is looked for, as errors name it.
const WHAT: &str = "neighbor rank";
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

/// The ranks of the vertices that steps lead to. Cost: the edges of all vertices that are passed, and four bytes for each of them.
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
        let layers = search.layers.layers.into_iter().zip(tops);
        let layers = layers.map(|(ranks, limit)| top(ranks, true, limit));
        Ok(LayerRanks { layers: layers.collect(), known: walk.known, measure: walk.measure })
    };
    options.run(walk).await
}

/// What lies in no layer.
const NOWHERE: (u32, u32) = (u32::MAX, 0);

/// The vertices of all layers, with their ranks.
///
/// Invariant: a vertex lies in one layer, for what is new lies in none.
struct Layers {
    layers: Vec<Vec<(u32, f64)>>,
    /// The layer of a vertex, and where it lies there.
    places: PerVertex<(u32, u32)>,
    count: usize,
}

impl Layers {
    fn of(source: u32) -> Self {
        let mut layers = Self { layers: vec![Vec::new()], places: PerVertex::new(NOWHERE), count: 0 };
        layers.add(source, 1.0);
        layers
    }

    fn layer_of(&self, vertex: u32) -> Option<u32> {
        let (layer, _) = self.places.get(vertex);
        (layer != NOWHERE.0).then_some(layer)
    }

    fn last(&self) -> u32 {
        place(self.layers.len() - 1)
    }

    /// The rank of a vertex, which lies in a layer.
    fn rank(&mut self, vertex: u32) -> &mut f64 {
        let (layer, at) = self.places.get(vertex);
        let ranks = self.layers.get_mut(layer as usize).expect("a layer that a vertex lies in");
        &mut ranks.get_mut(at as usize).expect("where the vertex lies").1
    }

    /// Adds to the rank of a vertex; one that is new comes into the last layer.
    fn add(&mut self, vertex: u32, part: f64) {
        if self.layer_of(vertex).is_none() {
            let layer = self.last();
            let ranks = self.layers.last_mut().expect("the layer of the source is there");
            self.places.set(vertex, (layer, place(ranks.len())));
            ranks.push((vertex, 0.0));
            self.count += 1;
        }
        *self.rank(vertex) += part;
    }

    /// With as much room in each layer as is used.
    fn bytes(&self) -> usize {
        let layers = size_of::<Vec<(u32, f64)>>() * self.layers.capacity();
        2 * size_of::<(u32, f64)>() * self.count + layers + self.places.bytes()
    }
}

/// What a vertex gives on, as long as the ranks of its layer may still grow.
struct Gift {
    vertex: u32,
    parts: usize,
    /// How many of the new vertices are of this gift, each once for an edge.
    new: usize,
    /// Over how many paths each of them is reached.
    paths: usize,
}

/// A step under way.
#[derive(Default)]
struct Round {
    gifts: Vec<Gift>,
    /// The new vertices of all gifts.
    new: Vec<u32>,
    /// What is given to vertices of the same layer and of earlier ones.
    back: Vec<(u32, f64)>,
    marks: RoundMarks,
}

impl Round {
    fn bytes(&self) -> usize {
        let lists = size_of::<Gift>() * self.gifts.capacity() + 4 * self.new.capacity();
        lists + size_of::<(u32, f64)>() * self.back.capacity() + self.marks.bytes()
    }
}

struct Search {
    layers: Layers,
    /// Over how many paths each vertex of the last layer is reached. In the order of their numbers.
    current: Vec<(u32, usize)>,
    begun: usize,
}

impl Search {
    fn of(source: u32) -> Self {
        Self { layers: Layers::of(source), current: vec![(source, 1)], begun: 0 }
    }

    fn bytes(&self) -> usize {
        self.layers.bytes() + size_of::<(u32, usize)>() * self.current.capacity()
    }

    async fn advance(&mut self, walk: &mut Walk<'_>, step: &Step, asked: &NeighborRank) -> Result<(), Error> {
        let (mut round, current) = (Round::default(), std::mem::take(&mut self.current));
        let others = size_of_val(&current[..]);
        for (vertex, paths) in &current {
            let hops = walk.edges_of(*vertex, step).await?;
            self.give((*vertex, *paths), &hops, asked, &mut round)?;
            walk.check_memory(others + self.bytes() + round.bytes())?;
            walk.spend(hops.len()).await?;
        }
        for (vertex, part) in &round.back {
            self.layers.add(*vertex, *part);
        }
        self.layers.layers.push(Vec::new());
        let (mut new, mut reached) = (round.new.iter(), PerVertex::new(0_usize));
        for gift in round.gifts {
            let part = *self.layers.rank(gift.vertex) * asked.alpha / precise(gift.parts);
            for vertex in new.by_ref().take(gift.new) {
                self.layers.add(*vertex, part * precise(gift.paths));
                *reached.slot(*vertex) += gift.paths;
            }
        }
        let layer = self.layers.layers.last().expect("the layer of this step");
        self.current = layer.iter().map(|(vertex, _)| (*vertex, reached.get(*vertex))).collect();
        self.current.sort_unstable();
        walk.check_memory(self.bytes())
    }

    /// Notes what a vertex gives on over its edges.
    fn give(
        &mut self,
        (vertex, paths): (u32, usize),
        hops: &[Hop],
        asked: &NeighborRank,
        round: &mut Round,
    ) -> Result<(), Error> {
        let (last, begin, new) = (self.layers.last(), round.back.len(), round.new.len());
        round.marks.begin_round();
        for hop in hops {
            match self.layers.layer_of(hop.target) {
                // Nothing goes back to the source.
                Some(0) if last > 0 => {}
                Some(_) => {
                    if round.marks.insert(hop.target) {
                        round.back.push((hop.target, 0.0));
                    }
                }
                None => {
                    round.new.push(hop.target);
                    let begun = self.begun.checked_add(paths);
                    let too_many = Error::Capacity { capacity: asked.capacity, what: WHAT };
                    self.begun = begun.ok_or(too_many)?;
                    within_capacity(asked.capacity, self.begun, WHAT)?;
                }
            }
        }
        let (back, new) = (round.back.len() - begin, round.new.len() - new);
        // No more than the paths that were begun, and a few.
        let parts = (paths * new).saturating_add(back);
        if parts > 0 {
            let part = *self.layers.rank(vertex) * asked.alpha / precise(parts);
            round.back.iter_mut().skip(begin).for_each(|(_, given)| *given = part);
            round.gifts.push(Gift { vertex, parts, new, paths });
        }
        Ok(())
    }
}
