//! The family as the frame runs it.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value as Json, json};

use campaign::course::{Course, Ran, with_memory_peak};
use campaign::executors::open::{Arrivals, run_open};
use campaign::executors::search::{Rule, Step, largest_rate};
use campaign::executors::{Limits, Outcome, run_closed};
use campaign::family::{Bench, Family, Loaded, Sharing};
use campaign::findings::Findings;
use campaign::goals;
use campaign::progress::Stage;
use campaign::report::{RowReport, Table};
use campaign::target::Source;
use campaign::workloads::Workload;

use super::people::People;
use super::requests::{Requests, Sample};
use super::rows::{Arrival, Row, Work, steps_max};
use super::stock::{Span, Stock};
use super::{GOALS, checks, figures};
use crate::rest::Rest;

/// The published stop rule, and that a rate is borne only if the answers keep up.
const RULE: Rule = Rule { error_share_max: 0.0, p95_ms_max: None, answered_share_min: 0.9 };
/// How close a search comes to the highest rate.
const PRECISION: f64 = 0.06;
/// Users that write what reading rows read, and elements of each of their requests.
const PRELOAD: (usize, u64) = (4, 500);
/// Samples of a load's answers that are looked at, over all users.
const SAMPLES: usize = 200;

/// The REST load tests that HugeGraph published.
#[derive(Debug, Clone, Copy)]
pub struct HugeGraph;

impl Family for HugeGraph {
    type Row = Row;
    type Set = Stock;
    type Answers = Vec<Sample>;

    fn workload(&self) -> Result<Workload<Row>> {
        let mut workload: Workload<Row> = Workload::parse(include_str!("../../workloads/hugegraph.toml"))?;
        workload.rows = workload.rows.into_iter().flat_map(Row::expanded).collect();
        Ok(workload)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["request", "elements", "load", "connections", "published/s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let arrival = match row.arrival {
            Arrival::Search => "search",
            Arrival::Closed => "closed",
            Arrival::Open => "1/s each",
        };
        vec![
            row.work.name().to_owned(),
            row.batch.to_string(),
            arrival.to_owned(),
            row.connections.to_string(),
            row.published.rate.to_string(),
        ]
    }

    /// Reading rows share a graph, writing rows have fresh servers.
    fn sharing(&self, course: &Course, row: &Row) -> Sharing {
        let set = row.work.reads().then(|| format!("{:?}", row.preload(course.profile)));
        Sharing { server: Vec::new(), set }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stock, Option<Outcome>)> {
        let Bench { course, row, target, .. } = bench;
        let mut rest = Rest::new(target)?;
        let label = create_schema(&mut rest).context("creating the schema")?;
        let (people, edges) = row.preload(course.profile);
        let seed = (course.seed << 16) | row.stream();
        let mut stock = Stock::new(People::new(seed, people), rest.graph, label);
        if people == 0 {
            return Ok((stock, None));
        }
        let mut written = preload(bench, &mut stock, (Work::VertexBatch, people))?;
        learn_edge_id(&mut stock, &mut rest)?;
        if edges > 0 {
            let of_edges = preload(bench, &mut stock, (Work::EdgeBatch, edges))?;
            written.record.merge(&of_edges.record);
            written.elapsed += of_edges.elapsed;
        }
        stock.preloaded = (people, edges);
        Ok((stock, Some(written)))
    }

    fn rests_before_runs(&self) -> bool {
        true
    }

    fn load(&self, bench: &Bench<'_, Row>, stock: &mut Stock, run: u32) -> Result<Loaded<Vec<Sample>>> {
        let (target, stream) = (bench.target, (bench.row.stream() << 8) | u64::from(run & 0xFF));
        let ((outcome, samples), memory_peak) = with_memory_peak(target, || match bench.row.arrival {
            Arrival::Search => search(bench, stock, stream),
            Arrival::Closed | Arrival::Open => {
                let mut requests = Requests::new(bench.row, stock, users(bench), stream);
                requests.samples_per_user = SAMPLES.div_ceil(requests.users);
                let outcome = send(bench, &requests)?;
                let (span, samples) = requests.finish(outcome.record.failures() > 0);
                note(stock, bench.row.work, span);
                Ok((outcome, samples))
            }
        })?;
        Ok(Loaded { outcome, memory_peak, answers: samples })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        stock: &Stock,
        _outcome: &Outcome,
        samples: Vec<Sample>,
    ) -> Result<Findings> {
        let Bench { course, row, target, .. } = bench;
        let mut findings = Findings::default();
        checks::answers(stock, (row.work, row.batch), &samples, &mut findings);
        if !row.work.reads() {
            let fresh = matches!(course.source, Source::Own { .. });
            let mut rest = Rest::at(target, stock.graph)?;
            checks::read_back(stock, row.work.of_edges(), fresh, &mut rest, &mut findings);
        }
        Ok(findings)
    }

    fn floor_status(&self, row: &Row) -> u16 {
        if row.work.reads() { 200 } else { 201 }
    }

    /// Of a search, what the floor answers in a closed loop: it bears any rate that the generator makes.
    fn floor(&self, bench: &Bench<'_, Row>, stock: &Stock) -> Result<Outcome> {
        let (course, users) = (bench.course, users(bench));
        let requests = Requests::new(bench.row, stock, users, 0);
        let duration = course.profile.floor_time();
        let load = bench.load(users);
        let mut stage = Stage::begin(&bench.name, None);
        let outcome = if bench.row.arrival == Arrival::Open {
            let arrivals = Arrivals { rate: users as f64, duration };
            run_open(&load, arrivals, &requests, &mut |pulse| stage.tick(pulse))?
        } else {
            let limits = Limits { iterations: None, duration: Some(duration) };
            run_closed(&load, limits, &requests, &mut |pulse| stage.tick(pulse))?
        };
        stage.end(&figures::line(&outcome));
        Ok(outcome)
    }

    fn report(&self, bench: &Bench<'_, Row>, stock: &Stock, ran: &Ran<'_>) -> RowReport {
        figures::report(bench, stock, ran)
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        goals::table(GOALS, rows).into_iter().collect()
    }
}

fn users(bench: &Bench<'_, Row>) -> usize {
    bench.course.users.unwrap_or(bench.row.connections)
}

/// Adds what a load wrote to what there is.
fn note(stock: &mut Stock, work: Work, span: Span) {
    match work {
        Work::Vertex | Work::VertexBatch => stock.vertices.add(span),
        Work::Edge | Work::EdgeBatch => stock.edges.add(span),
        Work::VertexGet | Work::EdgeGet => {}
    }
}

/// Sends the requests of a row that is no search.
fn send(bench: &Bench<'_, Row>, requests: &Requests<'_>) -> Result<Outcome> {
    let duration = bench.row.duration(bench.course.profile);
    let load = bench.load(requests.users);
    let mut stage = Stage::begin(&bench.name, None);
    let outcome = if bench.row.arrival == Arrival::Open {
        let arrivals = Arrivals { rate: requests.users as f64, duration };
        run_open(&load, arrivals, requests, &mut |pulse| stage.tick(pulse))?
    } else {
        let limits = Limits { iterations: None, duration: Some(duration) };
        run_closed(&load, limits, requests, &mut |pulse| stage.tick(pulse))?
    };
    stage.end(&figures::line(&outcome));
    Ok(outcome)
}

/// Raises the rate until the server does not bear it; the outcome is that of the highest rate that it bore, else of the
/// last step.
fn search(bench: &Bench<'_, Row>, stock: &mut Stock, stream: u64) -> Result<(Outcome, Vec<Sample>)> {
    let (row, course, users) = (bench.row, bench.course, users(bench));
    let duration = row.duration(course.profile);
    let mut steps: Vec<(f64, Outcome, Vec<Sample>)> = Vec::new();
    let mut stage = Stage::begin(&bench.name, None);
    let mut run = |rate: f64| {
        let mut requests = Requests::new(row, stock, users, (stream << 8) | (steps.len() as u64 & 0xFF));
        requests.samples_per_user = SAMPLES.div_ceil(users);
        let arrivals = Arrivals { rate, duration };
        let outcome = run_open(&bench.load(users), arrivals, &requests, &mut |pulse| stage.tick(pulse))?;
        let (span, samples) = requests.finish(outcome.record.failures() > 0);
        note(stock, row.work, span);
        let (calls, failures) = (outcome.record.calls(), outcome.record.failures());
        let step = Step {
            rate,
            throughput: outcome.throughput(),
            error_share: failures as f64 / calls.max(1) as f64,
            p95_ms: outcome.record.percentile_ms(95.0),
        };
        steps.push((rate, outcome, samples));
        Ok(step)
    };
    let found = largest_rate(&RULE, row.first_rate(), PRECISION, steps_max(course.profile), &mut run)?;
    let wanted = found.best.map(|best| best.rate);
    let best = steps.iter().rposition(|(rate, ..)| Some(*rate) == wanted).unwrap_or(steps.len() - 1);
    let (_, outcome, samples) = steps.swap_remove(best);
    stage.end(&format!("{}; {}", figures::search(&found), figures::line(&outcome)));
    stock.searches.push((row.id.clone(), figures::search(&found)));
    Ok((outcome, samples))
}

/// Writes the first `count` people or acquaintances, as fast as may be.
fn preload(bench: &Bench<'_, Row>, stock: &mut Stock, (work, count): (Work, u64)) -> Result<Outcome> {
    let (users, batch) = PRELOAD;
    let row = Row { work, batch, check_vertex: false, ..bench.row.clone() };
    let mut requests = Requests::new(&row, stock, users, 0);
    let end = requests.base + count;
    requests.until = Some(end);
    let mut stage = Stage::begin(&bench.name, Some(count.div_ceil(batch)));
    let outcome =
        run_closed(&bench.load(users), Limits::default(), &requests, &mut |pulse| stage.tick(pulse))?;
    let (span, _) = requests.finish(outcome.record.failures() > 0);
    stage.end(&format!("{} {}; {}", span.count(), work.name(), figures::line(&outcome)));
    note(stock, work, span);
    Ok(outcome)
}

/// The schema of people who know each other; the id of the label of people.
fn create_schema(rest: &mut Rest) -> Result<String> {
    for (name, data_type) in
        [("name", "TEXT"), ("age", "INT"), ("city", "TEXT"), ("date", "TEXT"), ("weight", "DOUBLE")]
    {
        let draft = json!({"name": name, "data_type": data_type, "cardinality": "SINGLE"});
        rest.create("propertykeys", &draft)?;
    }
    rest.create(
        "vertexlabels",
        &json!({"name": "person", "id_strategy": "PRIMARY_KEY", "primary_keys": ["name"],
            "properties": ["name", "age", "city"], "nullable_keys": [], "enable_label_index": true}),
    )?;
    rest.create(
        "edgelabels",
        &json!({"name": "knows", "source_label": "person", "target_label": "person", "frequency": "SINGLE",
            "sort_keys": [], "properties": ["date", "weight"], "nullable_keys": [],
            "enable_label_index": true}),
    )?;
    let label = rest.get("/schema/vertexlabels/person")?;
    match label.get("id") {
        Some(Json::Number(id)) => Ok(id.to_string()),
        other => bail!("the label \"person\" has the id {other:?}"),
    }
}

/// Writes the first acquaintance alone: its id shows how this server writes them. It is written again with the others.
fn learn_edge_id(stock: &mut Stock, rest: &mut Rest) -> Result<()> {
    let mut body = Vec::new();
    stock.people.edge(&stock.label, 0, &mut body);
    let answer = rest.post("/graph/edges", &serde_json::from_slice(&body)?)?;
    let id = answer.get("id").and_then(Json::as_str).context("the answer to an edge has no id")?;
    anyhow::ensure!(stock.learn_edge_id(0, id), "the edge has the id {id}");
    Ok(())
}
