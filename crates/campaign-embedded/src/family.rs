//! The rows of `campaign-graphs`' graph benchmarks as the frame runs them in this process.

use anyhow::{Context as _, Result};
use campaign::apart::ApartFamily;
use campaign::course::{Course, Ran, Results};
use campaign::executors::Outcome;
use campaign::findings::Findings;
use campaign::goals;
use campaign::process;
use campaign::progress::note;
use campaign::report::{RowReport, Table};
use campaign::workloads::Workload;
use campaign_graphs::graphdb::checks::{self, Answers};
use campaign_graphs::graphdb::figures;
use campaign_graphs::graphdb::network::Network;
use campaign_graphs::graphdb::rows::{Row, Test, workload};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::in_process::{complete, ensure_no_server, folder, time};
use crate::jobs;
use crate::stored::{Stored, bare_rows};

/// The graph benchmarks in process, but for the large graph.
pub const GRAPHDB_EMBEDDED: Embedded = Embedded { name: "graphdb-embedded", large: false };
/// Those of the large graph.
pub const GRAPHDB_EMBEDDED_LJ: Embedded = Embedded { name: "graphdb-embedded-lj", large: true };

/// Graph benchmarks in this process.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    name: &'static str,
    large: bool,
}

impl ApartFamily for Embedded {
    type Row = Row;

    fn workload(&self) -> Result<Workload<Row>> {
        workload(self.name, self.large)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["test", "graph", "depth", "published s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        vec![
            row.test.name().to_owned(),
            format!("{:?}", row.graph).to_lowercase(),
            if row.depth > 0 { row.depth.to_string() } else { String::new() },
            row.published.map_or(String::new(), |seconds| seconds.to_string()),
        ]
    }

    fn run(&self, course: &Course, workload: &Workload<Row>, results: &mut Results) -> Result<()> {
        ensure_no_server(course, &workload.name)?;
        results.durability = Some("sync: an insert ends when all of it is synced".to_owned());
        let runtime = Runtime::new().context("starting a runtime")?;
        for of_graph in workload.rows.chunk_by(|one, other| one.graph == other.graph) {
            let Some(first) = of_graph.first() else { continue };
            let network = first.graph.network(course.seed, course.profile);
            let mut stand = Stand { course, runtime: &runtime, network, stored: None };
            for row in of_graph {
                let report = stand.row(row, &workload.hardware)?;
                results.rows.push(report);
            }
        }
        Ok(())
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        goals::table(figures::GOALS, rows).into_iter().collect()
    }
}

/// One graph, in a store of its own once it was inserted.
struct Stand<'a> {
    course: &'a Course,
    runtime: &'a Runtime,
    network: Network,
    stored: Option<(Stored, TempDir)>,
}

impl Stand<'_> {
    /// All runs of a row, and its report.
    fn row(&mut self, row: &Row, hardware: &str) -> Result<RowReport> {
        let mut ran = Ran::default();
        let own = std::process::id();
        for _ in 0..self.course.runs {
            let reset = process::reset_peak(own);
            let (outcome, answers) = if row.test == Test::Insert { self.insert()? } else { self.job(row)? };
            let peak = process::resident_bytes(own).filter(|_| reset).map(|(_, peak)| peak);
            ran.memory_peak = ran.memory_peak.max(peak);
            note(&format!("{}: {:.3} s", row.id, outcome.elapsed.as_secs_f64()));
            let mut findings = Findings::default();
            checks::check(row, self.course.seed, &self.network, answers, &mut findings);
            ran.findings.merge(findings);
            ran.outcomes.push(outcome);
        }
        if self.course.with_floor {
            ran.floor = self.floor(row)?;
        }
        let how = ["in process, one thread asking, through the API of the model, as published; memory is that of this process, the generated \
                    edges included"
            .to_owned()];
        let mut report = figures::report((row, hardware), self.course, &self.network, &ran.outcomes, &how);
        report.users = 1;
        let (_, items) = row.items(&self.network);
        report.floor_throughput =
            ran.floor.as_ref().map(|floor| items as f64 / floor.elapsed.as_secs_f64().max(1e-9));
        complete(&row.id, &mut report, ran);
        Ok(report)
    }

    /// Inserts the graph into a fresh store, which is the graph's from then on.
    fn insert(&mut self) -> Result<(Outcome, Answers)> {
        let (stored, folder) = self.open()?;
        let network = &self.network;
        let (outcome, inserted) = time(|| self.runtime.block_on(stored.insert(network)));
        inserted?;
        let counted = self.runtime.block_on(jobs::count(&stored))?;
        self.stored = Some((stored, folder));
        Ok((outcome, counted))
    }

    fn job(&mut self, row: &Row) -> Result<(Outcome, Answers)> {
        if self.stored.is_none() {
            self.insert()?;
        }
        let (stored, _) = self.stored.as_ref().context("it was inserted just above")?;
        let (seed, network) = (self.course.seed, &self.network);
        let (outcome, answers) = time(|| self.runtime.block_on(jobs::run(stored, row, seed, network)));
        Ok((outcome, answers?))
    }

    /// The same rows through the store alone, where that says something.
    fn floor(&self, row: &Row) -> Result<Option<Outcome>> {
        let Some((stored, _)) = &self.stored else { return Ok(None) };
        let both = match row.test {
            Test::Insert => {
                let rows = bare_rows(&self.network);
                let (bare, _folder) = self.open()?;
                let (outcome, done) = time(|| self.runtime.block_on(bare.insert_bare(rows)));
                return done.map(|()| Some(outcome));
            }
            Test::Neighbours => true,
            Test::Adjacent => false,
            Test::ShortestPath | Test::KOut | Test::KNeighbor | Test::Louvain => return Ok(None),
        };
        let (outcome, done) = time(|| self.runtime.block_on(jobs::scan_bare(stored, both)));
        done.map(|_| Some(outcome))
    }

    fn open(&self) -> Result<(Stored, TempDir)> {
        let folder = folder(self.course)?;
        let stored = self.runtime.block_on(Stored::open(&folder.path().join("data")))?;
        Ok((stored, folder))
    }
}
