//! The rows of the family from the first to the last: servers and sets come and go, jobs run, what they wrote is
//! read back, floors are measured.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};

use crate::course::{Course, Results, await_rest};
use crate::executors::{Limits, Load, Outcome, run_closed};
use crate::floor::{Floor, FloorArgs};
use crate::peer::{self, Installed};
use crate::process;
use crate::progress::{Stage, note};
use crate::report::RowReport;
use crate::stellio::checks::Findings;
use crate::target::{Source, Target};
use crate::workloads::Family;

use super::bodies::Pieces;
use super::jobs::{Job, Task};
use super::rows::{Form, Row, Work};
use super::series::{Data, Versions};
use super::{compression, figures, goals};

/// The longest one request of a job may take: an answer may carry 36 million points.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(1_800);
/// Users that write the set of a reading row, which is not measured.
const SETUP_USERS: usize = 4;
/// Series of one request of theirs.
const SETUP_SERIES: usize = 100;

/// What the runs of one row left.
pub(super) struct Ran {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) findings: Findings,
    pub(super) floor: Option<Outcome>,
    pub(super) resident: Option<(u64, u64)>,
    pub(super) row_peak: Option<u64>,
    pub(super) setup: Option<Outcome>,
}

/// A server, and what was stored on it.
pub(super) struct Stand {
    pub(super) target: Target,
    /// The set that reading rows share.
    set: Option<(Data, Outcome)>,
    key: Key,
    pub(super) points: u64,
    /// Places in the results of the rows that ran on it.
    rows: Vec<usize>,
}

/// What rows must have in common to share a server: series, values and worker threads.
type Key = (usize, usize, Option<usize>);

/// A campaign of this family under way.
pub(super) struct Runner<'a> {
    pub(super) course: &'a Course,
    pub(super) family: &'a Family<Row>,
    pub(super) results: Results,
}

/// Runs the rows of `family` one after the other, then `peers` with the same points.
///
/// Our own server starts afresh for each writing row; reading rows of one shape share one. Rows of the compression
/// table share two servers, one with compressed series and one without. Somebody else's server is used as it is.
///
/// # Errors
///
/// If no server can be had before the first row. What fails later is in the results.
pub fn run(course: &Course, family: &Family<Row>, peers: &[Installed]) -> Result<Results> {
    let mut runner = Runner { course, family, results: Results::default() };
    let ran = runner.all_rows();
    runner.results.kept(ran)?;
    runner.results.tables.splice(0..0, goals::table(&runner.results.rows));
    for peer in peers {
        let ran = peer::rows(course, &family.rows, peer, &mut runner.results.rows);
        runner.results.kept(ran)?;
    }
    Ok(runner.results)
}

impl Runner<'_> {
    /// The rows of our own.
    fn all_rows(&mut self) -> Result<()> {
        let (course, family, runner) = (self.course, self.family, self);
        let mut stand: Option<Stand> = None;
        for row in family.rows.iter().filter(|row| row.work != Work::Overwrite) {
            let (series, _) = course.profile.series(row);
            let key = (series, row.values, row.workers);
            let kept = match stand.take() {
                Some(stand) if row.work == Work::Read && stand.set.is_some() && stand.key == key => stand,
                old => {
                    runner.leave(old);
                    runner.enter(row, key)?
                }
            };
            let kept = stand.insert(kept);
            let report = runner.row(row, kept)?;
            kept.rows.push(runner.results.rows.len());
            runner.results.rows.push(report);
        }
        runner.leave(stand);
        let table: Vec<&Row> = family.rows.iter().filter(|row| row.work == Work::Overwrite).collect();
        if !table.is_empty() {
            compression::run(runner, &table)?;
        }
        Ok(())
    }

    /// A fresh server; for reading rows, with their set on it.
    fn enter(&mut self, row: &Row, key: Key) -> Result<Stand> {
        let mut stand = self.stand(row.workers, key)?;
        if row.work == Work::Read {
            let data = self.data(row, "set");
            let outcome = self.fill(&stand.target, &data, true, &format!("{} setup", row.id))?;
            stand.points += data.points();
            stand.set = Some((data, outcome));
        }
        Ok(stand)
    }

    pub(super) fn stand(&mut self, workers: Option<usize>, key: Key) -> Result<Stand> {
        let more =
            workers.map(|workers| vec!["--threads".to_owned(), workers.to_string()]).unwrap_or_default();
        let target = self.course.source.open_with(&more)?;
        self.course.ask(&target, &mut self.results);
        Ok(Stand { target, set: None, key, points: 0, rows: Vec::new() })
    }

    /// The points of a row; `name` tells its series from those of others.
    pub(super) fn data(&self, row: &Row, name: &str) -> Data {
        let (series, _) = self.course.profile.series(row);
        let seed = self.course.seed;
        Data::new(row, series, &format!("campaign.{seed}.{}.{series}.{name}.", row.minutes), seed)
    }

    /// Stops the server and notes for its rows what it left on the disk.
    fn leave(&mut self, stand: Option<Stand>) {
        let Some(stand) = stand else { return };
        let (points, rows) = (stand.points, stand.rows.clone());
        let bytes = self.weigh(stand);
        for place in rows {
            let Some(row) = self.results.rows.get_mut(place) else { continue };
            row.disk_mb = bytes.map(|bytes| bytes as f64 / figures::MEGABYTE);
            row.disk_bytes_per_point = bytes.filter(|_| points > 0).map(|bytes| bytes as f64 / points as f64);
        }
    }

    /// Lets the server come to rest, stops it, and weighs its folder.
    pub(super) fn weigh(&mut self, stand: Stand) -> Option<u64> {
        await_rest(stand.target.pid, self.course.profile.rest_time_max());
        match stand.target.close_and_weigh() {
            Ok(bytes) => bytes,
            Err(error) => {
                note(&format!("the server failed: {error:#}"));
                self.results.faults.push(format!("{error:#}"));
                None
            }
        }
    }

    fn load(&self, target: &Target, users: usize) -> Load {
        Load { timeout: self.course.timeout.max(REQUEST_TIME_MAX), ..self.course.load(target, users) }
    }

    pub(super) fn job(&self, target: &Target, job: &Job<'_>, name: &str) -> Result<Outcome> {
        let mut stage = Stage::begin(name, Some(job.requests() as u64));
        let outcome = run_closed(&self.load(target, job.users), Limits::default(), job, &mut |pulse| {
            stage.tick(pulse);
        })?;
        stage.end(&figures::line(job, &outcome));
        Ok(outcome)
    }

    /// Defines the series of `data` and writes all their points, as fast as may be.
    pub(super) fn fill(
        &self,
        target: &Target,
        data: &Data,
        compression: bool,
        name: &str,
    ) -> Result<Outcome> {
        let pieces = Pieces::new(data, (0..data.values).collect());
        let define = Job::new(data, Task::Define { compression }, &pieces, Form::Rows, (1, 1));
        let mut outcome = self.job(target, &define, &format!("{name}: definitions"))?;
        let shape = (SETUP_SERIES.min(data.series.div_ceil(SETUP_USERS)), SETUP_USERS);
        let write = Job::new(data, Task::Write { version: 0 }, &pieces, Form::Arrow, shape);
        let written = self.job(target, &write, name)?;
        outcome.record.merge(&written.record);
        outcome.elapsed += written.elapsed;
        Ok(outcome)
    }

    fn row(&mut self, row: &Row, stand: &mut Stand) -> Result<RowReport> {
        let users = self.course.users.unwrap_or(row.users);
        let (_, request_series) = self.course.profile.series(row);
        let mut ran = Ran {
            outcomes: Vec::new(),
            findings: Findings::default(),
            floor: None,
            resident: None,
            row_peak: None,
            setup: stand.set.as_ref().filter(|_| stand.rows.is_empty()).map(|(_, outcome)| outcome.clone()),
        };
        let shape = (request_series, users);
        let mut data = None;
        for run in 0..self.course.runs {
            if stand.points > 0 && (run > 0 || stand.rows.is_empty()) {
                // What the server still does behind with the set, or with the run before, is not this job's.
                await_rest(stand.target.pid, self.course.profile.rest_time_max());
            }
            let name =
                if self.course.runs > 1 { format!("{} run {}", row.id, run + 1) } else { row.id.clone() };
            match &stand.set {
                Some((set, _)) => self.read(row, (set, shape), &stand.target, &name, &mut ran)?,
                None => {
                    let fresh = self.data(row, &format!("{}.{run}", row.id));
                    self.write(row, (&fresh, shape), &stand.target, &name, &mut ran)?;
                    stand.points += fresh.points();
                    data = Some(fresh);
                }
            }
        }
        ran.resident = stand.target.pid.and_then(process::resident_bytes);
        let data = data.as_ref().or(stand.set.as_ref().map(|(set, _)| set)).context("a row without runs")?;
        ran.floor = self.floor(row, (data, shape), &stand.target, &ran)?;
        let report = figures::report(self.family, row, self.course, (data, users), &ran);
        let last_lines = stand.target.last_lines();
        if report.errors > 0 && !last_lines.is_empty() {
            note(&format!("{}: {} errors; the server's last lines:\n{last_lines}", row.id, report.errors));
        }
        Ok(report)
    }

    /// One run of a writing row: definitions, then the measured job, then all of it read back.
    fn write(
        &self,
        row: &Row,
        (data, shape): (&Data, (usize, usize)),
        target: &Target,
        name: &str,
        ran: &mut Ran,
    ) -> Result<()> {
        let pieces = Pieces::new(data, (0..data.values).collect());
        let define = Job::new(data, Task::Define { compression: true }, &pieces, Form::Rows, (1, 1));
        let defined = self.job(target, &define, &format!("{name}: definitions"))?;
        let write = Job::new(data, Task::Write { version: 0 }, &pieces, row.form, shape);
        let outcome = measured(target, ran, || self.job(target, &write, name))?;
        ran.outcomes.push(with_errors_of(outcome, &defined));
        let read = Job::new(data, Task::Read, &pieces, row.form, (SETUP_SERIES, shape.1));
        let back = self.job(target, &read, &format!("{name}: read back"))?;
        check(&read, &Versions::default(), &back, &mut ran.findings);
        Ok(())
    }

    /// One run of a reading row; the answers are scanned inside.
    fn read(
        &self,
        row: &Row,
        (data, shape): (&Data, (usize, usize)),
        target: &Target,
        name: &str,
        ran: &mut Ran,
    ) -> Result<()> {
        let pieces = Pieces::new(data, Vec::new());
        let read = Job::new(data, Task::Read, &pieces, row.form, shape);
        let outcome = measured(target, ran, || self.job(target, &read, name))?;
        check(&read, &Versions::default(), &outcome, &mut ran.findings);
        ran.outcomes.push(outcome);
        Ok(())
    }

    /// The same requests on a bare server that answers as many bytes.
    fn floor(
        &self,
        row: &Row,
        (data, shape): (&Data, (usize, usize)),
        target: &Target,
        ran: &Ran,
    ) -> Result<Option<Outcome>> {
        let answered = ran.outcomes.iter().any(|outcome| outcome.record.successes() > 0);
        if !answered || !self.course.with_floor {
            return Ok(None);
        }
        await_rest(target.pid, self.course.profile.rest_time_max());
        let body_bytes = crate::course::figures::body_bytes_mean(&ran.outcomes);
        let status = if row.work == Work::Read { 200 } else { 204 };
        let floor = Floor::start(&FloorArgs { status, body_bytes, seconds_max: 600 })
            .context("starting the floor")?;
        let pieces = Pieces::new(data, (0..data.values).collect());
        let task = if row.work == Work::Read { Task::Read } else { Task::Write { version: 0 } };
        let mut job = Job::new(data, task, &pieces, row.form, shape);
        job.scans = false;
        let load = Load {
            address: floor.address(),
            host: floor.address().to_string(),
            server_pid: Some(floor.pid()),
            ..self.load(target, shape.1)
        };
        let mut stage = Stage::begin(&format!("{} floor", row.id), Some(job.requests() as u64));
        let outcome = run_closed(&load, Limits::default(), &job, &mut |pulse| stage.tick(pulse))?;
        stage.end(&figures::line(&job, &outcome));
        Ok(Some(outcome))
    }
}

/// Runs `job` and notes how much memory the server had at most meanwhile.
fn measured(target: &Target, ran: &mut Ran, job: impl FnOnce() -> Result<Outcome>) -> Result<Outcome> {
    let reset = target.pid.is_some_and(process::reset_peak);
    let outcome = job()?;
    if let Some((_, peak)) = target.pid.filter(|_| reset).and_then(process::resident_bytes) {
        ran.row_peak = ran.row_peak.max(Some(peak));
    }
    Ok(outcome)
}

/// Errors of what had to be done before belong to the run, too.
fn with_errors_of(mut outcome: Outcome, before: &Outcome) -> Outcome {
    for (kind, errors) in &before.record.errors {
        outcome.record.errors.insert(format!("definitions: {kind}"), errors.clone());
    }
    outcome
}

/// Compares what `job` read with what must be there.
pub(super) fn check(job: &Job<'_>, versions: &Versions, outcome: &Outcome, findings: &mut Findings) {
    let mut read = 0;
    for (first, found) in job.take_found() {
        match found {
            Err(fault) => findings.note(Err(anyhow!("the answer from series {first} on: {fault}"))),
            Ok(tallies) => {
                read += tallies.len();
                for (place, tally) in tallies.iter().enumerate() {
                    let index = first + place;
                    let difference = tally.differs_from(&job.data.expected(index, versions));
                    let what = difference
                        .map_or(Ok(()), |what| Err(anyhow!("series {}: {what}", job.data.name_text(index))));
                    findings.note(what);
                }
            }
        }
    }
    if read != job.data.series {
        let errors = outcome.record.failures();
        findings.note(Err(anyhow!(
            "{read} series were answered of {} asked for, with {errors} requests failed",
            job.data.series
        )));
    }
}

/// Whether the worker threads that a row asks for were had.
pub(super) fn sets_workers(source: &Source) -> bool {
    matches!(source, Source::Own { .. })
}

#[cfg(test)]
mod tests;
