//! From the outcomes of jobs to the figures of a report; pure.

use std::time::Duration;

use crate::course::Course;
use crate::course::figures::latencies;
use crate::executors::Outcome;
use crate::record::Record;
use crate::report::{Published, RowReport};
use crate::workloads::Family;

use super::course::{Ran, sets_workers};
use super::goals::SCALED;
use super::jobs::{Job, Task};
use super::rows::{Form, Row, Work};
use super::series::Data;

pub(super) const MEGABYTE: f64 = 1024.0 * 1024.0;
/// Above this share of its threads' time the generator may be what limits the rate.
const GENERATOR_SHARE_MAX: f64 = 0.9;

/// One line for the person watching.
pub(super) fn line(job: &Job<'_>, outcome: &Outcome) -> String {
    let seconds = outcome.elapsed.as_secs_f64();
    if let Task::Define { .. } = job.task {
        let errors = outcome.record.failures();
        return format!("{} series in {seconds:.2} s, {errors} errors", job.data.series);
    }
    let points = job.pieces.picked.len().max(if job.task == Task::Read { job.data.values } else { 0 });
    let points = (points * job.data.series) as f64;
    let cpu = |cpu: Option<Duration>| cpu.map_or("?".to_owned(), |cpu| format!("{:.2} s", cpu.as_secs_f64()));
    format!(
        "{:.3} M points in {seconds:.3} s, {:.3} M/s, {} errors, CPU: server {}, generator {}",
        points / 1e6,
        points / seconds.max(1e-9) / 1e6,
        outcome.record.failures(),
        cpu(outcome.server_cpu),
        cpu(outcome.generator_cpu),
    )
}

/// Points a second, of those requests that succeeded.
fn rate(points: u64, outcome: &Outcome) -> f64 {
    let (calls, seconds) = (outcome.record.calls(), outcome.elapsed.as_secs_f64());
    if calls == 0 || seconds <= 0.0 {
        return 0.0;
    }
    points as f64 * (outcome.record.successes() as f64 / calls as f64) / seconds
}

/// CPU time for each point of all runs, in nanoseconds.
fn per_point(outcomes: &[Outcome], points: u64, cpu: impl Fn(&Outcome) -> Option<Duration>) -> Option<f64> {
    let all = points as f64 * outcomes.len() as f64;
    let cpu: Option<Duration> = outcomes.iter().map(cpu).sum();
    cpu.filter(|_| all > 0.0).map(|cpu| cpu.as_secs_f64() * 1e9 / all)
}

/// The published jobs of `row`, in points a second of the job as published.
fn published(family: &Family<Row>, row: &Row) -> Vec<Published> {
    let each = row.published.iter().map(|job| Published {
        throughput: row.points() as f64 / job.seconds,
        p95_ms: None,
        seconds: Some(job.seconds),
        hardware: format!("{} ({})", family.hardware, job.licence),
    });
    each.collect()
}

/// What of a report follows from its outcomes alone, for a job of `points`.
pub(super) fn measured(outcomes: &[Outcome], points: u64) -> RowReport {
    let mut record = Record::new();
    for outcome in outcomes {
        record.merge(&outcome.record);
    }
    let rates: Vec<f64> = outcomes.iter().map(|outcome| rate(points, outcome)).collect();
    let throughput = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let seconds = outcomes.iter().map(|outcome| outcome.elapsed.as_secs_f64()).sum::<f64>();
    let calls = record.calls();
    let per_call = |cpu: fn(&Outcome) -> Option<Duration>| {
        let cpu: Option<Duration> = outcomes.iter().map(cpu).sum();
        cpu.filter(|_| calls > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / calls as f64)
    };
    let mut report = RowReport {
        iterations: calls,
        runs: outcomes.len(),
        throughput,
        unit: "points/s".to_owned(),
        throughput_min: rates.iter().copied().fold(f64::INFINITY, f64::min).min(throughput),
        throughput_max: rates.iter().copied().fold(0.0, f64::max),
        items_per_s: throughput,
        items: "points".to_owned(),
        errors: record.failures(),
        error_kinds: record.errors.clone(),
        points: Some(points),
        job_s: Some(seconds / outcomes.len().max(1) as f64),
        cpu_ns_per_point: per_point(outcomes, points, |outcome| outcome.server_cpu),
        generator_cpu_ns_per_point: per_point(outcomes, points, |outcome| outcome.generator_cpu),
        cpu_us_per_op: per_call(|outcome| outcome.server_cpu),
        generator_cpu_us_per_op: per_call(|outcome| outcome.generator_cpu),
        body_bytes_mean: record.body_bytes_mean(),
        ..RowReport::default()
    };
    latencies(&mut report, &record);
    report.seconds = outcomes.first().map(|outcome| outcome.record.seconds.clone()).unwrap_or_default();
    report
}

/// The report of a row, but for what the disk shows once the server has stopped.
pub(super) fn report(
    family: &Family<Row>,
    row: &Row,
    course: &Course,
    (data, users): (&Data, usize),
    ran: &Ran,
) -> RowReport {
    let points = data.points();
    let mut published = published(family, row).into_iter();
    let first = published.next();
    let mut report = measured(&ran.outcomes, points);
    let floor = ran.floor.as_ref().map(|floor| rate(points, floor)).filter(|rate| *rate > 0.0);
    report.id.clone_from(&row.id);
    report.scenario = Some(scenario(row));
    report.users = users;
    report.answers_checked = ran.findings.checked;
    report.answers_wrong = ran.findings.wrong;
    report.wrong_examples.clone_from(&ran.findings.examples);
    report.floor_throughput = floor;
    report.floor_ratio = floor.map(|floor| report.throughput / floor);
    report.floor_cpu_us_per_op = ran.floor.as_ref().and_then(|floor| floor.us_per_call(floor.server_cpu));
    report.floor_p95_ms = ran.floor.as_ref().map(|floor| floor.record.percentile_ms(95.0));
    report.rss_mb = ran.resident.map(|(now, _)| now as f64 / MEGABYTE);
    report.rss_peak_mb = ran.resident.map(|(_, high)| high as f64 / MEGABYTE);
    report.row_rss_peak_mb = ran.row_peak.map(|bytes| bytes as f64 / MEGABYTE);
    report.throughput_to_published = first.as_ref().map(|figures| report.throughput / figures.throughput);
    report.published = first;
    report.published_besides = published.collect();
    if let Some(setup) = &ran.setup {
        add_setup(&mut report, setup);
    }
    report.caveat = caveats(row, course, data, ran).join("; ");
    report
}

/// Adds what the creation of a set took, and its errors.
pub(super) fn add_setup(report: &mut RowReport, setup: &Outcome) {
    report.setup_requests = setup.record.calls();
    report.setup_s = setup.elapsed.as_secs_f64();
    for (kind, errors) in &setup.record.errors {
        report.errors += errors.count;
        report.error_kinds.insert(format!("setup: {kind}"), errors.clone());
    }
}

/// A word for rows that belong into one chart.
pub(super) fn scenario(row: &Row) -> String {
    let work = match row.work {
        Work::Write => "write",
        Work::Read => "read",
        Work::Overwrite => "overwrite",
    };
    let form = match row.form {
        Form::Rows => "JSON rows",
        Form::Compact => "JSON compact",
        Form::Arrow => "Arrow",
    };
    format!("{work}, {form}")
}

/// What a reader must know before comparing.
fn caveats(row: &Row, course: &Course, data: &Data, ran: &Ran) -> Vec<String> {
    let mut caveats = Vec::new();
    if data.series < row.series {
        caveats.push(format!("{SCALED}{} of {} series", data.series, row.series));
    }
    if let Some(users) = course.users.filter(|users| *users != row.users) {
        caveats.push(format!("{users} users, published with {}", row.users));
    }
    if let Some(workers) = row.workers {
        caveats.push(if sets_workers(&course.source) {
            format!("{workers} application servers as {workers} worker threads of one server process")
        } else {
            format!("published with {workers} application servers, the server was used as it was found")
        });
    }
    caveats.push(
        match row.work {
            Work::Write => {
                "bodies are made inside the measured time; what was written is read back after it, and count, sums \
                 and flags of each series must be exact"
            }
            _ => "answers are scanned inside the measured time; count, sums and flags of each series must be exact",
        }
        .to_owned(),
    );
    if row.published.len() > 1 {
        caveats
            .push(format!("compared with {}", row.published.first().map_or("", |job| job.licence.as_str())));
    }
    if cfg!(debug_assertions) {
        caveats.push("this program was compiled without optimisation: the figure is of no use".to_owned());
    }
    let busy: Duration = ran.outcomes.iter().filter_map(|outcome| outcome.generator_cpu).sum();
    let elapsed: Duration = ran.outcomes.iter().map(|outcome| outcome.elapsed).sum();
    let share = busy.as_secs_f64() / (elapsed.as_secs_f64() * course.threads.max(1) as f64).max(1e-9);
    if share > GENERATOR_SHARE_MAX {
        caveats.push(format!(
            "the generator was busy {:.0} % of its time: the server may be faster",
            share * 100.0
        ));
    }
    caveats
}
