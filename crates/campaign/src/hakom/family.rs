//! The family as the frame runs it: one job a run, what was written is read back, servers are weighed when they have
//! stopped.

use anyhow::Result;

use crate::course::{Course, Ran, Results, with_memory_peak};
use crate::executors::Outcome;
use crate::family::{Bench, Family, Loaded, Sharing};
use crate::findings::Findings;
use crate::goals;
use crate::report::{RowReport, Table};
use crate::workloads::Workload;

use super::bodies::Pieces;
use super::jobs::{Found, Job, Task};
use super::rows::{Form, Row, Work};
use super::runs::{SETUP_SERIES, check, data, fill, run, server_arguments};
use super::series::{Data, Versions};
use super::{GOALS, compression, figures};

/// The load tests that HAKOM published for its time series management.
#[derive(Debug, Clone, Copy)]
pub struct Hakom;

/// What lies on a server.
#[derive(Debug)]
pub struct Stored {
    /// The series that reading rows read, or those that a writing row wrote last.
    data: Data,
    /// Points of all series, those of earlier runs included.
    points: u64,
}

/// What a run leaves to be checked.
#[derive(Debug)]
pub enum Answers {
    /// Fresh series were written: they are to be read back.
    Written,
    /// Series were read.
    Read(Vec<Found>),
}

impl Family for Hakom {
    type Row = Row;
    type Set = Stored;
    type Answers = Answers;

    fn workload(&self) -> Result<Workload<Row>> {
        let mut workload: Workload<Row> = Workload::parse(include_str!("../../workloads/hakom.toml"))?;
        workload.rows = workload.rows.into_iter().flat_map(Row::expanded).collect();
        Ok(workload)
    }

    fn columns(&self) -> &'static [&'static str] {
        &["work", "users", "series", "values", "series/request", "workers", "published/s"]
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let rate = row.published.first().map(|job| row.points() as f64 / job.seconds);
        let mut cells = vec![row.work.name().to_owned()];
        cells.extend([row.users, row.series, row.values, row.request_series].map(|size| size.to_string()));
        cells.push(row.workers.map_or(String::new(), |workers| workers.to_string()));
        cells.push(rate.map_or("a table".to_owned(), |rate| format!("{rate:.0}")));
        cells
    }

    /// Reading rows of one shape share a set, writing rows have fresh servers.
    fn sharing(&self, course: &Course, row: &Row) -> Sharing {
        let (series, _) = row.sizes(course.profile);
        let set =
            (row.work == Work::Read).then(|| format!("{series} x {} of {} min", row.values, row.minutes));
        Sharing { server: server_arguments(row), set }
    }

    fn prepare(&self, bench: &Bench<'_, Row>) -> Result<(Stored, Option<Outcome>)> {
        let data = data(bench.course, bench.row, "set");
        if bench.row.work != Work::Read {
            return Ok((Stored { data, points: 0 }, None));
        }
        let outcome = fill(bench.course, bench.target, (&data, true), &bench.name)?;
        let points = data.points();
        Ok((Stored { data, points }, Some(outcome)))
    }

    fn rests_before_runs(&self) -> bool {
        true
    }

    fn load(&self, bench: &Bench<'_, Row>, set: &mut Stored, run: u32) -> Result<Loaded<Answers>> {
        if bench.row.work == Work::Read {
            return read(bench, set);
        }
        set.data = data(bench.course, bench.row, &format!("{}.{run}", bench.row.id));
        set.points += set.data.points();
        write(bench, &set.data)
    }

    fn check(
        &self,
        bench: &Bench<'_, Row>,
        set: &Stored,
        outcome: &Outcome,
        answers: Answers,
    ) -> Result<Findings> {
        let mut findings = Findings::default();
        match answers {
            Answers::Read(found) => check(&set.data, found, &Versions::default(), outcome, &mut findings),
            Answers::Written => {
                let pieces = Pieces::new(&set.data, (0..set.data.values).collect());
                let (_, users) = shape(bench);
                let job = Job::new(&set.data, Task::Read, &pieces, bench.row.form, (SETUP_SERIES, users));
                let back = run(bench.course, bench.target, &job, &format!("{}: read back", bench.name))?;
                check(&set.data, job.take_found(), &Versions::default(), &back, &mut findings);
            }
        }
        Ok(findings)
    }

    fn floor_status(&self, row: &Row) -> u16 {
        if row.work == Work::Read { 200 } else { 204 }
    }

    /// The whole job, without scanning the answers.
    fn floor(&self, bench: &Bench<'_, Row>, set: &Stored) -> Result<Outcome> {
        let pieces = Pieces::new(&set.data, (0..set.data.values).collect());
        let task = if bench.row.work == Work::Read { Task::Read } else { Task::Write { version: 0 } };
        let mut job = Job::new(&set.data, task, &pieces, bench.row.form, shape(bench));
        job.scans = false;
        run(bench.course, bench.target, &job, &bench.name)
    }

    fn report(&self, bench: &Bench<'_, Row>, set: &Stored, ran: &Ran<'_>) -> RowReport {
        figures::report(bench, &set.data, ran)
    }

    fn weighs_folders(&self) -> bool {
        true
    }

    fn weighed(&self, set: &Stored, folder_bytes: Option<u64>, report: &mut RowReport) {
        let points = set.points;
        report.disk_mb = folder_bytes.map(|bytes| bytes as f64 / crate::course::figures::MEGABYTE);
        report.disk_bytes_per_point =
            folder_bytes.filter(|_| points > 0).map(|bytes| bytes as f64 / points as f64);
    }

    /// The compression table: it runs on two servers at once, one with compressed series and one without.
    fn is_apart(&self, row: &Row) -> bool {
        row.work == Work::Overwrite
    }

    fn run_apart(
        &self,
        course: &Course,
        _workload: &Workload<Row>,
        rows: &[&Row],
        results: &mut Results,
    ) -> Result<()> {
        compression::run(course, rows, results)
    }

    fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
        goals::table(GOALS, rows).into_iter().collect()
    }
}

/// Series of a request, and users.
fn shape(bench: &Bench<'_, Row>) -> (usize, usize) {
    let (_, request_series) = bench.row.sizes(bench.course.profile);
    (request_series, bench.course.users.unwrap_or(bench.row.users))
}

/// Definitions, then the measured job.
fn write(bench: &Bench<'_, Row>, data: &Data) -> Result<Loaded<Answers>> {
    let (course, target) = (bench.course, bench.target);
    let pieces = Pieces::new(data, (0..data.values).collect());
    let define = Job::new(data, Task::Define { compression: true }, &pieces, Form::Rows, (1, 1));
    let defined = run(course, target, &define, &format!("{}: definitions", bench.name))?;
    let job = Job::new(data, Task::Write { version: 0 }, &pieces, bench.row.form, shape(bench));
    let (outcome, memory_peak) = with_memory_peak(target, || run(course, target, &job, &bench.name))?;
    let outcome = with_errors_of(outcome, &defined);
    Ok(Loaded { outcome, memory_peak, answers: Answers::Written })
}

/// Reads the set; the answers are scanned inside the measured time.
fn read(bench: &Bench<'_, Row>, set: &Stored) -> Result<Loaded<Answers>> {
    let pieces = Pieces::new(&set.data, Vec::new());
    let job = Job::new(&set.data, Task::Read, &pieces, bench.row.form, shape(bench));
    let (outcome, memory_peak) =
        with_memory_peak(bench.target, || run(bench.course, bench.target, &job, &bench.name))?;
    let answers = Answers::Read(job.take_found());
    Ok(Loaded { outcome, memory_peak, answers })
}

/// Errors of what had to be done before belong to the run, too.
fn with_errors_of(mut outcome: Outcome, before: &Outcome) -> Outcome {
    for (kind, errors) in &before.record.errors {
        outcome.record.errors.insert(format!("definitions: {kind}"), errors.clone());
    }
    outcome
}
