//! The rows of the family that peers run: all points of a row into a fresh database, and out of it again.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use campaign::course::{Course, SCALED, await_rest_of, data_folder};
use campaign::family::Family as _;
use campaign::findings::Findings;
use campaign::hakom::Hakom;
use campaign::hakom::rows::{Row, Work};
use campaign::hakom::series::{Data, Versions};
use campaign::hakom::tally::Tally;
use campaign::peer::{Installed, Peer};
use campaign::progress::note;
use campaign::report::RowReport;
use campaign::workloads::{Selection, Workload};

use super::database::{Database, Keeps, Started, note_point};

/// Series of one request, as in the rows of ours.
const REQUEST_SERIES: usize = 100;
/// The rows that peers run: what they are called among ours, and what they do.
const ROWS: [&str; 2] = ["H-W1", "H-R1"];

/// A database beside ours, with the rows of the family.
pub(crate) struct Beside<'a>(pub(crate) &'a dyn Database);

/// A database found on this machine, and the rows asked for.
pub(crate) struct Found {
    pub(crate) database: &'static dyn Database,
    /// Its programs, in the order in which its module names them.
    pub(crate) programs: Vec<PathBuf>,
    pub(crate) rows: Vec<Row>,
}

impl Peer for Beside<'static> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn find(&self, selection: &Selection) -> Result<Box<dyn Installed>> {
        let family: Workload<Row> = Hakom.workload()?;
        ensure!(
            selection.family == family.name,
            "peers are set beside series only: --peer goes with the family {}",
            family.name
        );
        let mut rows = family.of(selection).rows;
        rows.retain(|row| ROWS.contains(&row.id.as_str()));
        ensure!(!rows.is_empty(), "peers run {}: select one of them", ROWS.join(" and "));
        Ok(Box::new(Found { database: self.0, programs: self.0.find()?, rows }))
    }
}

impl Installed for Found {
    /// Each row writes a fresh database; a reading row reads it, too.
    fn run(&self, course: &Course, reports: &mut Vec<RowReport>) -> Result<()> {
        let Self { database, programs, rows } = self;
        let name = database.name();
        for row in rows {
            let (series, request_series) = row.sizes(course.profile);
            let data = Data::new(row, series, "s", course.seed);
            let id = format!("{}-{name}", row.id);
            let mut running = database
                .start(programs, &data_folder(&course.source))
                .with_context(|| format!("starting {name}"))?;
            let shape = (request_series.min(REQUEST_SERIES), course.profile.rest_time_max());
            let mut report = match job(&mut *running, row, &data, shape) {
                Ok(report) => report,
                Err(error) => failed(&error),
            };
            report.id.clone_from(&id);
            if data.series < row.series {
                report.caveat =
                    format!("{SCALED}{} of {} series; {}", data.series, row.series, report.caveat);
            }
            let bytes = running.close().with_context(|| format!("ending {name}"))?;
            report.disk_bytes_per_point = Some(bytes as f64 / data.points() as f64);
            note(&format!(
                "{id}: {:.3} M points in {:.3} s, {:.3} M/s, {} wrong",
                data.points() as f64 / 1e6,
                report.job_s.unwrap_or(0.0),
                report.throughput / 1e6,
                report.answers_wrong
            ));
            reports.push(report);
        }
        Ok(())
    }
}

pub(crate) fn job(
    peer: &mut dyn Started,
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
        // A series that was not answered has an empty tally, which no series that was written has.
        let found = tallies.get(index).copied().unwrap_or(Tally::default());
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
    let errors = campaign::record::Errors { count: 1, examples: vec![format!("{error:#}")] };
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

/// What reading series `index` must give from a peer that stores so much; names are not distinguished by text.
pub(crate) fn expected(data: &Data, index: usize, keeps: Keeps) -> Tally {
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
