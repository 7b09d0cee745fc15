//! The family as the frame runs it over HTTP.

use anyhow::{Context as _, Result};
use campaign::course::figures::MEGABYTE;
use campaign::course::{Course, Ran, with_memory_peak};
use campaign::executors::{Limits, Outcome, run_closed};
use campaign::family::{Bench, Family, Loaded, Sharing};
use campaign::findings::Findings;
use campaign::progress::note;
use campaign::report::{RowReport, Table};
use campaign::scenario::{Call, Fixed};
use campaign::workloads::Workload;

use super::checks::Check;
use super::figures;
use super::jobs::{Job, Stand};
use super::rows::{Mode, Row, workload};
use crate::rest::{Cps, Dataspace};

/// The performance tests of CPS, over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct CpsLimits;

/// What a job leaves to be checked.
#[derive(Debug)]
pub struct Answers {
    bodies: Vec<Vec<u8>>,
    dataspace: Dataspace,
    checks: Vec<Check>,
    leftovers: Vec<String>,
}

impl Family for CpsLimits {
    type Row = Row;
    type Set = Stand;
    type Answers = Result<Answers>;

    fn workload(&self) -> Result<Workload<Row>> {
        workload("cps-limits", Mode::Remote)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["job", "expected s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        vec![row.test.clone(), row.expected.to_string()]
    }

    /// All rows share a server: they have anchors of their own, or read the same ones.
    fn sharing(&self, _course: &Course, _row: &Row) -> Sharing {
        Sharing { server: Vec::new(), set: Some("limits".to_owned()) }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stand, Option<Outcome>)> {
        Ok((Stand::new(&mut Cps::new(bench.target)?, bench.course.seed)?, None))
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Stand, _run: u32) -> Result<Loaded<Result<Answers>>> {
        let load = bench.load(1);
        let prepared = set.job(&mut Cps::new(bench.target)?, bench.row, bench.course.profile);
        let Job { script, dataspace, checks, leftovers } = match prepared {
            Ok(job) => job,
            Err(error) => {
                note(&format!("{}: {error:#}", bench.name));
                let outcome = nothing(bench)?;
                let answers = Err(error.context("what must be there before the job"));
                return Ok(Loaded { outcome, memory_peak: None, answers });
            }
        };
        let ((outcome, bodies), memory_peak) =
            with_memory_peak(bench.target, || script.run(&load, &bench.name))?;
        let answers = Ok(Answers { bodies, dataspace, checks, leftovers });
        Ok(Loaded { outcome, memory_peak, answers })
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        _set: &Stand,
        _outcome: &Outcome,
        answers: Result<Answers>,
    ) -> Result<Findings> {
        let mut findings = Findings::default();
        let Answers { bodies, dataspace, checks, leftovers } = match answers {
            Ok(answers) => answers,
            Err(error) => {
                findings.note(Err(error));
                return Ok(findings);
            }
        };
        let mut cps = Cps::new(bench.target)?;
        for check in &checks {
            check.run(&mut cps, &dataspace, &bodies, &mut findings);
        }
        for anchor in leftovers {
            let deleted = cps.send("DELETE", &dataspace.anchor(&anchor), b"", 204);
            findings.note(deleted.map(drop).context("cleaning up"));
        }
        Ok(findings)
    }

    fn floor_status(&self, _row: &Row) -> u16 {
        200
    }

    fn floor(&self, bench: &Bench<'_, Row>, set: &Stand) -> Result<Outcome> {
        match &set.last {
            Some(script) => script.run_on_floor(&bench.load(1), &bench.name, 200),
            None => nothing(bench),
        }
    }

    fn report(&self, bench: &Bench<'_, Row>, _set: &Stand, ran: &Ran<'_>) -> RowReport {
        let how =
            ["one user over HTTP, every write durable; expected of the Java API, in process".to_owned()];
        let of = (bench.row, bench.workload.hardware.as_str());
        let mut report = figures::report(of, bench.course, &ran.outcomes, &how);
        let items = (bench.row.count(bench.course.profile) * bench.row.repeat as u64) as f64;
        let floor = ran.floor.as_ref().filter(|floor| floor.record.successes() > 0);
        report.floor_throughput = floor.map(|floor| items / floor.elapsed.as_secs_f64().max(1e-9));
        report.disk_mb = ran.folder_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        report
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        figures::factors(rows).into_iter().collect()
    }
}

/// The outcome of a load in which nothing was sent.
fn nothing(bench: &Bench<'_, Row>) -> Result<Outcome> {
    let none = Fixed {
        headers: String::new(),
        method: "GET",
        path: "/".to_owned(),
        body: Vec::new(),
        call: Call::expecting(200),
        calls: Some(0),
    };
    run_closed(&bench.load(1), Limits::default(), &none, &mut |_| {})
}
