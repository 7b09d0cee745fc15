//! Whole courses against a toy CPS: what must come out of a right one, and that wrong ones are found out.

use std::time::Duration;

use campaign::course::{Course, Results};
use campaign::family::Family as _;

use super::ConfigTransactions;
use super::figures::{Times, report, tables};
use crate::toy_cps::{Defect, server};

/// The rows of `selection`, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> Results {
    let toy = server(defect);
    let family = ConfigTransactions.workload().unwrap().narrowed(selection);
    Course::of_toy(&toy).run(&ConfigTransactions, &family).unwrap()
}

#[test]
fn a_right_server_passes_every_row() {
    let results = run("", Defect::None);
    assert_eq!(results.rows.len(), 3);
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(row.job_s.unwrap() > 0.0 && row.answers_checked == 2, "{}", row.id);
    }
    let middle = &results.rows[1];
    let counts: Vec<u64> = middle.operations.iter().map(|operation| operation.count).collect();
    assert_eq!(
        (middle.iterations, counts),
        (500, vec![500, 50, 50, 400]),
        "all, first, last, appends before and after"
    );
    assert!(middle.operations.iter().all(|operation| operation.median_ms.unwrap() > 0.0));
    assert_eq!(middle.published.as_ref().unwrap().seconds, Some(72.0));
    assert_eq!(middle.published_besides[0].seconds, Some(452.0));
    let table = &results.tables[0];
    assert_eq!(table.lines[1][3], "YumaPro 72.0, Netopeer2 452");
    assert!(table.lines.iter().all(|line| line.len() == table.columns.len()));
}

#[test]
fn wrong_servers_are_found_out() {
    for (defect, expected) in [
        (Defect::FindsTooFew, "50 entries, there must be 51"),
        (Defect::ForgetsTheLast, "50 entries, there must be 51"),
    ] {
        let row = run("CT-1K", defect).rows.remove(0);
        assert_eq!((row.errors, row.answers_wrong), (0, 1), "{defect:?}");
        assert!(row.wrong_examples.concat().contains(expected), "{:?}", row.wrong_examples);
    }
    let results = run("CT-1K", Defect::ForgetsTheLast);
    assert_eq!(results.tables[0].verdict, "Failed: CT-1K (1 wrong answer).");
    let results = run("CT-10K", Defect::FailsSometimes);
    let errors = results.rows[0].errors;
    assert!(errors > 0);
    assert_eq!(results.tables[0].verdict, format!("Failed: CT-10K ({errors} errors)."));
}

#[test]
fn growth_and_slowness_are_told() {
    let workload = ConfigTransactions.workload().unwrap();
    let toy = server(Defect::None);
    let course = Course::of_toy(&toy);
    let verdicts = |micros: &dyn Fn(u64) -> u64, append: u64| {
        let times = Times {
            transactions: (0..100).map(|number| Duration::from_micros(micros(number))).collect(),
            appends: vec![Duration::from_micros(append)],
        };
        let mut row = report((&workload.rows[1], "h"), &course, &[], &times, &[]);
        workload.rows[1].id.clone_into(&mut row.id);
        (row.throughput, row.iterations, row.caveat) = (1.0, 100, String::new());
        tables(&[row]).into_iter().map(|table| table.verdict).collect::<Vec<_>>()
    };
    assert_eq!(
        verdicts(&|_| 1_000, 400),
        [
            "The time is linear: the last tenth takes as long as the first. Each transaction takes at most three synced appends.",
            "All goals of the rows that were run are met."
        ]
    );
    assert_eq!(
        verdicts(&|number| 1_000 + number * 20, 300),
        [
            "The last tenth is slower than the first: CT-10K. More than three synced appends: CT-10K.",
            "Not met: CT-10K, CT-10K."
        ]
    );
    // A server that copies the whole tree in each tenth transaction, and hardly works in the others.
    assert_eq!(
        verdicts(&|number| if number % 10 == 9 { 1_000 + number * 100 } else { 1_000 }, 400),
        [
            "The last tenth is slower than the first: CT-10K. Each transaction takes at most three synced appends.",
            "Not met: CT-10K."
        ]
    );
}
