//! Walks over a graph of a million edges on the embedded store: all neighbours of all vertices, and k-out from many sources.
//!
//! `cargo bench -p traversals --bench walks -- [--vertices N] [--edges N] [neighbours|out|both ...]`
//!
//! Vertices are numbers; the ends of edges are drawn so that degrees fall by a power law (hubs have some thousand). Prints for each row the
//! median and the worst of its walks in milliseconds, and CPU of the process for an edge that was read, in nanoseconds.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a measuring program: a panic is its answer"
)]

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use graph::schema::{EdgeLabelDraft, IdStrategy, VertexLabelDraft};
use graph::{Edge, EdgeId, LabelId, Properties, Vertex, VertexId};
use model_graph::{Graph, GraphOptions, Graphs, Timestamp};
use store::{EmbeddedOptions, Store};
use traversals::{
    Deadline, Direction, Kneighbor, Kout, Lane, NO_LIMIT, Step, TraverseMode, WalkOptions, kneighbor, kout,
};

/// That of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NOW: (&str, Timestamp) = ("\"now\"", Timestamp(1));
/// Walks of a row, each from another source.
const SOURCES: u32 = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let number = |name: &str, missing: u32| {
        let at = arguments.iter().position(|it| it == name);
        at.map_or(missing, |at| arguments[at + 1].parse().unwrap())
    };
    let (vertices, edges) = (number("--vertices", 200_000), number("--edges", 1_000_000));
    let rows = ["neighbours", "out", "both"];
    let wanted: Vec<&str> = rows.into_iter().filter(|it| arguments.iter().any(|a| a == it)).collect();
    let wanted = |name: &str| wanted.is_empty() || wanted.contains(&name);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let graph = loaded(folder.path(), vertices, edges).await;
        say(&format!(
            "{:<34} {:>10} {:>10} {:>12} {:>10}",
            "row", "median ms", "worst ms", "edges", "CPU ns"
        ));
        if wanted("neighbours") {
            neighbours(&graph, vertices).await;
        }
        for (name, direction) in [("out", Direction::Out), ("both", Direction::Both)] {
            if wanted(name) {
                k_out(&graph, vertices, direction).await;
            }
        }
    });
}

async fn loaded(folder: &std::path::Path, vertices: u32, edges: u32) -> Arc<Graph> {
    let store = Store::open(folder, EmbeddedOptions::recommended()).unwrap();
    let options = GraphOptions { tenants_max: 1, graphs_max: 1, buckets: 1 };
    let graph = Graphs::new(store, options).get("DEFAULT", "hugegraph").await.unwrap();
    let node =
        VertexLabelDraft { id_strategy: IdStrategy::CustomizeNumber, ..VertexLabelDraft::named("node") };
    let node = graph.change_schema(NOW, |schema, new| schema.create_vertex_label(&node, new)).await.unwrap();
    let link =
        EdgeLabelDraft { links: vec![("node".into(), "node".into())], ..EdgeLabelDraft::named("link") };
    let link = graph.change_schema(NOW, |schema, new| schema.create_edge_label(&link, new)).await.unwrap();
    let mut load = graph.load().await.unwrap();
    for vertex in 0..vertices {
        let (id, label) = (id(vertex), node.part.id);
        load.add_vertex(&Vertex { id, label, expires: None, properties: Properties::default() })
            .await
            .unwrap();
    }
    let mut random = Random(7);
    for _ in 0..edges {
        let edge = edge(random.end(vertices), random.end(vertices), link.part.id);
        load.add_edge(&edge).await.unwrap();
    }
    load.finish().await.unwrap();
    graph
}

fn id(vertex: u32) -> VertexId {
    VertexId::Number(i64::from(vertex))
}

fn edge(source: u32, target: u32, label: LabelId) -> Edge {
    let (source, target) = (id(source), id(target));
    let id = EdgeId { source, label, sub_label: label, sort_values: "".into(), target };
    Edge { id, expires: None, properties: Properties::default() }
}

/// All edges of all vertices, in order: one step from each of many sources at once would be the same work.
async fn neighbours(graph: &Graph, vertices: u32) {
    let reader = graph.reader(NOW.1).await.unwrap();
    let (mut row, mut meter) = (Row::default(), Meter::start());
    let ways = [graph::EdgeDirection::Out, graph::EdgeDirection::In];
    let mut near = reader.edges_of_many(&ways, &[]);
    for first in (0..vertices).step_by(1_000) {
        let keys: Vec<_> = (first..(first + 1_000).min(vertices)).map(|vertex| id(vertex).to_key()).collect();
        let mut edges = 0;
        for some in keys.chunks(near.vertices_max()) {
            near.read(some.iter().map(Vec::as_slice), usize::MAX).await.unwrap();
            for (vertex, way) in (0..some.len()).flat_map(|vertex| [(vertex, 0), (vertex, 1)]) {
                edges += near.edges(vertex, way).filter(Result::is_ok).count() as u64;
                let Some(mut rest) = near.rest(vertex, way) else { continue };
                while let Some(page) = rest.next().await.unwrap() {
                    edges += page.iter().filter(Result::is_ok).count() as u64;
                }
            }
        }
        row.note(&mut meter, edges);
    }
    row.say("neighbours of a thousand vertices");
}

async fn k_out(graph: &Graph, vertices: u32, direction: Direction) {
    let reader = graph.reader(NOW.1).await.unwrap();
    let options = WalkOptions::new(Lane::new(1), Deadline::default());
    let mut random = Random(11);
    let sources: Vec<u32> = (0..SOURCES).map(|_| random.below(vertices)).collect();
    let step = || Step::new(direction, None).with_degree(NO_LIMIT);
    let (mut first, mut again, mut near) = (Row::default(), Row::default(), Row::default());
    let mut meter = Meter::start();
    for row in [&mut first, &mut again] {
        for source in &sources {
            let asked = Kout {
                source: id(*source),
                step: step(),
                vertex_filters: Vec::new(),
                max_depth: 3,
                basic: false,
                nearest: true,
                capacity: NO_LIMIT,
                limit: NO_LIMIT,
                with_paths: false,
                mode: TraverseMode::Breadth,
            };
            let found = kout(&reader, &options, &asked).await.unwrap();
            row.note(&mut meter, found.measure.edges);
        }
    }
    for source in &sources {
        let asked = Kneighbor {
            source: id(*source),
            step: step(),
            vertex_filters: Vec::new(),
            max_depth: 2,
            limit: NO_LIMIT,
            with_paths: false,
        };
        let found = kneighbor(&reader, &options, &asked).await.unwrap();
        near.note(&mut meter, found.measure.edges);
    }
    first.say(&format!("3-hop k-out, {direction:?}, first"));
    again.say(&format!("3-hop k-out, {direction:?}, again"));
    near.say(&format!("2-hop k-neighbor, {direction:?}"));
}

/// SplitMix64, so that the graph is the same with every version of every library.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }

    /// The end of an edge, of a rank that is drawn with weights of about rank^-0.6; ranks lie all over the numbers.
    fn end(&mut self, vertices: u32) -> u32 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = unit.powf(2.5) * f64::from(vertices);
        (u64::from(rank as u32) * 2_654_435_761 % u64::from(vertices)) as u32
    }
}

/// What walks took.
#[derive(Default)]
struct Row {
    times: Vec<Duration>,
    cpu: Duration,
    edges: u64,
}

impl Row {
    fn note(&mut self, meter: &mut Meter, edges: u64) {
        let (time, cpu) = meter.lap();
        self.times.push(time);
        self.cpu += cpu;
        self.edges += edges;
    }

    fn say(mut self, name: &str) {
        self.times.sort_unstable();
        let of = |at: usize| self.times[at].as_secs_f64() * 1e3;
        let cpu = self.cpu.as_nanos() as f64 / self.edges.max(1) as f64;
        let (median, worst) = (of(self.times.len() / 2), of(self.times.len() - 1));
        say(&format!("{name:<34} {median:>10.2} {worst:>10.2} {:>12} {cpu:>10.0}", self.edges));
    }
}

/// Time and CPU from lap to lap.
struct Meter {
    start: Instant,
    cpu: Duration,
}

impl Meter {
    fn start() -> Self {
        Self { start: Instant::now(), cpu: cpu() }
    }

    fn lap(&mut self) -> (Duration, Duration) {
        let next = Self::start();
        let lap = (next.start - self.start, next.cpu.saturating_sub(self.cpu));
        *self = next;
        lap
    }
}

/// CPU of this process so far: that of all its threads, as the scheduler counts it.
fn cpu() -> Duration {
    let of_thread = |task: std::fs::DirEntry| {
        let counted = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        counted.split_whitespace().next()?.parse::<u64>().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    Duration::from_nanos(tasks.filter_map(|task| of_thread(task.unwrap())).sum())
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}
