//! Whole courses against a toy HugeGraph: what must come out of a right one, and that wrong ones are found out.

use super::HugeGraph;
use super::rows::{Row, Work};
use crate::toy_graph::{Defect, server};
use campaign::course::{Course, Results};
use campaign::family::Family as _;
use campaign::workloads::Workload;

/// The rows that `rows` names.
pub(crate) fn selected(rows: &str) -> Workload<Row> {
    HugeGraph.workload().unwrap().narrowed(rows)
}

/// The rows of `selection` shrunk to what a toy bears, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> anyhow::Result<Results> {
    let toy = server(defect);
    let mut family = selected(selection);
    for row in &mut family.rows {
        row.batch = row.batch.min(20);
    }
    let course = Course { users: Some(3), ..Course::of_toy(&toy) };
    course.run(&HugeGraph, &family)
}

fn check_clean(selection: &str, defect: Defect) -> Results {
    let results = run(selection, defect).unwrap();
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(row.throughput > 0.0 && row.answers_checked > 5, "{}: {}", row.id, row.answers_checked);
    }
    results
}

#[test]
fn a_right_server_passes_every_request_under_every_load() {
    let results = check_clean(
        "HG-VB-32,HG-EB-32,HG-EB-check-32,HG-V1-11500,HG-E1-32,HG-EG-32,HG-VG-search",
        Defect::None,
    );
    let search = &results.rows[5];
    assert_eq!(search.id, "HG-VG-search");
    assert!(search.caveat.contains("rates offered, in requests/s: "), "{}", search.caveat);
    let batch = &results.rows[0];
    assert!((batch.items_per_s / batch.throughput - 20.0).abs() < 1e-6 && batch.items == "vertices");
    let open = results.rows.iter().find(|row| row.id == "HG-V1-11500").unwrap();
    assert!(open.caveat.contains("scaled: 1 of 300 s") && open.published.is_some(), "{}", open.caveat);
    assert!(results.tables.is_empty(), "scaled rows show nothing of goals");
}

#[test]
fn an_old_server_is_asked_by_its_own_paths_and_ids() {
    check_clean("HG-E1-32,HG-EG-32", Defect::IsOld);
}

#[test]
fn wrong_answers_and_lost_elements_are_found_out() {
    for (selection, defect, (errors, wrong)) in [
        ("HG-EB-32", Defect::LosesAnEdge, (false, true)),
        ("HG-E1-32", Defect::ForgetsInEdges, (false, true)),
        ("HG-VB-32", Defect::MixesUpIds, (false, true)),
        ("HG-EB-32", Defect::MixesUpIds, (false, true)),
        ("HG-EG-32", Defect::ForgetsProperties, (false, true)),
        ("HG-V1-32", Defect::FailsSometimes, (true, false)),
    ] {
        let row = run(selection, defect).unwrap().rows.remove(0);
        let found = (row.errors > 0, row.answers_wrong > 0);
        assert_eq!(found.0, errors, "{selection}, {defect:?}: {:?}", row.error_kinds);
        assert!(found.1 || !wrong, "{selection}, {defect:?}: {}", row.answers_checked);
    }
    let refused = run("HG-V1-32", Defect::RefusesSchema).unwrap_err();
    assert!(format!("{refused:#}").contains("creating the schema"), "{refused:#}");
}

#[test]
fn every_published_row_runs_under_four_loads() {
    let rows = selected("").rows;
    let works: Vec<Work> = rows.iter().step_by(4).map(|row| row.work).collect();
    assert_eq!(
        works,
        [
            Work::VertexBatch,
            Work::EdgeBatch,
            Work::EdgeBatch,
            Work::Vertex,
            Work::Edge,
            Work::VertexGet,
            Work::EdgeGet
        ]
    );
}
