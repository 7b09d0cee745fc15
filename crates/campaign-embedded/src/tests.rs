//! Whole courses in this process, on small graphs.

use campaign::apart::{Apart, ApartFamily};
use campaign::course::{Course, Results};
use campaign::runner::AnyFamily as _;
use campaign::target::Source;
use campaign::toy::{Reply, Toy};

use super::{ALL, CpsEmbedded, CpsLimitsEmbedded, GRAPHDB_EMBEDDED};

/// The rows of `family` that `beginnings` name.
fn run(family: impl ApartFamily, beginnings: &str) -> Results {
    let toy = Toy::start(|_| Reply::ok(""));
    let source = Source::Own { arguments: Vec::new(), parent: None };
    let course = Course { source, with_floor: true, ..Course::of_toy(&toy) };
    let family = Apart(family);
    let selection = family.selection().unwrap().narrowed(beginnings).unwrap();
    let results = family.run(&course, &selection).unwrap();
    assert_eq!(results.rows.len(), selection.rows.len());
    results
}

#[test]
fn every_test_answers_what_plain_walks_find() {
    let results = run(GRAPHDB_EMBEDDED, "");
    for row in &results.rows {
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {:?}", row.id, row.wrong_examples);
        assert!(row.job_s.unwrap() > 0.0 && row.answers_checked > 0, "{}", row.id);
    }
    let by_id = |id: &str| results.rows.iter().find(|row| row.id == id).unwrap();
    assert!(by_id("GD-BI-youtube").floor_ratio.unwrap() > 0.0 && by_id("GD-FN-enron").floor_ratio.is_some());
    assert!(by_id("GD-FN-enron").answers_checked >= 1_000);
}

#[test]
fn flows_leave_what_they_must() {
    for row in &run(CpsEmbedded, "CPS-E10,CPS-E50").rows {
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {:?}", row.id, row.wrong_examples);
        assert!(row.answers_checked > row.users as u64, "a tree of each thread: {}", row.answers_checked);
        assert!(row.operations.iter().all(|operation| operation.count == row.iterations), "{}", row.id);
        assert!(row.throughput > 0.0 && row.cpu_us_per_op.is_some() && !row.usage.is_empty(), "{}", row.id);
        assert!(row.caveat.contains("a synced append of 128 bytes"), "{}", row.caveat);
    }
}

#[test]
fn many_paths_at_once_are_one_job() {
    for row in &run(CpsLimitsEmbedded, "").rows {
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {:?}", row.id, row.wrong_examples);
        assert!(row.job_s.unwrap() > 0.0 && row.answers_checked == 1, "{}", row.id);
    }
}

#[test]
fn a_target_is_refused() {
    let toy = Toy::start(|_| Reply::ok(""));
    for family in ALL {
        let selection = family.selection().unwrap();
        let refused = family.run(&Course::of_toy(&toy), &selection).unwrap_err().to_string();
        assert!(refused.contains(&selection.family) && refused.contains("no --target"), "{refused}");
    }
}
