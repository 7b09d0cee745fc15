//! What is timed of a graph in this process: neighbours, ends of edges, paths, neighbourhoods, communities.

use std::num::NonZeroUsize;

use anyhow::{Context as _, Result, ensure};
use campaign_graphs::graphdb::checks::Answers;
use campaign_graphs::graphdb::network::Network;
use campaign_graphs::graphdb::rows::{PATH_DEPTH, Row, SOURCES, Test, source, targets};
use graph::{EdgeDirection, VertexId, VertexIdRef, keys};
use graph_algorithms::{Adjacency, LouvainOptions, Run, Undirected, louvain};
use store::{Deadline, Lane};
use traversals::{
    Direction, Kneighbor, Kout, NO_LIMIT, Numbering, ShortestPath, Step, TraverseMode, WalkOptions,
    kneighbor, kout, shortest_path,
};

use crate::stored::Stored;

/// Rows of a page of a scan.
const PAGE_ROWS: usize = 4_096;
/// The most passes of Louvain; it ends before.
const PASSES_MAX: u32 = 20;

/// The job of `row`, but for inserts.
///
/// # Errors
///
/// If the model refuses.
pub async fn run(stored: &Stored, row: &Row, seed: u64, network: &Network) -> Result<Answers> {
    match row.test {
        Test::Insert => Ok(Answers::Inserted(0, 0)),
        Test::Neighbours => neighbours(stored, network).await.map(Answers::Degrees),
        Test::Adjacent => {
            let (mut edges, mut ends) = (0, 0);
            each_edge(stored, |source, target| {
                edges += 1;
                ends += u64::from(source) + u64::from(target);
            })
            .await?;
            Ok(Answers::Ends(edges, ends))
        }
        Test::ShortestPath => paths(stored, &targets(seed, network)).await.map(Answers::Paths),
        Test::KOut | Test::KNeighbor => {
            let mut found = Vec::new();
            for published in SOURCES {
                found.push(reached(stored, row, source(published, network)).await?);
            }
            Ok(Answers::Reached(found))
        }
        Test::Louvain => communities(stored, network.vertices, seed).await.map(Answers::Communities),
    }
}

/// How many vertices and edges there are, by ranges of their rows.
///
/// # Errors
///
/// If the model refuses.
pub async fn count(stored: &Stored) -> Result<Answers> {
    let reader = stored.reader().await?;
    let mut counts = [0; 2];
    let ranges = [keys::vertices_range(), keys::all_edges_range(EdgeDirection::Out)];
    for (count, range) in counts.iter_mut().zip(ranges) {
        let mut pages = reader.rows(0, range, PAGE_ROWS)?;
        while let Some(page) = pages.next().await? {
            *count += page.len() as u64;
        }
    }
    Ok(Answers::Inserted(counts[0], counts[1]))
}

/// Reads all rows of edges, at both of their ends, and looks at none: what the store alone takes.
///
/// # Errors
///
/// If the store refuses.
pub async fn scan_bare(stored: &Stored, both: bool) -> Result<u64> {
    let reader = stored.reader().await?;
    let mut bytes = 0;
    let directions: &[EdgeDirection] =
        if both { &[EdgeDirection::Out, EdgeDirection::In] } else { &[EdgeDirection::Out] };
    for direction in directions {
        let mut pages = reader.rows(0, keys::all_edges_range(*direction), PAGE_ROWS)?;
        while let Some(page) = pages.next().await? {
            bytes += page.rows().map(|(row, value)| (row.len() + value.len()) as u64).sum::<u64>();
        }
    }
    Ok(bytes)
}

async fn neighbours(stored: &Stored, network: &Network) -> Result<Vec<u32>> {
    let mut degrees = Vec::new();
    let reader = stored.reader().await?;
    let mut sum = 0_i64;
    let ways = [EdgeDirection::Out, EdgeDirection::In];
    let mut near = reader.edges_of_many(&ways, &[]);
    for first in (0..network.vertices).step_by(near.vertices_max()) {
        let behind = (first as usize + near.vertices_max()).min(network.vertices as usize);
        let vertices: Vec<_> =
            (i64::from(first)..behind as i64).map(|it| VertexId::Number(it).to_key()).collect();
        near.read(vertices.iter().map(Vec::as_slice), usize::MAX).await?;
        for vertex in 0..vertices.len() {
            let mut degree = 0;
            // The neighbour is looked at, so that reading it is a part of the job.
            let mut look = |edge: model_graph::EdgeRef<'_>| -> Result<()> {
                let other = VertexIdRef::of_key(edge.key.other).context("an edge without an end")?;
                sum = sum.wrapping_add(i64::from(number(&other)?));
                degree += 1;
                Ok(())
            };
            for way in 0..ways.len() {
                near.edges(vertex, way).try_for_each(|edge| look(edge?))?;
                let Some(mut rest) = near.rest(vertex, way) else { continue };
                while let Some(page) = rest.next().await? {
                    page.iter().try_for_each(|edge| look(edge?))?;
                }
            }
            degrees.push(degree);
        }
    }
    ensure!(sum >= 0, "the numbers of neighbours are not negative");
    Ok(degrees)
}

async fn each_edge(stored: &Stored, mut edge: impl FnMut(u32, u32)) -> Result<()> {
    let reader = stored.reader().await?;
    let mut pages = reader.rows(0, keys::all_edges_range(EdgeDirection::Out), PAGE_ROWS)?;
    while let Some(page) = pages.next().await? {
        for (row, _) in page.rows() {
            let key = keys::EdgeKey::parse(row).context("the row of an edge is damaged")?;
            let end = |id: Option<VertexIdRef<'_>>| number(&id.context("an edge without an end")?);
            edge(end(key.source())?, end(key.target())?);
        }
    }
    Ok(())
}

async fn paths(stored: &Stored, targets: &[u32]) -> Result<Vec<Vec<u32>>> {
    let reader = stored.reader().await?;
    let mut all = Vec::new();
    for target in targets {
        let asked = ShortestPath {
            source: VertexId::Number(0),
            target: VertexId::Number(i64::from(*target)),
            step: step(),
            max_depth: i64::from(PATH_DEPTH),
            capacity: NO_LIMIT,
        };
        let found = shortest_path(&reader, &options(), &asked).await?;
        let path =
            found.paths.first().map_or(Ok(Vec::new()), |path| numbers(&found.known, &path.vertices))?;
        all.push(path);
    }
    Ok(all)
}

async fn reached(stored: &Stored, row: &Row, source: u32) -> Result<Vec<u32>> {
    let reader = stored.reader().await?;
    let (source, max_depth) = (VertexId::Number(i64::from(source)), i64::from(row.depth));
    let (step, vertex_filters, with_paths) = (step(), Vec::new(), false);
    let found = if row.test == Test::KOut {
        let (capacity, limit, mode) = (NO_LIMIT, NO_LIMIT, TraverseMode::Breadth);
        let nearest = true;
        let asked = Kout {
            source,
            step,
            vertex_filters,
            max_depth,
            nearest,
            capacity,
            limit,
            with_paths,
            mode,
            basic: false,
        };
        kout(&reader, &options(), &asked).await?
    } else {
        let asked = Kneighbor { source, step, vertex_filters, max_depth, limit: NO_LIMIT, with_paths };
        kneighbor(&reader, &options(), &asked).await?
    };
    numbers(&found.known, &found.vertices)
}

async fn communities(stored: &Stored, vertices: u32, seed: u64) -> Result<Vec<u32>> {
    let mut edges = Vec::new();
    each_edge(stored, |source, target| edges.push((source, target))).await?;
    let lists = Adjacency::from_edges(vertices, || edges.iter().copied())?;
    let options = LouvainOptions { resolution: 1.0, passes: PASSES_MAX, tolerance: 0.0, seed };
    let run = Run::unwatched(NonZeroUsize::MIN);
    let found = louvain(&Undirected::of(&lists)?, options, &run)?;
    Ok(found.groups(vertices).by_vertex().to_vec())
}

/// All edges, in both directions.
fn step() -> Step {
    Step::new(Direction::Both, None).with_degree(NO_LIMIT)
}

fn options() -> WalkOptions {
    WalkOptions::new(Lane::new(1), Deadline::default())
}

fn numbers(known: &Numbering, vertices: &[u32]) -> Result<Vec<u32>> {
    vertices.iter().map(|vertex| number(&known.id(*vertex))).collect()
}

fn number(id: &VertexIdRef<'_>) -> Result<u32> {
    let number = match id {
        VertexIdRef::Number(number) => u32::try_from(*number).ok(),
        VertexIdRef::Text(_) | VertexIdRef::Uuid(_) => None,
    };
    number.with_context(|| format!("{id:?} is no vertex of the graph"))
}
