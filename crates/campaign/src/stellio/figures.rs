//! From outcomes to the figures of a report; pure.

use crate::course::figures::{MEGABYTE, add_setup_errors, measured};
use crate::course::{Course, Ran};
use crate::executors::Outcome;
use crate::family::Bench;
use crate::profile::Setup;
use crate::report::{Published, RowReport};

use super::caveats::caveats;
use super::rows::{Kind, Row};
use super::sets::Set;

/// One line for the person watching.
pub(super) fn line(outcome: &Outcome) -> String {
    let record = &outcome.record;
    let cpu = |cpu| outcome.us_per_call(cpu).map_or("?".to_owned(), |us| format!("{us:.1}"));
    format!(
        "{:.0}/s, p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, {} errors, CPU us/op: server {}, generator {}",
        outcome.throughput(),
        record.percentile_ms(50.0),
        record.percentile_ms(95.0),
        record.percentile_ms(99.0),
        record.failures(),
        cpu(outcome.server_cpu),
        cpu(outcome.generator_cpu),
    )
}

/// The report of a row, but for what the frame adds.
pub(super) fn report(bench: &Bench<'_, Row>, set: &Set, ran: &Ran<'_>) -> RowReport {
    let row = bench.row;
    let rates: Vec<f64> = ran.outcomes.iter().map(Outcome::throughput).collect();
    let measured = measured(&ran.outcomes, &rates);
    let entities_per_answer = ran.findings.entities_per_answer();
    let (items, items_each) = items(row.kind, entities_per_answer);
    let mut report = RowReport {
        scenario: Some(row.kind.name().to_owned()),
        users: bench.course.users.unwrap_or(row.users),
        unit: "requests/s".to_owned(),
        items_per_s: measured.throughput * items_each,
        items: items.to_owned(),
        floor_throughput: ran.floor.as_ref().map(Outcome::throughput).filter(|rate| *rate > 0.0),
        disk_mb: ran.folder_bytes.map(|bytes| bytes as f64 / MEGABYTE),
        set_entities: set.shape.entities,
        set_types: set.shape.types,
        entities_per_answer,
        published: row.published.map(|figures| Published {
            throughput: figures.throughput,
            p95_ms: Some(figures.p95_ms),
            seconds: None,
            hardware: bench.workload.hardware.clone(),
        }),
        caveat: caveats(bench, set, ran).join("; "),
        ..measured
    };
    if let (0, Some(prepared)) = (ran.rows_before, ran.prepared) {
        add_setup_errors(&mut report, prepared);
    }
    setup(&mut report, bench.course, ran);
    report
}

/// What the creation of the set took, and the rate and p95 as k6 would count them: setup included.
fn setup(report: &mut RowReport, course: &Course, ran: &Ran<'_>) {
    let Some(loaded) = ran.prepared else { return };
    report.setup_requests = loaded.record.calls();
    report.setup_s = loaded.elapsed.as_secs_f64();
    let answered = ran.outcomes.iter().all(|outcome| outcome.record.successes() > 0);
    if course.setup != Setup::Sequential || !answered {
        return;
    }
    let rates = ran.outcomes.iter().map(|outcome| {
        let requests = loaded.record.successes() + outcome.record.successes();
        requests as f64 / (loaded.elapsed + outcome.elapsed).as_secs_f64()
    });
    let rates: Vec<f64> = rates.collect();
    report.k6_style_throughput = Some(rates.iter().sum::<f64>() / rates.len().max(1) as f64);
    let mut all = loaded.record.clone();
    if let Some(outcome) = ran.outcomes.first() {
        all.merge(&outcome.record);
    }
    report.k6_style_p95_ms = Some(all.percentile_ms(95.0));
}

fn items(kind: Kind, entities_per_answer: Option<f64>) -> (&'static str, f64) {
    match kind {
        Kind::Create => ("entities created", 1.0),
        Kind::PartialUpdate => ("attribute instances updated", 1.0),
        Kind::Update => ("attribute instances updated", 5.0),
        Kind::Get => ("entities answered", 1.0),
        Kind::QueryValue | Kind::QueryRelationship => {
            ("entities answered", entities_per_answer.unwrap_or(0.0))
        }
        Kind::TemporalAggregated | Kind::TemporalNormalized | Kind::TemporalValues => {
            ("pasts of entities answered", 1.0)
        }
        Kind::TemporalQueryAggregated | Kind::TemporalQueryNormalized | Kind::TemporalQueryValues => {
            ("pasts of entities answered", entities_per_answer.unwrap_or(0.0))
        }
    }
}
