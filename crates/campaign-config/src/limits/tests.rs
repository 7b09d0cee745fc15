//! Whole courses against a toy CPS: what must come out of a right one, and that wrong ones are found out.

use campaign::course::{Course, Results};
use campaign::family::Family as _;

use super::CpsLimits;
use crate::toy_cps::{Defect, server};

/// The rows of `selection`, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> Results {
    let toy = server(defect);
    let family = CpsLimits.workload().unwrap().narrowed(selection);
    Course::of_toy(&toy).run(&CpsLimits, &family).unwrap()
}

#[test]
fn a_right_server_passes_every_row() {
    let results = run("", Defect::None);
    assert!(results.rows.len() > 60, "{}", results.rows.len());
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(row.throughput > 0.0 && row.answers_checked > 0, "{}", row.id);
        let (seconds, published) = (row.job_s.unwrap(), row.published.as_ref().unwrap());
        assert!(seconds > 0.0 && published.seconds.unwrap() > 0.0, "{}", row.id);
    }
    let create = &results.rows[0];
    assert!(create.caveat.contains("scaled: 150 of 3000 devices"), "{}", create.caveat);
    assert_eq!(create.answers_checked, 6, "three anchors read back, and deleted");
    let published = create.published.as_ref().unwrap();
    assert_eq!((published.throughput, published.seconds), (30.0, Some(100.0)));
    let table = &results.tables[0];
    assert_eq!(table.lines.len(), results.rows.len());
    assert!(table.lines.iter().all(|line| line.len() == table.columns.len()));
}

#[test]
fn wrong_servers_are_found_out() {
    for (selection, defect) in [
        ("CL-SAVE-50,CL-LIST-50,CL-BOOKS-800", Defect::LosesEntries),
        ("CL-READ-ALL,CL-QUERY-LEAF,CL-QUERY3-TOP,CL-VALUES-KEY", Defect::FindsTooFew),
        ("CL-PUT-LEAVES,CL-PUTLIST-OTHERS,CL-LEAVES", Defect::LosesUpdates),
        ("CL-DEL-ANCHORS", Defect::KeepsAnchors),
        ("CL-DELTA-NONE,CL-DELTA-G-NONE,CL-DELTA-DIRECT,CL-DELTA-APPLY", Defect::FindsNoDifference),
    ] {
        let results = run(selection, defect);
        for row in &results.rows {
            assert!(row.answers_wrong > 0, "{defect:?}: {} {}", row.id, row.answers_checked);
        }
        assert_nothing_is_met(&results);
    }
}

/// However fast the answers came: each line of the table says why it counts for nothing.
fn assert_nothing_is_met(results: &Results) {
    let table = &results.tables[0];
    assert_eq!(table.lines.len(), results.rows.len());
    for (row, line) in results.rows.iter().zip(&table.lines) {
        let failure = row.failure().unwrap();
        assert_eq!(
            (line[4].as_str(), line[5].as_str()),
            ("–", format!("no: {failure}").as_str()),
            "{line:?}"
        );
        assert!(table.verdict.contains(&format!("{} ({failure})", row.id)), "{}", table.verdict);
    }
}

#[test]
fn refusals_are_not_fast_answers() {
    let results = run("CL-CREATE,CL-SAVE-50,CL-SETS", Defect::Refuses);
    let told: Vec<(u64, bool, u64)> =
        results.rows.iter().map(|row| (row.errors, row.answers_wrong > 0, row.iterations)).collect();
    assert_eq!(told[1], (0, true, 0), "the second could not be prepared");
    assert!(told[0].0 > 0 && told[2].0 > 0, "{told:?}");
    for row in &results.rows {
        assert_eq!((row.throughput, row.job_s), (0.0, None), "{}", row.id);
    }
    assert_nothing_is_met(&results);
}

#[test]
fn each_deletion_asks_for_what_its_name_says() {
    let toy = server(Defect::None);
    let family = CpsLimits.workload().unwrap().narrowed("CL-DEL-NODE,CL-DEL-ROOT,CL-DEL-DATA");
    Course::of_toy(&toy).run(&CpsLimits, &family).unwrap();
    let heads = toy.heads();
    let lines =
        heads.iter().filter_map(|head| head.strip_prefix("DELETE ")?.split_once(' ')?.0.split_once("/nodes"));
    let told: Vec<&str> = lines.map(|(_, query)| query).collect();
    assert_eq!(told, ["?xpath=/openroadm-devices", "?xpath=/", ""]);
}

#[test]
fn what_cannot_be_prepared_is_a_wrong_answer_and_other_rows_go_on() {
    let results = run("CL-CREATE,CL-DEL-ANCHORS", Defect::FailsSometimes);
    assert_eq!(results.rows.len(), 2);
    let trouble: u64 = results.rows.iter().map(|row| row.errors + row.answers_wrong).sum();
    assert!(trouble > 0);
}
