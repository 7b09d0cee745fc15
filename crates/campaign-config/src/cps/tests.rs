//! Whole courses against a toy CPS: what must come out of a right one, and that wrong ones are found out.

use campaign::course::{Course, Results};
use campaign::family::Family as _;

use super::Cps307;
use crate::toy_cps::{Defect, server};

/// The rows of `selection`, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> Results {
    let toy = server(defect);
    let family = Cps307.workload().unwrap().narrowed(selection);
    Course::of_toy(&toy).run(&Cps307, &family).unwrap()
}

#[test]
fn a_right_server_passes_every_row() {
    let results = run("CPS-R10,CPS-R5", Defect::None);
    assert_eq!(results.rows.len(), 2);
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(
            row.answers_checked > row.users as u64,
            "a tree of each thread, and the list: {}",
            row.answers_checked
        );
        assert!(row.throughput > 0.0 && row.p50_ms > 0.0 && row.unit == "flows/s");
        assert!((row.items_per_s / row.throughput - 4.0).abs() < 1e-9);
        let names: Vec<&str> = row.operations.iter().map(|operation| operation.name.as_str()).collect();
        assert_eq!(names, ["CREATE ANCHOR", "CREATE NODE", "UPDATE NODE", "DELETE ANCHOR"]);
        for operation in &row.operations {
            assert_eq!(operation.count, row.iterations, "{}", operation.name);
            let times = (operation.min_ms, operation.mean_ms, operation.max_ms);
            assert!(0.0 < times.0 && times.0 <= times.1 && times.1 <= times.2, "{times:?}");
        }
        assert!(row.caveat.contains("made for this campaign") && row.caveat.contains("11 modules took"));
    }
    let (ten, fifty) = (&results.rows[0], &results.rows[1]);
    assert_eq!((ten.users, fifty.users), (10, 50));
    assert_eq!(ten.operations[1].published_mean_ms, Some(170.05));
    assert!((ten.published.as_ref().unwrap().throughput - 10_000.0 / 596.18).abs() < 1e-9);
    let table = results.tables.iter().find(|table| table.title == "Operations").unwrap();
    assert_eq!(table.lines.len(), 10);
    assert!(table.lines.iter().all(|line| line.len() == table.columns.len()));
    assert_eq!(table.lines[4][1], "all, 10 threads");
}

#[test]
fn wrong_servers_are_found_out() {
    for defect in [Defect::LosesUpdates, Defect::KeepsAnchors, Defect::LosesEntries, Defect::FindsTooFew] {
        let row = run("CPS-R10", defect).rows.remove(0);
        assert_eq!(row.errors, 0, "{defect:?}: {:?}", row.error_kinds);
        assert!(row.answers_wrong > 0, "{defect:?}: {} checked", row.answers_checked);
    }
}

#[test]
fn errors_are_errors_and_flows_go_on() {
    let row = run("CPS-R10", Defect::FailsSometimes).rows.remove(0);
    assert!(row.errors > 0 && row.throughput > 0.0, "{} errors", row.errors);
    assert_eq!(row.error_kinds["503"].count, row.errors);
}

/// The original answers lists in any order: of somebody else's server that is no mistake.
#[test]
fn order_is_asked_of_our_own_server_only() {
    let row = run("CPS-R10", Defect::TurnsLists).rows.remove(0);
    assert_eq!(row.answers_wrong, 0, "{:?}", row.wrong_examples);
}
