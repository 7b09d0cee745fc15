//! From the outcomes of flows to the figures of a report; pure. Shared with the rows that run in process.

use campaign::course::figures::measured;
use campaign::course::{Course, SCALED};
use campaign::executors::Outcome;
use campaign::report::table::{number, optional};
use campaign::report::{Published, RowReport, Table};

use super::rows::Row;
use super::tally::{Step, Tallies};

/// The report of a row, but for what the frame adds; `how` says what a run was.
pub fn report(
    (row, hardware): (&Row, &str),
    course: &Course,
    outcomes: &[Outcome],
    tallies: &Tallies,
    how: &[String],
) -> RowReport {
    let rates: Vec<f64> = outcomes.iter().map(Outcome::throughput).collect();
    let measured = measured(outcomes, &rates);
    let operation = |(step, published): (Step, f64)| tallies.of(step).operation(step.name(), Some(published));
    RowReport {
        scenario: Some("flow".to_owned()),
        users: course.users.unwrap_or(row.threads),
        unit: "flows/s".to_owned(),
        items_per_s: measured.throughput * Step::ALL.len() as f64,
        items: "operations".to_owned(),
        operations: Step::ALL.into_iter().zip(row.published_ms).map(operation).collect(),
        published: Some(Published {
            throughput: row.published_flows(),
            p95_ms: None,
            seconds: None,
            hardware: hardware.to_owned(),
        }),
        caveat: caveats(row, course, how).join("; "),
        ..measured
    }
}

fn caveats(row: &Row, course: &Course, how: &[String]) -> Vec<String> {
    let mut caveats = vec![
        "latencies are those of whole flows, the sum of the four operations; published flows/s are threads by the published \
         means, whose number of flows was not published"
            .to_owned(),
        "one flow of a hundred of each thread reads its tree back, which is not in its time, but in the CPU time".to_owned(),
    ];
    if let Some(users) = course.users.filter(|users| *users != row.threads) {
        caveats.push(format!("{SCALED}{users} threads, published with {}", row.threads));
    }
    caveats.extend(how.iter().cloned());
    if course.runs < 2 {
        caveats.push("one run".to_owned());
    }
    caveats
}

/// Each operation of each row, as published: the operations a second are those of one thread.
pub fn operations(rows: &[RowReport]) -> Option<Table> {
    let lines: Vec<Vec<String>> = rows.iter().flat_map(lines).collect();
    let columns = [
        "row",
        "operation",
        "min ms",
        "mean ms",
        "max ms",
        "operations/s of a thread",
        "published mean ms",
        "published operations/s of a thread",
        "published / ours, of the mean",
    ];
    (!lines.is_empty()).then(|| Table {
        title: "Operations".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        lines,
        verdict: "The operations a second of a thread are 1000 / mean, as published; the last line of a row counts all its threads."
            .to_owned(),
    })
}

fn lines(row: &RowReport) -> Vec<Vec<String>> {
    let rate = |ms: f64| if ms > 0.0 { number(1e3 / ms) } else { "–".to_owned() };
    let mut lines: Vec<Vec<String>> = row
        .operations
        .iter()
        .map(|operation| {
            let published = operation.published_mean_ms;
            vec![
                row.id.clone(),
                operation.name.clone(),
                number(operation.min_ms),
                number(operation.mean_ms),
                number(operation.max_ms),
                rate(operation.mean_ms),
                optional(published),
                published.map_or("–".to_owned(), rate),
                optional(published.filter(|_| operation.mean_ms > 0.0).map(|ms| ms / operation.mean_ms)),
            ]
        })
        .collect();
    let published = row.published.as_ref().map(|published| published.throughput * Step::ALL.len() as f64);
    if !lines.is_empty() {
        let dash = || "–".to_owned();
        let aggregate = number(row.items_per_s);
        let ratio =
            optional(published.filter(|_| row.items_per_s > 0.0).map(|theirs| row.items_per_s / theirs));
        let name = format!("all, {} threads", row.users);
        let theirs = optional(published);
        lines.push(vec![row.id.clone(), name, dash(), dash(), dash(), aggregate, dash(), theirs, ratio]);
    }
    lines
}
