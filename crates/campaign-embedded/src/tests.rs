//! Whole courses in this process, on small graphs.

use campaign::course::Course;
use campaign::family::Family as _;
use campaign::target::Source;
use campaign::toy::{Reply, Toy};

use super::{CpsEmbedded, CpsLimitsEmbedded, GRAPHDB_EMBEDDED};

fn course() -> Course {
    let toy = Toy::start(|_| Reply::ok(""));
    let source = Source::Own { arguments: Vec::new(), parent: None };
    Course { source, with_floor: true, ..Course::of_toy(&toy) }
}

#[test]
fn every_test_answers_what_plain_walks_find() {
    let family = GRAPHDB_EMBEDDED.workload().unwrap();
    let results = course().run(&GRAPHDB_EMBEDDED, &family).unwrap();
    assert_eq!(results.rows.len(), family.rows.len());
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
    let family = CpsEmbedded.workload().unwrap().narrowed("CPS-E10,CPS-E50");
    let results = course().run(&CpsEmbedded, &family).unwrap();
    assert_eq!(results.rows.len(), 2);
    for row in &results.rows {
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {:?}", row.id, row.wrong_examples);
        assert!(row.answers_checked > row.users as u64, "a tree of each thread: {}", row.answers_checked);
        assert!(row.operations.iter().all(|operation| operation.count == row.iterations), "{}", row.id);
        assert!(row.throughput > 0.0 && row.cpu_us_per_op.is_some() && !row.usage.is_empty(), "{}", row.id);
        assert!(row.caveat.contains("a synced append of 128 bytes"), "{}", row.caveat);
    }
}

#[test]
fn many_paths_at_once_are_one_job() {
    let family = CpsLimitsEmbedded.workload().unwrap();
    let results = course().run(&CpsLimitsEmbedded, &family).unwrap();
    assert_eq!(results.rows.len(), family.rows.len());
    for row in &results.rows {
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {:?}", row.id, row.wrong_examples);
        assert!(row.job_s.unwrap() > 0.0 && row.answers_checked == 1, "{}", row.id);
    }
}

#[test]
fn a_target_is_refused() {
    let toy = Toy::start(|_| Reply::ok(""));
    let family = GRAPHDB_EMBEDDED.workload().unwrap();
    let refused = Course::of_toy(&toy).run(&GRAPHDB_EMBEDDED, &family).unwrap_err();
    assert!(refused.to_string().contains("no --target"), "{refused}");
    let family = CpsEmbedded.workload().unwrap();
    let refused = Course::of_toy(&toy).run(&CpsEmbedded, &family).unwrap_err();
    assert!(refused.to_string().contains("no --target"), "{refused}");
}
