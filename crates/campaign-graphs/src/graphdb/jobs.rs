//! The jobs over HTTP: what the users of each row send, and what is gathered from the answers.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use campaign::executors::{Limits, Load, Outcome, run_closed};
use campaign::process;
use campaign::progress::Stage;
use campaign::record::Record;
use campaign::scenario::{Call, Request, Scenario, Seat, Session};
use memchr::memmem;
use serde_json::{Value as Json, json};

use crate::rest::{HEADERS, Rest, encoded, parsed, plain};

use super::network::Network;
use super::rows::{Graph, PATH_DEPTH, Row, SOURCES, Test, source};

/// No graph has more vertices.
const VERTICES_MAX: u32 = 10_000_000;
/// Elements of a batch, as many as the published benchmark committed at once.
const BATCH: usize = 500;
/// Edges of a page of a scan.
const PAGE_EDGES: usize = 10_000;
/// More than any vertex has.
const EDGES_MAX: usize = 800_000;
/// The longest a task may take.
const TASK_TIME_MAX: Duration = Duration::from_secs(1_800);
/// The pause between two looks at a task.
const TASK_LOOK: Duration = Duration::from_millis(10);

/// Where a graph is on a server, which may have others beside it: its vertices have ids and its elements labels of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The path of the graph that has it.
    pub(super) path: &'static str,
    /// The label of its vertices.
    pub(super) node: String,
    /// The label of its edges.
    pub(super) link: String,
    /// The id of its first vertex.
    pub(super) first: u64,
}

impl Place {
    /// The place of `graph` below `path`.
    pub(super) fn new(path: &'static str, graph: Graph) -> Self {
        let name = format!("{graph:?}").to_lowercase();
        let first = (graph as u64) * u64::from(VERTICES_MAX);
        Self { path, node: format!("{name}_node"), link: format!("{name}_link"), first }
    }

    /// The id of a vertex.
    fn id(&self, vertex: u32) -> u64 {
        self.first + u64::from(vertex)
    }

    /// The vertex of an id.
    fn vertex(&self, id: &Json) -> Result<u32> {
        let vertex = id.as_u64().and_then(|id| u32::try_from(id.checked_sub(self.first)?).ok());
        vertex
            .filter(|vertex| *vertex < VERTICES_MAX)
            .with_context(|| format!("{id} is no vertex of the graph"))
    }
}

/// The schema: vertices that are numbers, and one kind of edge.
///
/// # Errors
///
/// If the server refuses it.
pub(super) fn create_schema(rest: &mut Rest, place: &Place) -> Result<()> {
    rest.create(
        "vertexlabels",
        &json!({"name": place.node, "id_strategy": "CUSTOMIZE_NUMBER", "properties": [], "nullable_keys": [],
            "enable_label_index": true}),
    )?;
    rest.create(
        "edgelabels",
        &json!({"name": place.link, "source_label": place.node, "target_label": place.node, "frequency": "SINGLE",
            "sort_keys": [], "properties": [], "nullable_keys": [], "enable_label_index": false}),
    )
}

/// Batches of the vertices or of the edges of a graph, dealt out to users.
struct Batches<'a> {
    network: &'a Network,
    place: &'a Place,
    of_edges: bool,
    users: usize,
}

impl Batches<'_> {
    fn elements(&self) -> usize {
        if self.of_edges { self.network.edges.len() } else { index(self.network.vertices) }
    }

    fn element(&self, number: usize, out: &mut Vec<u8>) {
        let mut decimal = itoa::Buffer::new();
        if let Some((source, target)) = self.network.edges.get(number).filter(|_| self.of_edges) {
            let node = self.place.node.as_bytes();
            let mut text = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
            text(&[br#"{"label":""#, self.place.link.as_bytes(), br#"","outV":"#]);
            text(&[decimal.format(self.place.id(*source)).as_bytes(), br#","inV":"#]);
            text(&[decimal.format(self.place.id(*target)).as_bytes(), br#","outVLabel":""#, node]);
            text(&[br#"","inVLabel":""#, node, br#"","properties":{}}"#]);
        } else {
            out.extend_from_slice(br#"{"label":""#);
            out.extend_from_slice(self.place.node.as_bytes());
            out.extend_from_slice(br#"","id":"#);
            out.extend_from_slice(decimal.format(self.place.first + number as u64).as_bytes());
            out.extend_from_slice(br#","properties":{}}"#);
        }
    }
}

impl Scenario for Batches<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        Box::new(Batcher { batches: self, next: seat.user * BATCH })
    }
}

struct Batcher<'a> {
    batches: &'a Batches<'a>,
    next: usize,
}

impl Session for Batcher<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let batches = self.batches;
        let end = (self.next + BATCH).min(batches.elements());
        if self.next >= end {
            return None;
        }
        request.start("POST");
        request.path.extend_from_slice(batches.place.path.as_bytes());
        let path: &[u8] = if batches.of_edges {
            b"/graph/edges/batch?check_vertex=false"
        } else {
            b"/graph/vertices/batch"
        };
        request.path.extend_from_slice(path);
        for number in self.next..end {
            request.body.push(if number == self.next { b'[' } else { b',' });
            batches.element(number, &mut request.body);
        }
        request.body.push(b']');
        self.next += BATCH * batches.users;
        Some(Call::expecting(201))
    }
}

/// Inserts all vertices, then all edges.
pub(super) fn insert(load: &Load, network: &Network, place: &Place, name: &str) -> Result<Outcome> {
    let mut all: Option<Outcome> = None;
    for of_edges in [false, true] {
        let batches = Batches { network, place, of_edges, users: load.users };
        let mut stage = Stage::begin(name, Some(batches.elements().div_ceil(BATCH) as u64));
        let outcome = run_closed(load, Limits::default(), &batches, &mut |pulse| stage.tick(pulse))?;
        let kind = if of_edges { "edges" } else { "vertices" };
        stage.end(&format!("{} {kind}, {}", batches.elements(), line(&outcome)));
        all = Some(match all {
            None => outcome,
            Some(before) => together(before, &outcome),
        });
    }
    all.context("there were two steps")
}

/// One load after the other as one job.
fn together(mut first: Outcome, second: &Outcome) -> Outcome {
    first.record.merge(&second.record);
    first.elapsed += second.elapsed;
    first.generator_cpu = sum(first.generator_cpu, second.generator_cpu);
    first.server_cpu = sum(first.server_cpu, second.server_cpu);
    first
}

fn sum(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    Some(one? + other?)
}

/// One line for the person watching.
pub(super) fn line(outcome: &Outcome) -> String {
    let cpu = |cpu: Option<Duration>| cpu.map_or("?".to_owned(), |cpu| format!("{:.2} s", cpu.as_secs_f64()));
    format!(
        "{} requests in {:.3} s, {} errors, CPU: server {}, generator {}",
        outcome.record.calls(),
        outcome.elapsed.as_secs_f64(),
        outcome.record.failures(),
        cpu(outcome.server_cpu),
        cpu(outcome.generator_cpu),
    )
}

/// GETs, dealt out to users.
pub(super) struct Questions<'a> {
    row: &'a Row,
    network: &'a Network,
    place: &'a Place,
    targets: &'a [u32],
    users: usize,
    /// Whether answers are looked at: not those of the floor.
    looks: bool,
    found: Mutex<Vec<(usize, Found)>>,
}

/// What an answer said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// So many edges.
    Edges(u32),
    /// This body.
    Body(Vec<u8>),
}

impl<'a> Questions<'a> {
    pub(super) fn new(
        row: &'a Row,
        (network, place): (&'a Network, &'a Place),
        targets: &'a [u32],
        users: usize,
        looks: bool,
    ) -> Self {
        Self { row, network, place, targets, users, looks, found: Mutex::default() }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self.row.test {
            Test::Neighbours => index(self.network.vertices),
            Test::ShortestPath => self.targets.len(),
            Test::KOut | Test::KNeighbor => SOURCES.len(),
            Test::Insert | Test::Adjacent | Test::Louvain => 0,
        }
    }

    /// What was answered, in the order of the questions.
    pub(super) fn into_found(self) -> Vec<Found> {
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(question, _)| *question);
        found.into_iter().map(|(_, found)| found).collect()
    }

    fn path(&self, question: usize, out: &mut Vec<u8>) {
        let walk = |name: &str, source: u32, depth: u32| {
            let source = self.place.id(source);
            format!(
                "/traversers/{name}?source={source}&direction=BOTH&max_depth={depth}&max_degree=-1&capacity=-1"
            )
        };
        let text = match self.row.test {
            Test::ShortestPath => {
                let target = self.targets.get(question).copied().unwrap_or(0);
                format!("{}&target={}", walk("shortestpath", 0, PATH_DEPTH), self.place.id(target))
            }
            Test::KOut | Test::KNeighbor => {
                let name = if self.row.test == Test::KOut { "kout" } else { "kneighbor" };
                let published = SOURCES.get(question).copied().unwrap_or(0);
                let source = source(published, self.network);
                let capacity = walk(name, source, self.row.depth);
                // The walk within a distance has no capacity.
                let text =
                    if self.row.test == Test::KOut { capacity } else { capacity.replace("&capacity=-1", "") };
                format!("{text}&limit=-1")
            }
            _ => format!(
                "/graph/edges?vertex_id={}&direction=BOTH&limit={EDGES_MAX}",
                self.place.first + question as u64
            ),
        };
        out.extend_from_slice(self.place.path.as_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

impl Scenario for Questions<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        Box::new(Asker { questions: self, next: seat.user, asked: 0, found: Vec::new() })
    }
}

struct Asker<'a> {
    questions: &'a Questions<'a>,
    next: usize,
    asked: usize,
    found: Vec<(usize, Found)>,
}

impl Session for Asker<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        if self.next >= self.questions.count() {
            return None;
        }
        request.start("GET");
        self.questions.path(self.next, &mut request.path);
        self.asked = self.next;
        self.next += self.questions.users;
        Some(Call::expecting(200))
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        let Some((_, body)) = answer.filter(|_| self.questions.looks) else { return };
        let found = if self.questions.row.test == Test::Neighbours {
            let edges = memmem::find_iter(&plain(body), br#""outV":"#).count();
            Found::Edges(u32::try_from(edges).unwrap_or(u32::MAX))
        } else {
            Found::Body(body.to_vec())
        };
        self.found.push((self.asked, found));
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        self.questions.found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

/// Sends the questions.
pub(super) fn ask(load: &Load, questions: &Questions<'_>, name: &str) -> Result<Outcome> {
    let mut stage = Stage::begin(name, Some(questions.count() as u64));
    let outcome = run_closed(load, Limits::default(), questions, &mut |pulse| stage.tick(pulse))?;
    stage.end(&line(&outcome));
    Ok(outcome)
}

/// The numbers in the list `member` of an answer.
///
/// # Errors
///
/// If there is no such list, or something else in it.
pub(super) fn numbers(place: &Place, body: &[u8], member: &str) -> Result<Vec<u32>> {
    let json = parsed(body)?;
    let list = json.get(member).and_then(Json::as_array).with_context(|| format!("no {member} in {json}"))?;
    list.iter().map(|id| place.vertex(id)).collect()
}

/// Times what is asked one after the other; looking at the answers does not count.
struct Clock {
    record: Record,
    elapsed: Duration,
    pid: Option<u32>,
    server_before: Option<Duration>,
}

impl Clock {
    fn start(pid: Option<u32>) -> Self {
        let server_before = pid.and_then(process::cpu_time);
        Self { record: Record::new(), elapsed: Duration::ZERO, pid, server_before }
    }

    fn time<T>(&mut self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let answer = call();
        let took = begun.elapsed();
        self.elapsed += took;
        match &answer {
            Ok(_) => self.record.success(took, self.elapsed, 0),
            Err(error) => self.record.failure("call", self.elapsed, || format!("{error:#}")),
        }
        answer
    }

    fn finish(self) -> Outcome {
        let server = self.pid.and_then(process::cpu_time);
        Outcome {
            record: self.record,
            elapsed: self.elapsed,
            generator_cpu: None,
            server_cpu: self.server_before.zip(server).map(|(before, after)| after.saturating_sub(before)),
            out_of_time: false,
            usage: Vec::new(),
        }
    }
}

/// Scans all edges, page by page: how many have both ends, and the sum of these.
pub(super) fn scan_edges(rest: &mut Rest, place: &Place, pid: Option<u32>) -> (Outcome, (u64, u64)) {
    let mut clock = Clock::start(pid);
    let mut totals = (0, 0);
    // What failed is in the record.
    let _ = scan(rest, place, &mut clock, &mut totals);
    (clock.finish(), totals)
}

fn scan(rest: &mut Rest, place: &Place, clock: &mut Clock, totals: &mut (u64, u64)) -> Result<()> {
    let shards = clock.time(|| rest.get("/traversers/edges/shards?split_size=1073741824"))?;
    let shards = shards.get("shards").and_then(Json::as_array).cloned().context("no shards")?;
    for shard in shards {
        let end = |name: &str| {
            shard
                .get(name)
                .and_then(Json::as_str)
                .map(encoded)
                .with_context(|| format!("no {name} in {shard}"))
        };
        let mut page = String::new();
        loop {
            let path = format!(
                "/traversers/edges/scan?start={}&end={}&page={}&page_limit={PAGE_EDGES}",
                end("start")?,
                end("end")?,
                encoded(&page)
            );
            let body = clock.time(|| rest.bytes(&path))?;
            let answer = parsed(&body)?;
            for edge in answer.get("edges").and_then(Json::as_array).context("no edges")? {
                if edge.get("label").and_then(Json::as_str) == Some(&place.link) {
                    let end = |name: &str| place.vertex(edge.get(name).unwrap_or(&Json::Null)).map(u64::from);
                    totals.0 += 1;
                    totals.1 += end("outV")? + end("inV")?;
                }
            }
            match answer.get("page") {
                Some(Json::String(next)) if !next.is_empty() => next.clone_into(&mut page),
                _ => break,
            }
        }
    }
    Ok(())
}

/// Has the server look for communities; the modularity that it says they have.
pub(super) fn find_communities(rest: &mut Rest, pid: Option<u32>) -> (Outcome, Option<f64>) {
    let mut clock = Clock::start(pid);
    // What failed is in the record.
    let found = clock.time(|| task(rest, "louvain"));
    (clock.finish(), found.ok())
}

fn task(rest: &mut Rest, algorithm: &str) -> Result<f64> {
    let answer = rest.post(&format!("/jobs/algorithm/{algorithm}"), &json!({}))?;
    let id = answer.get("task_id").and_then(Json::as_u64).with_context(|| format!("no task in {answer}"))?;
    let begun = Instant::now();
    loop {
        let task = rest.get(&format!("/tasks/{id}"))?;
        match task.get("task_status").and_then(Json::as_str) {
            Some("success") => {
                let result = task.get("task_result").context("a task without a result")?;
                let result = result.as_str().map_or(Ok(result.clone()), serde_json::from_str)?;
                return member(&result, "modularity").with_context(|| format!("no modularity in {result}"));
            }
            Some("failed" | "cancelled") => bail!("the task failed: {task}"),
            _ => ensure!(begun.elapsed() < TASK_TIME_MAX, "the task is not done: {task}"),
        }
        std::thread::sleep(TASK_LOOK);
    }
}

/// The number of that name, however deep.
fn member(json: &Json, name: &str) -> Option<f64> {
    match json {
        Json::Object(members) => {
            let own = members.get(name).and_then(Json::as_f64);
            own.or_else(|| members.values().find_map(|json| member(json, name)))
        }
        Json::Array(items) => items.iter().find_map(|json| member(json, name)),
        _ => None,
    }
}

fn index(vertex: u32) -> usize {
    usize::try_from(vertex).expect("a u32 fits")
}
