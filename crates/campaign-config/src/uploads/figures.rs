//! From the outcomes of uploads to the figures of a report; pure.

use campaign::course::Course;
use campaign::course::figures::measured;
use campaign::executors::Outcome;
use campaign::goals;
use campaign::report::table::{number, optional};
use campaign::report::{RowReport, Table};

use super::rows::Row;

/// How large one upload is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) modules: usize,
    /// Bytes of all texts.
    pub(super) text: usize,
    /// Bytes of the request's body.
    pub(super) body: usize,
}

/// The report of a row, but for what the frame adds; `how` says what was uploaded.
pub(super) fn report(
    row: &Row,
    course: &Course,
    outcomes: &[Outcome],
    size: Size,
    how: &[String],
) -> RowReport {
    let rates: Vec<f64> = outcomes.iter().map(Outcome::throughput).collect();
    let measured = measured(outcomes, &rates);
    let kilobytes = |bytes: usize| number(bytes as f64 / 1024.0);
    RowReport {
        scenario: Some(format!(
            "upload {} modules, {} KB of text in {} KB",
            size.modules,
            kilobytes(size.text),
            kilobytes(size.body)
        )),
        users: 1,
        unit: "uploads/s".to_owned(),
        items: "modules".to_owned(),
        items_per_s: measured.throughput * size.modules as f64,
        job_s: Some(measured.mean_ms / 1e3).filter(|seconds| *seconds > 0.0),
        set_entities: size.modules,
        caveat: caveats(row, course, how).join("; "),
        ..measured
    }
}

fn caveats(row: &Row, course: &Course, how: &[String]) -> Vec<String> {
    let count = row.count(course.profile);
    let mut caveats = vec![format!(
        "seconds are the mean of {count} uploads a run, one after the other, each of other texts"
    )];
    caveats.extend(how.iter().cloned());
    if course.runs < 2 {
        caveats.push("one run".to_owned());
    }
    caveats
}

/// Each row beside its goal; one that failed reached nothing.
pub(super) fn table(rows: &[Row], reports: &[RowReport]) -> Option<Table> {
    let (mut lines, mut slow, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for report in reports {
        let Some(row) = rows.iter().find(|row| row.id == report.id) else { continue };
        let failure = report.failure();
        let share = report.job_s.filter(|_| failure.is_none()).map(|seconds| row.goal_s / seconds);
        let is_met = share.is_some_and(|share| share >= 1.0);
        match &failure {
            Some(failure) => failed.push(goals::named(&row.id, Some(failure))),
            None if !is_met => slow.push(row.id.clone()),
            None => {}
        }
        let ms = |ms: f64| optional(report.job_s.map(|_| ms));
        lines.push(vec![
            row.id.clone(),
            report.set_entities.to_string(),
            report.iterations.to_string(),
            number(row.goal_s * 1e3),
            optional(report.job_s.map(|seconds| seconds * 1e3)),
            ms(report.p50_ms),
            ms(report.max_ms),
            optional(report.cpu_us_per_op.map(|each| each / 1e3)),
            optional(share),
            goals::met(is_met, failure.as_deref()),
        ]);
    }
    let slow = goals::sentence("Above the goal", &slow);
    let verdict: Vec<String> = slow.into_iter().chain(goals::sentence("Failed", &failed)).collect();
    let verdict = match verdict.as_slice() {
        [] => "Every mean is below its goal.".to_owned(),
        sentences => sentences.join(" "),
    };
    let columns = [
        "row",
        "modules",
        "uploads",
        "goal ms, at most",
        "mean ms",
        "median ms",
        "slowest ms",
        "server CPU ms",
        "goal / mean",
        "met",
    ];
    (!lines.is_empty()).then(|| Table {
        title: "Uploads and their goals".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        lines,
        verdict,
    })
}
