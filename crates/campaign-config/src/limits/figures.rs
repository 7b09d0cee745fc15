//! From the outcomes of jobs to the figures of a report; pure. Shared with the rows that run in process.

use campaign::course::figures::measured;
use campaign::course::{Course, SCALED};
use campaign::executors::Outcome;
use campaign::goals;
use campaign::report::table::{number, optional};
use campaign::report::{Published, RowReport, Table};

use super::rows::Row;

/// How many times faster than expected each row is to be.
const FACTOR: f64 = 20.0;

/// The report of a row, but for what the frame adds; `how` says what a job was.
pub fn report(
    (row, hardware): (&Row, &str),
    course: &Course,
    outcomes: &[Outcome],
    how: &[String],
) -> RowReport {
    let count = row.count(course.profile);
    let once = |outcome: &Outcome| outcome.elapsed.as_secs_f64().max(1e-9) / row.repeat as f64;
    let seconds: Vec<f64> = outcomes.iter().filter(|outcome| is_done(outcome)).map(once).collect();
    let rate = |outcome: &Outcome| if is_done(outcome) { count as f64 / once(outcome) } else { 0.0 };
    let rates: Vec<f64> = outcomes.iter().map(rate).collect();
    RowReport {
        scenario: Some(row.test.clone()),
        users: 1,
        unit: format!("{}/s", row.of),
        items: row.of.clone(),
        job_s: (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64),
        published: Some(Published {
            throughput: row.items as f64 / row.expected,
            p95_ms: None,
            seconds: Some(row.expected),
            hardware: hardware.to_owned(),
        }),
        set_entities: usize::try_from(count).unwrap_or(usize::MAX),
        caveat: caveats(row, course, how).join("; "),
        ..measured(outcomes, &rates)
    }
}

/// Whether a job was done to its end: refusals take no time, and what was not begun takes none either.
fn is_done(outcome: &Outcome) -> bool {
    outcome.record.calls() > 0 && outcome.record.failures() == 0
}

fn caveats(row: &Row, course: &Course, how: &[String]) -> Vec<String> {
    let mut caveats = Vec::new();
    let count = row.count(course.profile);
    if count < row.items {
        caveats.push(format!("{SCALED}{count} of {} {}", row.items, row.of));
    }
    caveats.push("the expected seconds are what the original's own tests allow half of; models and trees of the same shape".to_owned());
    if row.repeat > 1 {
        caveats.push("asked several times in a run: seconds are the mean of one".to_owned());
    }
    caveats.extend(how.iter().cloned());
    if course.runs < 2 {
        caveats.push("one run".to_owned());
    }
    caveats
}

/// Each row beside its expectation; one that failed reached nothing.
pub fn factors(rows: &[RowReport]) -> Option<Table> {
    let mut lines = Vec::new();
    let (mut slow, mut failed) = (Vec::new(), Vec::new());
    for row in rows {
        let Some(published) = &row.published else { continue };
        let failure = row.failure();
        let factor = failure.is_none().then(|| row.throughput / published.throughput);
        let is_met = factor.is_some_and(|factor| factor >= FACTOR);
        match &failure {
            Some(failure) => failed.push(goals::named(&row.id, Some(failure))),
            None if !is_met => slow.push(row.id.clone()),
            None => {}
        }
        let scaled = if row.caveat.contains(SCALED) { "yes" } else { "" };
        lines.push(vec![
            row.id.clone(),
            row.scenario.clone().unwrap_or(String::new()),
            published.seconds.map_or("–".to_owned(), number),
            row.job_s.map_or("–".to_owned(), |seconds| format!("{seconds:.4}")),
            optional(factor),
            goals::met(is_met, failure.as_deref()),
            scaled.to_owned(),
        ]);
    }
    let slow = goals::sentence(&format!("Less than {FACTOR:.0} times as fast as expected"), &slow);
    let verdict: Vec<String> = slow.into_iter().chain(goals::sentence("Failed", &failed)).collect();
    let verdict = match verdict.as_slice() {
        [] => format!("Every row is at least {FACTOR:.0} times as fast as expected."),
        sentences => sentences.join(" "),
    };
    (!lines.is_empty()).then(|| Table {
        title: "Expected and measured".to_owned(),
        columns: ["row", "job", "expected s", "ours s", "times as fast", "20 times", "scaled"]
            .map(str::to_owned)
            .to_vec(),
        lines,
        verdict,
    })
}
