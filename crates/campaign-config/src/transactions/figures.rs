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
/// The goals of the larger rows: of few transactions the first tenth says little. Tenths are compared by their means: what a server
/// does once in a while counts in the time of all of them, and is in no median.
const LINEAR: Measure = Measure::Means { of: LAST, over: FIRST };
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
    let (mut growing, mut slow, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let find = |name: &str| row.operations.iter().find(|operation| operation.name == name);
        let mean = |name: &str| find(name).map(|operation| operation.mean_ms).filter(|ms| *ms > 0.0);
        let median = |name: &str| find(name).and_then(|operation| operation.median_ms).filter(|ms| *ms > 0.0);
        let (first, last, each, append) = (mean(FIRST), mean(LAST), median(EACH), median(APPEND));
        let failure = row.failure();
        let ratio = |of: Option<f64>, over: Option<f64>| {
            of.zip(over).filter(|_| failure.is_none()).map(|(of, over)| of / over)
        };
        let (growth, appends) = (ratio(last, first), ratio(each, append));
        growing.extend(growth.map(|growth| (row.id.clone(), growth > GROWTH_MAX)));
        slow.extend(appends.map(|appends| (row.id.clone(), appends > APPENDS_MAX)));
        failed.extend(failure.as_deref().map(|failure| goals::named(&row.id, Some(failure))));
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
    let verdict = [
        told(
            &growing,
            "The time is linear: the last tenth takes as long as the first.",
            "The last tenth is slower than the first",
        ),
        told(&slow, "Each transaction takes at most three synced appends.", "More than three synced appends"),
        goals::sentence("Failed", &failed),
    ];
    let verdict: Vec<String> = verdict.into_iter().flatten().collect();
    let columns = [
        "row",
        "transactions",
        "seconds",
        "published seconds",
        "first tenth, mean ms",
        "last tenth, mean ms",
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

/// What is said of rows, each with whether it missed; nothing, if none could be looked at.
fn told(rows: &[(String, bool)], none: &str, some: &str) -> Option<String> {
    let missed = rows.iter().filter(|(_, missed)| *missed).map(|(id, _)| id.clone());
    let missed: Vec<String> = missed.collect();
    let all_well = (!rows.is_empty()).then(|| none.to_owned());
    goals::sentence(some, &missed).or(all_well)
}

fn other(published: &Published) -> String {
    let name = published.hardware.split(';').next().unwrap_or("");
    format!("{name} {}", optional(published.seconds))
}
