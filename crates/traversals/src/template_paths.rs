//! Paths from some vertices to some others that follow a template: a list of steps, each of which is taken once or more, up to its own number
//! of times.
//!
//! Two walks take turns, the one from the sources first, so that paths come in the order of their lengths. A vertex is passed once, unless
//! rings are asked for. Two paths that pass the same vertices over different edges count once.
//!
//! It ends with `limit` paths; before each step both walks together may remember as many paths as `capacity` says. There are one to ten sources, and as
//! many targets.

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{FoundPaths, Path};
use crate::forest::{Forest, Groups};
use crate::layers::NO_PARENT;
use crate::limits::{check_between_many, check_positive, limit_of, require, within_capacity};
use crate::marks::RoundMarks;
use crate::path_set::PathSet;
use crate::walk::Walk;
use crate::{Error, Step, WalkOptions};

/// A step of a template.
#[derive(Clone, Debug)]
pub struct TemplateStep {
    /// Which edges are taken.
    pub step: Step,
    /// The most times that it is taken, one after another.
    pub max_times: i64,
}

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct TemplatePaths {
    /// Where paths begin; they are there.
    pub sources: Vec<VertexId>,
    /// Where they end; they are there.
    pub targets: Vec<VertexId>,
    /// The steps, from the sources to the targets.
    pub steps: Vec<TemplateStep>,
    /// Whether a path may pass a vertex again.
    pub with_ring: bool,
    /// The most paths that are remembered.
    pub capacity: i64,
    /// The most paths that are given.
    pub limit: i64,
}

impl TemplatePaths {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require(!self.steps.is_empty(), || "The steps of request can't be empty".into())?;
        for step in &self.steps {
            step.step.check()?;
            check_positive(step.max_times, "max times")?;
        }
        check_between_many(self.sources.len(), self.targets.len(), (self.capacity, self.limit))
    }
}

/// The paths that follow a template. Cost: the edges of the vertices on its first half and on its second, and that of remembering all
/// paths to them.
///
/// # Errors
///
/// If a parameter is refused, or the walk ends early.
pub async fn template_paths(
    reader: &Reader,
    options: &WalkOptions,
    asked: &TemplatePaths,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let mut ahead = Side::of(&mut walk, &asked.sources, asked, true);
        let mut back = Side::of(&mut walk, &asked.targets, asked, false);
        let mut found = PathSet::new(limit_of(asked.limit), walk.bytes_max());
        let rounds = asked.steps.iter().fold(0_i64, |sum, step| sum.saturating_add(step.max_times));
        for round in 0..rounds {
            let (side, other) = if round % 2 == 0 { (&mut ahead, &back) } else { (&mut back, &ahead) };
            side.advance(&mut walk, asked, other, found.bytes()).await?;
            ahead.join(&mut walk, &back, asked, &mut found).await?;
            if found.is_full() || ahead.current.is_empty() || back.current.is_empty() {
                break;
            }
        }
        walk.check_memory(found.bytes())?;
        let paths = found.into_paths();
        let steps: Vec<&Step> = asked.steps.iter().map(|step| &step.step).collect();
        let edges = walk.edges_of_paths(&paths, &steps).await?;
        Ok(FoundPaths { known: walk.known, paths, edges, measure: walk.measure })
    };
    options.run(walk).await
}

/// How much of a template a path has followed: the step that it took last, and how often in a row. Before the first it is at `None`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Progress {
    step: Option<usize>,
    times: i64,
}

/// Bytes of a node from which a walk goes on, and of how far it has come.
const CURRENT_BYTES: usize = size_of::<(u32, Progress)>();

/// One of the two walks.
struct Side {
    goes_ahead: bool,
    forest: Forest,
    /// The steps of the template, as this walk takes them: from its beginning on, and its way.
    steps: Vec<TemplateStep>,
    /// The nodes from which it goes on, and how far each has come.
    current: Vec<(u32, Progress)>,
}

impl Side {
    fn of(walk: &mut Walk<'_>, ids: &[VertexId], asked: &TemplatePaths, goes_ahead: bool) -> Self {
        let mut steps = asked.steps.clone();
        if !goes_ahead {
            steps.reverse();
            for step in &mut steps {
                step.step = step.step.reversed();
            }
        }
        let mut forest = Forest::default();
        let vertices = crate::answer::distinct(ids.iter().map(|id| walk.known.number(&id.to_key())));
        let begin = Progress { step: None, times: 0 };
        let current = vertices.into_iter().map(|vertex| (forest.add(vertex, NO_PARENT), begin)).collect();
        Self { goes_ahead, forest, steps, current }
    }

    fn bytes(&self) -> usize {
        self.forest.bytes() + CURRENT_BYTES * self.current.len()
    }

    /// How far a path comes that takes a step of the template next; `None` if it may not.
    fn progress(&self, at: Progress, step: usize) -> Option<Progress> {
        let max_times = self.steps.get(step)?.max_times;
        match at.step {
            Some(last) if last == step => {
                (at.times < max_times).then_some(Progress { step: Some(step), times: at.times + 1 })
            }
            last => {
                (last.map_or(0, |last| last + 1) == step).then_some(Progress { step: Some(step), times: 1 })
            }
        }
    }

    /// Goes an edge further.
    async fn advance(
        &mut self,
        walk: &mut Walk<'_>,
        asked: &TemplatePaths,
        other: &Self,
        found_bytes: usize,
    ) -> Result<(), Error> {
        within_capacity(asked.capacity, self.forest.len() + other.forest.len(), "template paths")?;
        let (current, mut new) = (std::mem::take(&mut self.current), Vec::new());
        let (mut marks, mut steps) = (RoundMarks::default(), 0);
        // Nodes from which it goes on are in a map and in groups beside.
        let beside = other.bytes() + found_bytes + 3 * CURRENT_BYTES * current.len();
        walk.check_memory(self.forest.bytes() + beside)?;
        for (at, step) in self.steps.iter().enumerate() {
            let goes_on = |(node, progress): &(u32, Progress)| {
                self.progress(*progress, at).map(|progress| (*node, progress))
            };
            let going: std::collections::HashMap<u32, Progress> =
                current.iter().filter_map(goes_on).collect();
            let mut nodes: Vec<u32> = going.keys().copied().collect();
            nodes.sort_unstable();
            let groups = Groups::of(nodes, &self.forest);
            let mut last_place = 0;
            marks.begin_round();
            let mut expansion = walk.expand(&groups.vertices, &step.step);
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
                    for node in groups.nodes(hop.place) {
                        if asked.with_ring || !self.forest.contains(*node, hop.target) {
                            let progress = *going.get(node).expect("the nodes that go on");
                            new.push((self.forest.add(hop.target, *node), progress));
                        }
                        steps += 1;
                    }
                    let bytes = || self.forest.bytes() + beside + CURRENT_BYTES * new.capacity();
                    expansion.pause(&mut steps, bytes).await?;
                }
                expansion.spend(hops.len()).await?;
            }
        }
        self.current = new;
        Ok(())
    }

    /// Notes the paths that this walk and the one that comes towards it have found together.
    async fn join(
        &self,
        walk: &mut Walk<'_>,
        back: &Self,
        asked: &TemplatePaths,
        found: &mut PathSet,
    ) -> Result<(), Error> {
        debug_assert!(self.goes_ahead && !back.goes_ahead);
        walk.check_memory(self.bytes() + 3 * back.bytes() + found.bytes())?;
        let mut steps = 0;
        let mut met: std::collections::HashMap<u32, Vec<(u32, Progress)>> = std::collections::HashMap::new();
        for (node, progress) in &back.current {
            met.entry(back.forest.vertex(*node)).or_default().push((*node, *progress));
        }
        for (node, progress) in &self.current {
            let crosspoint = self.forest.vertex(*node);
            for (other, rest) in met.get(&crosspoint).into_iter().flatten() {
                steps += 1;
                if !self.fits(*progress, *rest) {
                    continue;
                }
                let (mut vertices, others) = (self.forest.path(*node), back.forest.path(*other));
                let rest = others.iter().rev().skip(1);
                steps += others.len();
                if !asked.with_ring && rest.clone().any(|vertex| vertices.contains(vertex)) {
                    continue;
                }
                vertices.extend(rest);
                if !found.add(Path { crosspoint: Some(crosspoint), ..Path::of(vertices) }) {
                    return Ok(());
                }
                walk.pause(&mut steps, || self.bytes() + 3 * back.bytes() + found.bytes()).await?;
            }
        }
        walk.spend(steps + self.current.len() + back.current.len()).await
    }

    /// Whether a path and one that comes towards it follow the whole template together.
    fn fits(&self, one: Progress, other: Progress) -> bool {
        let last = self.steps.len() - 1;
        // The steps of the other are counted from the end.
        let behind = other.step.map_or(last + 1, |step| last - step);
        match one.step {
            Some(step) if step == behind => {
                self.steps.get(step).is_some_and(|step| one.times + other.times <= step.max_times)
            }
            step => step.map_or(0, |step| step + 1) == behind,
        }
    }
}
