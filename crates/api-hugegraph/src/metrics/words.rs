//! The words: JSON objects by name, as the registries of HugeGraph's server print themselves.

use std::fmt::Write as _;

use api_http::{Response, json_response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Figures, Latency, Page, Process, Rates, RouteFigures, Storage};
use crate::problem::JSON;

/// The media type of statistics that are not asked for as JSON.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const MEGABYTE: u64 = 1 << 20;
const GIGABYTE: f64 = (1_u64 << 30) as f64;

/// Methods that change something.
const CHANGES: [&str; 3] = ["POST", "PUT", "DELETE"];
/// Meters of changes of graphs: what came of them.
const METERS: [&str; 3] = [
    "org.apache.hugegraph.api.API.commit-succeed",
    "org.apache.hugegraph.api.API.commit-illegal-arg",
    "org.apache.hugegraph.api.API.commit-unknown-error",
];

/// `/metrics/system`
pub fn system(process: &Process, figures: &Figures) -> Response {
    answer(&of_process(process, figures))
}

pub(super) fn of_process(process: &Process, figures: &Figures) -> Value {
    let megabytes = |bytes: u64| bytes / MEGABYTE;
    let resident = megabytes(process.resident_bytes);
    let none = json!({ "committed": 0, "init": 0, "used": 0, "max": 0 });
    json!({
        "basic": {
            "mem": resident,
            "mem_total": megabytes(process.machine_bytes),
            "mem_used": resident,
            "mem_free": megabytes(process.available_bytes),
            "mem_unit": "MB",
            "processors": process.processors,
            "uptime": u64::try_from(figures.uptime.as_millis()).unwrap_or(u64::MAX),
            "systemload_average": process.load,
        },
        "heap": {
            "committed": resident, "init": 0, "used": resident, "max": megabytes(process.resident_bytes_peak),
        },
        "nonheap": none,
        "thread": {
            "peak": process.threads, "daemon": 0, "total_started": process.threads, "count": process.threads,
        },
        "class_loading": { "count": 0, "loaded": 0, "unloaded": 0 },
        "garbage_collector": { "time_unit": "ms" },
    })
}

/// `/metrics/backend`: of graphs by their full names. They share one store, whose figures each has.
pub fn backend(storage: &Storage, graphs: impl Iterator<Item = String>) -> Response {
    answer(&of_graphs(storage, graphs))
}

pub(super) fn of_graphs(storage: &Storage, graphs: impl Iterator<Item = String>) -> Value {
    let Storage { memory_bytes, disk_bytes } = *storage;
    let server = json!({
        "mem_unit": "MB",
        "disk_unit": "GB",
        "mem_used": memory_bytes as f64 / MEGABYTE as f64,
        "mem_used_readable": readable(memory_bytes),
        "disk_usage": disk_bytes as f64 / GIGABYTE,
        "disk_usage_readable": readable(disk_bytes),
    });
    let of_graph = json!({
        "backend": "rocksdb", "nodes": 1, "cluster_id": "local", "servers": { "local": server },
    });
    graphs.map(|name| (name, of_graph.clone())).collect::<Map<_, _>>().into()
}

/// `/metrics/gauges`, `/metrics/counters` and so on, and `/metrics?type=json`, which has all of them.
///
/// # Panics
///
/// For a page with a function of its own: a bug.
pub fn page(page: Page, figures: &Figures) -> Response {
    answer(&of_page(page, figures))
}

pub(super) fn of_page(page: Page, figures: &Figures) -> Value {
    match page {
        Page::Gauges => gauges(figures),
        Page::Counters => counters(figures),
        Page::Histograms => histograms(figures),
        Page::Meters => meters(figures),
        Page::Timers => timers(figures),
        Page::All => json!({
            "gauges": gauges(figures),
            "counters": counters(figures),
            "histograms": histograms(figures),
            "meters": meters(figures),
            "timers": timers(figures),
        }),
        Page::System | Page::Backend | Page::Statistics => unreachable!("{page:?} has a function of its own"),
    }
}

/// `/metrics/statistics`, as JSON or for Prometheus.
pub fn statistics(figures: &Figures, is_json: bool) -> Response {
    if is_json {
        return answer(&statistics_json(figures));
    }
    json_response(StatusCode::OK, PROMETHEUS, statistics_text(figures))
}

pub(super) fn statistics_json(figures: &Figures) -> Value {
    let all = figures.routes.iter().map(|route| (name_of(route), statistics_of(route).into()));
    all.collect::<Map<_, Value>>().into()
}

pub(super) fn statistics_text(figures: &Figures) -> String {
    let mut out = String::new();
    for route in &figures.routes {
        let (name, values) = (name_of(route), statistics_of(route));
        let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        // A String takes whatever is written.
        let _ = writeln!(out, "# HELP {name} Requests.\n# TYPE {name} gauge");
        for (label, value) in values {
            let _ = writeln!(out, "{name}{{name=\"{label}\"}} {value}");
        }
    }
    out
}

fn gauges(figures: &Figures) -> Value {
    let gauges = figures.gauges.iter();
    gauges.map(|(name, value)| ((*name).to_owned(), json!({ "value": value }))).collect::<Map<_, _>>().into()
}

fn counters(figures: &Figures) -> Value {
    let count = |count: u64| json!({ "count": count });
    let mut all: Map<_, _> =
        figures.counters.iter().map(|(name, value)| ((*name).to_owned(), count(*value))).collect();
    for route in &figures.routes {
        let (name, [succeeded, refused, failed]) = (name_of(route), route.answers);
        all.insert(format!("{name}/TOTAL_COUNTER"), count(succeeded + refused + failed));
        all.insert(format!("{name}/SUCCESS_COUNTER"), count(succeeded));
        all.insert(format!("{name}/FAILED_COUNTER"), count(refused + failed));
    }
    all.into()
}

fn histograms(figures: &Figures) -> Value {
    let routes = figures.routes.iter();
    let histogram = |route: &RouteFigures| {
        let mut histogram = Map::new();
        histogram.insert("count".to_owned(), total(route).into());
        histogram.append(&mut latency(&route.latency));
        (format!("{}/RESPONSE_TIME_HISTOGRAM", name_of(route)), histogram.into())
    };
    routes.map(histogram).collect::<Map<_, Value>>().into()
}

fn meters(figures: &Figures) -> Value {
    let mut all = Map::new();
    let changes: Vec<_> = figures
        .routes
        .iter()
        .filter(|route| route.is_of_graphs && CHANGES.contains(&&*route.method))
        .collect();
    for (outcome, name) in METERS.into_iter().enumerate() {
        let of = |route: &&RouteFigures| route.answers.get(outcome).copied();
        let count = changes.iter().filter_map(of).sum();
        let rates = changes.iter().filter_map(|route| route.rates.get(outcome).copied());
        all.insert(name.to_owned(), meter(count, sum(rates), figures, "events/second").into());
    }
    all.into()
}

fn timers(figures: &Figures) -> Value {
    let routes = figures.routes.iter();
    let timer = |route: &RouteFigures| {
        let mut meter = meter(total(route), sum(route.rates.into_iter()), figures, "calls/second");
        meter.append(&mut latency(&route.latency));
        meter.insert("duration_unit".to_owned(), "milliseconds".into());
        (name_of(route), meter.into())
    };
    routes.map(timer).collect::<Map<_, Value>>().into()
}

fn meter(count: u64, rates: Rates, figures: &Figures, unit: &str) -> Map<String, Value> {
    let seconds = figures.uptime.as_secs_f64();
    let mean = if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    members([
        ("count", count.into()),
        ("mean_rate", mean.into()),
        ("m15_rate", rates.m15.into()),
        ("m5_rate", rates.m5.into()),
        ("m1_rate", rates.m1.into()),
        ("rate_unit", unit.into()),
    ])
}

fn latency(latency: &Latency) -> Map<String, Value> {
    let Latency { min, mean, max, stddev, percentiles } = *latency;
    let [p50, p75, p95, p98, p99, p999] = percentiles;
    members([
        ("min", min.into()),
        ("mean", mean.into()),
        ("max", max.into()),
        ("stddev", stddev.into()),
        ("p50", p50.into()),
        ("p75", p75.into()),
        ("p95", p95.into()),
        ("p98", p98.into()),
        ("p99", p99.into()),
        ("p999", p999.into()),
    ])
}

fn statistics_of(route: &RouteFigures) -> Map<String, Value> {
    let [succeeded, refused, failed] = route.answers;
    members([
        ("FAILED_REQUEST", (refused + failed).into()),
        ("MEAN_RESPONSE_TIME", route.latency.mean.into()),
        ("MAX_RESPONSE_TIME", route.latency.max.into()),
        ("SUCCESS_REQUEST", succeeded.into()),
        ("TOTAL_REQUEST", total(route).into()),
    ])
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `graphs/{graph}/graph/vertices/POST`
fn name_of(route: &RouteFigures) -> String {
    format!("{}/{}", route.path.trim_start_matches('/'), route.method)
}

fn total(route: &RouteFigures) -> u64 {
    route.answers.iter().sum()
}

fn sum(rates: impl Iterator<Item = Rates>) -> Rates {
    rates.fold(Rates::default(), |sum, rates| Rates {
        m1: sum.m1 + rates.m1,
        m5: sum.m5 + rates.m5,
        m15: sum.m15 + rates.m15,
    })
}

/// Bytes as people read them: `103.53 KB`.
fn readable(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["KB", "MB", "GB", "TB"] {
        if value < 1_024.0 {
            break;
        }
        (value, unit) = (value / 1_024.0, larger);
    }
    format!("{value:.2} {unit}")
}

fn answer(body: &Value) -> Response {
    json_response(StatusCode::OK, JSON, body.to_string())
}
