//! Fusiform similarity: vertices that are joined with one over many vertices in between.
//!
//! From a vertex with at least `min_neighbors` neighbours, edges are taken to these, and from there the other way: whoever is reached over at
//! least the share `alpha` of the neighbours is similar, and the share is its score. A vertex with fewer than `min_similars` similar ones has
//! none. If a property of groups is named, the vertex and those similar to it must have at least `min_groups` different values of it.
//!
//! It ends with `limit` vertices that have similar ones. `capacity` bounds the vertices that are looked at: each from which it begins, each
//! neighbour, and each vertex reached from there, for each beginning anew.

use std::collections::HashSet;

use graph::{PropertyKeyId, VertexId};
use model_graph::Reader;

use crate::answer::{Measure, distinct, top};
use crate::limits::{NO_LIMIT, check_alpha, check_capacity, check_limit, limit_of, require, within_capacity};
use crate::marks::{PerVertex, RoundMarks};
use crate::similarity::precise;
use crate::walk::Walk;
use crate::{Error, Numbering, Step, WalkOptions};

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct FusiformSimilarity {
    /// The vertices whose similar ones are looked for; they are there.
    pub sources: Vec<VertexId>,
    /// Which edges are taken; none is skipped for its degree.
    pub step: Step,
    /// The fewest neighbours.
    pub min_neighbors: i64,
    /// The least share of the neighbours.
    pub alpha: f64,
    /// The fewest similar vertices.
    pub min_similars: i64,
    /// The most similar vertices, the most similar first; 0: all, unsorted.
    pub top: i64,
    /// The property by which vertices are in groups.
    pub group_property: Option<PropertyKeyId>,
    /// The fewest groups.
    pub min_groups: i64,
    /// The most vertices that are looked at.
    pub capacity: i64,
    /// The most vertices whose similar ones are given.
    pub limit: i64,
    /// The vertices in between.
    pub with_intermediary: bool,
}

/// A vertex that is similar to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Similar {
    /// The vertex.
    pub vertex: u32,
    /// The share of the neighbours over which it was reached.
    pub score: f64,
    /// These neighbours, if they were asked for.
    pub intermediaries: Vec<u32>,
}

/// Vertices, and those that are similar to each.
#[derive(Debug)]
pub struct Similars {
    /// The ids of the vertices.
    pub known: Numbering,
    /// The vertices that have similar ones.
    pub similars: Vec<(u32, Vec<Similar>)>,
    /// What was read.
    pub measure: Measure,
}

impl Similars {
    /// All vertices of the answer, each once.
    pub fn vertices(&self) -> Vec<u32> {
        let of = |similar: &Similar| {
            std::iter::once(similar.vertex).chain(similar.intermediaries.clone()).collect::<Vec<_>>()
        };
        let all = self
            .similars
            .iter()
            .flat_map(|(vertex, similars)| std::iter::once(*vertex).chain(similars.iter().flat_map(of)));
        distinct(all)
    }
}

impl FusiformSimilarity {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        require(!self.sources.is_empty(), || "The source vertices can't be empty".into())?;
        require(self.min_neighbors > 0, || {
            format!("The min neighbor count must be > 0, but got: {}", self.min_neighbors)
        })?;
        let degree = self.step.max_degree;
        require(degree > 0 || degree == NO_LIMIT, || {
            format!("The max degree of request must be > 0 or == -1, but got: {degree}")
        })?;
        check_alpha(self.alpha, "request")?;
        require(self.min_similars >= 1, || {
            format!("The min similar count of request must be >= 1, but got: {}", self.min_similars)
        })?;
        require(self.top >= 0, || format!("The top must be >= 0, but got: {}", self.top))?;
        check_capacity(self.capacity)?;
        check_limit(self.limit)?;
        match self.group_property {
            None => require(self.min_groups == 0, || {
                "Can't set min group count when group property not set".into()
            }),
            Some(_) => {
                require(self.min_groups > 0, || "Must set min group count when group property set".into())
            }
        }
    }
}

/// The vertices that are similar to some. Cost: the edges of each of them, and of all its neighbours.
///
/// # Errors
///
/// If a parameter is refused, or the walk ends early.
pub async fn fusiform_similarity(
    reader: &Reader,
    options: &WalkOptions,
    asked: &FusiformSimilarity,
) -> Result<Similars, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let sources =
            distinct(asked.sources.iter().map(|id| walk.known.number(&id.to_key())).collect::<Vec<_>>());
        let (mut similars, mut looked_at, mut bytes) = (Vec::new(), 0, 0);
        for source in sources {
            look(asked, &mut looked_at, 1)?;
            let of_source = similars_of(&mut walk, source, asked, (&mut looked_at, bytes)).await?;
            if !of_source.is_empty() {
                bytes += of_source.iter().map(similar_bytes).sum::<usize>();
                walk.check_memory(bytes)?;
                similars.push((source, of_source));
            }
            if similars.len() >= limit_of(asked.limit) {
                break;
            }
        }
        Ok(Similars { known: walk.known, similars, measure: walk.measure })
    };
    options.run(walk).await
}

/// Bytes that a similar vertex takes in the answer.
fn similar_bytes(similar: &Similar) -> usize {
    size_of::<Similar>() + 4 * similar.intermediaries.capacity()
}

fn look(asked: &FusiformSimilarity, looked_at: &mut usize, count: usize) -> Result<(), Error> {
    *looked_at += count;
    within_capacity(asked.capacity, *looked_at, "fusiform similarity")
}

async fn similars_of(
    walk: &mut Walk<'_>,
    source: u32,
    asked: &FusiformSimilarity,
    (looked_at, others): (&mut usize, usize),
) -> Result<Vec<Similar>, Error> {
    let hops = walk.edges_of(source, &asked.step).await?;
    let neighbours = distinct(hops.iter().map(|hop| hop.target));
    if neighbours.len() < limit_of(asked.min_neighbors) {
        return Ok(Vec::new());
    }
    look(asked, looked_at, neighbours.len())?;
    // Who was reached, over how many neighbours.
    let (mut reached, mut counts) = (Vec::new(), PerVertex::new(0_usize));
    let (mut marks, mut place) = (RoundMarks::default(), 0);
    let backwards = asked.step.reversed();
    let mut expansion = walk.expand(&neighbours, &backwards);
    let mut pairs = Vec::new();
    while let Some(hops) = expansion.next().await? {
        for hop in hops {
            if hop.place != place {
                place = hop.place;
                marks.begin_round();
            }
            if !marks.insert(hop.target) {
                continue;
            }
            let count = counts.slot(hop.target);
            *count += 1;
            if *count == 1 {
                look(asked, looked_at, 1)?;
            }
            if hop.target == source {
                continue;
            }
            if *count == 1 {
                reached.push(hop.target);
            }
            if asked.with_intermediary {
                pairs.push((hop.target, hop.place));
            }
        }
        let lists = 4 * (neighbours.len() + reached.capacity()) + 8 * pairs.capacity();
        expansion.check_memory(others + lists + counts.bytes() + marks.bytes())?;
    }
    let score = |vertex: u32| precise(counts.get(vertex)) / precise(neighbours.len());
    let mut scores: Vec<_> = reached.into_iter().map(|vertex| (vertex, score(vertex))).collect();
    scores.retain(|(_, score)| *score >= asked.alpha);
    if scores.is_empty() || scores.len() < limit_of(asked.min_similars) {
        return Ok(Vec::new());
    }
    let limit = if asked.top > 0 { limit_of(asked.top) } else { usize::MAX };
    let scores = top(scores, asked.top > 0, limit);
    if !has_groups(walk, source, &scores, asked).await? {
        return Ok(Vec::new());
    }
    pairs.sort_unstable();
    let between = |vertex: u32| {
        let begin = pairs.partition_point(|(of, _)| *of < vertex);
        let of_vertex = pairs.iter().skip(begin).take_while(|(of, _)| *of == vertex);
        of_vertex
            .map(|(_, at)| *neighbours.get(*at as usize).expect("places are of the neighbours"))
            .collect()
    };
    let similar = |(vertex, score)| Similar { vertex, score, intermediaries: between(vertex) };
    Ok(scores.into_iter().map(similar).collect())
}

/// Whether a vertex and those similar to it are in enough groups.
async fn has_groups(
    walk: &mut Walk<'_>,
    source: u32,
    scores: &[(u32, f64)],
    asked: &FusiformSimilarity,
) -> Result<bool, Error> {
    let Some(key) = asked.group_property else { return Ok(true) };
    let vertices: Vec<u32> =
        std::iter::once(source).chain(scores.iter().map(|(vertex, _)| *vertex)).collect();
    // Values have no hash; their spelling is their own.
    let values = walk.properties(&vertices, key).await?;
    let groups: HashSet<String> = values.iter().flatten().map(|value| format!("{value:?}")).collect();
    Ok(groups.len() >= limit_of(asked.min_groups))
}
