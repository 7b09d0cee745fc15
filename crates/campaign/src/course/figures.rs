//! From outcomes to the figures of a report; pure.

use crate::executors::Outcome;
use crate::profile::Setup;
use crate::record::Record;
use crate::report::{Published, RowReport};
use crate::workloads::{Family, Kind, Row};

use super::{Course, Ran, Stand};

const MEGABYTE: f64 = 1024.0 * 1024.0;
/// The percentiles of the latency curve.
const CURVE: [f64; 16] =
    [10.0, 25.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75, 99.9, 99.95, 99.99, 100.0];

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

/// The mean body of all runs, rounded.
pub(crate) fn body_bytes_mean(outcomes: &[Outcome]) -> u64 {
    let bytes: u64 = outcomes.iter().map(|outcome| outcome.record.body_bytes).sum();
    let answers: u64 = outcomes.iter().map(|outcome| outcome.record.successes()).sum();
    (bytes + answers / 2).checked_div(answers).unwrap_or_default()
}

/// The value of a label of the first metric that carries it, as in `build_info{version="1.2"} 1`.
pub(super) fn metrics_label(metrics: &str, name: &str) -> Option<String> {
    let before = format!("{name}=\"");
    let lines = metrics.lines().filter(|line| line.contains("build") || line.contains("info"));
    let value =
        lines.filter_map(|line| line.split_once(&before)).find_map(|(_, rest)| rest.split('"').next());
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The report of a row, but for its caveats.
pub(super) fn report(family: &Family, row: &Row, course: &Course, stand: &Stand, ran: &Ran) -> RowReport {
    let mut record = Record::new();
    for outcome in &ran.outcomes {
        record.merge(&outcome.record);
    }
    let rates: Vec<f64> = ran.outcomes.iter().map(Outcome::throughput).collect();
    let throughput = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let (items, items_each) = items(row.kind, ran.findings.entities_per_answer());
    let mut errors = record.errors.clone();
    if stand.rows_before == 0 {
        let setup = stand.loaded.iter().flat_map(|loaded| loaded.record.errors.iter());
        errors.extend(setup.map(|(kind, count)| (format!("setup: {kind}"), count.clone())));
    }
    let floor_throughput = ran.floor.as_ref().map(Outcome::throughput).filter(|rate| *rate > 0.0);
    let published = row.published.map(|figures| Published {
        throughput: figures.throughput,
        p95_ms: Some(figures.p95_ms),
        seconds: None,
        hardware: family.hardware.clone(),
    });
    let mut report = RowReport {
        id: row.id.clone(),
        scenario: serde_json::to_value(row.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)),
        users: course.users.unwrap_or(row.users),
        iterations: record.calls(),
        runs: ran.outcomes.len(),
        throughput,
        unit: "requests/s".to_owned(),
        throughput_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        throughput_max: rates.iter().copied().fold(0.0, f64::max),
        items_per_s: throughput * items_each,
        items: items.to_owned(),
        errors: errors.values().map(|errors| errors.count).sum(),
        error_kinds: errors,
        answers_checked: ran.findings.checked,
        answers_wrong: ran.findings.wrong,
        wrong_examples: ran.findings.examples.clone(),
        floor_throughput,
        floor_ratio: floor_throughput.map(|floor| throughput / floor),
        floor_cpu_us_per_op: ran.floor.as_ref().and_then(|floor| floor.us_per_call(floor.server_cpu)),
        floor_p95_ms: ran.floor.as_ref().map(|floor| floor.record.percentile_ms(95.0)),
        cpu_us_per_op: per_call(ran, |outcome| outcome.server_cpu),
        generator_cpu_us_per_op: per_call(ran, |outcome| outcome.generator_cpu),
        rss_mb: ran.resident.map(|(now, _)| now as f64 / MEGABYTE),
        rss_peak_mb: ran.resident.map(|(_, high)| high as f64 / MEGABYTE),
        disk_mb: ran.disk.map(|bytes| bytes as f64 / MEGABYTE),
        set_entities: stand.set.shape.entities,
        set_types: stand.set.shape.types,
        entities_per_answer: ran.findings.entities_per_answer(),
        body_bytes_mean: record.body_bytes_mean(),
        throughput_to_published: row.published.map(|figures| throughput / figures.throughput),
        published,
        ..RowReport::default()
    };
    latencies(&mut report, &record);
    report.seconds = ran.outcomes.first().map(|outcome| outcome.record.seconds.clone()).unwrap_or_default();
    setup(&mut report, course, stand, ran);
    report
}

/// The latencies of `record`.
pub(crate) fn latencies(report: &mut RowReport, record: &Record) {
    report.mean_ms = record.mean_ms();
    report.p50_ms = record.percentile_ms(50.0);
    report.p75_ms = record.percentile_ms(75.0);
    report.p90_ms = record.percentile_ms(90.0);
    report.p95_ms = record.percentile_ms(95.0);
    report.p99_ms = record.percentile_ms(99.0);
    report.p999_ms = record.percentile_ms(99.9);
    report.max_ms = record.max_ms();
    report.curve = CURVE.iter().map(|percent| (*percent, record.percentile_ms(*percent))).collect();
    report.latency_ns_hdr_base64 = record.latencies_base64();
}

/// What the creation of the set took, and the rate and p95 as k6 would count them: setup included.
fn setup(report: &mut RowReport, course: &Course, stand: &Stand, ran: &Ran) {
    let Some(loaded) = &stand.loaded else { return };
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
            ("entities answered", entities_per_answer.unwrap_or_default())
        }
        Kind::TemporalAggregated | Kind::TemporalNormalized | Kind::TemporalValues => {
            ("pasts of entities answered", 1.0)
        }
        Kind::TemporalQueryAggregated | Kind::TemporalQueryNormalized | Kind::TemporalQueryValues => {
            ("pasts of entities answered", entities_per_answer.unwrap_or_default())
        }
    }
}

fn per_call(ran: &Ran, cpu: impl Fn(&Outcome) -> Option<std::time::Duration>) -> Option<f64> {
    let calls: u64 = ran.outcomes.iter().map(|outcome| outcome.record.calls()).sum();
    let cpu: Option<std::time::Duration> = ran.outcomes.iter().map(cpu).sum();
    cpu.filter(|_| calls > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / calls as f64)
}
