//! All paths from some vertices to some others.
//!
//! Two walks take turns, the one from the sources first; each of up to `max_depth` steps adds an edge to the paths that are looked for. No
//! path passes a vertex twice; two that pass the same vertices over different edges count once. If only the nearest are wanted, each
//! walk reaches a vertex once, from whichever of its beginnings is nearest: so there is at most one path over each vertex in which both
//! meet.
//!
//! It ends with `limit` paths; before each step both walks together may remember as many paths to their vertices as `capacity` says. There are
//! one to ten sources, and as many targets. HugeGraph calls them template paths where they exceed the capacity.

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{FoundPaths, Path};
use crate::forest::{Chains, Forest, Groups};
use crate::layers::NO_PARENT;
use crate::limits::{DEPTH_MAX, check_between_many, limit_of, require, within_capacity};
use crate::marks::RoundMarks;
use crate::path_set::PathSet;
use crate::walk::{Hop, Walk};
use crate::{Error, Step, WalkOptions};

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct CollectionPaths {
    /// Where paths begin; they are there.
    pub sources: Vec<VertexId>,
    /// Where they end; they are there.
    pub targets: Vec<VertexId>,
    /// Which edges are taken.
    pub step: Step,
    /// The most edges of a path.
    pub max_depth: i64,
    /// Only one path over each vertex.
    pub nearest: bool,
    /// The most paths that are remembered.
    pub capacity: i64,
    /// The most paths that are given.
    pub limit: i64,
}

impl CollectionPaths {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require((1..=DEPTH_MAX).contains(&self.max_depth), || {
            format!("The depth of request must be in (0, {DEPTH_MAX}], but got: {}", self.max_depth)
        })?;
        self.step.check()?;
        check_between_many(self.sources.len(), self.targets.len(), (self.capacity, self.limit))
    }
}

/// All paths from some vertices to some others. Cost: the edges of vertices up to half as far from an end as the depth says, and that of
/// remembering all paths to them.
///
/// # Errors
///
/// If a parameter is refused, or the walk ends early.
pub async fn collection_paths(
    reader: &Reader,
    options: &WalkOptions,
    asked: &CollectionPaths,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let mut ahead = Side::of(&mut walk, &asked.sources);
        let mut back = Side::of(&mut walk, &asked.targets);
        let mut found = PathSet::new(limit_of(asked.limit), walk.bytes_max());
        let backwards = asked.step.reversed();
        for round in 0..asked.max_depth {
            match round % 2 == 0 {
                true => ahead.advance(&mut walk, &back, (asked, &asked.step, true), &mut found).await?,
                false => back.advance(&mut walk, &ahead, (asked, &backwards, false), &mut found).await?,
            }
            if found.is_full() || (ahead.current.is_empty() && back.current.is_empty()) {
                break;
            }
            walk.check_memory(ahead.bytes() + back.bytes() + found.bytes())?;
        }
        walk.check_memory(found.bytes())?;
        let paths = found.into_paths();
        let edges = walk.edges_of_paths(&paths, &[&asked.step]).await?;
        Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
    };
    options.run(walk).await
}

/// One of the two walks.
struct Side {
    forest: Forest,
    /// The nodes from which it goes on.
    current: Vec<u32>,
    /// All nodes by vertex.
    all: Chains,
}

impl Side {
    fn of(walk: &mut Walk<'_>, ids: &[VertexId]) -> Self {
        let mut side = Self { forest: Forest::default(), current: Vec::new(), all: Chains::default() };
        for id in ids {
            let vertex = walk.known.number(&id.to_key());
            if !side.all.has(vertex) {
                let node = side.forest.add(vertex, NO_PARENT);
                side.current.push(node);
                side.all.add(vertex, node);
            }
        }
        side
    }

    fn bytes(&self) -> usize {
        self.forest.bytes() + self.all.bytes()
    }

    /// Goes a step further, and notes where paths of the other side are met.
    async fn advance(
        &mut self,
        walk: &mut Walk<'_>,
        other: &Self,
        (asked, step, goes_ahead): (&CollectionPaths, &Step, bool),
        found: &mut PathSet,
    ) -> Result<(), Error> {
        within_capacity(asked.capacity, self.all.len() + other.all.len(), "template paths")?;
        let groups = Groups::of(std::mem::take(&mut self.current), &self.forest);
        let (mut new, mut marks, mut layer) = (Vec::new(), RoundMarks::default(), RoundMarks::default());
        let mut last_place = 0;
        let (mut expansion, mut steps) = (walk.expand(&groups.vertices, step), 0);
        while let Some(hops) = expansion.next_taken().await? {
            for hop in &hops {
                if hop.place != last_place {
                    last_place = hop.place;
                    marks.begin_round();
                }
                // Another edge to the same vertex adds nothing.
                if !marks.insert(hop.target) {
                    continue;
                }
                let nodes = groups.nodes(hop.place);
                let nodes =
                    if asked.nearest { nodes.get(..1).expect("each group has a node") } else { nodes };
                for node in nodes {
                    steps += 1;
                    if self.forest.contains(*node, hop.target) {
                        continue;
                    }
                    steps += self.join(other, *node, hop, goes_ahead, found);
                    if found.is_full() {
                        return Ok(());
                    }
                    if !asked.nearest || layer.insert(hop.target) {
                        new.push(self.forest.add(hop.target, *node));
                    }
                    let bytes =
                        || self.bytes() + other.bytes() + groups.bytes() + 4 * new.capacity() + found.bytes();
                    expansion.pause(&mut steps, bytes).await?;
                }
            }
            expansion.spend(std::mem::take(&mut steps)).await?;
        }
        for node in &new {
            let vertex = self.forest.vertex(*node);
            if !asked.nearest || !self.all.has(vertex) {
                self.all.add(vertex, *node);
            }
        }
        self.current = new;
        Ok(())
    }

    /// Notes the paths over an edge that leads to paths of the other side. Gives the steps that it took.
    fn join(&self, other: &Self, node: u32, hop: &Hop, goes_ahead: bool, found: &mut PathSet) -> usize {
        let mut steps = 0;
        for met in other.all.nodes(hop.target) {
            let (mut vertices, rest) = (self.forest.path(node), other.forest.path(met));
            steps += vertices.len() + rest.len();
            if rest.iter().any(|vertex| vertices.contains(vertex)) {
                continue;
            }
            vertices.extend(rest.iter().rev());
            if !goes_ahead {
                vertices.reverse();
            }
            if !found.add(Path { crosspoint: Some(hop.target), ..Path::of(vertices) }) {
                break;
            }
        }
        steps
    }
}
