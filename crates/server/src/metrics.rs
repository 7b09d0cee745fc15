//! Counters of requests by route, and the parts of the page of metrics: a part is a file with its counters, a field and a
//! line in [`Metrics::write_totals`].
//!
//! A request adds to three words that only threads of the same shard share; everything is
//! allotted when the route table is known.

mod exposition;
mod table;
mod answers;
mod config_events;
mod connections;
mod figures;
mod history;
mod notifications;
mod jobs;
mod requests;
mod series;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use model_series::SkipLog;

use answers::AnswerCounters;
use config_events::ConfigEventCounters;
use connections::ConnectionCounters;
pub(crate) use exposition::Exposition;
use figures::Recent;
use history::HistoryCounters;
use jobs::JobCounters;
pub(crate) use notifications::NotificationMetrics;
use notifications::{CONFIG_EVENTS, HOOKS};
use requests::RequestCounters;
use series::SeriesCounters;

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
    /// The longest.
    nanos_max: AtomicU64,
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
    /// How often each route was asked lately.
    recent: Recent,
    pub(crate) requests_under_way: AtomicUsize,
    pub(crate) connections: ConnectionCounters,
    pub(crate) requests: RequestCounters,
    pub(crate) answers: AnswerCounters,
    pub(crate) jobs: JobCounters,
    pub(crate) series: SeriesCounters,
    pub(crate) history: HistoryCounters,
    pub(crate) hooks: Arc<NotificationMetrics>,
    pub(crate) config_events: Arc<NotificationMetrics>,
    pub(crate) config_event_data: ConfigEventCounters,
    /// What jobs skip of series, and of entities.
    pub(crate) series_skips: Arc<SkipLog>,
    pub(crate) entity_skips: Arc<SkipLog>,
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
            recent: Recent::new(labels.len()),
            labels,
            shards,
            requests_under_way: AtomicUsize::new(0),
            connections: ConnectionCounters::default(),
            requests: RequestCounters::default(),
            answers: AnswerCounters::default(),
            jobs: JobCounters::default(),
            series: SeriesCounters::default(),
            history: HistoryCounters::default(),
            hooks: Arc::new(NotificationMetrics::new(HOOKS)),
            config_events: Arc::new(NotificationMetrics::new(CONFIG_EVENTS)),
            config_event_data: ConfigEventCounters::default(),
            series_skips: Arc::default(),
            entity_skips: Arc::default(),
        }
    }

    /// Counts an answer of the route at `index`; `None`: no route was found.
    pub(crate) fn count(&self, index: Option<usize>, status: StatusCode, took: Duration) {
        let shard = self.shards.get(thread_number() % self.shards.len()).expect("there is a shard");
        let index = index.unwrap_or(self.labels.len() - 1);
        let counters = shard.get(index).expect("each route of the table has its counters");
        let class = usize::from(status.as_u16() / 100 - 1);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.partition_point(|bound| *bound < micros);
        // Handlers answer 200 to 599.
        counters.classes.get(class).expect("a status has a class").fetch_add(1, Ordering::Relaxed);
        counters.buckets.get(bucket).expect("a bucket behind each bound").fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        counters.nanos.fetch_add(nanos, Ordering::Relaxed);
        // Rarely longer than all before it: a look is cheaper than a write.
        if nanos > counters.nanos_max.load(Ordering::Relaxed) {
            counters.nanos_max.fetch_max(nanos, Ordering::Relaxed);
        }
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

    /// Appends everything that is not by route: a line for each part.
    pub(crate) fn write_totals(&self, connections_open: usize, out: &mut Exposition) {
        let under_way = self.requests_under_way.load(Ordering::Relaxed);
        out.gauge("twinfold_requests_under_way", "Requests being answered now.", under_way);
        out.gauge("twinfold_connections_open", "Open connections.", connections_open);
        self.answers.write(out);
        self.connections.write(out);
        self.requests.write(out);
        self.jobs.write(out);
        self.history.write(out);
        self.series.write(out);
        self.hooks.write(out);
        self.config_events.write(out);
        self.config_event_data.write(out);
        out.counter(
            "twinfold_entities_skipped_total",
            "Entities, or their pasts, that a job failed on and skipped.",
            self.entity_skips.count(),
        );
        out.counter(
            "twinfold_series_skipped_total",
            "Series, hooks or repositories that a job failed on and skipped.",
            self.series_skips.count(),
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
