//! Whole courses against a toy CPS: what must come out of a right one, and that wrong ones are found out.

use std::collections::BTreeSet;

use campaign::course::{Course, Results};
use campaign::family::Family as _;
use campaign::report::RowReport;

use super::ConfigUploads;
use super::figures::table;
use crate::toy_cps::{Defect, server};

/// The rows of `selection`, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> Results {
    let toy = server(defect);
    let family = ConfigUploads.workload().unwrap().narrowed(selection);
    let course = Course { runs: 2, ..Course::of_toy(&toy) };
    let results = course.run(&ConfigUploads, &family).unwrap();
    let bodies: BTreeSet<String> =
        toy.heads().into_iter().filter(|head| head.contains("schema-sets?")).collect();
    assert_eq!(bodies.len(), 2 * family.rows.len(), "each has a name of its own");
    results
}

#[test]
fn a_right_server_passes_every_row() {
    let results = run("", Defect::None);
    assert_eq!(results.rows.len(), 2);
    for (row, modules) in results.rows.iter().zip([11, 218]) {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert_eq!((row.iterations, row.answers_checked, row.set_entities), (2, 2, modules), "{}", row.id);
        assert!((row.job_s.unwrap() * 1e3 - row.mean_ms).abs() < 1e-9 && row.mean_ms > 0.0);
    }
    assert!(results.rows[0].caveat.contains("made for this campaign"), "{}", results.rows[0].caveat);
    let table = &results.tables[0];
    assert_eq!(table.lines.len(), 2);
    assert!(table.lines.iter().all(|line| line.len() == table.columns.len()));
}

#[test]
fn wrong_servers_are_found_out() {
    for defect in [Defect::LosesModules, Defect::FindsTooFew] {
        let row = run("CU-11", defect).rows.remove(0);
        assert_eq!((row.errors, row.answers_wrong), (0, 2), "{defect:?}: {:?}", row.wrong_examples);
    }
}

#[test]
fn rows_that_failed_meet_no_goal() {
    for (defect, expected) in
        [(Defect::LosesModules, "2 wrong answers"), (Defect::Refuses, "2 errors, 2 wrong answers")]
    {
        let results = run("CU-11", defect);
        let table = &results.tables[0];
        assert_eq!(table.lines.len(), 1, "{defect:?}");
        assert_eq!(table.lines[0].last().unwrap(), &format!("no: {expected}"), "{defect:?}");
        assert_eq!(table.verdict, format!("Failed: CU-11 ({expected})."), "{defect:?}");
    }
}

#[test]
fn means_are_set_beside_goals() {
    let rows = ConfigUploads.workload().unwrap().rows;
    let report = |id: &str, job_s: f64| RowReport {
        id: id.to_owned(),
        job_s: Some(job_s),
        iterations: 1,
        ..RowReport::default()
    };
    let both = table(&rows, &[report("CU-11", 0.05), report("CU-218", 5.5)]).unwrap();
    let met: Vec<&str> = both.lines.iter().map(|line| line.last().unwrap().as_str()).collect();
    assert_eq!((met, both.verdict.as_str()), (vec!["yes", "no"], "Above the goal: CU-218."));
    assert_eq!((both.lines[0][3].as_str(), both.lines[0][4].as_str()), ("100", "50.0"));
    assert_eq!(table(&rows, &[report("CU-11", 0.1)]).unwrap().verdict, "Every mean is below its goal.");
    let nothing = table(&rows, &[RowReport { id: "CU-11".to_owned(), ..RowReport::default() }]).unwrap();
    assert_eq!(nothing.verdict, "Failed: CU-11 (nothing was measured).");
    assert_eq!(table(&rows, &[]), None);
}
