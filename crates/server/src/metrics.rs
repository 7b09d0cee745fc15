//! Counters of requests and connections, and their Prometheus text.
//!
//! A request adds to three words that only threads of the same shard share; everything is
//! allotted when the route table is known.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use model_series::SkipLog;

/// Upper bounds of the latency histogram in microseconds.
const BOUNDS_US: [u64; 17] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];
const BUCKETS: usize = BOUNDS_US.len() + 1;

/// Status classes: 1xx (never), 2xx … 5xx.
const CLASSES: usize = 5;

/// Counters of one route in one shard.
#[derive(Debug, Default)]
struct Counters {
    classes: [AtomicU64; CLASSES],
    buckets: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

/// One route as the metrics name it.
#[derive(Debug)]
struct Label {
    front_end: String,
    method: String,
    route: String,
}

/// All counters of the HTTP side.
#[derive(Debug)]
pub(crate) struct Metrics {
    labels: Vec<Label>,
    /// For each shard, for each route and last for requests without one.
    shards: Vec<Vec<Counters>>,
    pub(crate) requests_under_way: AtomicUsize,
    pub(crate) connections_accepted: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
    pub(crate) connections_overdue: AtomicU64,
    pub(crate) tls_failed: AtomicU64,
    pub(crate) timed_out: AtomicU64,
    pub(crate) busy: AtomicU64,
    pub(crate) panics: AtomicU64,
    pub(crate) damaged: AtomicU64,
    pub(crate) tls_reloads: AtomicU64,
    pub(crate) tls_reloads_failed: AtomicU64,
    pub(crate) answers_cut: AtomicU64,
    pub(crate) streams_broken: AtomicU64,
    pub(crate) streams_stalled: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) moved: AtomicU64,
    pub(crate) removals: AtomicU64,
    /// Entities looked at to index attributes.
    pub(crate) indexed: AtomicU64,
    pub(crate) clock_jumps: AtomicU64,
    pub(crate) series: StrandMetrics,
    pub(crate) history: StrandMetrics,
    pub(crate) hooks: HookMetrics,
}

/// Counters of what is done with strands in the background: of series, or of the history of entities.
#[derive(Debug, Default)]
pub(crate) struct StrandMetrics {
    pub(crate) folds: AtomicU64,
    pub(crate) folds_failed: AtomicU64,
    pub(crate) trimmed: AtomicU64,
    pub(crate) chilled: AtomicU64,
    /// What jobs skip.
    pub(crate) skips: Arc<SkipLog>,
}

/// Counters of what hooks are told.
#[derive(Debug, Default)]
pub(crate) struct HookMetrics {
    pub(crate) notifications: AtomicU64,
    pub(crate) changes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) cuts: AtomicU64,
}

/// Gives each thread a number, in the order of first use.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    std::thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

impl Metrics {
    /// Counters for these routes (front end, method, path), for so many threads.
    pub(crate) fn new<'a>(routes: impl Iterator<Item = (&'a str, &'a str, &'a str)>, threads: usize) -> Self {
        let mut labels: Vec<_> = routes
            .map(|(front_end, method, route)| Label {
                front_end: front_end.to_owned(),
                method: method.to_owned(),
                route: route.to_owned(),
            })
            .collect();
        labels.push(Label {
            front_end: "none".to_owned(),
            method: "any".to_owned(),
            route: "none".to_owned(),
        });
        let shard = || labels.iter().map(|_| Counters::default()).collect();
        let shards = (0..threads.clamp(1, 16)).map(|_| shard()).collect();
        Self {
            labels,
            shards,
            requests_under_way: AtomicUsize::new(0),
            connections_accepted: AtomicU64::new(0),
            connections_refused: AtomicU64::new(0),
            connections_overdue: AtomicU64::new(0),
            tls_failed: AtomicU64::new(0),
            timed_out: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            panics: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            tls_reloads: AtomicU64::new(0),
            tls_reloads_failed: AtomicU64::new(0),
            answers_cut: AtomicU64::new(0),
            streams_broken: AtomicU64::new(0),
            streams_stalled: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            removals: AtomicU64::new(0),
            indexed: AtomicU64::new(0),
            clock_jumps: AtomicU64::new(0),
            series: StrandMetrics::default(),
            history: StrandMetrics::default(),
            hooks: HookMetrics::default(),
        }
    }

    /// Counts an answer of the route at `index`; `None`: no route was found.
    pub(crate) fn count(&self, index: Option<usize>, status: StatusCode, took: Duration) {
        let shard = self.shards.get(thread_number() % self.shards.len());
        let index = index.unwrap_or(self.labels.len() - 1);
        let Some(counters) = shard.and_then(|shard| shard.get(index)) else { return };
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.partition_point(|bound| *bound < micros);
        let words = [counters.classes.get(class), counters.buckets.get(bucket)];
        for word in words.into_iter().flatten() {
            word.fetch_add(1, Ordering::Relaxed);
        }
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        counters.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The sum over all shards of one word of a route.
    fn sum(&self, index: usize, word: impl Fn(&Counters) -> Option<&AtomicU64>) -> u64 {
        let counters = self.shards.iter().filter_map(|shard| shard.get(index));
        counters.filter_map(word).map(|word| word.load(Ordering::Relaxed)).sum()
    }

    /// Appends requests by route and status class, and latencies by route.
    pub(crate) fn write_requests(&self, out: &mut Exposition) {
        out.family("twinfold_requests_total", "counter", "Answered requests by route and class of status.");
        for (index, label) in self.labels.iter().enumerate() {
            for class in 0..CLASSES {
                let count = self.sum(index, |counters| counters.classes.get(class));
                if count > 0 {
                    let labels = format!("{},status=\"{}xx\"", label.text(), class + 1);
                    out.sample("twinfold_requests_total", &labels, count);
                }
            }
        }
        let name = "twinfold_request_duration_seconds";
        out.family(name, "histogram", "Time from the head of a request to its answer, by route.");
        for (index, label) in self.labels.iter().enumerate() {
            self.write_histogram(index, &label.text(), out);
        }
    }

    fn write_histogram(&self, index: usize, labels: &str, out: &mut Exposition) {
        let mut total = 0;
        let mut lines = Vec::with_capacity(BUCKETS);
        for bucket in 0..BUCKETS {
            total += self.sum(index, |counters| counters.buckets.get(bucket));
            let bound = BOUNDS_US.get(bucket).map_or_else(|| "+Inf".to_owned(), |bound| seconds(*bound));
            lines.push((format!("{labels},le=\"{bound}\""), total));
        }
        if total == 0 {
            return;
        }
        for (labels, count) in lines {
            out.sample("twinfold_request_duration_seconds_bucket", &labels, count);
        }
        let nanos = self.sum(index, |counters| Some(&counters.nanos));
        out.sample("twinfold_request_duration_seconds_sum", labels, seconds(nanos / 1000));
        out.sample("twinfold_request_duration_seconds_count", labels, total);
    }

    /// Appends what became of large answers.
    fn write_answers(&self, out: &mut Exposition) {
        let mut counter =
            |name, help, word: &AtomicU64| out.counter(name, help, word.load(Ordering::Relaxed));
        counter(
            "twinfold_answers_cut_total",
            "Answers cut off beyond answer_bytes_max or answer_duration_max.",
            &self.answers_cut,
        );
        counter(
            "twinfold_streams_broken_total",
            "Streamed answers that failed on the way.",
            &self.streams_broken,
        );
        counter(
            "twinfold_streams_stalled_total",
            "Large answers cut off beyond stall_duration_max.",
            &self.streams_stalled,
        );
    }

    fn write_connections(&self, out: &mut Exposition) {
        let mut counter =
            |name, help, word: &AtomicU64| out.counter(name, help, word.load(Ordering::Relaxed));
        counter("twinfold_connections_accepted_total", "Connections accepted.", &self.connections_accepted);
        counter(
            "twinfold_connections_refused_total",
            "Connections refused beyond connections_max.",
            &self.connections_refused,
        );
        counter(
            "twinfold_connections_overdue_total",
            "Connections closed beyond header_duration_max or idle_duration_max.",
            &self.connections_overdue,
        );
        counter("twinfold_tls_failed_total", "TLS handshakes that failed.", &self.tls_failed);
    }

    /// Appends everything that is not by route.
    pub(crate) fn write_totals(&self, connections_open: usize, out: &mut Exposition) {
        let under_way = self.requests_under_way.load(Ordering::Relaxed);
        out.gauge("twinfold_requests_under_way", "Requests being answered now.", under_way);
        out.gauge("twinfold_connections_open", "Open connections.", connections_open);
        self.write_answers(out);
        self.write_connections(out);
        let mut counter =
            |name, help, word: &AtomicU64| out.counter(name, help, word.load(Ordering::Relaxed));
        counter(
            "twinfold_requests_timed_out_total",
            "Requests beyond request_duration_max.",
            &self.timed_out,
        );
        counter("twinfold_requests_busy_total", "Requests refused beyond requests_max.", &self.busy);
        counter("twinfold_request_panics_total", "Requests that met a bug.", &self.panics);
        counter("twinfold_requests_damaged_total", "Requests that met damaged data.", &self.damaged);
        counter("twinfold_tls_reloads_total", "Certificates read anew.", &self.tls_reloads);
        counter("twinfold_tls_reloads_failed_total", "Certificates not read anew.", &self.tls_reloads_failed);
        counter("twinfold_clock_jumps_total", "Times that the machine's clock was set.", &self.clock_jumps);
        self.write_jobs(out);
    }

    /// What background jobs did.
    fn write_jobs(&self, out: &mut Exposition) {
        let mut counter =
            |name, help, word: &AtomicU64| out.counter(name, help, word.load(Ordering::Relaxed));
        counter("twinfold_expired_total", "Expired entities and attributes removed.", &self.expired);
        counter("twinfold_entities_moved_total", "Entities moved to other buckets.", &self.moved);
        counter(
            "twinfold_removals_total",
            "Removed tenants and repositories whose data is gone.",
            &self.removals,
        );
        counter("twinfold_entities_indexed_total", "Entities looked at to index attributes.", &self.indexed);
        let history = &self.history;
        counter("twinfold_history_folds_total", "Histories of entities folded into blocks.", &history.folds);
        counter("twinfold_history_folds_failed_total", "Folds that failed.", &history.folds_failed);
        counter(
            "twinfold_history_trimmed_total",
            "Histories of attributes that lost instances beyond retention.",
            &history.trimmed,
        );
        counter(
            "twinfold_history_chilled_total",
            "Old blocks of histories packed smaller.",
            &history.chilled,
        );
        let series = &self.series;
        counter("twinfold_series_folds_total", "Series folded.", &series.folds);
        counter("twinfold_series_folds_failed_total", "Folds that failed.", &series.folds_failed);
        counter(
            "twinfold_series_trimmed_total",
            "Series that lost points beyond retention.",
            &series.trimmed,
        );
        counter("twinfold_series_chilled_total", "Old blocks of series packed smaller.", &series.chilled);
        let hooks = &self.hooks;
        counter("twinfold_hook_notifications_total", "Notifications taken by hooks.", &hooks.notifications);
        counter("twinfold_hook_changes_total", "Changes told to hooks.", &hooks.changes);
        counter("twinfold_hook_failures_total", "Notifications that failed.", &hooks.failures);
        counter("twinfold_hook_cuts_total", "Times a hook lost unseen changes.", &self.hooks.cuts);
        out.counter(
            "twinfold_entities_skipped_total",
            "Entities, or their pasts, that a job failed on and skipped.",
            history.skips.count(),
        );
        out.counter(
            "twinfold_series_skipped_total",
            "Series, hooks or repositories that a job failed on and skipped.",
            series.skips.count(),
        );
    }
}

impl Label {
    fn text(&self) -> String {
        let Self { front_end, method, route } = self;
        format!("front_end=\"{front_end}\",method=\"{method}\",route=\"{route}\"")
    }
}

/// Microseconds as seconds, exactly.
fn seconds(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:06}").trim_end_matches('0').to_owned()
}

/// Text in the Prometheus exposition format.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    pub(crate) text: String,
}

impl Exposition {
    /// Begins a family of samples.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One sample; `labels` may be empty.
    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = if labels.is_empty() {
            writeln!(self.text, "{name} {value}")
        } else {
            writeln!(self.text, "{name}{{{labels}}} {value}")
        };
    }

    /// A family of one gauge.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }

    /// A family of one counter.
    pub(crate) fn counter(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "counter", help);
        self.sample(name, "", value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_class() {
        let metrics = Metrics::new([("a", "GET", "/x"), ("a", "PUT", "/x")].into_iter(), 2);
        metrics.count(Some(1), StatusCode::NO_CONTENT, Duration::from_micros(60));
        metrics.count(Some(1), StatusCode::NOT_FOUND, Duration::from_micros(50));
        metrics.count(None, StatusCode::NOT_FOUND, Duration::from_secs(20));
        let mut out = Exposition::default();
        metrics.write_requests(&mut out);
        metrics.write_totals(3, &mut out);
        let put = "front_end=\"a\",method=\"PUT\",route=\"/x\"";
        for line in [
            format!("twinfold_requests_total{{{put},status=\"2xx\"}} 1"),
            format!("twinfold_requests_total{{{put},status=\"4xx\"}} 1"),
            format!("twinfold_request_duration_seconds_bucket{{{put},le=\"0.00005\"}} 1"),
            format!("twinfold_request_duration_seconds_bucket{{{put},le=\"0.0001\"}} 2"),
            format!("twinfold_request_duration_seconds_bucket{{{put},le=\"+Inf\"}} 2"),
            format!("twinfold_request_duration_seconds_sum{{{put}}} 0.00011"),
            format!("twinfold_request_duration_seconds_count{{{put}}} 2"),
            "twinfold_connections_open 3".to_owned(),
        ] {
            assert!(out.text.lines().any(|text| text == line), "{line} is not in\n{}", out.text);
        }
        assert!(out.text.contains("front_end=\"none\",method=\"any\",route=\"none\",le=\"10\"} 0"));
        assert!(!out.text.contains("method=\"GET\""));
    }

    #[test]
    fn seconds_are_exact() {
        assert_eq!(seconds(50), "0.00005");
        assert_eq!(seconds(1_000_000), "1");
        assert_eq!(seconds(2_500_000), "2.5");
        assert_eq!(seconds(0), "0");
    }
}
