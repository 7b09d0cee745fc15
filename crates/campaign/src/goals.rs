//! What rows are to reach beside what they reached: one table. A family says its goals as data.

use crate::course::SCALED;
use crate::report::table::{number, optional};
use crate::report::{Operation, RowReport, Table};

/// What a goal is about.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// The rate in the unit of the row, at least.
    Rate,
    /// The server's memory during the row, in megabytes, at most.
    Memory,
    /// Bytes on disk of a point, at most.
    Disk,
    /// The rate as a share of that of another row, at least.
    ShareOf(&'static str),
    /// Items a second (vertices, edges), at least.
    Items,
    /// CPU time of the server for each request, in microseconds, at most.
    Cpu,
    /// The rate as a share of the floor's, at least.
    FloorShare,
    /// Seconds of the whole job, at most.
    Seconds,
    /// The mean milliseconds of one of its operations, at most.
    MeanMs(&'static str),
    /// The mean of one of its operations as a multiple of that of another, at most.
    Means {
        /// The one.
        of: &'static str,
        /// The other.
        over: &'static str,
    },
    /// The median of one of its operations as a multiple of that of another, at most.
    Medians {
        /// The one.
        of: &'static str,
        /// The other.
        over: &'static str,
    },
}

/// What a row is to reach.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// The row.
    pub row: &'static str,
    /// What of it is bounded.
    pub measure: Measure,
    /// At least, or at most, as the measure says.
    pub bound: f64,
}

/// The goals whose rows were run at their published size; `None` if there are none. A scaled row shows nothing: what a
/// request costs whatever its size, weighs more in it. A row with errors or wrong answers reaches nothing.
pub fn table(goals: &[Goal], rows: &[RowReport]) -> Option<Table> {
    let find = |id: &str| rows.iter().find(|row| row.id == id && !row.caveat.contains(SCALED));
    let mut lines = Vec::new();
    let mut missed = Vec::new();
    for Goal { row: id, measure, bound } in goals.iter().copied() {
        let Some(row) = find(id) else { continue };
        let failure = failure(measure, row, find);
        let (what, reached, least) = measured(measure, row, find);
        let reached = reached.filter(|_| failure.is_none());
        if reached.is_none() && failure.is_none() {
            continue;
        }
        let is_met = reached.is_some_and(|reached| if least { reached >= bound } else { reached <= bound });
        if !is_met {
            missed.push(named(id, failure.as_deref()));
        }
        let word = met(is_met, failure.as_deref());
        lines.push(vec![id.to_owned(), what, number(bound), optional(reached), word]);
    }
    let verdict = sentence("Not met", &missed)
        .unwrap_or_else(|| "All goals of the rows that were run are met.".to_owned());
    (!lines.is_empty()).then(|| Table {
        title: "Goals".to_owned(),
        columns: ["row", "goal", "bound", "reached", "met"].map(str::to_owned).to_vec(),
        lines,
        verdict,
    })
}

/// What a table says of a goal: that it is met, that it is not, or what went wrong in the row.
pub fn met(is_met: bool, failure: Option<&str>) -> String {
    match failure {
        Some(failure) => format!("no: {failure}"),
        None if is_met => "yes".to_owned(),
        None => "no".to_owned(),
    }
}

/// A row as a verdict names it: with what went wrong in it.
pub fn named(id: &str, failure: Option<&str>) -> String {
    failure.map_or_else(|| id.to_owned(), |failure| format!("{id} ({failure})"))
}

/// A sentence of a verdict about rows; `None` if there are none.
pub fn sentence(about: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{about}: {}.", names.join(", ")))
}

/// What went wrong in `row`, or in the one that it is compared with.
fn failure<'a>(
    measure: Measure,
    row: &RowReport,
    find: impl Fn(&str) -> Option<&'a RowReport>,
) -> Option<String> {
    let other = match measure {
        Measure::ShareOf(other) => find(other),
        _ => None,
    };
    let of_other = || Some(format!("{}: {}", other?.id, other?.failure()?));
    row.failure().or_else(of_other)
}

/// What a measure is called, what `row` reached of it, and whether that is to be at least the bound; `find` has other rows.
fn measured<'a>(
    measure: Measure,
    row: &RowReport,
    find: impl Fn(&str) -> Option<&'a RowReport>,
) -> (String, Option<f64>, bool) {
    match measure {
        Measure::Rate => (format!("{}, at least", row.unit), Some(row.throughput), true),
        Measure::Memory => ("memory in MB, at most".to_owned(), row.row_rss_peak_mb, false),
        Measure::Disk => ("bytes on disk of a point, at most".to_owned(), row.disk_bytes_per_point, false),
        Measure::ShareOf(other) => {
            let share = find(other).map(|other| row.throughput / other.throughput);
            (format!("share of the rate of {other}, at least"), share, true)
        }
        Measure::Items => (format!("{} a second, at least", row.items), Some(row.items_per_s), true),
        Measure::Cpu => (format!("server CPU of a {} in us, at most", each(row)), row.cpu_us_per_op, false),
        Measure::FloorShare => ("share of the floor's rate, at least".to_owned(), row.floor_ratio, true),
        Measure::Seconds => ("seconds, at most".to_owned(), row.job_s, false),
        Measure::MeanMs(name) => {
            let mean = operation(row, name).map(|operation| operation.mean_ms);
            (format!("mean ms of {name}, at most"), mean, false)
        }
        Measure::Means { of, over } => {
            let mean = |name| operation(row, name).map(|operation| operation.mean_ms);
            (format!("mean of {of} / mean of {over}, at most"), ratio(mean(of), mean(over)), false)
        }
        Measure::Medians { of, over } => {
            let median = |name| operation(row, name).and_then(|operation| operation.median_ms);
            (format!("median of {of} / median of {over}, at most"), ratio(median(of), median(over)), false)
        }
    }
}

/// One time as a multiple of another, if that is not nothing.
fn ratio(of: Option<f64>, over: Option<f64>) -> Option<f64> {
    of.zip(over.filter(|ms| *ms > 0.0)).map(|(of, over)| of / over)
}

/// One of the operations of a row, if it was done.
fn operation<'a>(row: &'a RowReport, name: &str) -> Option<&'a Operation> {
    row.operations.iter().find(|operation| operation.name == name && operation.count > 0)
}

/// What a row counts, one of it.
fn each(row: &RowReport) -> &str {
    if row.operations.is_empty() { "request" } else { row.unit.strip_suffix("s/s").unwrap_or("request") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, throughput: f64) -> RowReport {
        RowReport { id: id.to_owned(), throughput, iterations: 1, ..RowReport::default() }
    }

    #[test]
    fn operations_have_goals_of_their_own() {
        let goals = [
            Goal { row: "F-2", measure: Measure::MeanMs("CREATE"), bound: 1.0 },
            Goal { row: "F-2", measure: Measure::MeanMs("DELETE"), bound: 1.0 },
            Goal { row: "F-2", measure: Measure::Cpu, bound: 1_000.0 },
        ];
        let operation = |name: &str, mean_ms: f64, count| Operation {
            name: name.to_owned(),
            count,
            mean_ms,
            ..Operation::default()
        };
        let flows = RowReport {
            unit: "flows/s".to_owned(),
            cpu_us_per_op: Some(900.0),
            operations: vec![operation("CREATE", 1.5, 9), operation("DELETE", 0.0, 0)],
            ..row("F-2", 1.0)
        };
        let table = table(&goals, &[flows]).unwrap();
        let told: Vec<&str> = table.lines.iter().map(|line| line[1].as_str()).collect();
        assert_eq!(told, ["mean ms of CREATE, at most", "server CPU of a flow in us, at most"]);
        assert_eq!(table.verdict, "Not met: F-2.");
    }

    #[test]
    fn medians_are_set_beside_each_other() {
        let measure = Measure::Medians { of: "the last", over: "the first" };
        let goals = [Goal { row: "T-1", measure, bound: 1.5 }];
        let row_of = |first: f64, last: f64| {
            let operation = |name: &str, median: f64| Operation {
                name: name.to_owned(),
                count: 1,
                median_ms: Some(median),
                ..Operation::default()
            };
            let operations = vec![operation("the first", first), operation("the last", last)];
            RowReport { operations, ..row("T-1", 1.0) }
        };
        let line =
            |first, last| table(&goals, &[row_of(first, last)]).map(|table| table.lines.concat().join("|"));
        let told = "T-1|median of the last / median of the first, at most|1.50";
        assert_eq!(line(2.0, 2.2).unwrap(), format!("{told}|1.10|yes"));
        assert_eq!(line(2.0, 3.2).unwrap(), format!("{told}|1.60|no"));
        assert_eq!(line(0.0, 3.2), None);
    }

    #[test]
    fn means_are_set_beside_each_other() {
        let measure = Measure::Means { of: "the last", over: "the first" };
        let goals = [Goal { row: "T-1", measure, bound: 1.5 }];
        let operation = |name: &str, mean_ms: f64| Operation {
            name: name.to_owned(),
            count: 1,
            mean_ms,
            median_ms: Some(1.0),
            ..Operation::default()
        };
        let operations = vec![operation("the first", 2.0), operation("the last", 3.2)];
        let table = table(&goals, &[RowReport { operations, ..row("T-1", 1.0) }]).unwrap();
        assert_eq!(
            table.lines.concat().join("|"),
            "T-1|mean of the last / mean of the first, at most|1.50|1.60|no"
        );
    }

    #[test]
    fn rows_that_failed_meet_no_goal() {
        let goals = [
            Goal { row: "A-1", measure: Measure::Rate, bound: 10.0 },
            Goal { row: "A-2", measure: Measure::Memory, bound: 10.0 },
            Goal { row: "A-3", measure: Measure::Seconds, bound: 10.0 },
            Goal { row: "A-4", measure: Measure::ShareOf("A-1"), bound: 0.5 },
        ];
        let rows = [
            RowReport { errors: 2, ..row("A-1", 5_000.0) },
            RowReport { answers_wrong: 1, row_rss_peak_mb: Some(1.0), ..row("A-2", 5_000.0) },
            RowReport { iterations: 0, ..row("A-3", 0.0) },
            row("A-4", 5_000.0),
        ];
        let table = table(&goals, &rows).unwrap();
        let told: Vec<(&str, &str)> =
            table.lines.iter().map(|line| (line[3].as_str(), line[4].as_str())).collect();
        assert_eq!(
            told,
            [
                ("–", "no: 2 errors"),
                ("–", "no: 1 wrong answer"),
                ("–", "no: nothing was measured"),
                ("–", "no: A-1: 2 errors")
            ]
        );
        let verdict =
            "Not met: A-1 (2 errors), A-2 (1 wrong answer), A-3 (nothing was measured), A-4 (A-1: 2 errors).";
        assert_eq!(table.verdict, verdict);
    }

    const GOALS: &[Goal] = &[
        Goal { row: "A-1", measure: Measure::Rate, bound: 4e6 },
        Goal { row: "A-2", measure: Measure::Rate, bound: 9e6 },
        Goal { row: "A-2", measure: Measure::Memory, bound: 500.0 },
        Goal { row: "A-1", measure: Measure::Disk, bound: 1.7 },
        Goal { row: "B-2", measure: Measure::ShareOf("B-1"), bound: 0.6 },
        Goal { row: "B-1", measure: Measure::Items, bound: 250_000.0 },
        Goal { row: "B-1", measure: Measure::Cpu, bound: 12.0 },
        Goal { row: "B-1", measure: Measure::FloorShare, bound: 0.5 },
        Goal { row: "B-1", measure: Measure::Seconds, bound: 5.0 },
    ];

    #[test]
    fn goals_are_told_met_or_missed() {
        assert_eq!(table(GOALS, &[row("C-1", 1.0)]), None);
        let caveat = "scaled: 208 of 1500 series".to_owned();
        assert_eq!(table(GOALS, &[RowReport { caveat, ..row("A-1", 1.0) }]), None);
        let rows = [
            row("A-1", 4.1e6),
            RowReport { row_rss_peak_mb: Some(600.0), ..row("A-2", 8.9e6) },
            row("B-2", 50.0),
            RowReport {
                items_per_s: 260_000.0,
                cpu_us_per_op: Some(12.5),
                floor_ratio: Some(0.7),
                job_s: None,
                ..row("B-1", 100.0)
            },
        ];
        let table = table(GOALS, &rows).unwrap();
        let met: Vec<(&str, &str)> =
            table.lines.iter().map(|line| (line[0].as_str(), line[4].as_str())).collect();
        assert_eq!(
            met,
            [
                ("A-1", "yes"),
                ("A-2", "no"),
                ("A-2", "no"),
                ("B-2", "no"),
                ("B-1", "yes"),
                ("B-1", "no"),
                ("B-1", "yes")
            ]
        );
        assert_eq!(table.verdict, "Not met: A-2, A-2, B-2, B-1.");
    }
}
