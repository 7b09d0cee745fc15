//! Whole courses against a toy HugeGraph: what must come out of a right one, and that wrong ones are found out.

use campaign::course::{Course, Results};
use campaign::family::Family as _;

use super::GRAPHDB;
use crate::toy_graph::{Defect, server};

/// The rows of `selection`, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> Results {
    let toy = server(defect);
    let family = GRAPHDB.workload().unwrap().narrowed(selection);
    Course::of_toy(&toy).run(&GRAPHDB, &family).unwrap()
}

#[test]
fn a_right_server_passes_every_test() {
    let results =
        run("GD-BI-youtube,GD-FN-youtube,GD-FA-youtube,GD-SP-youtube,GD-KO-2,GD-KN-2,GD-CW-5", Defect::None);
    assert_eq!(results.rows.len(), 7);
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(row.throughput > 0.0 && row.answers_checked > 0, "{}: {}", row.id, row.answers_checked);
        assert!(row.job_s.unwrap() > 0.0 && row.published.is_some(), "{}", row.id);
    }
    let neighbours = results.rows.iter().find(|row| row.id == "GD-FN-youtube").unwrap();
    assert!(
        neighbours.answers_checked >= 1_000 && neighbours.caveat.contains("scaled: 1000 of 1157806 vertices")
    );
    let published = neighbours.published.as_ref().unwrap();
    assert!((published.throughput - 1_157_806.0 / 66.006).abs() < 1e-6 && published.seconds == Some(66.006));
    assert_eq!(neighbours.published_besides.len(), 2);
}

#[test]
fn lost_edges_are_found_out_by_every_test() {
    for selection in
        ["GD-BI-youtube", "GD-FN-youtube", "GD-FA-youtube", "GD-SP-youtube", "GD-KO-2", "GD-KN-2"]
    {
        let row = run(selection, Defect::LosesAnEdge).rows.remove(0);
        assert!(row.answers_wrong > 0, "{selection}: {}", row.answers_checked);
    }
    let row = run("GD-FN-youtube", Defect::ForgetsInEdges).rows.remove(0);
    assert!(row.answers_wrong > 0);
    let row = run("GD-CW-1000", Defect::MixesUpIds).rows.remove(0);
    assert!(row.answers_wrong > 0, "communities that are none");
}
