//! Centralities by shortest paths, in which every edge has length 1: betweenness, stress, closeness; exact ones, and estimates from a sample
//! of vertices.

use crate::paths::Walk;
use crate::random::Random;
use crate::run::Pace;
use crate::{Adjacency, Error, Run};

/// Sources are dealt into so many sums, which are added at the end, so that no sum depends on threads. More threads find no work.
const STRIPES: usize = 4;

/// Betweenness (Brandes): for each vertex, over all pairs of a source and another vertex, the share of the shortest paths between them that
/// pass through it. Paths of more than `depth` steps do not count. In an undirected graph, each pair counts twice if both are sources.
///
/// Cost: two looks at each edge, for each source, on up to four threads; 20 bytes a vertex and thread, and 32 a vertex. Numbers of paths are
/// floating-point numbers: they lose their last digits beyond 2^53.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn betweenness(graph: &Adjacency, sources: &[u32], depth: u32, run: &Run<'_>) -> Result<Vec<f64>, Error> {
    let fold = |state: &mut Paths, sums: &mut [f64]| {
        state.fold(graph, sums, |from, to, below| from / to * (1.0 + below), |_, below| below);
    };
    over_sources(graph, sources, depth, run, fold)
}

/// Stress: for each vertex, the number of the shortest paths of at most `depth` steps from a source to another vertex that pass through it.
///
/// Cost: that of [`betweenness`].
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn stress(graph: &Adjacency, sources: &[u32], depth: u32, run: &Run<'_>) -> Result<Vec<f64>, Error> {
    let fold = |state: &mut Paths, sums: &mut [f64]| {
        state.fold(graph, sums, |_, _, below| 1.0 + below, |paths, below| paths * below);
    };
    over_sources(graph, sources, depth, run, fold)
}

/// An estimate of the betweenness of all pairs, from `count` sources that `seed` chooses.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn betweenness_sampled(
    graph: &Adjacency,
    count: u32,
    seed: u64,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<f64>, Error> {
    let sources = sample_vertices(graph.vertices(), count, seed);
    let mut sums = betweenness(graph, &sources, depth, run)?;
    scale(&mut sums, graph.vertices(), sources.len());
    Ok(sums)
}

/// How distances make a closeness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closeness {
    /// The sum of 1 / distance over the vertices that are reached.
    Harmonic,
    /// How many vertices are reached, by the mean distance to them, by the count of all others (Wasserman and Faust); 0 if none is reached.
    Classic,
}

/// The closeness of each of `sources` to the vertices that it reaches within `depth` steps, in their order.
///
/// Cost: one look at each edge, for each source, on all threads; eight bytes a vertex and thread.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn closeness(
    graph: &Adjacency,
    sources: &[u32],
    depth: u32,
    kind: Closeness,
    run: &Run<'_>,
) -> Result<Vec<f64>, Error> {
    let mut values = vec![0.0; sources.len()];
    let items = sources.iter().zip(&mut values);
    run.share(
        items,
        || Walk::new(graph.vertices()),
        |walk, (&source, value), pace| {
            walk.from(graph, source, depth, pace, |_, _| {})?;
            let distances =
                walk.order.iter().skip(1).map(|&vertex| f64::from(walk.distances[vertex as usize]));
            *value = match kind {
                // The sum of nothing is -0.
                Closeness::Harmonic => distances.map(f64::recip).fold(0.0, |sum, share| sum + share),
                Closeness::Classic => {
                    let (reached, others) =
                        (walk.order.len() as f64 - 1.0, f64::from(graph.vertices()) - 1.0);
                    let sum: f64 = distances.sum();
                    if reached == 0.0 { 0.0 } else { reached / sum * reached / others }
                }
            };
            Ok(())
        },
    )?;
    Ok(values)
}

/// An estimate of the harmonic closeness of every vertex, from its distances to `count` vertices that `seed` chooses. `reversed` is the graph
/// reversed (an undirected one is its own).
///
/// Cost: one look at each edge, for each of the sample, on up to four threads.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn closeness_sampled(
    reversed: &Adjacency,
    count: u32,
    seed: u64,
    depth: u32,
    run: &Run<'_>,
) -> Result<Vec<f64>, Error> {
    let vertices = reversed.vertices();
    let sample = sample_vertices(vertices, count, seed);
    let mut sums = in_stripes(
        vertices,
        &sample,
        run,
        || Walk::new(vertices),
        |walk, source, sums, pace| {
            walk.from(reversed, source, depth, pace, |_, _| {})?;
            for &vertex in walk.order.iter().skip(1) {
                sums[vertex as usize] += f64::from(walk.distances[vertex as usize]).recip();
            }
            Ok(())
        },
    )?;
    scale(&mut sums, vertices, sample.len());
    Ok(sums)
}

/// `count` different vertices, or all, as `seed` chooses; ascending. Each set is as likely as every other.
#[must_use]
pub fn sample_vertices(vertices: u32, count: u32, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut wanted = count.min(vertices);
    let mut sample = Vec::with_capacity(wanted as usize);
    for vertex in 0..vertices {
        if random.below(vertices - vertex) < wanted {
            sample.push(vertex);
            wanted -= 1;
        }
    }
    sample
}

fn scale(sums: &mut [f64], vertices: u32, sample: usize) {
    if sample > 0 {
        let factor = f64::from(vertices) / sample as f64;
        sums.iter_mut().for_each(|sum| *sum *= factor);
    }
}

/// Shortest paths from one source, counted.
struct Paths {
    walk: Walk,
    /// How many shortest paths lead from the source to each vertex reached.
    counts: Vec<f64>,
    /// What is gathered from the vertices behind each one.
    below: Vec<f64>,
}

impl Paths {
    fn new(vertices: u32) -> Paths {
        let count = vertices as usize;
        Paths { walk: Walk::new(vertices), counts: vec![0.0; count], below: vec![0.0; count] }
    }

    fn count(
        &mut self,
        graph: &Adjacency,
        source: u32,
        depth: u32,
        pace: &mut Pace<'_>,
    ) -> Result<(), Error> {
        for &vertex in &self.walk.order {
            self.counts[vertex as usize] = 0.0;
        }
        let counts = &mut self.counts;
        counts[source as usize] = 1.0;
        self.walk.from(graph, source, depth, pace, |from, to| counts[to as usize] += counts[from as usize])
    }

    /// Gathers, from the farthest vertices to the source, what `edge` says of each edge of a shortest path by the counts of its ends and what
    /// its far end has gathered; adds to the sum of each vertex what `vertex` makes of its count and what it has gathered.
    fn fold(
        &mut self,
        graph: &Adjacency,
        sums: &mut [f64],
        edge: impl Fn(f64, f64, f64) -> f64,
        vertex: impl Fn(f64, f64) -> f64,
    ) {
        let Paths { walk, counts, below } = self;
        for &from in walk.order.iter().rev() {
            let distance = walk.distances[from as usize];
            let behind =
                graph.neighbors(from).iter().filter(|&&to| walk.distances[to as usize] == distance + 1);
            let count = counts[from as usize];
            let gathered: f64 = behind.map(|&to| edge(count, counts[to as usize], below[to as usize])).sum();
            below[from as usize] = gathered;
            if distance > 0 {
                sums[from as usize] += vertex(count, gathered);
            }
        }
    }
}

fn over_sources(
    graph: &Adjacency,
    sources: &[u32],
    depth: u32,
    run: &Run<'_>,
    fold: impl Fn(&mut Paths, &mut [f64]) + Sync,
) -> Result<Vec<f64>, Error> {
    let vertices = graph.vertices();
    in_stripes(
        vertices,
        sources,
        run,
        || Paths::new(vertices),
        |paths, source, sums, pace| {
            paths.count(graph, source, depth, pace)?;
            fold(paths, sums);
            pace.step(paths.walk.order.len())
        },
    )
}

/// Sums of each vertex over all sources: those of a stripe in their order, then the stripes in theirs.
fn in_stripes<S: Send>(
    vertices: u32,
    sources: &[u32],
    run: &Run<'_>,
    state: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, u32, &mut [f64], &mut Pace<'_>) -> Result<(), Error> + Sync,
) -> Result<Vec<f64>, Error> {
    let mut stripes = vec![vec![0.0; vertices as usize]; STRIPES];
    run.share(stripes.iter_mut().enumerate(), state, |state, (stripe, sums), pace| {
        for &source in sources.iter().skip(stripe).step_by(STRIPES) {
            add(state, source, sums, pace)?;
        }
        Ok(())
    })?;
    let mut total = vec![0.0; vertices as usize];
    for sums in stripes {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    Ok(total)
}

#[cfg(test)]
mod tests;
