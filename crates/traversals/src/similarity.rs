//! What two vertices have in common: common neighbours, the share of them (Jaccard), and how likely an edge is (Adamic-Adar, resource
//! allocation).
//!
//! The neighbours of a vertex are those at the other ends of its edges, up to `max_degree` of these, each once; a vertex may be its own.
//! `limit` bounds the common neighbours, in the order of the first vertex's edges.
//!
//! Adamic-Adar adds `1 / ln d` for each common neighbour, resource allocation `1 / d`, where `d` is the number of its edges of the direction
//! and the label, at most 10,000. Where `ln d` is zero, nothing is added: one edge says nothing.

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{Scores, distinct, top};
use crate::limits::{check_capacity, check_degree, check_limit, defaults, limit_of, require};
use crate::marks::VertexSet;
use crate::walk::Walk;
use crate::{Error, Measure, Numbering, Step, WalkOptions};

/// Two or more vertices, and which of their neighbours.
#[derive(Clone, Debug)]
pub struct SameNeighbors {
    /// The vertices.
    pub vertices: Vec<VertexId>,
    /// Which edges are taken.
    pub step: Step,
    /// The most common neighbours that are given.
    pub limit: i64,
}

/// A vertex, and which of its neighbours.
#[derive(Clone, Debug)]
pub struct JaccardSimilars {
    /// The vertex.
    pub vertex: VertexId,
    /// Which edges are taken.
    pub step: Step,
    /// The most vertices that are given, the most similar first; 0: all, unsorted.
    pub top: i64,
    /// The most vertices that are visited.
    pub capacity: i64,
}

/// Vertices that all of some have as neighbours.
#[derive(Debug)]
pub struct CommonNeighbors {
    /// The ids of the vertices.
    pub known: Numbering,
    /// The vertices that were asked about.
    pub asked: Vec<u32>,
    /// Those that they have in common.
    pub vertices: Vec<u32>,
    /// What was read.
    pub measure: Measure,
}

/// A number, and what was read to find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The number.
    pub score: f64,
    /// What was read.
    pub measure: Measure,
}

impl CommonNeighbors {
    /// What is in common, and the vertices that were asked about, each once.
    pub fn all(&self) -> Vec<u32> {
        distinct(self.vertices.iter().chain(&self.asked).copied())
    }
}

impl SameNeighbors {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require(self.vertices.len() >= 2, || "vertex_list size can't be less than 2".into())?;
        check_degree(self.step.max_degree)?;
        check_limit(self.limit)
    }
}

impl JaccardSimilars {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require(self.top >= 0, || format!("The top must be >= 0, but got: {}", self.top))?;
        self.step.check()?;
        check_capacity(self.capacity)
    }
}

/// The neighbours that vertices have in common. Cost: the edges of the vertices.
///
/// # Errors
///
/// If a parameter is refused, a vertex is not there, or the walk ends early.
pub async fn same_neighbors(
    reader: &Reader,
    options: &WalkOptions,
    asked: &SameNeighbors,
) -> Result<CommonNeighbors, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let (vertices, common) = common(&mut walk, asked, &["vertex", "other vertex"]).await?;
        Ok(CommonNeighbors { known: walk.known, asked: vertices, vertices: common, measure: walk.measure })
    };
    options.run(walk).await
}

/// The share of the neighbours of two vertices that they have in common; `limit` says nothing. Cost: the edges of both.
///
/// # Errors
///
/// As [`same_neighbors`].
pub async fn jaccard_similarity(
    reader: &Reader,
    options: &WalkOptions,
    asked: &SameNeighbors,
) -> Result<Score, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let mut sets = Vec::new();
        for (id, role) in asked.vertices.iter().zip(["vertex", "other vertex"]) {
            let vertex = walk.begin_at(id, role).await?;
            sets.push(neighbours(&mut walk, vertex, &asked.step).await?);
        }
        let [one, two] = &sets[..] else { return Err(Error::Parameter("two vertices are compared".into())) };
        let score = share(&set_of(one), one.len(), two);
        Ok(Score { score, measure: walk.measure })
    };
    options.run(walk).await
}

/// The vertices two or three edges away, or one, that share most neighbours with one. Cost: the edges of all vertices up to two edges away.
///
/// # Errors
///
/// If a parameter is refused, the vertex is not there, or the walk ends early.
pub async fn jaccard_similars(
    reader: &Reader,
    options: &WalkOptions,
    asked: &JaccardSimilars,
) -> Result<Scores, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.vertex, "source vertex").await?;
        let scores = similars(&mut walk, source, asked).await?;
        let limit = if asked.top > 0 { limit_of(asked.top) } else { usize::MAX };
        let scores = top(scores, asked.top > 0, limit);
        Ok(Scores { known: walk.known, scores, measure: walk.measure })
    };
    options.run(walk).await
}

/// How likely two vertices are joined, by their common neighbours, of which those with few edges count more. Cost: the edges of both and of
/// these neighbours.
///
/// # Errors
///
/// As [`same_neighbors`].
pub async fn adamic_adar(
    reader: &Reader,
    options: &WalkOptions,
    asked: &SameNeighbors,
) -> Result<Score, Error> {
    predict(reader, options, asked, |degree| 1.0 / degree.ln()).await
}

/// The same, where those with few edges count even more. Cost: as [`adamic_adar`].
///
/// # Errors
///
/// As [`same_neighbors`].
pub async fn resource_allocation(
    reader: &Reader,
    options: &WalkOptions,
    asked: &SameNeighbors,
) -> Result<Score, Error> {
    predict(reader, options, asked, |degree| 1.0 / degree).await
}

async fn predict(
    reader: &Reader,
    options: &WalkOptions,
    asked: &SameNeighbors,
    share_of: fn(f64) -> f64,
) -> Result<Score, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let (_, common) = common(&mut walk, asked, &["source", "target"]).await?;
        let counting = asked.step.clone().with_degree(defaults::MAX_DEGREE);
        let mut score = 0.0;
        for vertex in common {
            let degree = walk.edges_of(vertex, &counting).await?.len();
            let share = share_of(precise(degree));
            score += if share.is_finite() { share } else { 0.0 };
        }
        Ok(Score { score, measure: walk.measure })
    };
    options.run(walk).await
}

/// The numbers of the vertices that are asked about, and what they have in common.
async fn common(
    walk: &mut Walk<'_>,
    asked: &SameNeighbors,
    roles: &[&'static str; 2],
) -> Result<(Vec<u32>, Vec<u32>), Error> {
    let mut vertices = Vec::new();
    for (at, id) in asked.vertices.iter().enumerate() {
        let role = if at == 1 { roles[1] } else { roles[0] };
        vertices.push(walk.begin_at(id, role).await?);
    }
    let mut common: Option<Vec<u32>> = None;
    for vertex in &vertices {
        walk.check_memory(4 * common.as_ref().map_or(0, Vec::capacity))?;
        let neighbours = neighbours(walk, *vertex, &asked.step).await?;
        common = Some(match common {
            None => neighbours,
            Some(mut common) => {
                let set = set_of(&neighbours);
                common.retain(|vertex| set.contains(*vertex));
                common
            }
        });
    }
    let mut common = common.expect("there are two vertices or more");
    common.truncate(limit_of(asked.limit));
    Ok((vertices, common))
}

async fn similars(
    walk: &mut Walk<'_>,
    source: u32,
    asked: &JaccardSimilars,
) -> Result<Vec<(u32, f64)>, Error> {
    let near = neighbours(walk, source, &asked.step).await?;
    let near_set = set_of(&near);
    let mut visited = 1 + near.len();
    let reached = |visited: usize| match visited > limit_of(asked.capacity) {
        true => Err(Error::Parameter(format!("Reach capacity '{}'", asked.capacity))),
        false => Ok(()),
    };
    reached(visited)?;
    let (mut scores, mut scored, mut far) = (Vec::new(), VertexSet::default(), Vec::new());
    scored.insert(source);
    let mut far_set = VertexSet::default();
    for vertex in near.iter().filter(|vertex| scored.insert(**vertex)) {
        let others = neighbours(walk, *vertex, &asked.step).await?;
        scores.push((*vertex, share(&near_set, near.len(), &others)));
        far.extend(others.into_iter().filter(|other| far_set.insert(*other)));
        walk.check_memory(12 * near.len() + 4 * far.capacity() + 16 * scores.capacity())?;
        reached(visited + far.len())?;
    }
    visited += far.len();
    for vertex in far.iter().filter(|vertex| scored.insert(**vertex)) {
        let others = neighbours(walk, *vertex, &asked.step).await?;
        reached(visited + others.len())?;
        scores.push((*vertex, share(&near_set, near.len(), &others)));
        walk.check_memory(12 * near.len() + 4 * far.capacity() + 16 * scores.capacity())?;
    }
    Ok(scores)
}

async fn neighbours(walk: &mut Walk<'_>, vertex: u32, step: &Step) -> Result<Vec<u32>, Error> {
    let hops = walk.edges_of(vertex, step).await?;
    Ok(distinct(hops.into_iter().map(|hop| hop.target)))
}

fn set_of(vertices: &[u32]) -> VertexSet {
    let mut set = VertexSet::default();
    for vertex in vertices {
        set.insert(*vertex);
    }
    set
}

/// The share that a set of so many has in common with others.
fn share(set: &VertexSet, count: usize, others: &[u32]) -> f64 {
    let common = others.iter().filter(|vertex| set.contains(**vertex)).count();
    let all = count + others.len() - common;
    if all == 0 { 0.0 } else { precise(common) / precise(all) }
}

/// A count as a float.
#[expect(clippy::cast_precision_loss, reason = "counts of edges are far below 2^52")]
pub(crate) fn precise(count: usize) -> f64 {
    count as f64
}
