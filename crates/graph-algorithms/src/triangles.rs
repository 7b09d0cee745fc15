//! Triangles of a graph, and how much the neighbours of a vertex know each other.

use crate::run::Pace;
use crate::{Adjacency, Error, Run, Simple};

/// Vertices of a block of work: small, because hubs are not spread evenly.
const BLOCK: u32 = 1_024;

/// How many triangles a graph has. Cost: at most edges^1.5 looks, on all threads; four bytes an edge, and four a vertex and thread.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn count_triangles(graph: &Simple, run: &Run<'_>) -> Result<u64, Error> {
    let oriented = graph.oriented();
    let counts = run.share(
        blocks(&oriented),
        || (marks(&oriented), 0_u64),
        |(marks, count), block, pace| each_triangle(&oriented, block, marks, pace, |_| *count += 1),
    )?;
    Ok(counts.into_iter().map(|(_, count)| count).sum())
}

/// In how many triangles each vertex is. Cost: that of [`count_triangles`], and eight bytes a vertex and thread.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn triangles_by_vertex(graph: &Simple, run: &Run<'_>) -> Result<Vec<u64>, Error> {
    let oriented = graph.oriented();
    let counts = run.share(
        blocks(&oriented),
        || (marks(&oriented), vec![0_u64; oriented.vertices() as usize]),
        |(marks, counts), block, pace| {
            each_triangle(&oriented, block, marks, pace, |corners| {
                corners.into_iter().for_each(|corner| counts[corner as usize] += 1);
            })
        },
    )?;
    let mut sum = vec![0; oriented.vertices() as usize];
    for (_, counts) in counts {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    Ok(sum)
}

/// How many triples of vertices there are with edges from the first to the second, from the second to the third, and from the first to the
/// third. Parallel edges and loops do not count. Cost: a look at each path of two edges.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn transitive_triangles(out: &Adjacency, run: &Run<'_>) -> Result<u64, Error> {
    let counts = run.share(
        blocks(out),
        || (marks(out), marks(out), 0_u64),
        |(second, third, count), block, pace| {
            for first in block {
                for &neighbor in out.neighbors(first) {
                    third[neighbor as usize] = first;
                }
                third[first as usize] = u32::MAX;
                for &middle in out.neighbors(first).iter().filter(|&&middle| middle != first) {
                    if std::mem::replace(&mut second[middle as usize], first) == first {
                        continue;
                    }
                    pace.step(out.neighbors(middle).len() + 1)?;
                    *count += ends(out, middle, first, third);
                }
            }
            Ok(())
        },
    )?;
    Ok(counts.into_iter().map(|(.., count)| count).sum())
}

/// How many different neighbours of `middle` are marked with `first`. Takes off no marks, so it counts doubles by sorting them out.
fn ends(out: &Adjacency, middle: u32, first: u32, marks: &[u32]) -> u64 {
    let marked = out.neighbors(middle).iter().filter(|&&end| end != middle && marks[end as usize] == first);
    let mut found: Vec<u32> = marked.copied().collect();
    found.sort_unstable();
    found.dedup();
    found.len() as u64
}

fn blocks(graph: &Adjacency) -> impl Iterator<Item = std::ops::Range<u32>> + Send + use<> {
    let vertices = graph.vertices();
    (0..vertices.div_ceil(BLOCK))
        .map(move |block| block * BLOCK..vertices.min((block + 1).saturating_mul(BLOCK)))
}

fn marks(graph: &Adjacency) -> Vec<u32> {
    vec![u32::MAX; graph.vertices() as usize]
}

fn each_triangle(
    oriented: &Adjacency,
    block: std::ops::Range<u32>,
    marks: &mut [u32],
    pace: &mut Pace<'_>,
    mut found: impl FnMut([u32; 3]),
) -> Result<(), Error> {
    for first in block {
        for &second in oriented.neighbors(first) {
            marks[second as usize] = first;
        }
        for &second in oriented.neighbors(first) {
            let thirds = oriented.neighbors(second);
            pace.step(thirds.len() + 1)?;
            for &third in thirds {
                if marks[third as usize] == first {
                    found([first, second, third]);
                }
            }
        }
    }
    Ok(())
}

/// How much the neighbours of vertices know each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// The share of the pairs of neighbours of each vertex that are neighbours themselves; 0 where there is no pair.
    pub local: Vec<f64>,
    /// The mean of `local`.
    pub average: f64,
    /// The share of all paths of two edges whose ends are neighbours (transitivity).
    pub transitivity: f64,
    /// Paths of two edges, each counted once.
    pub paths: u64,
    /// Triangles of the graph.
    pub triangles: u64,
}

impl Clustering {
    /// Of a graph whose triangles [`triangles_by_vertex`] has counted.
    #[must_use]
    pub fn of(graph: &Simple, triangles_by_vertex: &[u64]) -> Clustering {
        let pairs = |degree: u32| u64::from(degree) * u64::from(degree.saturating_sub(1)) / 2;
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let paths_of = |vertex: usize| pairs(graph.lists().degree(vertex as u32));
        let local: Vec<f64> = triangles_by_vertex
            .iter()
            .enumerate()
            .map(|(vertex, &count)| share(count, paths_of(vertex)))
            .collect();
        let average = if local.is_empty() { 0.0 } else { local.iter().sum::<f64>() / local.len() as f64 };
        let paths = (0..local.len()).map(paths_of).sum();
        let corners = triangles_by_vertex.iter().sum();
        Clustering { local, average, transitivity: share(corners, paths), paths, triangles: corners / 3 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{close, edges, karate, on_two_threads, out_lists, run, simple};

    #[test]
    fn figures_of_the_karate_club_are_known() {
        let karate = karate().into_simple();
        assert_eq!(count_triangles(&karate, &run()).unwrap(), 45);
        let by_vertex = triangles_by_vertex(&karate, &run()).unwrap();
        assert_eq!((by_vertex[0], by_vertex[33], by_vertex[9]), (18, 15, 0));
        let clustering = Clustering::of(&karate, &by_vertex);
        close(clustering.average, 0.570_638_478_207_671_8);
        close(clustering.transitivity, 0.255_681_818_181_818_2);
        close(clustering.local[0], 0.15);
        assert_eq!(clustering.triangles, 45);
    }

    #[test]
    fn doubles_and_loops_make_no_triangles() {
        let graph = simple(3, &[(0, 1), (1, 0), (0, 1), (1, 2), (2, 2)]);
        assert_eq!((graph.edges(), count_triangles(&graph, &run()).unwrap()), (2, 0));
    }

    fn by_triples(vertices: u32, joined: impl Fn(u32, u32) -> bool) -> u64 {
        let mut count = 0;
        for first in 0..vertices {
            for second in (0..vertices).filter(|&it| it != first && joined(first, it)) {
                let third =
                    |&it: &u32| it != first && it != second && joined(second, it) && joined(first, it);
                count += (0..vertices).filter(third).count() as u64;
            }
        }
        count
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((128 * ProptestConfig::default().cases).div_ceil(256)))]

        #[test]
        fn triangles_are_those_of_all_triples((vertices, edges) in edges(16, 90)) {
            let graph = simple(vertices, &edges);
            let joined = |one: u32, other: u32| edges.contains(&(one, other)) || edges.contains(&(other, one));
            let expected = by_triples(vertices, joined) / 6;
            prop_assert_eq!(count_triangles(&graph, &run()).unwrap(), expected);
            prop_assert_eq!(count_triangles(&graph, &on_two_threads()).unwrap(), expected);
            let by_vertex = triangles_by_vertex(&graph, &on_two_threads()).unwrap();
            prop_assert_eq!(by_vertex.iter().sum::<u64>(), 3 * expected);

            let out = out_lists(vertices, &edges);
            let expected = by_triples(vertices, |one, other| edges.contains(&(one, other)));
            prop_assert_eq!(transitive_triangles(&out, &on_two_threads()).unwrap(), expected);
        }
    }
}
