//! Loads beside ordinary group commits: rows as graphs have them, in no order.
//!
//! Each edge is two rows (`e`, stamped, under its source; `E`, plain, under its target), each vertex one (`v`, stamped): keys and
//! values of some 60 to 120 bytes. Two tasks make the rows and give them to the store; that is part of what is measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use store::{ChangeRecord, Commit, Direction, LoadRows, Partition, Range, Store, Write, WriteId};

use crate::{MODEL, Meter, open_ours, partition, say};

/// Measures what is named.
pub(crate) async fn run(names: &[String], edges: u64) {
    if names.iter().any(|it| it == "bulk") {
        loads(edges).await;
    }
    if names.iter().any(|it| it == "elements") {
        commits(edges).await;
    }
}

/// Elements that a task gives at a time.
const BATCH: usize = 500;
const TASKS: usize = 2;

/// Vertices and edges, in the proportion of the youtube graph.
#[derive(Clone, Copy)]
struct Graph {
    vertices: u64,
    edges: u64,
}

fn scattered(number: u64, bound: u64) -> u64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 7) % bound
}

fn vertex_key(out: &mut Vec<u8>, kind: u8, id: u64) {
    out.push(kind);
    out.push(b'L');
    out.extend_from_slice(&(id ^ 1 << 63).to_be_bytes());
}

/// Rows are made in place, as a model would.
#[derive(Default)]
struct Scratch {
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Scratch {
    fn vertex(&mut self, number: u64, graph: Graph, mut put: impl FnMut(&[u8], &[u8], bool)) {
        self.key.clear();
        vertex_key(&mut self.key, b'v', scattered(number, graph.vertices * 4));
        self.value(number, 60);
        put(&self.key, &self.value, true);
    }

    fn edge(&mut self, number: u64, graph: Graph, mut put: impl FnMut(&[u8], &[u8], bool)) {
        let source = scattered(number / 3, graph.vertices);
        let target = scattered(number.wrapping_mul(31), graph.vertices);
        self.value(number, 32);
        for (kind, near, far) in [(b'e', source, target), (b'E', target, source)] {
            self.key.clear();
            vertex_key(&mut self.key, kind, near);
            self.key.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1, 0]);
            vertex_key(&mut self.key, b'x', far);
            put(&self.key, &self.value, kind == b'e');
        }
    }

    fn value(&mut self, number: u64, bytes: usize) {
        self.value.clear();
        self.value.extend_from_slice(&[1, 0, 0, 0, 3, 0, 0, 0, 2]);
        self.value.extend_from_slice(&number.to_be_bytes());
        self.value.extend_from_slice(b"property values, weight and so on, of an element of a graph");
        self.value.truncate(bytes);
    }
}

/// How rows go to the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    Load,
    Commits,
}

async fn fill(store: &Store, graph: Graph, way: Way) -> u64 {
    let load = match way {
        Way::Load => Some(store.load(&partition(), store.fence(&partition())).await.unwrap()),
        Way::Commits => None,
    };
    let rows = Arc::new(AtomicU64::new(0));
    let elements = graph.vertices + graph.edges;
    let tasks = (0..TASKS).map(|task| {
        let (store, load, rows) = (store.clone(), load.clone(), Arc::clone(&rows));
        tokio::spawn(async move {
            let mut scratch = Scratch::default();
            for first in ((task * BATCH) as u64..elements).step_by(BATCH * TASKS) {
                let numbers = first..elements.min(first + BATCH as u64);
                if let Some(load) = &load {
                    let mut packed = LoadRows::with_capacity(BATCH * 150, BATCH * 2);
                    each(&mut scratch, graph, numbers, |key, value, is_stamped| match is_stamped {
                        true => packed.put_stamped(key, value),
                        false => packed.put(key, value),
                    });
                    rows.fetch_add(packed.len() as u64, Ordering::Relaxed);
                    load.add(packed).await.unwrap();
                } else {
                    let mut writes = Vec::with_capacity(BATCH * 2);
                    each(&mut scratch, graph, numbers, |key, value, is_stamped| {
                        writes.push(write(key, value, is_stamped));
                    });
                    rows.fetch_add(writes.len() as u64, Ordering::Relaxed);
                    store::later_wins(&mut writes);
                    store.commit(one(first, writes)).await.unwrap();
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    if let Some(load) = load {
        load.finish(Some(ChangeRecord::new(MODEL, 1, 1, "loaded"))).await.unwrap();
    }
    rows.load(Ordering::Relaxed)
}

fn each(
    scratch: &mut Scratch,
    graph: Graph,
    numbers: std::ops::Range<u64>,
    mut put: impl FnMut(&[u8], &[u8], bool),
) {
    for number in numbers {
        match number.checked_sub(graph.vertices) {
            None => scratch.vertex(number, graph, &mut put),
            Some(edge) => scratch.edge(edge, graph, &mut put),
        }
    }
}

fn write(key: &[u8], value: &[u8], is_stamped: bool) -> Write {
    let (key, value) = (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
    if is_stamped { Write::PutStamped(key, value) } else { Write::Put(key, value) }
}

fn one(number: u64, writes: Vec<Write>) -> Commit {
    Commit {
        partition: partition(),
        write_id: WriteId(u128::from(number)),
        conditions: vec![],
        writes,
        change: Some(ChangeRecord::new(MODEL, 1, 1, "batch")),
        reclaims: false,
    }
}

/// Loads a graph of so many edges, twice, and commits a tenth of it.
async fn loads(edges: u64) {
    let whole = Graph { vertices: edges * 2 / 5, edges };
    let part = Graph { vertices: whole.vertices / 10, edges: edges / 10 };
    say(&format!("{:<34} {:>10} {:>10} {:>10} {:>10}", "way", "rows", "seconds", "rows/s", "CPU us"));
    for (name, graph, way) in [
        ("load", whole, Way::Load),
        ("commits of 500 elements, a tenth", part, Way::Commits),
        ("load, once more", whole, Way::Load),
    ] {
        let (_folder, store) = open_ours();
        let meter = Meter::start();
        let rows = fill(&store, graph, way).await;
        let (seconds, figure) = (meter.start.elapsed().as_secs_f64(), meter.stop(rows));
        say(&format!("{name:<34} {rows:>10} {seconds:>10.2} {:>10.0} {:>10.2}", figure.rate, figure.cpu_us));
        say(&format!("  {} MB resident, {} MB of files", resident_mb(), store.statistics().data_bytes >> 20));
        let start = Instant::now();
        let found = count(&store).await;
        say(&format!("  {found} rows read back in {:.2} s", start.elapsed().as_secs_f64()));
    }
    beside(part).await;
}

/// Commits of elements as batches of a front end make them: what each row costs, and what of it the committer.
async fn commits(edges: u64) {
    let graph = Graph { vertices: edges * 2 / 5, edges };
    say(&format!(
        "{:<34} {:>10} {:>10} {:>10} {:>10}",
        "commits of", "rows", "rows/s", "CPU us", "committer"
    ));
    for (name, numbers, at_once) in [
        ("200 vertices", 0..graph.vertices, 200),
        ("500 edges", graph.vertices..graph.vertices + graph.edges, 500),
    ] {
        let (_folder, store) = open_ours();
        let mut drafted = Vec::new();
        let mut scratch = Scratch::default();
        for first in numbers.clone().step_by(at_once) {
            let mut writes = Vec::new();
            let upto = numbers.end.min(first + at_once as u64);
            each(&mut scratch, graph, first..upto, |key, value, is_stamped| {
                writes.push(write(key, value, is_stamped));
            });
            store::later_wins(&mut writes);
            drafted.push(one(first, writes));
        }
        let rows: usize = drafted.iter().map(|commit| commit.writes.len()).sum();
        let (meter, before) = (Meter::start(), committer_us());
        let mut left = drafted.into_iter();
        loop {
            // As eight clients send them.
            let group: Vec<_> = left.by_ref().take(8).map(|commit| submit(store.clone(), commit)).collect();
            if group.is_empty() {
                break;
            }
            join_all(group).await;
        }
        let (figure, committer) = (meter.stop(rows as u64), (committer_us() - before) / rows as f64);
        say(&format!(
            "{name:<34} {rows:>10} {:>10.0} {:>10.2} {committer:>10.2}",
            figure.rate, figure.cpu_us
        ));
    }
}

async fn submit(store: Store, commit: Commit) {
    store.commit(commit).await.unwrap();
}

async fn join_all(all: Vec<impl Future<Output = ()> + Send + 'static>) {
    let tasks: Vec<_> = all.into_iter().map(tokio::spawn).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// CPU time of the committer.
fn committer_us() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let of_task = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.unwrap().path();
        let name = std::fs::read_to_string(path.join("comm")).ok()?;
        name.starts_with("store-committe").then(|| std::fs::read_to_string(path.join("schedstat")).ok())?
    };
    let spent = tasks.filter_map(of_task);
    spent.map(|spent| spent.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1_000.0).sum()
}

/// What small commits wait beside a load.
async fn beside(graph: Graph) {
    let (_folder, store) = open_ours();
    fill(&store, graph, Way::Commits).await;
    let loading = store.clone();
    let load = tokio::spawn(async move { fill(&loading, graph, Way::Load).await });
    let mut took = Vec::new();
    let other = Partition { bucket: 7, ..partition() };
    while !load.is_finished() {
        let start = Instant::now();
        let write = Write::Put(Bytes::from(took.len().to_string()), Bytes::new());
        store.commit(Commit { partition: other.clone(), ..one(0, vec![write]) }).await.unwrap();
        took.push(start.elapsed().as_secs_f64() * 1e6);
    }
    took.sort_by(f64::total_cmp);
    let at = |part: usize| took[(took.len() - 1) * part / 1_000];
    say(&format!(
        "a small commit beside a load over committed rows: median {:.0} us, p99 {:.0}, worst {:.0}",
        at(500),
        at(990),
        at(1_000)
    ));
}

async fn count(store: &Store) -> usize {
    let (mut range, mut found) = (Range::default(), 0);
    loop {
        let page = store.scan(&partition(), &range, Direction::Forward, 50_000).await.unwrap();
        found += page.len();
        match range.after_page(&page) {
            Some(next) => range = next,
            None => return found,
        }
    }
}

fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}
