//! Algorithms carried out over a graph in memory, and their results as HugeGraph words them.

#[cfg(test)]
mod tests;

use graph_algorithms::{
    Adjacency, Closeness, Clustering, Groups, LabelOptions, LouvainOptions, PageRankOptions, Run, Simple,
    Undirected,
};
use lang_json::{ArrayWriter, ObjectWriter};
use serde_json::json;
use traversals::whole::WholeGraph;

use super::parameters::{Direction, Top};
use super::plan::{Paths, Plan, Work};
use super::render::{ComputeError, put_f64, put_ids, put_numbers};

/// Results are to be the same each time.
const SEED: u64 = 1;
/// Iterations of the power method end when they change all values together by less.
const EIGENVECTOR_CHANGE: f64 = 1e-6;

/// The result of an algorithm, and what it says of each vertex, if that is to be written to the graph.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// JSON text.
    pub(crate) result: String,
    pub(crate) values: Values,
}

/// What an algorithm says of each vertex.
#[derive(Debug, PartialEq)]
pub(crate) enum Values {
    None,
    /// The community, property `c_label`: its number.
    Communities(Groups),
    /// The community, property `c_label`: the id of its first vertex.
    CommunitiesById(Groups),
    /// The rank, property `r_rank`.
    Ranks(Vec<f64>),
}

impl From<String> for Outcome {
    fn from(result: String) -> Self {
        Self { result, values: Values::None }
    }
}

/// Carries out a plan over its graph; paths begin at `sources`. Members and counts of elements need no edges, and are not asked here.
///
/// Cost: that of the algorithm; blocks the thread.
pub(crate) fn compute(
    whole: &WholeGraph,
    sources: &[u32],
    plan: &Plan,
    run: &Run<'_>,
) -> Result<Outcome, ComputeError> {
    let lists = |direction| lists(whole.out(), direction, plan.degree);
    match &plan.work {
        Work::Rings { .. } | Work::Similars { .. } => unreachable!("they walk, and need no graph in memory"),
        Work::ClearPasses => Ok(String::from("0").into()),
        Work::CountVertices | Work::CountEdges | Work::Members => members(whole),
        Work::Degrees { direction, top } => {
            let lists = lists(*direction)?;
            let degrees = (0..lists.vertices()).map(|it| (it, lists.degree(it))).filter(|(_, it)| *it > 0);
            numbers(whole, degrees, *top, |json, it| json.push_str(&it.to_string()))
        }
        Work::Paths { kind, direction, depth, top, .. } => {
            paths(whole, &lists(*direction)?, sources, (*kind, *depth, *top), run)
        }
        Work::Eigenvector { direction, iterations, top } => {
            // A vertex counts what walks along the direction bring to it.
            let given = lists(*direction)?.reversed();
            let values = graph_algorithms::eigenvector(&given, *iterations, EIGENVECTOR_CHANGE, run)?;
            numbers(whole, (0..).zip(values), *top, put_f64)
        }
        Work::Triangles { direction, is_coefficient } => triangles(whole, *direction, *is_coefficient, run),
        Work::Cores { k } => cores(whole, *k, run),
        Work::Components { times } => {
            let groups = graph_algorithms::weak_components(whole.out(), run)?;
            let result = json!({ "components": groups.count(), "iteration_times": 1, "times": times });
            Ok(Outcome { result: result.to_string(), values: Values::Communities(groups) })
        }
        Work::Labels { direction, times, precision } => {
            let options = LabelOptions { iterations: *times, tolerance: *precision, seed: SEED };
            let labels = graph_algorithms::propagate_labels(&lists(*direction)?, options, run)?;
            let result = json!({
                "iteration_times": labels.iterations,
                "last_precision": labels.changed,
                "times": times,
                "communities": labels.groups.count(),
            });
            Ok(Outcome { result: result.to_string(), values: Values::CommunitiesById(labels.groups) })
        }
        Work::Louvain { times, precision, skips_isolated } => {
            louvain(whole, *times, *precision, *skips_isolated, run)
        }
        Work::PageRank { direction, alpha, times, precision, top } => {
            let options = PageRankOptions { damping: 1.0 - alpha, iterations: *times, tolerance: *precision };
            page_rank(whole, &lists(*direction)?, (*alpha, options), *top, run)
        }
    }
}

/// The lists of neighbours in a direction, of each vertex its first ones.
fn lists(out: &Adjacency, direction: Direction, degree: Option<u32>) -> Result<Adjacency, ComputeError> {
    let lists = match direction {
        Direction::Out => out.clone(),
        Direction::In => out.reversed(),
        Direction::Both => Undirected::of(out)?.into_lists(),
    };
    Ok(degree.map(|degree| lists.truncated(degree)).unwrap_or(lists))
}

fn members(whole: &WholeGraph) -> Result<Outcome, ComputeError> {
    let mut result = String::new();
    put_ids(&mut result, whole, 0..whole.out().vertices())?;
    Ok(result.into())
}

fn paths(
    whole: &WholeGraph,
    lists: &Adjacency,
    sources: &[u32],
    (kind, depth, top): (Paths, u32, Top),
    run: &Run<'_>,
) -> Result<Outcome, ComputeError> {
    let all = match kind {
        Paths::Betweenness => graph_algorithms::betweenness(lists, sources, depth, run)?,
        Paths::Stress => graph_algorithms::stress(lists, sources, depth, run)?,
        Paths::Closeness => {
            let near = graph_algorithms::closeness(lists, sources, depth, Closeness::Harmonic, run)?;
            return numbers(whole, sources.iter().copied().zip(near), top, put_f64);
        }
    };
    let values = (0..).zip(all);
    match kind {
        // Numbers of paths are whole.
        Paths::Stress => numbers(whole, values, top, |json, it| json.push_str(&format!("{it:.0}"))),
        Paths::Betweenness | Paths::Closeness => numbers(whole, values, top, put_f64),
    }
}

fn numbers<T: PartialOrd + Copy>(
    whole: &WholeGraph,
    values: impl Iterator<Item = (u32, T)>,
    top: Top,
    put: impl Fn(&mut String, T),
) -> Result<Outcome, ComputeError> {
    let mut result = String::new();
    put_numbers(&mut result, whole, values, top, put)?;
    Ok(result.into())
}

fn simple(whole: &WholeGraph) -> Result<Simple, ComputeError> {
    Ok(Undirected::of(whole.out())?.into_simple())
}

fn triangles(
    whole: &WholeGraph,
    direction: Direction,
    is_coefficient: bool,
    run: &Run<'_>,
) -> Result<Outcome, ComputeError> {
    let out = whole.out();
    let (triangles, paths) = if direction == Direction::Both {
        let simple = simple(whole)?;
        let by_vertex = graph_algorithms::triangles_by_vertex(&simple, run)?;
        let clustering = Clustering::of(&simple, &by_vertex);
        // Of the paths of two edges, those that are no part of a triangle, and one of each triangle.
        (clustering.triangles, clustering.paths - 2 * clustering.triangles)
    } else {
        let triangles = graph_algorithms::transitive_triangles(out, run)?;
        (triangles, pairs(&lists(out, direction, None)?))
    };
    let with_edges = match direction {
        Direction::Both => u64::from(out.vertices()),
        _ => {
            let lists = lists(out, direction, None)?;
            (0..lists.vertices()).filter(|&it| lists.degree(it) > 0).count() as u64
        }
    };
    let suffix = direction.suffix();
    let mut result = serde_json::Map::new();
    result.insert(format!("edges{suffix}"), out.edges().into());
    result.insert(format!("vertices{suffix}"), with_edges.into());
    if is_coefficient {
        let share = if paths == 0 { 0.0 } else { triangles as f64 / paths as f64 };
        result.insert("cluster_coefficient".into(), share.into());
    } else {
        result.insert("triangles".into(), triangles.into());
    }
    Ok(serde_json::Value::Object(result).to_string().into())
}

/// How many pairs of different neighbours all vertices have.
fn pairs(lists: &Adjacency) -> u64 {
    let different = |vertex: u32| {
        let mut neighbors = lists.neighbors(vertex).to_vec();
        neighbors.sort_unstable();
        neighbors.dedup();
        neighbors.len() as u64
    };
    (0..lists.vertices()).map(different).map(|count| count * count.saturating_sub(1) / 2).sum()
}

/// The k-core: of each of its connected parts the vertices.
fn cores(whole: &WholeGraph, k: u32, run: &Run<'_>) -> Result<Outcome, ComputeError> {
    let simple = simple(whole)?;
    let cores = graph_algorithms::core_numbers(&simple, run)?;
    let is_inside = |vertex: u32| *cores.get(vertex as usize).expect("each vertex has a core number") >= k;
    let vertices = simple.lists().vertices();
    let inside = Adjacency::from_edges(vertices, || {
        simple.lists().iter().filter(|&(from, to)| is_inside(from) && is_inside(to))
    })?;
    let parts = graph_algorithms::weak_components(&inside, run)?.members();
    let mut result = String::new();
    let mut object = ObjectWriter::begin(&mut result);
    let mut lists = ArrayWriter::begin(object.member("kcores"));
    for part in parts.iter().filter(|part| part.iter().all(|&vertex| is_inside(vertex))) {
        put_ids(lists.item(), whole, part.iter().copied())?;
    }
    lists.end();
    object.end();
    Ok(result.into())
}

fn louvain(
    whole: &WholeGraph,
    times: u32,
    precision: f64,
    skips_isolated: bool,
    run: &Run<'_>,
) -> Result<Outcome, ComputeError> {
    let graph = Undirected::of(whole.out())?;
    let options = LouvainOptions { resolution: 1.0, passes: times, tolerance: precision, seed: SEED };
    let found = graph_algorithms::louvain(&graph, options, run)?;
    let groups = found.groups(graph.lists().vertices());
    let isolated = (0..graph.lists().vertices()).filter(|&it| graph.lists().degree(it) == 0).count() as u64;
    let communities = u64::from(groups.count()) - if skips_isolated { isolated } else { 0 };
    let result = json!({
        "pass_times": found.passes.len(),
        "phase1_times": found.sweeps,
        "last_precision": found.moved,
        "times": times,
        "communities": communities,
        "modularity": found.modularity,
    });
    Ok(Outcome { result: result.to_string(), values: Values::Communities(groups) })
}

fn page_rank(
    whole: &WholeGraph,
    lists: &Adjacency,
    (alpha, options): (f64, PageRankOptions),
    top: Top,
    run: &Run<'_>,
) -> Result<Outcome, ComputeError> {
    let rank = graph_algorithms::page_rank(lists, &lists.reversed(), options, run)?;
    let mut result = String::new();
    let mut object = ObjectWriter::begin(&mut result);
    put_f64(object.member("alpha"), alpha);
    object.raw("iteration_times", &rank.iterations.to_string());
    put_f64(object.member("last_changed_rank"), rank.change);
    object.raw("times", &options.iterations.to_string());
    if let Top::Sorted(_) = top {
        put_numbers(object.member("top"), whole, (0..).zip(rank.ranks.iter().copied()), top, put_f64)?;
    }
    object.end();
    Ok(Outcome { result, values: Values::Ranks(rank.ranks) })
}
