//! Ranks of vertices by iteration over all edges: PageRank and eigenvector centrality.
//!
//! A vertex sums what its sources give it, so each thread writes vertices of its own. Sums over all vertices are sums of blocks of fixed
//! size, in their order: they do not depend on threads.

use crate::{Adjacency, Error, Run};

/// Vertices of a block of work.
const BLOCK: usize = 8_192;

/// When PageRank ends, and how it spreads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRankOptions {
    /// The share of a rank that goes along the edges, 0 to 1; the rest goes to all vertices alike.
    pub damping: f64,
    /// The most iterations.
    pub iterations: u32,
    /// An iteration that changes the ranks by less, over all, is the last one.
    pub tolerance: f64,
}

/// Ranks of all vertices, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRank {
    /// The rank of each vertex; the sum is 1.
    pub ranks: Vec<f64>,
    /// How many iterations were made.
    pub iterations: u32,
    /// How much the last iteration changed the ranks, over all.
    pub change: f64,
}

/// PageRank, of the edges without their weights. Vertices without out-edges give their rank to all alike. `incoming` is `out` reversed.
///
/// Cost: one look at each edge, each iteration, on all threads; 24 bytes a vertex.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn page_rank(
    out: &Adjacency,
    incoming: &Adjacency,
    options: PageRankOptions,
    run: &Run<'_>,
) -> Result<PageRank, Error> {
    let vertices = out.vertices() as usize;
    let mut rank = PageRank { ranks: vec![1.0 / vertices as f64; vertices], iterations: 0, change: 0.0 };
    let mut next = vec![0.0; vertices];
    let mut shares = vec![0.0; vertices];
    while rank.iterations < options.iterations && vertices > 0 {
        let lost = sum_over(&mut shares, run, |vertex, share| match out.degree(vertex) {
            0 => rank.ranks[vertex as usize],
            degree => {
                *share = rank.ranks[vertex as usize] / f64::from(degree);
                0.0
            }
        })?;
        let base = (1.0 - options.damping + options.damping * lost) / vertices as f64;
        rank.change = sum_over_edges(&mut next, incoming, run, |vertex, sources, value| {
            let given: f64 = sources.iter().map(|&source| shares[source as usize]).sum();
            *value = base + options.damping * given;
            (*value - rank.ranks[vertex as usize]).abs()
        })?;
        std::mem::swap(&mut rank.ranks, &mut next);
        rank.iterations += 1;
        if rank.change < options.tolerance {
            break;
        }
    }
    Ok(rank)
}

/// Eigenvector centrality: a vertex counts as much as those from which edges lead to it (power iteration over the graph and each vertex
/// itself, which keeps the vectors from swinging). Of length 1. Ends after `iterations`, or when one changes all values together by less than
/// `tolerance`.
///
/// Cost: one look at each edge, each iteration, on all threads; 16 bytes a vertex.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn eigenvector(
    incoming: &Adjacency,
    iterations: u32,
    tolerance: f64,
    run: &Run<'_>,
) -> Result<Vec<f64>, Error> {
    let vertices = incoming.vertices() as usize;
    let mut values = vec![1.0 / (vertices as f64).sqrt(); vertices];
    let mut next = vec![0.0; vertices];
    for _ in 0..iterations {
        let squares = sum_over_edges(&mut next, incoming, run, |vertex, sources, value| {
            let given: f64 = sources.iter().map(|&source| values[source as usize]).sum();
            *value = values[vertex as usize] + given;
            *value * *value
        })?;
        let length = squares.sqrt();
        let change = sum_over(&mut next, run, |vertex, value| {
            *value /= length;
            (*value - values[vertex as usize]).abs()
        })?;
        std::mem::swap(&mut values, &mut next);
        if change < tolerance {
            break;
        }
    }
    Ok(values)
}

fn sum_over_edges(
    values: &mut [f64],
    incoming: &Adjacency,
    run: &Run<'_>,
    set: impl Fn(u32, &[u32], &mut f64) -> f64 + Sync,
) -> Result<f64, Error> {
    sum_over(values, run, |vertex, value| set(vertex, incoming.neighbors(vertex), value))
}

/// Calls `set` with each vertex and its value, and sums what it returns.
fn sum_over(
    values: &mut [f64],
    run: &Run<'_>,
    set: impl Fn(u32, &mut f64) -> f64 + Sync,
) -> Result<f64, Error> {
    let mut sums = vec![0.0; values.len().div_ceil(BLOCK)];
    let blocks = values.chunks_mut(BLOCK).zip(&mut sums).enumerate();
    run.share(
        blocks,
        || (),
        |(), (block, (values, sum)), pace| {
            for (vertex, value) in (block * BLOCK..).zip(values.iter_mut()) {
                *sum += set(vertex as u32, value);
            }
            pace.step(values.len())
        },
    )?;
    Ok(sums.iter().sum())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{close, edges, karate, on_two_threads, out_lists, run};

    const FINE: PageRankOptions = PageRankOptions { damping: 0.85, iterations: 200, tolerance: 1e-12 };

    #[test]
    fn ranks_of_the_karate_club_are_known() {
        let karate = karate();
        let rank = page_rank(karate.lists(), karate.lists(), FINE, &run()).unwrap();
        assert!((rank.ranks[33] - 0.100_918).abs() < 2e-6, "{}", rank.ranks[33]);
        assert!((rank.ranks[0] - 0.097_000).abs() < 4e-6, "{}", rank.ranks[0]);
        let values = eigenvector(karate.lists(), 500, 1e-12, &run()).unwrap();
        for (vertex, value) in (0..).zip(&values) {
            let given: f64 = karate.lists().neighbors(vertex).iter().map(|&it| values[it as usize]).sum();
            assert!(
                (given / value - 6.725_698).abs() < 1e-6,
                "the largest eigenvalue, not {}",
                given / value
            );
        }
        close(values.iter().map(|value| value * value).sum(), 1.0);
    }

    #[test]
    fn few_iterations_and_empty_graphs_are_no_error() {
        let none = out_lists(0, &[]);
        assert_eq!(page_rank(&none, &none, FINE, &run()).unwrap().ranks, [] as [f64; 0]);
        assert_eq!(eigenvector(&none, 3, 0.1, &run()).unwrap(), [] as [f64; 0]);
        let one = PageRankOptions { iterations: 1, ..FINE };
        let pair = out_lists(2, &[(0, 1)]);
        let rank = page_rank(&pair, &pair.reversed(), one, &run()).unwrap();
        assert_eq!(rank.iterations, 1);
        close(rank.ranks[1], 0.5 * 0.15 + 0.5 * 0.85 * 1.5);
    }

    #[test]
    fn threads_change_no_bit() {
        let edges: Vec<(u32, u32)> = (0..60_000).map(|it| (it % 20_011, it * 7 % 19_997)).collect();
        let out = out_lists(20_011, &edges);
        let incoming = out.reversed();
        let one = page_rank(&out, &incoming, FINE, &run()).unwrap();
        assert_eq!(one, page_rank(&out, &incoming, FINE, &on_two_threads()).unwrap());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

        #[test]
        fn ranks_stay_as_they_are_in_another_step((vertices, edges) in edges(20, 60)) {
            let out = out_lists(vertices, &edges);
            let ours = page_rank(&out, &out.reversed(), FINE, &on_two_threads()).unwrap();
            let mut pushed = vec![0.0; vertices as usize];
            for vertex in 0..vertices {
                let everywhere: Vec<u32> = (0..vertices).collect();
                let targets = match out.neighbors(vertex) {
                    [] => everywhere.as_slice(),
                    targets => targets,
                };
                for &target in targets {
                    pushed[target as usize] += 0.85 * ours.ranks[vertex as usize] / targets.len() as f64;
                }
            }
            prop_assert!((ours.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (rank, pushed) in ours.ranks.iter().zip(&pushed) {
                prop_assert!((rank - pushed - 0.15 / f64::from(vertices)).abs() < 1e-9);
            }
        }
    }
}
