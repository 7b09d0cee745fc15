//! From the outcomes of jobs to the figures of a report; pure.

use std::time::Duration;

use crate::course::figures::add_setup_errors;
use crate::course::{self, Course, Ran, SCALED};
use crate::executors::Outcome;
use crate::family::Bench;
use crate::report::{Published, RowReport};
use crate::target::Source;

use super::jobs::{Job, Task};
use super::rows::{Form, Row, Work};
use super::series::Data;

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
fn published(hardware: &str, row: &Row) -> Vec<Published> {
    let each = row.published.iter().map(|job| Published {
        throughput: row.points() as f64 / job.seconds,
        p95_ms: None,
        seconds: Some(job.seconds),
        hardware: format!("{hardware} ({})", job.licence),
    });
    each.collect()
}

/// What of a report follows from its outcomes alone, for a job of `points`.
pub(super) fn measured(outcomes: &[Outcome], points: u64) -> RowReport {
    let rates: Vec<f64> = outcomes.iter().map(|outcome| rate(points, outcome)).collect();
    let seconds = outcomes.iter().map(|outcome| outcome.elapsed.as_secs_f64()).sum::<f64>();
    RowReport {
        unit: "points/s".to_owned(),
        items: "points".to_owned(),
        points: Some(points),
        job_s: Some(seconds / outcomes.len().max(1) as f64),
        cpu_ns_per_point: per_point(outcomes, points, |outcome| outcome.server_cpu),
        generator_cpu_ns_per_point: per_point(outcomes, points, |outcome| outcome.generator_cpu),
        ..course::figures::measured(outcomes, &rates)
    }
}

/// The report of a row, but for what the frame adds, and what the disk shows once the server has stopped.
pub(super) fn report(bench: &Bench<'_, Row>, data: &Data, ran: &Ran<'_>) -> RowReport {
    let (row, course) = (bench.row, bench.course);
    let points = data.points();
    let mut published = published(&bench.workload.hardware, row).into_iter();
    let mut report = RowReport {
        scenario: Some(scenario(row)),
        users: course.users.unwrap_or(row.users),
        floor_throughput: ran.floor.as_ref().map(|floor| rate(points, floor)).filter(|rate| *rate > 0.0),
        published: published.next(),
        published_besides: published.collect(),
        caveat: caveats(row, course, data).join("; "),
        ..measured(&ran.outcomes, points)
    };
    if let (0, Some(prepared)) = (ran.rows_before, ran.prepared) {
        add_setup(&mut report, prepared);
    }
    report
}

/// Adds what the creation of a set took, and its errors.
pub(super) fn add_setup(report: &mut RowReport, setup: &Outcome) {
    report.setup_requests = setup.record.calls();
    report.setup_s = setup.elapsed.as_secs_f64();
    add_setup_errors(report, setup);
}

/// A word for rows that belong into one chart.
pub(super) fn scenario(row: &Row) -> String {
    let work = row.work.name();
    let form = match row.form {
        Form::Rows => "JSON rows",
        Form::Compact => "JSON compact",
        Form::Arrow => "Arrow",
    };
    format!("{work}, {form}")
}

/// What a reader must know before comparing.
fn caveats(row: &Row, course: &Course, data: &Data) -> Vec<String> {
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
    caveats
}

/// Whether the worker threads that a row asks for were had.
fn sets_workers(source: &Source) -> bool {
    matches!(source, Source::Own { .. })
}
