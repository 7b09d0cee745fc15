//! Metrics of the server, worded as HugeGraph's. What is counted the server has, and the routes: it hands in the figures, and these are the words.
//!
//! Names are HugeGraph's where it counts the same; what only a Java virtual machine has (classes, garbage collectors) is zero or missing.

mod words;
#[cfg(test)]
mod tests;

use std::time::Duration;

use api_http::{Gives, Operation};

use crate::operation::{done, json_of};
use crate::params;
pub use words::{backend, page, statistics, system};

/// What is counted, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// How long the server runs.
    pub uptime: Duration,
    /// What rises and falls: name and value.
    pub gauges: Vec<(&'static str, u64)>,
    /// What only rises, beside the requests of routes.
    pub counters: Vec<(&'static str, u64)>,
    /// The routes that were asked.
    pub routes: Vec<RouteFigures>,
}

/// Requests of one route.
#[derive(Clone, Debug)]
pub struct RouteFigures {
    /// The method.
    pub method: String,
    /// The path with its `{name}` segments.
    pub path: String,
    /// Whether it is one of this API.
    pub is_of_graphs: bool,
    /// Answers of 100 to 399, of 400 to 499, and of 500 to 599.
    pub answers: [u64; 3],
    /// How often they came lately.
    pub rates: [Rates; 3],
    /// How long they took.
    pub latency: Latency,
}

/// How often something happened in a second, lately: exponentially weighted over the last minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Over one minute.
    pub m1: f64,
    /// Over five.
    pub m5: f64,
    /// Over fifteen.
    pub m15: f64,
}

/// How long requests took, in milliseconds. Least, deviation and percentiles are read from a histogram, and so estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// The shortest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub max: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// So long at most took 50, 75, 95, 98, 99 and 99.9 % of them.
    pub percentiles: [f64; 6],
}

/// What the system says of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// Memory that it has in RAM, now and at most so far.
    pub resident_bytes: u64,
    /// See [`Process::resident_bytes`].
    pub resident_bytes_peak: u64,
    /// Memory of the machine, and what of it is available.
    pub machine_bytes: u64,
    /// See [`Process::machine_bytes`].
    pub available_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Processors.
    pub processors: usize,
    /// Processes that were ready to run, over the last minute.
    pub load: f64,
}

/// What the store takes, of all graphs and whatever else it has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Storage {
    /// Caches and memtables.
    pub memory_bytes: u64,
    /// On disk.
    pub disk_bytes: u64,
}

/// A route of metrics.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Page {
    /// The process.
    System,
    /// The store.
    Backend,
    /// All that is below, in one object.
    All,
    /// What rises and falls.
    Gauges,
    /// What only rises.
    Counters,
    /// How long requests took.
    Histograms,
    /// How often graphs were changed.
    Meters,
    /// How often routes were asked, and how long that took.
    Timers,
    /// Requests by route.
    Statistics,
}

/// The routes: their paths, and what is declared of them. [`Page::All`] has none of its own: it is `/metrics?type=json`.
pub const PAGES: [(&str, &Operation, Page); 8] = [
    ("/metrics/system", &SYSTEM, Page::System),
    ("/metrics/backend", &BACKEND, Page::Backend),
    ("/metrics/gauges", &GAUGES, Page::Gauges),
    ("/metrics/counters", &COUNTERS, Page::Counters),
    ("/metrics/histograms", &HISTOGRAMS, Page::Histograms),
    ("/metrics/meters", &METERS, Page::Meters),
    ("/metrics/timers", &TIMERS, Page::Timers),
    ("/metrics/statistics", &STATISTICS, Page::Statistics),
];

/// GET `/metrics/system`
const SYSTEM: Operation = operation("systemMetrics", "Memory, threads and load of the server.");
/// GET `/metrics/backend`
const BACKEND: Operation = operation("backendMetrics", "What the store takes, for each graph of the tenant.");
/// GET `/metrics/gauges`
const GAUGES: Operation = operation("gauges", "What rises and falls.");
/// GET `/metrics/counters`
const COUNTERS: Operation = operation("counters", "What only rises; requests by route.");
/// GET `/metrics/histograms`
const HISTOGRAMS: Operation = operation("histograms", "How long requests took, by route, in milliseconds.");
/// GET `/metrics/meters`
const METERS: Operation = operation("meters", "How often graphs were changed.");
/// GET `/metrics/timers`
const TIMERS: Operation = operation("timers", "How often each route was asked, and how long that took.");
/// GET `/metrics/statistics`
const STATISTICS: Operation =
    operation("requestStatistics", "Requests by route; as text for Prometheus, or with type=json as JSON.")
        .query(&[&[params::METRICS_TYPE]]);

const ANSWER: &[(u16, Gives)] = &[(200, done(json_of("Metrics")))];

const fn operation(id: &'static str, summary: &'static str) -> Operation {
    Operation::new("server", id, summary).gives(ANSWER)
}
