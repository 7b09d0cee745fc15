//! Vertices and edges of the published load tests on the embedded store, synced: what batches, single writes, reads by id, neighbourhoods and loads cost.
//!
//! `cargo bench -p model-graph --bench elements -- [--vertices N] [batch|single|get|neighbours|load|remove|indexes ...]`
//!
//! Prints for each row items a second, and CPU microseconds of the whole process for each.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measuring program: a panic is its answer"
)]

use std::io::Write as _;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

use graph::admit::Admission;
use graph::condition::{Condition, Test};
use graph::plan::{Query, plan_vertices};
use graph::schema::{
    EdgeLabelDraft, IdStrategy, IndexKind, IndexLabelDraft, LabelDraft, PropertyKeyDraft, SchemaKind,
    VertexLabelDraft,
};
use graph::{
    DataType, Edge, EdgeDirection, EdgeId, LabelId, Properties, PropertiesBuilder, PropertyKeyId, Scalar,
    ScalarRef, Vertex, VertexId,
};
use model_graph::write::{CheckVertices, EdgeOperation, VertexOperation};
use model_graph::{Clock, Deadline, Graph, GraphOptions, Graphs};
use store::{EmbeddedOptions, Store, Timestamp};

/// That of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NOW: Timestamp = Timestamp(1);
const PERSON: LabelId = LabelId(1);
const KNOWS: LabelId = LabelId(1);
/// Requests at once.
const CLIENTS: u32 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let vertices =
        arguments.iter().position(|it| it == "--vertices").map(|at| arguments[at + 1].parse().unwrap());
    let vertices: u32 = vertices.unwrap_or(200_000);
    let rows = ["batch", "single", "get", "neighbours", "load", "remove", "indexes"];
    let wanted: Vec<&str> = rows.into_iter().filter(|it| arguments.iter().any(|a| a == it)).collect();
    let wanted = |name: &str| wanted.is_empty() || wanted.contains(&name);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    say(&format!("{:<46} {:>12} {:>10}", "row", "items/s", "CPU us"));
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), EmbeddedOptions::recommended()).unwrap();
        let graph = graph(store).await;
        if wanted("load") {
            load(&graph, vertices).await;
        }
        // Unless they are asked for, they only lay the ground for the others.
        batches(&graph, vertices).await;
        if wanted("single") {
            singles(&graph, vertices / 10).await;
        }
        if wanted("get") {
            gets(&graph, vertices).await;
        }
        if wanted("neighbours") {
            neighbours(&graph, vertices).await;
        }
        if wanted("remove") {
            removals(&graph, vertices / 20).await;
        }
        if wanted("indexes") {
            indexes(&graph, vertices).await;
        }
    });
}

/// The schema of the published tests: persons who know each other.
async fn graph(store: Store) -> Arc<Graph> {
    let options = GraphOptions { tenants_max: 1, graphs_max: 1, buckets: 1 };
    let graph = Graphs::new(store, options).get("DEFAULT", "hugegraph").await.unwrap();
    let now = ("\"now\"", NOW);
    let keys = [
        ("name", DataType::Text),
        ("age", DataType::Int),
        ("city", DataType::Text),
        ("weight", DataType::Double),
        ("date", DataType::Text),
    ];
    for (name, data_type) in keys {
        let key = PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) };
        graph.change_schema(now, |schema, new| schema.create_property_key(&key, new)).await.unwrap();
    }
    let label = |name, keys: &[&str]| LabelDraft {
        properties: keys.iter().map(|key| (*key).into()).collect(),
        ..LabelDraft::named(name)
    };
    let person = VertexLabelDraft {
        label: label("person", &["name", "age", "city"]),
        primary_keys: vec!["name".into()],
        ..VertexLabelDraft::named("person")
    };
    graph.change_schema(now, |schema, new| schema.create_vertex_label(&person, new)).await.unwrap();
    let knows = EdgeLabelDraft {
        label: label("knows", &["date", "weight"]),
        links: vec![("person".into(), "person".into())],
        ..EdgeLabelDraft::named("knows")
    };
    graph.change_schema(now, |schema, new| schema.create_edge_label(&knows, new)).await.unwrap();
    graph
}

fn name(number: u32) -> String {
    format!("p{number:07}")
}

fn id(number: u32) -> VertexId {
    VertexId::Text(format!("1:{}", name(number)).into())
}

fn person(number: u32) -> Properties {
    let mut builder = PropertiesBuilder::default();
    builder.put_one(PropertyKeyId(1), ScalarRef::Text(&name(number)));
    builder.put_one(PropertyKeyId(2), ScalarRef::Int(29));
    builder.put_one(PropertyKeyId(3), ScalarRef::Text("Beijing"));
    builder.finish()
}

fn edge(number: u32, vertices: u32) -> Edge {
    let source = id(number.wrapping_mul(2_654_435_761) % vertices);
    let target = id(number.wrapping_mul(2_246_822_519).rotate_left(7) % vertices);
    let mut builder = PropertiesBuilder::default();
    builder.put_one(PropertyKeyId(4), ScalarRef::Double(0.5));
    builder.put_one(PropertyKeyId(5), ScalarRef::Text("20160110"));
    let id = EdgeId { source, label: KNOWS, sub_label: KNOWS, sort_values: "".into(), target };
    Edge { id, expires: None, properties: builder.finish() }
}

async fn vertex(graph: &Graph, number: u32) -> Vertex {
    let state = graph.state().await.unwrap();
    let admission = Admission { schema: &state.schema, now_ms: 0, takes_ids: false };
    let label = state.schema.vertex_label(PERSON).unwrap();
    admission.vertex(label, None, person(number), || 0).unwrap()
}

/// Clients that take numbers in turn, so many at once.
async fn clients<F: Future<Output = ()> + Send + 'static>(
    count: u32,
    at_once: u32,
    work: impl Fn(std::ops::Range<u32>) -> F + Clone + Send + 'static,
) {
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let work = work.clone();
            tokio::spawn(async move {
                for first in (client * at_once..count).step_by((CLIENTS * at_once) as usize) {
                    work(first..(first + at_once).min(count)).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

async fn batches(graph: &Arc<Graph>, vertices: u32) {
    let meter = Meter::start();
    let of = Arc::clone(graph);
    clients(vertices, 200, move |numbers| {
        let graph = Arc::clone(&of);
        async move {
            let mut operations = Vec::with_capacity(numbers.len());
            for number in numbers {
                operations.push(VertexOperation::Put(vertex(&graph, number).await));
            }
            graph.write_vertices(operations, NOW).await.unwrap();
        }
    })
    .await;
    meter.say("vertices, 200 a batch", vertices);
    for (check, name) in
        [(CheckVertices::No, "edges, 500 a batch"), (CheckVertices::Yes, "edges, 500 a batch, checked")]
    {
        let meter = Meter::start();
        let (of, shift) = (Arc::clone(graph), if check == CheckVertices::Yes { vertices } else { 0 });
        clients(vertices, 500, move |numbers| {
            let graph = Arc::clone(&of);
            async move {
                let operations =
                    numbers.map(|number| EdgeOperation::Put(edge(number + shift, vertices), None)).collect();
                graph.write_edges(operations, check, NOW).await.unwrap();
            }
        })
        .await;
        meter.say(name, vertices);
    }
}

async fn singles(graph: &Arc<Graph>, count: u32) {
    let meter = Meter::start();
    let of = Arc::clone(graph);
    clients(count, 1, move |numbers| {
        let graph = Arc::clone(&of);
        async move {
            let vertex = vertex(&graph, numbers.start + 5_000_000).await;
            graph.write_vertices(vec![VertexOperation::Put(vertex)], NOW).await.unwrap();
        }
    })
    .await;
    meter.say("single vertices", count);
}

async fn gets(graph: &Arc<Graph>, vertices: u32) {
    for name in ["vertices by id, first", "vertices by id, again"] {
        let meter = Meter::start();
        let of = Arc::clone(graph);
        clients(vertices, 1, move |numbers| {
            let graph = Arc::clone(&of);
            async move {
                let reader = graph.reader(NOW).await.unwrap();
                assert!(reader.vertex(&id(numbers.start)).await.unwrap().is_some());
            }
        })
        .await;
        meter.say(name, vertices);
    }
}

async fn neighbours(graph: &Arc<Graph>, vertices: u32) {
    for direction in [EdgeDirection::Out, EdgeDirection::In] {
        let meter = Meter::start();
        let of = Arc::clone(graph);
        clients(vertices, 1_000, move |numbers| {
            let graph = Arc::clone(&of);
            async move {
                let reader = graph.reader(NOW).await.unwrap();
                for number in numbers {
                    let mut pages = reader.edges(&id(number).to_key(), direction, &[]);
                    while let Some(page) = pages.next().await.unwrap() {
                        assert!(page.iter().all(|edge| edge.is_ok()));
                    }
                }
            }
        })
        .await;
        meter.say(&format!("neighbourhoods, {direction:?}"), vertices);
    }
}

async fn removals(graph: &Arc<Graph>, count: u32) {
    let meter = Meter::start();
    let of = Arc::clone(graph);
    clients(count, 1, move |numbers| {
        let graph = Arc::clone(&of);
        async move {
            graph.remove_vertices(&[id(numbers.start)], NOW).await.unwrap();
        }
    })
    .await;
    meter.say("removals of vertices with their edges", count);
}

/// Vertices of a label with a secondary and a range index: made, made again with other values, asked for, and the indexes built anew.
async fn indexes(graph: &Arc<Graph>, vertices: u32) {
    let (now, clock) = (("\"now\"", NOW), Clock::manual(NOW));
    let label = LabelDraft { properties: vec!["age".into(), "city".into()], ..LabelDraft::named("station") };
    let id_strategy = IdStrategy::CustomizeNumber;
    let label = VertexLabelDraft { label, id_strategy, primary_keys: Vec::new() };
    let made = graph.change_schema(now, |schema, new| schema.create_vertex_label(&label, new)).await.unwrap();
    for (name, kind, field) in
        [("by_city", IndexKind::Secondary, "city"), ("by_age", IndexKind::Range, "age")]
    {
        let draft = IndexLabelDraft {
            base: Some((SchemaKind::VertexLabel, "station".into())),
            index_kind: Some(kind),
            fields: vec![field.into()],
            ..IndexLabelDraft::named(name)
        };
        graph.change_schema(now, |schema, new| schema.create_index_label(&draft, new)).await.unwrap();
    }
    while graph.run_tasks(&clock).await.unwrap().is_left {}
    let label = made.part.id;
    for (name, shift) in [("indexed vertices, 200 a batch", 0), ("the same with other values", 1)] {
        let meter = Meter::start();
        let of = Arc::clone(graph);
        clients(vertices, 200, move |numbers| {
            let graph = Arc::clone(&of);
            async move {
                let operations = numbers.map(|number| VertexOperation::Put(station(label, number, shift)));
                graph.write_vertices(operations.collect(), NOW).await.unwrap();
            }
        })
        .await;
        meter.say(name, vertices);
    }
    let meter = Meter::start();
    let (state, reader) = graph.reader_with_state(NOW).await.unwrap();
    let all = Test::Range(Bound::Included(Scalar::Int(0)), Bound::Unbounded);
    let conditions = vec![Condition { key: PropertyKeyId(2), test: all }];
    let stages = plan_vertices(&state.schema, &Query { label: Some(label), conditions }).unwrap();
    let mut matches = reader.matches(stages, Deadline::default());
    assert_eq!(matches.next(usize::MAX, |_| ()).await.unwrap(), vertices as usize);
    meter.say("found by a range", vertices);
    let meter = Meter::start();
    graph.rebuild_indexes(SchemaKind::VertexLabel, "station", NOW).await.unwrap();
    while graph.run_tasks(&clock).await.unwrap().is_left {}
    meter.say("two indexes built anew", vertices);
}

fn station(label: LabelId, number: u32, shift: u32) -> Vertex {
    let mut builder = PropertiesBuilder::default();
    builder.put_one(PropertyKeyId(2), ScalarRef::Int(((number + shift) % 100_000) as i32));
    builder.put_one(PropertyKeyId(3), ScalarRef::Text(&format!("city {}", (number + shift) % 1_000)));
    Vertex { id: VertexId::Number(number.into()), label, expires: None, properties: builder.finish() }
}

async fn load(graph: &Arc<Graph>, vertices: u32) {
    for kind in ["vertices, loaded", "edges, loaded"] {
        let meter = Meter::start();
        let mut load = graph.load().await.unwrap();
        let tasks: Vec<_> = (0..2)
            .map(|half| {
                let (mut load, graph) = (load.clone(), Arc::clone(graph));
                tokio::spawn(async move {
                    for number in (half..vertices).step_by(2) {
                        if kind == "vertices, loaded" {
                            load.add_vertex(&vertex(&graph, number + 6_000_000).await).await.unwrap();
                        } else {
                            load.add_edge(&edge(number, vertices)).await.unwrap();
                        }
                    }
                    load.flush().await.unwrap();
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        load.flush().await.unwrap();
        load.finish().await.unwrap();
        meter.say(kind, vertices);
    }
}

/// Time and CPU from a moment on.
struct Meter {
    start: Instant,
    cpu_us: u64,
}

impl Meter {
    fn start() -> Self {
        Self { start: Instant::now(), cpu_us: cpu_us() }
    }

    fn say(&self, row: &str, items: u32) {
        let seconds = self.start.elapsed().as_secs_f64();
        let cpu = (cpu_us() - self.cpu_us) as f64 / f64::from(items);
        say(&format!("{row:<46} {:>12.0} {cpu:>10.2}", f64::from(items) / seconds));
    }
}

/// CPU of this process so far, in microseconds: ticks of a hundredth of a second.
fn cpu_us() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10_000
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}
