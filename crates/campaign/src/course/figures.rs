//! From outcomes to the figures that all reports have; pure.

use std::time::Duration;

use crate::executors::Outcome;
use crate::record::Record;
use crate::report::RowReport;

use super::{Course, Ran};

/// Bytes of a megabyte, as reports count them.
pub const MEGABYTE: f64 = 1024.0 * 1024.0;
/// Above this share of its threads' time the generator may be what limits the rate.
const GENERATOR_SHARE_MAX: f64 = 0.9;
/// The percentiles of the latency curve.
const CURVE: [f64; 16] =
    [10.0, 25.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75, 99.9, 99.95, 99.99, 100.0];

/// The mean body of all runs, rounded; 0 if nothing was answered.
pub(crate) fn body_bytes_mean(outcomes: &[Outcome]) -> u64 {
    let bytes: u64 = outcomes.iter().map(|outcome| outcome.record.body_bytes).sum();
    let answers: u64 = outcomes.iter().map(|outcome| outcome.record.successes()).sum();
    (bytes + answers / 2).checked_div(answers).unwrap_or(0)
}

/// The value of a label of the first metric that carries it, as in `build_info{version="1.2"} 1`.
pub(super) fn metrics_label(metrics: &str, name: &str) -> Option<String> {
    let before = format!("{name}=\"");
    let lines = metrics.lines().filter(|line| line.contains("build") || line.contains("info"));
    let value =
        lines.filter_map(|line| line.split_once(&before)).find_map(|(_, rest)| rest.split('"').next());
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// What of a report follows from outcomes alone, at a mean rate over `rates`, one for each of them.
pub fn measured(outcomes: &[Outcome], rates: &[f64]) -> RowReport {
    let mut record = Record::new();
    for outcome in outcomes {
        record.merge(&outcome.record);
    }
    let throughput = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let mut report = RowReport {
        iterations: record.calls(),
        runs: outcomes.len(),
        throughput,
        throughput_min: rates.iter().copied().fold(f64::INFINITY, f64::min).min(throughput),
        throughput_max: rates.iter().copied().fold(0.0, f64::max),
        items_per_s: throughput,
        errors: record.failures(),
        error_kinds: record.errors.clone(),
        cpu_us_per_op: per_call(outcomes, |outcome| outcome.server_cpu),
        generator_cpu_us_per_op: per_call(outcomes, |outcome| outcome.generator_cpu),
        body_bytes_mean: record.body_bytes_mean(),
        seconds: outcomes.first().map_or_else(Vec::new, |outcome| outcome.record.seconds.clone()),
        usage: outcomes.first().map_or_else(Vec::new, |outcome| outcome.usage.clone()),
        ..RowReport::default()
    };
    latencies(&mut report, &record);
    report
}

/// Adds the errors that there were while a set was created.
pub fn add_setup_errors(report: &mut RowReport, prepared: &Outcome) {
    for (kind, errors) in &prepared.record.errors {
        report.errors += errors.count;
        report.error_kinds.insert(format!("setup: {kind}"), errors.clone());
    }
}

/// Adds what the frame knows: the checks, memory, the floor, and the ratios.
pub fn complete(report: &mut RowReport, ran: &Ran<'_>) {
    report.answers_checked = ran.findings.checked;
    report.answers_wrong = ran.findings.wrong;
    report.wrong_examples.clone_from(&ran.findings.examples);
    report.floor_ratio = report.floor_throughput.map(|floor| report.throughput / floor);
    report.floor_cpu_us_per_op = ran.floor.as_ref().and_then(|floor| floor.us_per_call(floor.server_cpu));
    report.floor_p95_ms = ran.floor.as_ref().map(|floor| floor.record.percentile_ms(95.0));
    report.rss_mb = ran.resident.map(|(now, _)| now as f64 / MEGABYTE);
    report.rss_peak_mb = ran.resident.map(|(_, high)| high as f64 / MEGABYTE);
    report.row_rss_peak_mb = ran.memory_peak.map(|bytes| bytes as f64 / MEGABYTE);
    report.throughput_to_published =
        report.published.as_ref().map(|published| report.throughput / published.throughput);
}

/// What spoils any figure, in words.
pub(crate) fn caveats(course: &Course, outcomes: &[Outcome]) -> Vec<String> {
    let mut caveats = Vec::new();
    if cfg!(debug_assertions) {
        caveats.push("this program was compiled without optimisation: the figure is of no use".to_owned());
    }
    let share = generator_share(outcomes, course.threads);
    if share > GENERATOR_SHARE_MAX {
        caveats.push(format!(
            "the generator was busy {:.0} % of its time: the server may be faster",
            share * 100.0
        ));
    }
    caveats
}

fn generator_share(outcomes: &[Outcome], threads: usize) -> f64 {
    let busy: Duration = outcomes.iter().filter_map(|outcome| outcome.generator_cpu).sum();
    let elapsed: Duration = outcomes.iter().map(|outcome| outcome.elapsed).sum();
    if elapsed.is_zero() { 0.0 } else { busy.as_secs_f64() / (elapsed.as_secs_f64() * threads.max(1) as f64) }
}

/// The latencies of `record`.
fn latencies(report: &mut RowReport, record: &Record) {
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

fn per_call(outcomes: &[Outcome], cpu: impl Fn(&Outcome) -> Option<Duration>) -> Option<f64> {
    let calls: u64 = outcomes.iter().map(|outcome| outcome.record.calls()).sum();
    let cpu: Option<Duration> = outcomes.iter().map(cpu).sum();
    cpu.filter(|_| calls > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / calls as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_metrics_are_found() {
        let metrics = "# TYPE x counter\nx{version=\"9\"} 1\ntwinfold_build_info{version=\"1.2\",durability=\"sync\"} 1\n";
        assert_eq!(metrics_label(metrics, "version").as_deref(), Some("1.2"));
        assert_eq!(metrics_label(metrics, "durability").as_deref(), Some("sync"));
        assert_eq!(metrics_label(metrics, "commit"), None);
    }
}
