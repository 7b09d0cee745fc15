//! From times to the figures of a report; pure.

use std::time::Duration;

use campaign::course::figures::measured;
use campaign::course::{Course, SCALED};
use campaign::executors::Outcome;
use campaign::goals::{self, Goal, Measure};
use campaign::report::table::optional;
use campaign::report::{Operation, Published, RowReport, Table};

use super::disk::median;
use super::rows::Row;
use crate::cps::tally::Tally;

/// How many times a synced append a transaction may take.
const APPENDS_MAX: f64 = 3.0;
/// How much slower the last transactions may be than the first, if the time is to be called linear.
const GROWTH_MAX: f64 = 1.5;
/// The parts of a row that are told.
const FIRST: &str = "the first tenth";
const LAST: &str = "the last tenth";
const EACH: &str = "a transaction";
const APPEND: &str = "a synced append of 128 bytes";
/// The goals of the larger rows: of few transactions the first tenth says little.
const LINEAR: Measure = Measure::Medians { of: LAST, over: FIRST };
const NEAR_THE_DISK: Measure = Measure::Medians { of: EACH, over: APPEND };
const GOALS: &[Goal] = &[
    Goal { row: "CT-10K", measure: LINEAR, bound: GROWTH_MAX },
    Goal { row: "CT-10K", measure: NEAR_THE_DISK, bound: APPENDS_MAX },
    Goal { row: "CT-100K", measure: LINEAR, bound: GROWTH_MAX },
    Goal { row: "CT-100K", measure: NEAR_THE_DISK, bound: APPENDS_MAX },
];

/// What the runs of a row left: how long the transactions of the first run took, and the appends beside all runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    pub(super) transactions: Vec<Duration>,
    pub(super) appends: Vec<Duration>,
}

/// The report of a row, but for what the frame adds.
pub(super) fn report(
    (row, hardware): (&Row, &str),
    course: &Course,
    outcomes: &[Outcome],
    times: &Times,
    how: &[String],
) -> RowReport {
    let rates: Vec<f64> = outcomes.iter().map(Outcome::throughput).collect();
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.elapsed.as_secs_f64()).sum();
    let tenth = times.transactions.len().div_ceil(10);
    let first = times.transactions.get(..tenth).unwrap_or(&[]);
    let last = times.transactions.len().checked_sub(tenth).and_then(|from| times.transactions.get(from..));
    let others = row.published.iter().map(|other| Published {
        throughput: row.transactions as f64 / other.seconds,
        p95_ms: None,
        seconds: Some(other.seconds),
        hardware: format!("{}; {hardware}", other.name),
    });
    let mut others = others.collect::<Vec<_>>().into_iter();
    RowReport {
        scenario: Some("add one entry".to_owned()),
        users: 1,
        unit: "transactions/s".to_owned(),
        items: "entries".to_owned(),
        job_s: Some(seconds / outcomes.len().max(1) as f64),
        published: others.next(),
        published_besides: others.collect(),
        operations: vec![
            operation(EACH, &times.transactions),
            operation(FIRST, first),
            operation(LAST, last.unwrap_or(&[])),
            operation(APPEND, &times.appends),
        ],
        caveat: caveats(row, course, how).join("; "),
        ..measured(outcomes, &rates)
    }
}

fn operation(name: &str, times: &[Duration]) -> Operation {
    let mut tally = Tally::default();
    times.iter().for_each(|time| tally.add(*time));
    let median_ms = Some(median(times).as_secs_f64() * 1e3);
    Operation { median_ms, ..tally.operation(name, None) }
}

fn caveats(row: &Row, course: &Course, how: &[String]) -> Vec<String> {
    let mut caveats = Vec::new();
    let count = row.count(course.profile);
    if count < row.transactions {
        caveats.push(format!("{SCALED}{count} of {} transactions", row.transactions));
    }
    caveats.extend(how.iter().cloned());
    if course.runs < 2 {
        caveats.push("one run".to_owned());
    }
    caveats
}

/// How the rows did, and whether they reached their goals.
pub(super) fn tables(rows: &[RowReport]) -> Vec<Table> {
    table(rows).into_iter().chain(goals::table(GOALS, rows)).collect()
}

/// Whether the time is linear, and how near it comes to the disk.
pub(super) fn table(rows: &[RowReport]) -> Option<Table> {
    let mut lines = Vec::new();
    let (mut growing, mut slow) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| row.throughput > 0.0) {
        let median = |name: &str| {
            let found = row.operations.iter().find(|operation| operation.name == name);
            found.and_then(|operation| operation.median_ms).filter(|ms| *ms > 0.0)
        };
        let (each, first, last, append) = (median(EACH), median(FIRST), median(LAST), median(APPEND));
        let growth = first.zip(last).map(|(first, last)| last / first);
        let appends = each.zip(append).map(|(each, append)| each / append);
        growing.extend(growth.filter(|growth| *growth > GROWTH_MAX).map(|_| row.id.as_str()));
        slow.extend(appends.filter(|appends| *appends > APPENDS_MAX).map(|_| row.id.as_str()));
        let others: Vec<String> = row.published.iter().chain(&row.published_besides).map(other).collect();
        lines.push(vec![
            row.id.clone(),
            row.iterations.to_string(),
            optional(row.job_s),
            others.join(", "),
            optional(first),
            optional(last),
            optional(growth),
            optional(each),
            optional(append),
            optional(appends),
        ]);
    }
    let told = |names: &[&str], none: &str, some: &str| match names {
        [] => none.to_owned(),
        names => format!("{some}: {}.", names.join(", ")),
    };
    let verdict = [
        told(
            &growing,
            "The time is linear: the last tenth takes as long as the first.",
            "The last tenth is slower than the first",
        ),
        told(&slow, "Each transaction takes at most three synced appends.", "More than three synced appends"),
    ];
    let columns = [
        "row",
        "transactions",
        "seconds",
        "published seconds",
        "first tenth, median ms",
        "last tenth, median ms",
        "last / first",
        "all, median ms",
        "synced append, median ms",
        "appends a transaction",
    ];
    (!lines.is_empty()).then(|| Table {
        title: "Transactions one after the other".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        lines,
        verdict: verdict.join(" "),
    })
}

fn other(published: &Published) -> String {
    let name = published.hardware.split(';').next().unwrap_or("");
    format!("{name} {}", optional(published.seconds))
}
