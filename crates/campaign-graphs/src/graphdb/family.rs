//! The families as the frame runs them over HTTP.

use anyhow::{Context as _, Result};
use campaign::course::{Course, Ran, with_memory_peak};
use campaign::executors::Outcome;
use campaign::family::{Bench, Family, Loaded, Sharing};
use campaign::findings::Findings;
use campaign::goals;
use campaign::report::{RowReport, Table};
use campaign::target::Source;
use campaign::workloads::Workload;

use crate::rest::Rest;

use super::checks::{self, Answers};
use super::figures;
use super::jobs::{self, Found, Place, Questions, numbers};
use super::network::Network;
use super::rows::{Row, Test, targets, workload};

/// Users that insert at once.
const INSERT_USERS: usize = 4;
/// Users that ask for neighbours at once.
const NEIGHBOUR_USERS: usize = 8;

/// The graph benchmarks that HugeGraph published, but for the large graph.
pub const GRAPHDB: GraphDb = GraphDb { name: "graphdb", large: false };
/// Those of the large graph.
pub const GRAPHDB_LJ: GraphDb = GraphDb { name: "graphdb-lj", large: true };

/// Graph benchmarks over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct GraphDb {
    name: &'static str,
    large: bool,
}

/// A graph, and where it is on a server.
#[derive(Debug)]
pub struct Stored {
    network: Network,
    place: Place,
    /// Whether its vertices and edges are there.
    inserted: bool,
}

impl Family for GraphDb {
    type Row = Row;
    type Set = Stored;
    type Answers = Result<Answers>;

    fn workload(&self) -> Result<Workload<Row>> {
        workload(self.name, self.large)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["test", "graph", "depth", "vertices", "edges", "published s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let (vertices, edges) = row.graph.published();
        vec![
            row.test.name().to_owned(),
            format!("{:?}", row.graph).to_lowercase(),
            if row.depth > 0 { row.depth.to_string() } else { String::new() },
            vertices.to_string(),
            edges.map_or("planted".to_owned(), |edges| edges.to_string()),
            row.published.map_or(String::new(), |seconds| seconds.to_string()),
        ]
    }

    /// Rows of one graph share a server.
    fn sharing(&self, _course: &Course, row: &Row) -> Sharing {
        Sharing { server: Vec::new(), set: Some(format!("{:?}", row.graph)) }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stored, Option<Outcome>)> {
        let Bench { course, row, target, name, .. } = bench;
        let mut rest = Rest::new(target)?;
        let place = Place::new(rest.graph, row.graph);
        jobs::create_schema(&mut rest, &place).context("creating the schema")?;
        let network = row.graph.network(course.seed, course.profile);
        let mut stored = Stored { network, place, inserted: false };
        if row.test == Test::Insert {
            return Ok((stored, None));
        }
        let load = bench.load(INSERT_USERS);
        let outcome = jobs::insert(&load, &stored.network, &stored.place, name)?;
        stored.inserted = true;
        Ok((stored, Some(outcome)))
    }

    fn rests_before_runs(&self) -> bool {
        true
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Stored, _run: u32) -> Result<Loaded<Result<Answers>>> {
        if bench.row.test == Test::Insert && set.inserted && matches!(bench.course.source, Source::Own { .. })
        {
            let mut rest = Rest::at(bench.target, set.place.path)?;
            rest.clear().context("clearing the graph before another run")?;
            jobs::create_schema(&mut rest, &set.place)?;
        }
        let ((outcome, answers), memory_peak) = with_memory_peak(bench.target, || run(bench, set))?;
        set.inserted = true;
        Ok(Loaded { outcome, memory_peak, answers })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        set: &Stored,
        _outcome: &Outcome,
        answers: Result<Answers>,
    ) -> Result<Findings> {
        let mut findings = Findings::default();
        let answers = match bench.row.test {
            Test::Insert => count(bench, set),
            _ => answers,
        };
        match answers {
            Ok(answers) => checks::check(bench.row, bench.course.seed, &set.network, answers, &mut findings),
            Err(error) => findings.note(Err(error)),
        }
        Ok(findings)
    }

    fn floor_status(&self, row: &Row) -> u16 {
        if row.test == Test::Insert { 201 } else { 200 }
    }

    /// The whole job; nothing of a scan or a task, whose next request depends on an answer.
    fn floor(&self, bench: &Bench<'_, Row>, set: &Stored) -> Result<Outcome> {
        let load = bench.load(users(bench));
        let of = (&set.network, &set.place);
        if bench.row.test == Test::Insert {
            return jobs::insert(&load, of.0, of.1, &bench.name);
        }
        let targets = targets(bench.course.seed, &set.network);
        jobs::ask(&load, &Questions::new(bench.row, of, &targets, users(bench), false), &bench.name)
    }

    fn report(&self, bench: &Bench<'_, Row>, set: &Stored, ran: &Ran<'_>) -> RowReport {
        let how = "over HTTP, every write durable; published in process".to_owned();
        let of = (bench.row, bench.workload.hardware.as_str());
        let mut report = figures::report(of, bench.course, &set.network, &ran.outcomes, &[how]);
        report.users = users(bench);
        let (_, items) = bench.row.items(&set.network);
        report.floor_throughput = ran
            .floor
            .as_ref()
            .filter(|floor| floor.record.successes() > 0)
            .map(|floor| items as f64 / floor.elapsed.as_secs_f64().max(1e-9));
        report.disk_mb = ran.folder_bytes.map(|bytes| bytes as f64 / campaign::course::figures::MEGABYTE);
        if let (0, Some(prepared)) = (ran.rows_before, ran.prepared) {
            report.setup_requests = prepared.record.calls();
            report.setup_s = prepared.elapsed.as_secs_f64();
            campaign::course::figures::add_setup_errors(&mut report, prepared);
        }
        report
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        goals::table(figures::SERVER_GOALS, rows).into_iter().collect()
    }
}

fn users(bench: &Bench<'_, Row>) -> usize {
    bench.course.users.unwrap_or(match bench.row.test {
        Test::Insert => INSERT_USERS,
        Test::Neighbours => NEIGHBOUR_USERS,
        Test::Adjacent | Test::ShortestPath | Test::KOut | Test::KNeighbor | Test::Louvain => 1,
    })
}

/// The job of a row, and what it answered.
fn run(bench: &Bench<'_, Row>, set: &Stored) -> Result<(Outcome, Result<Answers>)> {
    let (row, pid) = (bench.row, bench.target.pid);
    let load = bench.load(users(bench));
    match row.test {
        Test::Insert => {
            let outcome = jobs::insert(&load, &set.network, &set.place, &bench.name)?;
            Ok((outcome, Ok(Answers::Inserted(0, 0))))
        }
        Test::Adjacent => {
            let (outcome, (edges, ends)) =
                jobs::scan_edges(&mut Rest::at(bench.target, set.place.path)?, &set.place, pid);
            Ok((outcome, Ok(Answers::Ends(edges, ends))))
        }
        Test::Louvain => {
            let (outcome, found) = jobs::find_communities(&mut Rest::at(bench.target, set.place.path)?, pid);
            Ok((outcome, found.map(Answers::Modularity).context("no communities were found")))
        }
        Test::Neighbours | Test::ShortestPath | Test::KOut | Test::KNeighbor => {
            let targets = targets(bench.course.seed, &set.network);
            let of = (&set.network, &set.place);
            let questions = Questions::new(row, of, &targets, load.users, true);
            let outcome = jobs::ask(&load, &questions, &bench.name)?;
            Ok((outcome, answers((row.test, &set.place), &questions.into_found())))
        }
    }
}

fn answers((test, place): (Test, &Place), found: &[Found]) -> Result<Answers> {
    if test == Test::Neighbours {
        let degree = |found: &Found| match found {
            Found::Edges(edges) => *edges,
            Found::Body(_) => 0,
        };
        return Ok(Answers::Degrees(found.iter().map(degree).collect()));
    }
    let member = if test == Test::ShortestPath { "path" } else { "vertices" };
    let lists: Result<Vec<Vec<u32>>> = found
        .iter()
        .map(|found| match found {
            Found::Body(body) => numbers(place, body, member),
            Found::Edges(_) => Ok(Vec::new()),
        })
        .collect();
    Ok(if test == Test::ShortestPath { Answers::Paths(lists?) } else { Answers::Reached(lists?) })
}

/// How many vertices and edges the server has, by lists of them, page by page.
fn count(bench: &Bench<'_, Row>, set: &Stored) -> Result<Answers> {
    let mut rest = Rest::at(bench.target, set.place.path)?;
    let pages = |elements: usize| elements / 1_000 + 2;
    let vertices = usize::try_from(set.network.vertices)?;
    let vertices = rest.count("vertices", &set.place.node, pages(vertices))?;
    let edges = rest.count("edges", &set.place.link, pages(set.network.edges.len()))?;
    Ok(Answers::Inserted(vertices, edges))
}
