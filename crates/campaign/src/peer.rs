//! Other databases with the same points in the same run: found on this machine, started on loopback with a fresh
//! folder, ended and removed afterwards.
//!
//! Each stores what it can: QuestDB and PostgreSQL the values and flags, VictoriaMetrics the values alone. What was
//! read is tallied as ours is.

pub mod process;
pub mod postgres;
mod web;
pub mod questdb;
pub mod victoriametrics;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::ValueEnum;

use crate::course::{Course, await_rest_of};
use crate::hakom::rows::{Row, Work};
use crate::hakom::series::{Data, Versions};
use crate::hakom::tally::Tally;
use crate::progress::note;
use crate::report::RowReport;
use crate::stellio::checks::Findings;

/// How long a peer may take until it answers.
const START_TIME_MAX: Duration = Duration::from_secs(60);
/// Series of one request, as in the rows of ours.
const REQUEST_SERIES: usize = 100;
/// The rows that peers run: what they are called among ours, and what they do.
const ROWS: [&str; 2] = ["H-W1", "H-R1"];

/// The databases that can be set beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// PostgreSQL: COPY in the binary form, a table without an index.
    Postgres,
    /// QuestDB: line protocol over HTTP, export as CSV.
    Questdb,
    /// VictoriaMetrics: import and export as JSON lines.
    Victoriametrics,
}

/// A database found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Which one.
    pub kind: Kind,
    /// Its programs, in the order in which its module names them.
    pub programs: Vec<PathBuf>,
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Questdb => "questdb",
            Self::Victoriametrics => "victoriametrics",
        }
    }

    /// Looks for it on this machine.
    ///
    /// # Errors
    ///
    /// If it is not there; the message says what was looked for.
    pub fn find(self) -> Result<Installed> {
        let programs = match self {
            Self::Postgres => postgres::find(),
            Self::Questdb => questdb::find(),
            Self::Victoriametrics => victoriametrics::find(),
        }?;
        Ok(Installed { kind: self, programs })
    }
}

/// What a job on a peer took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Took {
    /// From the first byte sent to the last answered.
    pub elapsed: Duration,
    /// CPU time of the peer's processes meanwhile.
    pub cpu: Option<Duration>,
    /// CPU time of this process meanwhile.
    pub generator_cpu: Option<Duration>,
}

/// What a peer keeps of a point; the rest is left out of what is expected of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keeps {
    /// Points without a value.
    pub missing: bool,
    /// Flags.
    pub flags: bool,
}

/// A database that takes and gives points.
pub trait Peer {
    /// What qualifies its figures.
    fn caveat(&self) -> &'static str;

    /// What it keeps of a point.
    fn keeps(&self) -> Keeps;

    /// CPU time of its processes so far.
    fn cpu(&self) -> Option<Duration>;

    /// Writes all points of `data`, a request for each run of `request_series` series.
    ///
    /// # Errors
    ///
    /// If it refuses.
    fn write(&mut self, data: &Data, request_series: usize) -> Result<Took>;

    /// Reads all points back, tallied by series.
    ///
    /// # Errors
    ///
    /// If it refuses.
    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)>;

    /// Ends it, waits, and weighs its folder.
    ///
    /// # Errors
    ///
    /// If it does not end.
    fn close(self: Box<Self>) -> Result<u64>;
}

impl Installed {
    fn start(&self, parent: &Path) -> Result<Box<dyn Peer>> {
        let started: Result<Box<dyn Peer>> = match self.kind {
            Kind::Postgres => {
                postgres::Postgres::start(&self.programs, parent).map(|peer| Box::new(peer) as _)
            }
            Kind::Questdb => questdb::Questdb::start(&self.programs, parent).map(|peer| Box::new(peer) as _),
            Kind::Victoriametrics => victoriametrics::Victoriametrics::start(&self.programs, parent)
                .map(|peer| Box::new(peer) as _),
        };
        started.with_context(|| format!("starting {}", self.kind.name()))
    }
}

/// Whether peers have anything to do among `rows`; to be asked before the load.
///
/// # Errors
///
/// If not.
pub fn fit(rows: &[Row]) -> Result<()> {
    let fits = rows.iter().any(|row| ROWS.contains(&row.id.as_str()));
    anyhow::ensure!(fits, "peers run {}: select one of them", ROWS.join(" and "));
    Ok(())
}

/// Puts the points of the rows H-W1 and H-R1, if they are among `rows`, through `peer`: each writes a fresh database,
/// the second reads it, too. Reports are added to `reports` one by one.
///
/// # Errors
///
/// If the peer does not start or end; what else fails is in the reports.
pub fn rows(course: &Course, rows: &[Row], peer: &Installed, reports: &mut Vec<RowReport>) -> Result<()> {
    let parent = crate::course::data_folder(&course.source);
    for wanted in ROWS {
        let Some(row) = rows.iter().find(|row| row.id == wanted) else { continue };
        let (series, request_series) = course.profile.series(row);
        let data = Data::new(row, series, "s", course.seed);
        let id = format!("{wanted}-{}", peer.kind.name());
        let mut running = peer.start(&parent)?;
        let request_series = request_series.min(REQUEST_SERIES);
        let shape = (request_series, course.profile.rest_time_max());
        let mut report = match job(&mut *running, row, &data, shape) {
            Ok(report) => report,
            Err(error) => failed(&error),
        };
        report.id.clone_from(&id);
        if data.series < row.series {
            report.caveat = format!("scaled: {} of {} series; {}", data.series, row.series, report.caveat);
        }
        let bytes = running.close().with_context(|| format!("ending {}", peer.kind.name()))?;
        report.disk_bytes_per_point = Some(bytes as f64 / data.points() as f64);
        note(&format!(
            "{id}: {:.3} M points in {:.3} s, {:.3} M/s, {} wrong",
            data.points() as f64 / 1e6,
            report.job_s.unwrap_or_default(),
            report.throughput / 1e6,
            report.answers_wrong
        ));
        reports.push(report);
    }
    Ok(())
}

fn job(
    peer: &mut dyn Peer,
    row: &Row,
    data: &Data,
    (request_series, rest_time_max): (usize, Duration),
) -> Result<RowReport> {
    let wrote = peer.write(data, request_series)?;
    // As with ours: what it still does behind with what was written, is not the reading's.
    await_rest_of(|| peer.cpu(), rest_time_max);
    let (read, tallies) = peer.read(data)?;
    let mut findings = Findings::default();
    for index in 0..data.series {
        let expected = expected(data, index, peer.keeps());
        let found = tallies.get(index).copied().unwrap_or_default();
        let difference = found.differs_from(&expected);
        findings.note(difference.map_or(Ok(()), |what| Err(anyhow!("series {index}: {what}"))));
    }
    let took = if row.work == Work::Read { read } else { wrote };
    let points = data.points() as f64;
    let throughput = points / took.elapsed.as_secs_f64().max(1e-9);
    let per_point = |cpu: Option<Duration>| cpu.map(|cpu| cpu.as_secs_f64() * 1e9 / points);
    Ok(RowReport {
        scenario: Some("another database".to_owned()),
        users: 1,
        iterations: if row.work == Work::Read { 1 } else { data.series.div_ceil(request_series) as u64 },
        runs: 1,
        throughput,
        throughput_min: throughput,
        throughput_max: throughput,
        unit: "points/s".to_owned(),
        items_per_s: throughput,
        items: "points".to_owned(),
        points: Some(data.points()),
        job_s: Some(took.elapsed.as_secs_f64()),
        cpu_ns_per_point: per_point(took.cpu),
        generator_cpu_ns_per_point: per_point(took.generator_cpu),
        answers_checked: findings.checked,
        answers_wrong: findings.wrong,
        wrong_examples: findings.examples,
        caveat: peer.caveat().to_owned(),
        ..RowReport::default()
    })
}

fn failed(error: &anyhow::Error) -> RowReport {
    let errors = crate::record::Errors { count: 1, examples: vec![format!("{error:#}")] };
    RowReport {
        scenario: Some("another database".to_owned()),
        unit: "points/s".to_owned(),
        points: Some(0),
        iterations: 1,
        errors: 1,
        error_kinds: [("peer".to_owned(), errors)].into(),
        ..RowReport::default()
    }
}

/// What reading series `index` must give from a peer that keeps so much; names are not told apart by text.
fn expected(data: &Data, index: usize, keeps: Keeps) -> Tally {
    if keeps == (Keeps { missing: true, flags: true }) {
        return Tally { name: 0, ..data.expected(index, &Versions::default()) };
    }
    let series = data.one(index);
    let mut tally = Tally::default();
    for place in 0..data.values {
        let (milli, flag) = series.point(place, 0);
        if milli.is_none() && !keeps.missing {
            continue;
        }
        note_point(
            &mut tally,
            (data.time(place), milli.map(i64::from)),
            if keeps.flags { flag.code() } else { 0 },
        );
    }
    tally
}

/// Adds the next point of a series as it was read.
fn note_point(tally: &mut Tally, (time, milli): (i64, Option<i64>), code: u64) {
    tally.at(time);
    tally.add(milli);
    tally.flag(tally.points, code);
}

#[cfg(test)]
mod tests;
