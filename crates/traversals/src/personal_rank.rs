//! Personal rank: what somebody might like, by what others like who like the same.
//!
//! The edge label joins vertices of two labels. A rank of 1 lies on the source. In each of `max_depth` rounds every vertex gives the share `alpha`
//! of its rank to its neighbours in equal parts, an edge each; one without neighbours keeps its rank; and the source gets `1 - alpha`.
//! Vertices of the source's label go along their edges, those of the other label back. The source and its neighbours are no answer.

use graph::{LabelId, VertexId};
use model_graph::Reader;

use crate::answer::{Scores, top};
use crate::limits::{DEPTH_MAX, NO_LIMIT, check_alpha, limit_of, refuse, require};
use crate::marks::{PerVertex, VertexSet};
use crate::similarity::precise;
use crate::walk::Walk;
use crate::{Direction, Error, Step, StepLabel, WalkOptions};

/// Which of the vertices that were ranked are given.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum WithLabel {
    /// Those of the label of the source.
    SameLabel,
    /// Those of the other label.
    OtherLabel,
    /// Both.
    #[default]
    BothLabel,
}

/// The edge label along which ranks go.
#[derive(Clone, Debug)]
pub struct RankLabel {
    /// Its name.
    pub name: Box<str>,
    /// The label in the keys of edges.
    pub label: StepLabel,
    /// The label of the vertices that its edges leave.
    pub source: LabelId,
    /// The label of the vertices that they enter.
    pub target: LabelId,
}

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct PersonalRank {
    /// Whose rank it is.
    pub source: VertexId,
    /// Along which edges ranks go.
    pub label: RankLabel,
    /// The share of its rank that a vertex gives on.
    pub alpha: f64,
    /// The most edges of a vertex.
    pub max_degree: i64,
    /// The most vertices that are given.
    pub limit: i64,
    /// The rounds.
    pub max_depth: i64,
    /// Which vertices are given.
    pub with_label: WithLabel,
    /// Whether those with the highest ranks come first.
    pub sorted: bool,
}

impl PersonalRank {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        let what = "rank request";
        check_alpha(self.alpha, what)?;
        let (degree, limit, depth) = (self.max_degree, self.limit, self.max_depth);
        require(degree > 0 || degree == NO_LIMIT, || {
            format!("The max degree of {what} must be > 0 or == -1, but got: {degree}")
        })?;
        require(limit > 0 || limit == NO_LIMIT, || {
            format!("The limit of {what} must be > 0 or == -1, but got: {limit}")
        })?;
        require((2..=DEPTH_MAX).contains(&depth), || {
            format!("The max depth of {what} must be in range (1, {DEPTH_MAX}], but got '{depth}'")
        })
    }
}

/// The ranks of vertices for one. Cost: in each round the edges of all vertices that have a rank.
///
/// # Errors
///
/// If a parameter is refused, the source is not there, or the walk ends early.
pub async fn personal_rank(
    reader: &Reader,
    options: &WalkOptions,
    asked: &PersonalRank,
) -> Result<Scores, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let direction = direction_of(&walk, source, asked).await?;
        let mut ranks = Ranks::of(source);
        let step = Step::new(direction, Some(asked.label.label)).with_degree(asked.max_degree);
        // Who takes the step, and who goes back: of the source's label, and of the other.
        let mut sides = [Side::of(step.clone(), &[source]), Side::of(step.reversed(), &[])];
        let mut near = VertexSet::default();
        for round in 0..asked.max_depth {
            let mut next = Ranks::default();
            let mut met = [Vec::new(), Vec::new()];
            let others = ranks.bytes() + near.bytes() + sides.iter().map(Side::bytes).sum::<usize>();
            for (side, met) in sides.iter().zip(&mut met) {
                side.give(&mut walk, asked.alpha, (&ranks, others), &mut next, met).await?;
            }
            next.add(source, 1.0 - asked.alpha);
            ranks = next;
            let [from_same, from_other] = met;
            let [same, other] = &mut sides;
            other.add(from_same);
            same.add(from_other);
            if round == 0 {
                for (vertex, _) in ranks.all() {
                    near.insert(vertex);
                }
            }
        }
        let [same, other] = &sides;
        let is_given = |vertex: u32| {
            !near.contains(vertex)
                && match asked.with_label {
                    WithLabel::BothLabel => true,
                    WithLabel::SameLabel => !other.members.contains(vertex),
                    WithLabel::OtherLabel => !same.members.contains(vertex),
                }
        };
        let scores = ranks.all().filter(|(vertex, _)| is_given(*vertex)).collect();
        let scores = top(scores, asked.sorted, limit_of(asked.limit));
        Ok(Scores { known: walk.known, scores, measure: walk.measure })
    };
    options.run(walk).await
}

/// Which way edges of the label lead from the source.
async fn direction_of(walk: &Walk<'_>, source: u32, asked: &PersonalRank) -> Result<Direction, Error> {
    let label = walk.label_of(source).await?;
    let RankLabel { name, source: from, target: to, .. } = &asked.label;
    if label != Some(*from) && label != Some(*to) {
        return refuse(format!("The vertex '{}' doesn't link with edge label '{name}'", asked.source));
    }
    require(from != to, || "The edge label for personal rank must link different vertex labels".into())?;
    Ok(if label == Some(*from) { Direction::Out } else { Direction::In })
}

/// Vertices of one label that have a rank.
struct Side {
    step: Step,
    vertices: Vec<u32>,
    members: VertexSet,
}

impl Side {
    fn of(step: Step, vertices: &[u32]) -> Self {
        let mut side = Self { step, vertices: Vec::new(), members: VertexSet::default() };
        side.add(vertices.to_vec());
        side
    }

    fn add(&mut self, vertices: Vec<u32>) {
        self.vertices.extend(vertices.into_iter().filter(|vertex| self.members.insert(*vertex)));
    }

    fn bytes(&self) -> usize {
        4 * self.vertices.capacity() + self.members.bytes()
    }

    /// Gives the ranks of its vertices to their neighbours, which are noted.
    async fn give(
        &self,
        walk: &mut Walk<'_>,
        alpha: f64,
        (ranks, others): (&Ranks, usize),
        next: &mut Ranks,
        met: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let mut noted = VertexSet::default();
        for vertex in &self.vertices {
            let rank = ranks.get(*vertex);
            let hops = walk.edges_of(*vertex, &self.step).await?;
            if hops.is_empty() {
                next.set(*vertex, rank);
                continue;
            }
            let part = rank * alpha / precise(hops.len());
            for hop in &hops {
                next.add(hop.target, part);
            }
            met.extend(hops.iter().map(|hop| hop.target).filter(|target| noted.insert(*target)));
            walk.check_memory(others + next.bytes() + 8 * met.capacity() + noted.bytes())?;
        }
        Ok(())
    }
}

/// A rank for each of some vertices.
struct Ranks {
    vertices: Vec<u32>,
    ranks: PerVertex<f64>,
    members: VertexSet,
}

impl Default for Ranks {
    fn default() -> Self {
        Self { vertices: Vec::new(), ranks: PerVertex::new(0.0), members: VertexSet::default() }
    }
}

impl Ranks {
    fn of(source: u32) -> Self {
        let mut ranks = Self::default();
        ranks.set(source, 1.0);
        ranks
    }

    fn get(&self, vertex: u32) -> f64 {
        self.ranks.get(vertex)
    }

    fn set(&mut self, vertex: u32, rank: f64) {
        if self.members.insert(vertex) {
            self.vertices.push(vertex);
        }
        self.ranks.set(vertex, rank);
    }

    fn add(&mut self, vertex: u32, part: f64) {
        let rank = self.get(vertex) + part;
        self.set(vertex, rank);
    }

    fn bytes(&self) -> usize {
        4 * self.vertices.capacity() + self.ranks.bytes() + self.members.bytes()
    }

    fn all(&self) -> impl Iterator<Item = (u32, f64)> {
        self.vertices.iter().map(|vertex| (*vertex, self.get(*vertex)))
    }
}
